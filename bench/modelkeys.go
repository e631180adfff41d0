package bench

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"yardstick/sched"
)

// misplaced returns an error if the source has a key that its model does not
// know: it would say something that is not done. Settings and sweeps, which are
// for all sources at once, are not looked at.
func (src *Source) misplaced() error {
	model := cmp.Or(src.Model, sched.ModelGang)
	for _, k := range []struct {
		key    string
		set    bool
		models []sched.Model
	}{
		{"profiles", src.Profiles != "", []sched.Model{sched.ModelGang}},
		{"singleShare", src.SingleShare != nil, []sched.Model{sched.ModelGang}},
		{"matchDemand", src.MatchDemand, []sched.Model{sched.ModelGang}},
		{"shrink", src.Shrink != 0, []sched.Model{sched.ModelGang}},
		{"params", src.Params != 0, []sched.Model{sched.ModelGang}},
		{"iteration", src.Iterate != 0, []sched.Model{sched.ModelGang, sched.ModelPreemptive}},
		{"storage", src.Storage != 0, []sched.Model{sched.ModelPreemptive}},
		{"startup", src.Startup != 0, []sched.Model{sched.ModelPreemptive, sched.ModelElastic}},
		{"gpuMemory", src.GPUMemory != 0, []sched.Model{sched.ModelSharing}},
		{"sharing", src.Sharing != SharingRef{}, []sched.Model{sched.ModelSharing}},
		{"ring", src.Ring, []sched.Model{sched.ModelElastic}},
		{"maxWorkers", src.MaxWorkers != 0, []sched.Model{sched.ModelElastic}},
		{"workerType", src.WorkerType != 0, []sched.Model{sched.ModelElastic}},
	} {
		if k.set && !slices.Contains(k.models, model) {
			names := make([]string, len(k.models))
			for i, m := range k.models {
				names[i] = string(m)
			}
			return fmt.Errorf("has %s, which the %s model does not know: drop it, or say model: %s", k.key, model, strings.Join(names, " or "))
		}
	}
	if src.Profiles == "" && (src.SingleShare != nil || src.MatchDemand || src.Shrink != 0) {
		return errors.New("has singleShare, matchDemand or shrink, which are about profiles: say profiles: builtin:v100")
	}
	return nil
}
