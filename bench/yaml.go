package bench

import (
	"bytes"
	"fmt"

	"github.com/goccy/go-yaml"
)

// DecodeYAML decodes a text that is no suite: unknown keys are ignored.
func DecodeYAML(data []byte, into any) (err error) {
	defer panicked(&err)
	return yaml.Unmarshal(data, into)
}

// decodeStrictly decodes (a part of) a suite: unknown keys are errors.
func decodeStrictly(data []byte, into any) (err error) {
	defer panicked(&err)
	return yaml.NewDecoder(bytes.NewReader(data), yaml.Strict(), yaml.UseJSONUnmarshaler()).Decode(into)
}

// panicked makes an error of a panic: the YAML reader has some on texts that are
// not YAML, which fuzzing finds.
func panicked(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("this is not YAML: the reader fails with %v", p)
	}
}
