package datasets

import (
	"io"
	"strings"
	"testing"
)

// What would not read back is not written.
func TestWriteRefusesTextThatIsNotUTF8(t *testing.T) {
	for name, row := range map[string]Row{
		"job_id": {Trace: "t", JobID: "a\xff"},
		"user":   {Trace: "t", JobID: "a", User: Some("\xc3\x28")},
	} {
		err := writeBatches(io.Discard, batches(All([]Row{row})))
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
