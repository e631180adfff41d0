package sched

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is a set of rules that schedules keep, without regard to slots.
type Kind uint8

// The execution classes. N to M are kept by schedules; P0, SP0 and the fluid
// classes are relaxations that only bounds live in.
const (
	N          Kind = iota + 1 // non-preemptive, exclusive GPUs, rigid gang
	P                          // preemptive: a load at every (re)start, a pause-and-save at every preemption
	P0                         // preemptive with one load and no other overhead
	S                          // non-preemptive, at most two jobs per GPU, interference xi ≥ 1
	SP0                        // S with free preemption and migration
	E                          // elastic: worker and parameter-server types and counts are chosen, then kept
	EP                         // elastic with preemption and resizing
	M                          // malleable
	Fluid                      // F(1): every job at rate ≤ 1, total work rate ≤ G
	FluidTheta                 // F(Theta): as Fluid, but total work rate ≤ Theta·G
	FluidMin                   // fluid with each job's least volume and least duration over its configurations
)

var kindNames = map[Kind]string{N: "N", P: "P", P0: "P0", S: "S", SP0: "SP0", E: "E", EP: "EP", M: "M",
	Fluid: "F(1)", FluidTheta: "F(Theta)", FluidMin: "F(min)"}

// arrows are the direct relations X → Y: every vector of completion times of X
// is matched or dominated by one of Y. They are proved in docs/classes.md.
var arrows = map[Kind][]Kind{
	N:     {P, S},
	P:     {P0},
	P0:    {Fluid, SP0},
	S:     {SP0},
	SP0:   {FluidTheta},
	Fluid: {FluidTheta},
	E:     {EP},
	EP:    {FluidMin},
	M:     {FluidMin},
}

// Class is an execution class: the rules of a Kind and, if Slotted, decisions
// at slot boundaries only.
type Class struct {
	Kind    Kind
	Slotted bool
}

// Reaches reports whether c → d in the lattice: every schedule of class c is
// matched or dominated, job by job, by one of class d. Hence OPT_d ≤ OPT_c for
// every regular objective, and a lower bound of class d may divide the cost of
// a schedule of class c. A slotted class is contained in its continuous one,
// never the reverse.
func (c Class) Reaches(d Class) bool {
	if d.Slotted && !c.Slotted {
		return false
	}
	return c.Kind.reaches(d.Kind)
}

func (k Kind) reaches(target Kind) bool {
	if k == target {
		return k != 0
	}
	return slices.ContainsFunc(arrows[k], func(next Kind) bool { return next.reaches(target) })
}

// String returns the class's name: the kind's, with an s appended if slotted.
func (c Class) String() string {
	if c.Slotted {
		return kindNames[c.Kind] + "s"
	}
	return kindNames[c.Kind]
}

// MarshalText implements encoding.TextMarshaler.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Class) UnmarshalText(text []byte) error {
	name, slotted := strings.CutSuffix(string(text), "s")
	for k, n := range kindNames {
		if n == name {
			*c = Class{Kind: k, Slotted: slotted}
			return nil
		}
	}
	return fmt.Errorf("class %q is unknown: N, P, S, E, EP, M, with an s appended if slotted", text)
}
