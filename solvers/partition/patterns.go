package partition

import (
	"fmt"
	"math/big"
	"slices"

	"yardstick/sched"
)

// Pattern is one way to cut a gang: Parts[i] GPUs on a server of Sizes[i]
// GPUs, all servers distinct. Duration is the least running time over all ways
// to put the job's stages on such servers.
//
// Parts do not increase, and Sizes do not increase where parts are equal. The
// size belongs to a pattern because a replica owns 1/size of its server's
// network card: on a cluster of unequal servers the same parts may run at
// different speeds. Where all servers are alike, Parts alone tell patterns
// apart.
type Pattern struct {
	Parts    []int
	Sizes    []int
	Duration sched.Time
}

// Patterns lists every pattern that the cluster has room for when it is empty,
// in a fixed order. At most limit patterns are listed if limit is positive.
//
// Where replicas take several GPUs, parts that they cannot fill are no pattern. A
// job whose iteration time is constant has one duration for all its patterns; single-stage jobs take it from the part with the smallest share of
// its server; jobs of several stages by dynamic programming over servers,
// shared by the patterns with a common beginning.
//
// Errors: sched.ErrNotApplicable if there are more patterns than limit, the stages are too
// many to enumerate, or the job is no gang of fixed stages.
func Patterns(in *sched.Instance, id sched.JobID, limit int) ([]Pattern, error) {
	if err := checkModel(in, id); err != nil {
		return nil, err
	}
	e := &enumeration{in: in, id: id, job: &in.Jobs[id], sizes: sizeClasses(&in.Cluster), limit: limit}
	var top layer
	if len(e.job.Stages) > 1 {
		m, err := newMapper(in, id)
		if err != nil {
			return nil, err
		}
		e.mapper, top = m, m.first()
	}
	room := 0
	for _, c := range e.sizes {
		room += c.gpus * c.count
	}
	if err := e.extend(top, 0, 0, e.job.Gang(), room); err != nil {
		return nil, err
	}
	return e.out, nil
}

// enumeration walks over the patterns of one job: class by class, and within a
// class in non-increasing parts.
type enumeration struct {
	in     *sched.Instance
	id     sched.JobID
	job    *sched.Job
	sizes  []sizeClass
	limit  int
	mapper *mapper // nil for a single stage
	parts  []part  // the current prefix
	out    []Pattern
}

type part struct{ gpus, class int }

// extend lists all patterns that begin with the current prefix, of which used
// parts are on servers of the given class, left GPUs are still to place, and
// the servers of this and later classes not used yet have room GPUs in all.
func (e *enumeration) extend(l layer, class, used, left, room int) error {
	if left == 0 {
		return e.emit(l)
	}
	if left > room {
		return nil
	}
	c := e.sizes[class]
	if used < c.count {
		largest := min(c.gpus, left)
		if used > 0 {
			largest = min(largest, e.parts[len(e.parts)-1].gpus)
		}
		for p := largest; p >= 1; p-- {
			next := l
			if e.mapper != nil {
				var err error
				if next, err = e.mapper.next(l, class, p); err != nil {
					return err
				}
				if len(next.reached) == 0 {
					continue
				}
			} else if p%e.job.Slices(0) != 0 {
				continue
			}
			e.parts = append(e.parts, part{p, class})
			err := e.extend(next, class, used+1, left-p, room-c.gpus)
			e.parts = e.parts[:len(e.parts)-1]
			if err != nil {
				return err
			}
		}
	}
	if class+1 == len(e.sizes) {
		return nil
	}
	return e.extend(l, class+1, 0, left, room-(c.count-used)*c.gpus)
}

// emit records the current prefix, which is a whole pattern.
func (e *enumeration) emit(l layer) error {
	if e.limit > 0 && len(e.out) == e.limit {
		return fmt.Errorf("cuts: %w: job %d has more than %d patterns: too large to enumerate", sched.ErrNotApplicable, e.id, e.limit)
	}
	d, err := e.duration(l)
	if err != nil {
		return err
	}
	parts := slices.Clone(e.parts)
	slices.SortStableFunc(parts, func(a, b part) int { return b.gpus - a.gpus }) // classes are already by falling size
	p := Pattern{Duration: d}
	for _, x := range parts {
		p.Parts = append(p.Parts, x.gpus)
		p.Sizes = append(p.Sizes, e.sizes[x.class].gpus)
	}
	e.out = append(e.out, p)
	return nil
}

func (e *enumeration) duration(l layer) (sched.Time, error) {
	switch {
	case e.mapper != nil:
		return runTime(e.in, e.id, e.mapper.value(l.rank[0]))
	case e.job.ConstantIteration() && len(e.out) > 0:
		return e.out[0].Duration, nil
	}
	return runTime(e.in, e.id, e.spread())
}

// spread returns alpha of a single-stage job on the current parts: AllReduce
// waits for the part x of a server of g GPUs with the largest g/x.
func (e *enumeration) spread() *big.Rat {
	worst := e.parts[0]
	for _, p := range e.parts[1:] {
		if e.sizes[p.class].gpus*worst.gpus > e.sizes[worst.class].gpus*p.gpus {
			worst = p
		}
	}
	return e.in.StageTime(e.id, 0, 0, worst.gpus/e.job.Slices(0), 0, e.sizes[worst.class].gpus)
}
