package catalogue

import (
	"slices"
	"strings"
	"testing"

	"yardstick/bench/suite"
)

// Every placement is found by its name, says so, and refuses parameters that it lacks;
// sets hold what they say, once; no name is that of a method of suites.
func TestPlacements(t *testing.T) {
	resolve := func(text string) (names []string, _ error) {
		refs, err := suite.ParseRefs(text)
		if err != nil {
			t.Fatal(err)
		}
		methods, err := ResolvePlacements(refs)
		for _, m := range methods {
			names = append(names, m.Name())
		}
		return names, err
	}
	all, err := resolve("all")
	if err != nil || !slices.Equal(all, PlacementNames()[3:]) {
		t.Errorf("all are %v, %v", all, err)
	}
	for _, name := range all {
		if names, err := resolve(name); err != nil || len(names) != 1 || names[0] != name {
			t.Errorf("%s: %v, %v", name, names, err)
		}
		if _, err := resolve(name + "(colour=red)"); err == nil || !strings.Contains(err.Error(), `"colour" is unknown`) {
			t.Errorf("%s of a colour: %v", name, err)
		}
		if _, err := Resolve(suite.MethodRef{Name: name}); err == nil || !strings.Contains(err.Error(), "bench place") {
			t.Errorf("%s in a suite: %v", name, err)
		}
		if slices.Contains(Names(), name) {
			t.Errorf("%s is a method of suites too", name)
		}
	}
	few, _ := resolve("combinatorial")
	some, _ := resolve("programs")
	if !slices.Equal(all, slices.Concat(few, some)) || len(few) == 0 || len(some) < 6 {
		t.Errorf("combinatorial %v, programs %v", few, some)
	}
	if names, err := resolve("min-cut,combinatorial,min-alpha(visits=7)"); err != nil || len(names) != len(few)+1 || names[0] != "min-cut" || !slices.Contains(names, "min-alpha(visits=7)") {
		t.Errorf("overlapping sets: %v, %v", names, err)
	}
	for text, want := range map[string]string{"": "combinatorial", "all(visits=1)": "set", "min-alpha(visits=0)": "visits", "heavyedge": "heavy-edge-tree", "one-hot-alpha/gurobi": "gurobi"} {
		if names, err := resolve(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want an error about %s", text, names, err, want)
		}
	}
}
