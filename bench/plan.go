// Package bench runs suites: it pairs the instances of a suite with methods, runs
// every method on every instance, verifies every schedule, checks every certificate
// and keeps what is finished. Package tables makes rows of the results.
//
// It names no policy and no importer: cmd/bench resolves names to
// implementations and passes them in.
package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"yardstick/bench/record"
	"yardstick/bench/suite"
	"yardstick/internal/input"
	"yardstick/sched"
)

// Plan is the list of cells of a suite, fixed before anything runs.
type Plan struct {
	Suite     *suite.Suite
	Instances []*suite.Instance
	Cells     []Cell
	// MaxJobs is the number of jobs, as limits count them, where that is more than what
	// is read unless somebody raises the limit.
	MaxJobs int64
}

// Cell is the unit of work: one method on one instance.
type Cell struct {
	Index      int
	ID         string // content hash, see cellID
	Instance   *suite.Instance
	Method     Method
	Objectives []sched.Objective
	Prove      bool // the optima, to strangers
}

// Resolve turns a name with parameters into a method. Package catalogue provides it.
type Resolve func(suite.MethodRef) (Method, error)

// NewPlan builds the suite's instances and pairs each with the methods and
// references of its source.
func NewPlan(s *suite.Suite, resolve Resolve) (*Plan, error) {
	plan := &Plan{Suite: s}
	jobs := &suite.Budget{Most: s.MaxJobs}
	for i := range s.Instances {
		src := &s.Instances[i]
		methods, err := resolveAll(s, src, resolve)
		if err != nil {
			return nil, err
		}
		if src.Prove.UpTo > 0 && !slices.ContainsFunc(methods, func(m Method) bool { return m.Kind() == Exact }) {
			return nil, fmt.Errorf("instances[%d] %q: prove: no method here is exact, so that there is no optimum to prove: add one, such as exhaustive, or drop it", i, src.Name)
		}
		built, err := src.Build(s.Seed, jobs)
		if err != nil {
			return nil, fmt.Errorf("instances[%d] %q: %w", i, src.Name, err)
		}
		if err := input.Cells.Check(int64(len(plan.Cells)+len(built)*len(methods)), 0); err != nil {
			return nil, fmt.Errorf("instances[%d] %q: with it the plan %w", i, src.Name, err)
		}
		for _, m := range methods {
			for _, in := range built {
				if err := Suits(m, in.Instance); err != nil {
					return nil, fmt.Errorf("instances[%d] %q: method %s: %w", i, src.Name, m.Ref(), err)
				}
			}
		}
		for k := range built {
			in := built[k]
			if src.Prove.UpTo > 0 && !in.Model.Has(sched.N) {
				return nil, fmt.Errorf("instances[%d] %q: prove: %s is of the %s model, and proofs for strangers are of gangs without a break: drop it", i, src.Name, in.Name, in.Model)
			}
			for _, m := range methods {
				plan.Cells = append(plan.Cells, newCell(len(plan.Cells), in, m, src, s.Limits))
			}
		}
		plan.Instances = append(plan.Instances, built...)
	}
	plan.MaxJobs = jobs.Beyond()
	return plan, nil
}

func newCell(index int, in *suite.Instance, m Method, src *suite.Source, limits suite.Limits) Cell {
	c := Cell{Index: index, Instance: in, Method: m, Objectives: src.Objectives, Prove: m.Kind() == Exact && len(in.Jobs) <= src.Prove.UpTo}
	c.ID = cellID(&c, limits)
	return c
}

func resolveAll(s *suite.Suite, src *suite.Source, resolve Resolve) ([]Method, error) {
	var methods []Method
	seen := map[string]suite.MethodRef{}
	for _, ref := range append(append([]suite.MethodRef{}, src.References...), src.Methods...) {
		if other, ok := seen[ref.String()]; ok {
			if other.Name != ref.Name || !maps.Equal(other.Params, ref.Params) {
				return nil, s.Locate(ref, fmt.Errorf("two methods are called %s: give each a name of its own by as", ref))
			}
			continue // a reference may be listed as a method too
		}
		seen[ref.String()] = ref
		m, err := resolve(ref)
		if err != nil {
			return nil, s.Locate(ref, err)
		}
		methods = append(methods, m)
	}
	return methods, nil
}

// cellID hashes all that a cell's values depend on: the instance's name, content
// and seed, the method with its version and parameters, the objectives, the
// limits and whether its optima are proven to strangers. Paths, machines and the number of workers are
// not part of it.
func cellID(c *Cell, limits suite.Limits) string {
	in, m := c.Instance, c.Method
	key, err := json.Marshal(struct {
		Schema     int
		Name       string // two slices of a trace may be equal
		Instance   string
		Seed       uint64 // what methods draw by
		Method     suite.MethodRef
		Version    string
		Objectives []sched.Objective
		Limits     suite.Limits
		Prove      bool `json:",omitempty"` // so that cells of policies do not depend on it
	}{1, in.Name, in.SHA256, in.Seed, m.Ref(), m.Version(), c.Objectives, limits, c.Prove})
	if err != nil {
		panic("bench: cell id: " + err.Error()) // strings and numbers only
	}
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:16])
}

// ID returns the hash of the list of cells.
func (p *Plan) ID() string {
	h := sha256.New()
	for _, c := range p.Cells {
		fmt.Fprintln(h, c.ID)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Inputs lists the files that the plan was read from, with their hashes: the
// suite's own, if it came from a file, and every file of a trace, an instance,
// profiles, factors of interference, a recorded schedule or a policy that is a program.
func (p *Plan) Inputs(suiteFiles ...string) ([]record.Input, error) {
	methods := make([]Method, len(p.Cells))
	for i := range p.Cells {
		methods[i] = p.Cells[i].Method
	}
	return inputsOf(p.Suite, methods, suiteFiles)
}

func inputsOf(s *suite.Suite, methods []Method, suiteFiles []string) ([]record.Input, error) {
	names := slices.Clone(suiteFiles)
	for _, src := range s.Instances {
		for _, name := range []string{src.File, src.Trace, src.Profiles, src.Sharing.Interference} {
			if name != "" && !strings.HasPrefix(name, "builtin:") && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, m := range methods {
		for _, name := range filesOf(m) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return record.ReadInputs(names...)
}

// WriteLines writes one JSON object per cell, in the order of the plan.
func (p *Plan) WriteLines(w io.Writer) error {
	enc := json.NewEncoder(w)
	loads := map[*suite.Instance]record.Opt[float64]{}
	for _, in := range p.Instances {
		loads[in] = in.OfferedLoad()
	}
	for _, c := range p.Cells {
		err := enc.Encode(struct {
			Index      int                 `json:"index"`
			ID         string              `json:"id"`
			Instance   string              `json:"instance"`
			SHA256     string              `json:"instance_sha256"`
			Jobs       int                 `json:"jobs"`
			GPUs       int                 `json:"gpus"`
			Load       record.Opt[float64] `json:"offered_load"` // null of bursts and elastic jobs
			Method     string              `json:"method"`
			Objectives []sched.Objective   `json:"objectives"`
		}{c.Index, c.ID, c.Instance.Name, c.Instance.SHA256, len(c.Instance.Jobs), c.Instance.Cluster.GPUs(), loads[c.Instance], c.Method.Ref().String(), c.Objectives})
		if err != nil {
			return err
		}
	}
	return nil
}
