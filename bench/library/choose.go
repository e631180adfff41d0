package library

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"

	"yardstick/sched"
)

// Candidate is an instance that may be chosen.
type Candidate struct {
	Recipe    Recipe
	Objective sched.Objective
	Features  Features
	Instance  string // sha256
	Class     sched.Class
}

// Choose draws the candidates of a stratum, measures them, and chooses those that differ
// most: first the one that is farthest from the mean of all, then always the one whose
// nearest chosen one is farthest (Gonzalez's greedy rule for the k-centre problem, which
// is at most twice as far from covering all candidates as any choice of as many). It
// depends on the seed alone.
//
// Errors: the context's; fewer candidates make an instance than are to be chosen.
func (s Stratum) Choose(ctx context.Context, seed uint64) ([]Candidate, error) {
	var all []Candidate
	seen := map[string]bool{}
	for i := range s.Candidates {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := s.candidate(ctx, seed, i)
		if err != nil || seen[c.Instance] {
			continue // no instance, which the recipe shows only when it is followed
		}
		seen[c.Instance] = true
		all = append(all, c)
	}
	if len(all) < s.Instances {
		return nil, fmt.Errorf("library: %v: %d of %d recipes make an instance, and %d are to be chosen", s, len(all), s.Candidates, s.Instances)
	}
	return farthest(all, s.Instances), nil
}

// candidate follows the recipe of a candidate, and measures what it makes.
func (s Stratum) candidate(ctx context.Context, seed uint64, i int) (Candidate, error) {
	r, objective := s.draw(seed, i)
	in, err := (&Library{}).make(&r, "candidate")
	if err != nil {
		return Candidate{}, err
	}
	if len(in.Jobs) < s.Least || len(in.Jobs) > s.Most {
		return Candidate{}, errors.New("too many jobs are too large")
	}
	f, err := Measure(ctx, in, objective)
	if err != nil {
		return Candidate{}, err
	}
	return Candidate{Recipe: r, Objective: objective, Features: f, Instance: in.Hash(), Class: in.Class()}, nil
}

// farthest chooses n of the candidates.
func farthest(all []Candidate, n int) []Candidate {
	points := make([][]float64, len(all))
	for i := range all {
		points[i] = all[i].point()
	}
	mean := make([]float64, len(points[0]))
	for _, p := range points {
		for k := range p {
			mean[k] += p[k] / float64(len(points))
		}
	}
	next, near := 0, make([]float64, len(all))
	for i := range all {
		near[i] = math.Inf(1)
		if distance(points[i], mean) > distance(points[next], mean) {
			next = i
		}
	}
	var chosen []Candidate
	for len(chosen) < n {
		at := next
		chosen, next = append(chosen, all[at]), -1
		near[at] = -1
		for i := range all {
			if near[i] >= 0 {
				near[i] = min(near[i], distance(points[i], points[at]))
			}
			if near[i] >= 0 && (next < 0 || near[i] > near[next]) {
				next = i
			}
		}
	}
	return chosen
}

// point places a candidate among the others. One unit is about the range of a feature.
func (c *Candidate) point() []float64 {
	f := &c.Features
	p := []float64{math.Log10(float64(f.Jobs)) / 2, math.Log2(float64(f.GPUs)) / 6, min(f.Load, 3) / 1.5, f.Single, 2 * f.Gang, min(f.Spread, 2), min(f.Weights, 1), 2 * f.Waiting}
	for _, o := range sched.Objectives() { // two objectives are 0.5 apart
		p = append(p, 0)
		if o == c.Objective {
			p[len(p)-1] = 0.5 / math.Sqrt2
		}
	}
	if c.Class.Slotted {
		return append(p, 0.5)
	}
	return append(p, 0)
}

func distance(a, b []float64) float64 {
	sum := 0.0
	for k := range a {
		sum += (a[k] - b[k]) * (a[k] - b[k])
	}
	return math.Sqrt(sum)
}

// Add writes the entries of chosen candidates that are not there yet.
//
// Errors: an entry of that name has another instance.
func (l *Library) Add(s Stratum, chosen []Candidate) (added int, err error) {
	for i := range chosen {
		c := &chosen[i]
		e := &Entry{Name: fmt.Sprintf("%s-%06d-%02d", s.Model, s.Most, i+1), Recipe: c.Recipe, Instance: c.Instance, Objective: c.Objective, Class: c.Class, Features: c.Features}
		if old, err := l.Entry(e.Name); err == nil {
			if old.Instance != e.Instance || old.Objective != e.Objective {
				return added, fmt.Errorf("library: %s is there already with another instance: a version of the library never changes", e.Name)
			}
			continue
		}
		if err := l.write(e); err != nil {
			return added, err
		}
		added++
	}
	return added, nil
}

// AddInstance writes an entry that holds its instance, which came from somewhere else than
// a recipe.
//
// Errors: there is an entry of that name; those of Measure.
func (l *Library) AddInstance(ctx context.Context, name string, in *sched.Instance, obj sched.Objective, from string) (*Entry, error) {
	e := &Entry{Name: name, Recipe: Recipe{File: instanceName, From: from}, Objective: obj, Class: in.Class()}
	if _, err := l.Entry(name); err == nil {
		return nil, fmt.Errorf("library: %s is there already", name)
	}
	named := *in
	named.Name = name
	e.Instance = named.Hash()
	var err error
	if e.Features, err = Measure(ctx, &named, obj); err != nil {
		return nil, err
	}
	if err := l.write(e); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := named.Write(&b); err != nil {
		return nil, err
	}
	return e, l.put(name, instanceName, b.Bytes())
}
