// Package schedtest holds what tests of several packages need: seeded random
// instances and schedules, hand-made ones, transformations with a known effect
// on the optimum, and an optimum by brute force.
package schedtest
