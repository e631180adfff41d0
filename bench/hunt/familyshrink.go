package hunt

import (
	"context"
	"maps"
	"math/big"
	"slices"
)

// larger lists families of larger times, of numbers that are one more or less, and of
// releases just after another one.
func (l *familyIsland) larger(f *Family) (list []*Family) {
	for k, b := range f.Blocks {
		for _, other := range f.Blocks {
			if at := other["release"]; at != nil && b["release"] != nil && !equal(at, b["release"]) {
				g := f.clone()
				g.Blocks[k]["release"] = join('+', at, whole(1))
				list = append(list, g)
			}
		}
	}
	for k, b := range f.Blocks {
		for _, name := range slices.Sorted(maps.Keys(b)) {
			for _, formula := range b[name].nudged() {
				g := f.clone()
				g.Blocks[k][name] = formula
				list = append(list, g)
			}
		}
	}
	for _, by := range []*Formula{variable("n"), whole(10), whole(2)} {
		for _, least := range []int64{0, 1, 4} {
			list = append(list, l.scaled(f, by, least))
		}
		for k, b := range f.Blocks {
			for _, kind := range l.Space.breed().job {
				if old := b[kind.name]; kind.time && old != nil {
					g := f.clone()
					g.Blocks[k][kind.name] = join('*', old, by)
					list = append(list, g)
				}
			}
		}
	}
	return list
}

// grow takes larger times, and neighbouring numbers, as long as they make the policy worse at N by a thousandth.
func (l *familyIsland) grow(ctx context.Context) error {
	for changed := true; changed; {
		changed = false
		least := new(big.Rat).Mul(l.bestRatio, big.NewRat(1001, 1000))
		for _, g := range l.larger(l.best) {
			family, at, err := l.worst(ctx, g, l.N)
			if err != nil {
				return err
			}
			if at != nil && at.Ratio().Cmp(least) > 0 {
				l.best, l.bestRatio, changed = family, at.Ratio(), true
				break
			}
		}
	}
	return nil
}

// finish lets the best family grow, and shrinks it.
func (l *familyIsland) finish(ctx context.Context, r *FamilyFound) error {
	if err := l.grow(ctx); err != nil {
		return err
	}
	r.Before = l.bestRatio
	least := l.bestRatio
	if l.Keep != nil {
		least = new(big.Rat).Mul(least, l.Keep)
	}
	for changed := true; changed; {
		changed = false
		for _, g := range l.best.smaller() {
			l.orders(g)
			family, at, err := l.worst(ctx, g, l.N)
			if err != nil {
				return err
			}
			if at != nil && at.Ratio().Cmp(least) >= 0 {
				l.best, changed = family, true
				break
			}
		}
	}
	r.Family = l.best
	var err error
	r.At, err = l.best.Evaluate(ctx, l.N, 0, l.Policy)
	return err
}

// smaller lists families of fewer blocks or shorter formulas, and of smaller numbers.
func (f *Family) smaller() (list []*Family) {
	for k, b := range f.Blocks {
		if len(f.Blocks) > 1 && (b[count] != nil || f.Offline == nil) {
			g := f.clone()
			g.Blocks, g.Order = slices.Delete(g.Blocks, k, k+1), nil
			list = append(list, g)
		}
	}
	for k, b := range f.Blocks {
		for _, name := range slices.Sorted(maps.Keys(b)) {
			if name != count {
				g := f.clone()
				delete(g.Blocks[k], name)
				list = append(list, g)
			}
			for _, formula := range b[name].smaller() {
				g := f.clone()
				g.Blocks[k][name] = formula
				list = append(list, g)
			}
		}
	}
	return list
}

// nudged lists the formula with each of its numbers one more and one less.
func (f *Formula) nudged() (list []*Formula) {
	if f.op == 0 {
		if list = append(list, whole(f.number+1)); f.number > 0 {
			list = append(list, whole(f.number-1))
		}
		return list
	}
	if f.left != nil {
		for _, l := range f.left.nudged() {
			list = append(list, &Formula{op: f.op, left: l, right: f.right})
		}
	}
	if f.right != nil {
		for _, r := range f.right.nudged() {
			list = append(list, &Formula{op: f.op, left: f.left, right: r})
		}
	}
	return list
}

// smaller lists formulas that are shorter, or as short with a smaller number.
func (f *Formula) smaller() (list []*Formula) {
	if f.op == 0 {
		for _, v := range []int64{0, 1, f.number / 10, f.number / 2, f.number - 1} {
			if v >= 0 && v < f.number {
				list = append(list, whole(v))
			}
		}
		return list
	}
	if f.size() > 1 {
		list = append(list, whole(0), whole(1), variable("G"), variable("n"))
	}
	for _, side := range []*Formula{f.left, f.right} {
		if side != nil {
			list = append(list, side)
		}
	}
	if f.left != nil {
		for _, l := range f.left.smaller() {
			list = append(list, &Formula{op: f.op, left: l, right: f.right})
		}
	}
	if f.right != nil {
		for _, r := range f.right.smaller() {
			list = append(list, &Formula{op: f.op, left: f.left, right: r})
		}
	}
	return list
}
