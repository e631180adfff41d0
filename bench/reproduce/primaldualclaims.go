package reproduce

import (
	"fmt"
	"slices"
	"strings"
)

// The claims of the primal-dual paper's Section 7 as orderings of one draw. Where
// more is better, the better stands where orderings have the greater.

// primalDualBelow says, at every place, that A_online and its literal form are below each
// other scheduler, and that A_online is by at least the 30 % of Figure 2.
func primalDualBelow(curves []primalDualCurve, axis string) []Ordering {
	var list []Ordering
	for _, own := range curves {
		if !strings.HasPrefix(own.name, "A_online") {
			continue
		}
		for _, other := range curves {
			if strings.HasPrefix(other.name, "A_online") {
				continue
			}
			for i, x := range own.x {
				theirs, ok := other.at(x)
				if !ok {
					continue
				}
				place := fmt.Sprintf("%s %g: %s below %s", axis, x, own.name, other.name)
				list = append(list, Ordering{place, own.mean[i], theirs})
				if own.name == "A_online" {
					list = append(list, Ordering{place + " by 30 %", own.mean[i], 0.7 * theirs})
				}
			}
		}
	}
	return list
}

// primalDualBest says that A_online, as certified and literal, is at least the 30 % of Figure 2
// below every other scheduler at every place: its most over another is below 0.7.
func primalDualBest(curves []primalDualCurve) []Ordering {
	var list []Ordering
	for _, own := range curves {
		if own.name != "A_online" && own.name != "A_online, literal" {
			continue
		}
		most := 0.0
		for _, other := range curves {
			if strings.HasPrefix(other.name, "A_online") {
				continue
			}
			for i, x := range own.x {
				if theirs, ok := other.at(x); ok {
					most = max(most, own.mean[i]/theirs)
				}
			}
		}
		list = append(list, Ordering{own.name + " below every other by 30 %, everywhere", most, 0.7})
	}
	return list
}

// primalDualRising says that a curve is higher at its last place than at its first.
func primalDualRising(c *primalDualCurve, axis string) []Ordering {
	if len(c.x) < 2 {
		return nil
	}
	last := len(c.x) - 1
	return []Ordering{{fmt.Sprintf("%s: less with %s %g than with %g", c.name, axis, c.x[0], c.x[last]), c.mean[0], c.mean[last]}}
}

// primalDualFalling says the opposite.
func primalDualFalling(c *primalDualCurve, axis string) []Ordering {
	if len(c.x) < 2 {
		return nil
	}
	last := len(c.x) - 1
	return []Ordering{{fmt.Sprintf("%s: less with %s %g than with %g", c.name, axis, c.x[last], c.x[0]), c.mean[last], c.mean[0]}}
}

// primalDualChoice says that the choice of all types, at the place 0, costs less than the
// best single one.
func primalDualChoice(c *primalDualCurve) []Ordering {
	any, ok := c.at(0)
	if !ok || len(c.x) < 2 {
		return nil
	}
	return []Ordering{{c.name + ": the choice of all types below the best single one", any, slices.Min(c.mean[1:])}}
}
