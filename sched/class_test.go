package sched_test

import (
	"strings"
	"testing"

	"yardstick/sched"
)

// lattice is the relation X → Y written out: a row for X, a column for Y.
const lattice = `
          N  P  P0 S  SP0 E  EP M  F(1) F(Theta) F(min)
N         x  x  x  x  x   .  .  .  x    x        .
P         .  x  x  .  x   .  .  .  x    x        .
P0        .  .  x  .  x   .  .  .  x    x        .
S         .  .  .  x  x   .  .  .  .    x        .
SP0       .  .  .  .  x   .  .  .  .    x        .
E         .  .  .  .  .   x  x  .  .    .        x
EP        .  .  .  .  .   .  x  .  .    .        x
M         .  .  .  .  .   .  .  x  .    .        x
F(1)      .  .  .  .  .   .  .  .  x    x        .
F(Theta)  .  .  .  .  .   .  .  .  .    x        .
F(min)    .  .  .  .  .   .  .  .  .    .        x
`

func TestLattice(t *testing.T) {
	parse := func(name string, slotted bool) sched.Class {
		var c sched.Class
		if slotted {
			name += "s"
		}
		if err := c.UnmarshalText([]byte(name)); err != nil || c.String() != name || c.Slotted != slotted {
			t.Fatalf("class %q is read as %v, %v", name, c, err)
		}
		return c
	}
	lines := strings.Split(strings.TrimSpace(lattice), "\n")
	names := strings.Fields(lines[0])
	if len(names) != int(sched.FluidMin) || len(lines) != len(names)+1 {
		t.Fatalf("the table has %d columns and %d rows", len(names), len(lines)-1)
	}
	for _, line := range lines[1:] {
		cells := strings.Fields(line)
		for k, cell := range cells[1:] {
			for _, from := range []bool{false, true} {
				for _, to := range []bool{false, true} {
					x, y := parse(cells[0], from), parse(names[k], to)
					want := cell == "x" && (from || !to) // slotted is within continuous, never the reverse
					if got := x.Reaches(y); got != want {
						t.Errorf("%v → %v is %v", x, y, got)
					}
				}
			}
		}
	}
	var none sched.Class
	if none.Reaches(none) || none.Reaches(sched.Class{Kind: sched.N}) || (sched.Class{Kind: sched.N}).Reaches(none) {
		t.Error("no class reaches something")
	}
}
