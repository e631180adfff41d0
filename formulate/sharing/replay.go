package sharing

import "slices"

// replay plays plans slot by slot and sets their ends. It returns false if some
// GPU has too many jobs or too little memory. Every plan has a start, GPUs and an
// option.
func (p *problem) replay(plans []plan) bool {
	counts := make([][maxJobs]int32, len(plans))
	left := len(plans)
	for i := range plans {
		plans[i].end = waits
	}
	for slot := 0; left > 0; slot++ {
		level := make([]int, len(plans))
		for g := range p.gpus {
			on := p.on(plans, g, slot)
			if len(on) > 2 || len(on) == 2 && !p.fits(p.option(plans, on[0]), p.option(plans, on[1])) {
				return false
			}
			if len(on) == 2 {
				level[on[0]] = max(level[on[0]], p.jobs[on[0]].level[p.jobs[on[1]].task])
				level[on[1]] = max(level[on[1]], p.jobs[on[1]].level[p.jobs[on[0]].task])
			}
		}
		for i := range plans {
			j := &p.jobs[i]
			if plans[i].end != waits || plans[i].start > slot {
				continue
			}
			counts[i][level[i]]++
			if j.done(p.option(plans, i), counts[i][:len(j.xi)]) {
				plans[i].end = slot + 1
				left--
			}
		}
	}
	return true
}

func (p *problem) option(plans []plan, i int) *option { return &p.jobs[i].options[plans[i].option] }

// on returns the jobs that are on a GPU in a slot; those whose end is not known
// are.
func (p *problem) on(plans []plan, gpu, slot int) []int {
	var on []int
	for i := range plans {
		if plans[i].start <= slot && (plans[i].end == waits || slot < plans[i].end) && slices.Contains(plans[i].gpus, gpu) {
			on = append(on, i)
		}
	}
	return on
}
