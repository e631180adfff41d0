package datasets

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// Whatever made a row, counts of what a cluster has are refused where no cluster has so
// many, in one line that names the column; other amounts are not limited.
func TestCountsBeyondAnyCluster(t *testing.T) {
	for i, c := range Columns() {
		if c.Type != "double" {
			continue
		}
		limited := c.Unit == "GPU" || c.Unit == "core"
		for _, v := range []float64{1e308, math.Nextafter(c.most(), math.Inf(1)), c.most()} {
			row := Row{Trace: "t", JobID: "1"}
			*row.field(i).(*Opt[float64]) = Some(v)
			one := func(yield func(Row, error) bool) { yield(row, nil) }
			bad := limited && v > c.most() || math.IsInf(v, 0)
			for what, err := range map[string]error{"row": row.Check(), "file": writeBatches(&bytes.Buffer{}, batches(one))} {
				if (err != nil) != bad || bad && (!strings.Contains(err.Error(), "column "+c.Name+" is ") || strings.Contains(err.Error(), "\n")) {
					t.Errorf("%s of %s %v: %v", what, c.Name, v, err)
				}
			}
		}
	}
}
