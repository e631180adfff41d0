package instances

import (
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/interference"
)

// TestRowsByMicroBatch: with a table by the sizes of micro-batches every option has the row
// of its size, and the matrix has the table's factors; incomplete ones are refused.
func TestRowsByMicroBatch(t *testing.T) {
	w := windows(t, rows(40), datasets.Slice{Jobs: 20}, 5)[0]
	o := sharingOptions()
	var sized []interference.Sized
	for _, task := range o.Tasks {
		sized = append(sized, interference.Sized{Task: task.Name, Batch: task.Batch})
	}
	o.Interference, o.Table = nil, interference.HeavyTailed(sized)
	in := must(t)(Sharing(&w, o))
	setting := o.Table.Settings()[0]
	name := func(j, option int) string {
		for _, task := range o.Tasks {
			if s := in.Jobs[j].Sharing.Accumulation[option].Steps; task.Name == in.Jobs[j].Model {
				return interference.WithBatch(task.Name, (task.Batch+s-1)/s)
			}
		}
		t.Fatalf("job %d has the model %q", j, in.Jobs[j].Model)
		return ""
	}
	for a := range in.Jobs {
		for x := range in.Jobs[a].Sharing.Accumulation {
			for b := range in.Jobs {
				for y := range in.Jobs[b].Sharing.Accumulation {
					want, ok := o.Table.Xi(setting, name(a, x), name(b, y))
					if got := in.Interference[in.Jobs[a].Sharing.Row(x)][in.Jobs[b].Sharing.Row(y)]; !ok || got != want {
						t.Fatalf("%s beside %s: %v, the table has %v", name(a, x), name(b, y), got, want)
					}
				}
			}
		}
	}
	o.Table = interference.HeavyTailed(append(sized[1:], interference.Sized{Task: sized[0].Task, Batch: 2 * sized[0].Batch}))
	if _, err := Sharing(&w, o); err != nil {
		t.Errorf("a table with larger mini-batches too: %v", err)
	}
}
