package verify_test

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"

	"yardstick/sched"
)

// elasticLegal decides by brute force whether an elastic schedule of small
// times keeps the rules: it writes out what each job hosts on each server in
// every microsecond, adds up demands container by container and mini-batches
// microsecond by microsecond at the pace of package sched, and matches what each
// job does against the grammar of the class as a regular expression.
func elasticLegal(in *sched.Instance, s *sched.Schedule) bool {
	n := naive{in: in, s: s}
	if s.Class != (sched.Class{Kind: sched.E, Slotted: true}) && s.Class != (sched.Class{Kind: sched.EP, Slotted: true}) {
		return false
	}
	for i := range s.Segments {
		seg := &s.Segments[i]
		if seg.Job < 0 || int(seg.Job) >= len(in.Jobs) || seg.Start < 0 || seg.Start >= seg.End || seg.End > 10_000 {
			return false
		}
		if elasticPlaced(in, seg) != "" {
			return false
		}
		n.end = max(n.end, seg.End)
	}
	return n.layOutElastic() && n.elasticAmounts() && n.elasticTexts() && n.elasticBatches()
}

// container is a worker or parameter server somewhere.
type container struct {
	server int
	worker bool
}

func containers(p *sched.Placement) (list []container) {
	for _, sh := range p.Shares {
		for kind, count := range sh.Stages {
			for range count {
				list = append(list, container{sh.Server, kind == 0})
			}
		}
	}
	return list
}

func count(list []container, f func(container) bool) int64 {
	n := int64(0)
	for _, c := range list {
		if f(c) {
			n++
		}
	}
	return n
}

// elasticPlaced names the constraint that the placement of a segment breaks by
// itself, "" if none.
func elasticPlaced(in *sched.Instance, seg *sched.Segment) string {
	e := in.Jobs[seg.Job].Elastic
	config := sched.Config{}
	if seg.Place.Config != nil {
		config = *seg.Place.Config
	}
	if config.WorkerType < 0 || config.ServerType < 0 || config.WorkerType >= len(in.Elastic.Workers) ||
		e.Ring && config.ServerType > 0 || !e.Ring && config.ServerType >= len(in.Elastic.Servers) || config.Accumulation != 0 {
		return "types"
	}
	seen := -1
	for _, sh := range seg.Place.Shares {
		if sh.Server <= seen || sh.Server >= len(in.Cluster.Servers) || len(sh.Stages) != 2 || sh.Stages[0] < 0 || sh.Stages[1] < 0 || sh.Devices != nil {
			return "form"
		}
		seen = sh.Server
	}
	list := containers(&seg.Place)
	workers := count(list, func(c container) bool { return c.worker })
	servers := count(list, func(c container) bool { return !c.worker })
	if workers < 1 || workers > int64(e.MaxWorkers) || (servers > 0) == e.Ring {
		return "(2e), (2g)"
	}
	for _, sh := range seg.Place.Shares {
		on := func(worker bool) int64 {
			return count(list, func(c container) bool { return c.server == sh.Server && c.worker == worker })
		}
		if on(true)+on(false) == 0 {
			return "form"
		}
		gpus := int64(0)
		for r, name := range in.Elastic.Resources {
			if name == "gpu" {
				gpus = amount(in, seg, sh.Server, r)
			}
			if amount(in, seg, sh.Server, r) > in.Cluster.Servers[sh.Server].Capacity[r] {
				return "(2h)"
			}
		}
		if gpus != int64(sh.GPUs) {
			return "form"
		}
		if on(false) == 0 {
			continue
		}
		bw := in.Elastic.Bandwidth
		sent := int64(0)
		for _, c := range list {
			if c.worker && c.server != sh.Server {
				sent += in.Elastic.Workers[config.WorkerType].Demand[bw]
			}
		}
		if sent > on(false)*in.Elastic.Servers[config.ServerType].Demand[bw] {
			return "(2i)"
		}
	}
	return ""
}

// amount adds up what the containers of a segment on a server take of r.
func amount(in *sched.Instance, seg *sched.Segment, server, r int) int64 {
	config := sched.Config{}
	if seg.Place.Config != nil {
		config = *seg.Place.Config
	}
	sum := int64(0)
	for _, c := range containers(&seg.Place) {
		switch {
		case c.server != server:
		case c.worker:
			sum += in.Elastic.Workers[config.WorkerType].Demand[r]
		default:
			sum += in.Elastic.Servers[config.ServerType].Demand[r]
		}
	}
	return sum
}

