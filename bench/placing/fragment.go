package placing

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"yardstick/datasets"
	"yardstick/sched"
)

// Part is a number of GPUs to use on one server.
type Part struct{ Server, GPUs int }

// Order says which servers a job takes GPUs from first.
type Order uint8

// The orders. Ties go to the lower index.
const (
	ByIndex    Order = iota // as the servers come; of random fragmentations: at random
	MostFree                // those with the most free GPUs
	LeastFree               // those with the fewest, at least one
	orderCount = iota
)

var orderNames = [orderCount]string{"index", "most", "least"}

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Order) UnmarshalText(text []byte) error {
	i := slices.Index(orderNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("order %q is unknown: index, most, least", text)
	}
	*o = Order(i)
	return nil
}

// Free returns the GPUs of every server of the empty cluster.
func Free(c *sched.Cluster) []int {
	free := make([]int, len(c.Servers))
	for m := range free {
		free[m] = c.Servers[m].GPUs
	}
	return free
}

// ErrFragments is the error of a cluster in which a gang seldom finds its GPUs.
var ErrFragments = errors.New("too few free GPUs")

// Draw returns how many GPUs are free on each server at one random moment: on
// every server a whole number between 0 and all of its GPUs, each as likely and
// independent of the others. Where fewer than gang are free in all, it draws
// again.
//
// Errors: ErrFragments after a thousand draws.
//
// Source: the A-SRPT paper's section V.B, 2-e averages over 20 cases "with
// varying GPU availability per server" and says no more. Not in the source: the
// distribution.
func Draw(c *sched.Cluster, gang int, rng *rand.Rand) ([]int, error) {
	const attempts = 1000
	free := make([]int, len(c.Servers))
	for range attempts {
		total := 0
		for m := range free {
			free[m] = rng.IntN(c.Servers[m].GPUs + 1)
			total += free[m]
		}
		if total >= gang {
			return free, nil
		}
	}
	return nil, fmt.Errorf("placing: %w: of %d random fragmentations of %d GPUs none has %d free", ErrFragments, attempts, c.GPUs(), gang)
}

// Fragmentation draws the k-th fragmentation of a master seed. It returns the
// seed of its own besides, which depends on nothing else: the k-th fragmentation
// is the same however many are drawn.
//
// Errors: ErrFragments.
func Fragmentation(c *sched.Cluster, gang int, master uint64, k int) (free []int, seed uint64, err error) {
	seed = datasets.Seed(master, "fragmentation", k)
	free, err = Draw(c, gang, rand.New(rand.NewPCG(seed, 0)))
	return free, seed, err
}

// Select takes all free GPUs of one server after another until it has a gang;
// of the last one it takes what is missing. It returns nil if there are too
// few.
//
// With MostFree on an empty cluster this is the consolidated placement, on the
// fewest servers.
func Select(free []int, gang int, order Order) []Part {
	servers := make([]int, 0, len(free))
	for m, n := range free {
		if n > 0 {
			servers = append(servers, m)
		}
	}
	slices.SortStableFunc(servers, func(a, b int) int {
		switch order {
		case MostFree:
			return cmp.Compare(free[b], free[a])
		case LeastFree:
			return cmp.Compare(free[a], free[b])
		}
		return 0
	})
	var parts []Part
	for _, m := range servers {
		if gang == 0 {
			break
		}
		n := min(gang, free[m])
		parts = append(parts, Part{m, n})
		gang -= n
	}
	if gang > 0 {
		return nil
	}
	return parts
}

// Fit assigns parts of the given sizes to servers, the largest part to the
// largest server, ties to the lower index.
//
// Errors: a part that is not positive or that no server is left for.
func Fit(c *sched.Cluster, sizes []int) ([]Part, error) {
	order := slices.Clone(sizes)
	slices.SortFunc(order, func(a, b int) int { return b - a })
	servers := make([]int, len(c.Servers))
	for m := range servers {
		servers[m] = m
	}
	slices.SortStableFunc(servers, func(a, b int) int { return c.Servers[b].GPUs - c.Servers[a].GPUs })
	var parts []Part
	for i, n := range order {
		if n < 1 || i >= len(servers) || n > c.Servers[servers[i]].GPUs {
			return nil, fmt.Errorf("placing: the cluster has no server for part %d of %v, of %d GPUs", i+1, order, n)
		}
		parts = append(parts, Part{servers[i], n})
	}
	return parts, nil
}
