package sharing

import "slices"

// Replay plays plans slot by slot and sets their ends. It returns false if some
// GPU has too many jobs or too little memory. Every plan has a start, GPUs and an
// option.
func (p *Problem) Replay(plans []Plan) bool {
	counts := make([][maxJobs]int32, len(plans))
	left := len(plans)
	for i := range plans {
		plans[i].End = waits
	}
	for slot := 0; left > 0; slot++ {
		level := make([]int, len(plans))
		for g := range p.GPUs {
			on := p.on(plans, g, slot)
			if len(on) > 2 || len(on) == 2 && !p.Fits(p.option(plans, on[0]), p.option(plans, on[1])) {
				return false
			}
			if len(on) == 2 {
				level[on[0]] = max(level[on[0]], p.Jobs[on[0]].level[p.Jobs[on[1]].Task])
				level[on[1]] = max(level[on[1]], p.Jobs[on[1]].level[p.Jobs[on[0]].Task])
			}
		}
		for i := range plans {
			j := &p.Jobs[i]
			if plans[i].End != waits || plans[i].Start > slot {
				continue
			}
			counts[i][level[i]]++
			if j.Done(p.option(plans, i), counts[i][:len(j.Xi)]) {
				plans[i].End = slot + 1
				left--
			}
		}
	}
	return true
}

func (p *Problem) option(plans []Plan, i int) *Option { return &p.Jobs[i].Options[plans[i].Option] }

// on returns the jobs that are on a GPU in a slot; those whose end is not known
// are.
func (p *Problem) on(plans []Plan, gpu, slot int) []int {
	var on []int
	for i := range plans {
		if plans[i].Start <= slot && (plans[i].End == waits || slot < plans[i].End) && slices.Contains(plans[i].GPUs, gpu) {
			on = append(on, i)
		}
	}
	return on
}