func (n *naive) layOutElastic() bool {
	n.cells = make([][]cell, len(n.in.Jobs))
	for j := range n.cells {
		n.cells[j] = slices.Repeat([]cell{{char: '.'}}, int(n.end)+1)
	}
	for i := range n.s.Segments {
		seg := &n.s.Segments[i]
		chars := map[sched.Phase]string{sched.Train: "TT", sched.Load: "Ll", sched.Pause: "Pp"}[seg.Phase]
		if chars == "" || seg.Start < n.in.Jobs[seg.Job].Release {
			return false
		}
		for t := seg.Start; t < seg.End; t++ {
			if n.cells[seg.Job][t].seg != nil {
				return false
			}
			n.cells[seg.Job][t] = cell{chars[min(1, t-seg.Start)], seg}
		}
	}
	return true
}

// takes returns what a segment takes of each server and resource.
func takes(in *sched.Instance, seg *sched.Segment) [][]int64 {
	all := make([][]int64, len(in.Cluster.Servers))
	for h := range all {
		for r := range in.Elastic.Resources {
			all[h] = append(all[h], amount(in, seg, h, r))
		}
	}
	return all
}

// elasticAmounts looks at every resource of every server in every microsecond.
func (n *naive) elasticAmounts() bool {
	taken := map[*sched.Segment][][]int64{}
	for i := range n.s.Segments {
		taken[&n.s.Segments[i]] = takes(n.in, &n.s.Segments[i])
	}
	for t := range n.end {
		for h, server := range n.in.Cluster.Servers {
			for r, has := range server.Capacity {
				for j := range n.cells {
					if seg := n.cells[j][t].seg; seg != nil {
						has -= taken[seg][h][r]
					}
				}
				if has < 0 {
					return false
				}
			}
		}
	}
	return true
}

func (n *naive) elasticTexts() bool {
	where := func(seg *sched.Segment) string {
		config := sched.Config{}
		if seg.Place.Config != nil {
			config = *seg.Place.Config
		}
		return fmt.Sprint(config, containers(&seg.Place))
	}
	for id := range n.in.Jobs {
		cells, j := n.cells[id], &n.in.Jobs[id]
		text := ""
		for t := range cells {
			before := cell{char: '.'}
			if t > 0 {
				before = cells[t-1]
			}
			moved := before.seg != nil && cells[t].seg != nil && before.seg != cells[t].seg && where(before.seg) != where(cells[t].seg)
			if moved {
				text += "|"
			}
			text += string(cells[t].char)
			if sched.Time(t)%n.in.Slot != 0 && turn(before.char, cells[t].char, moved) {
				return false
			}
		}
		if n.in.Deadline > 0 && regexp.MustCompile(`^\.*$`).MatchString(text) {
			continue
		}
		again := ""
		if n.s.Class.Kind == sched.EP {
			load, abort, pause := "", "", ""
			if j.Load > 0 {
				load, abort = fmt.Sprintf("Ll{%d}", j.Load-1), fmt.Sprintf("(Ll{0,%d}[.|]*)*", j.Load-1)
			}
			if j.Pause > 0 {
				pause = fmt.Sprintf("Pp{%d}", j.Pause-1)
			}
			again = fmt.Sprintf(`(%s[.|]*%s%sT+)*`, pause, abort, load)
		}
		if !regexp.MustCompile(`^\.*T+` + again + `\.*$`).MatchString(text) {
			return false
		}
	}
	return true
}

// elasticBatches adds up Y·rho over the microseconds of training.
func (n *naive) elasticBatches() bool {
	for id, cells := range n.cells {
		train := map[*sched.Segment]int64{}
		for _, c := range cells {
			if c.char == 'T' {
				train[c.seg]++
			}
		}
		left := new(big.Rat).SetInt64(n.in.Jobs[id].Elastic.Batches)
		for seg, micros := range train {
			workers := count(containers(&seg.Place), func(c container) bool { return c.worker })
			config := sched.Config{}
			if seg.Place.Config != nil {
				config = *seg.Place.Config
			}
			theta := n.in.BatchTime(sched.JobID(id), config.WorkerType, config.ServerType, int(workers), len(seg.Place.Shares) == 1)
			left.Sub(left, theta.Quo(big.NewRat(workers*micros, 1e6), theta))
		}
		if len(train) > 0 && left.Sign() > 0 {
			return false
		}
	}
	return true
}
