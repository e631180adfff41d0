package interference

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"yardstick/datasets"
)

// HeavyTailedSource is the source of the pairs that HeavyTailed makes.
const HeavyTailedSource = "heavy-tailed"

// Sized is a task with its mini-batch on each GPU.
type Sized struct {
	Task  string
	Batch int
}

// WithBatch names a task with so many samples in a micro-batch, as Gavel's files name
// theirs.
func WithBatch(task string, samples int) string {
	return fmt.Sprintf("%s (batch size %d)", task, samples)
}

// HeavyTailed is a table that is not measured, of tasks whose mini-batches are split into
// 1, 2, 4, … micro-batches down to one sample: for task a in s parts beside b in t,
//
//	xi = 1 + 0.45·exp(1.26 z)·Π 1.25·2^(0.5 u)·Π 0.85·2^(0.5 v), at most 11,
//
// rounded to three decimals, the products being over the halvings of a and of b. All of z,
// u and v are standard normal, one for every ordered pair of tasks and halving, drawn by their
// names. The law is that of the 508 ordered pairs that Gavel
// measured on one V100: their xi − 1 has the median 0.45, quartiles 2.4 and a 95th
// percentile 8 times as far, and the largest xi is 11. There, a mini-batch of half the size
// has 1.25 times the xi − 1 at the median, and beside one of half the size 0.85 times, with
// quartiles that are those of a deviation of 2^0.5. Gavel
// measured no pairs on several GPUs, so that the number of GPUs changes nothing here.
func HeavyTailed(tasks []Sized) *Table {
	s := Setting{HeavyTailedSource, "any", Consolidated, 1}
	var rows []Row
	for _, a := range tasks {
		for _, b := range tasks {
			own := 0.45 * math.Exp(1.26*normal(a.Task, b.Task, "", 0))
			eachSplit(a.Batch, func(parts, mine int) {
				if parts > 0 {
					own *= 1.25 * math.Exp2(0.5*normal(a.Task, b.Task, "own", parts))
				}
				both := own
				eachSplit(b.Batch, func(others, samples int) {
					if others > 0 {
						both *= 0.85 * math.Exp2(0.5*normal(a.Task, b.Task, "other", others))
					}
					xi := 1 + both
					rows = append(rows, Row{s, WithBatch(a.Task, mine), WithBatch(b.Task, samples), datasets.Some(math.Round(min(xi, 11)*1000) / 1000)})
				})
			})
		}
	}
	t, err := New(rows)
	if err != nil {
		panic(err) // the tests make it
	}
	return t
}

// eachSplit calls f with every k and the samples of a micro-batch, rounded up, of a
// mini-batch in 2^k parts, down to one sample.
func eachSplit(batch int, f func(k, samples int)) {
	for k := 0; ; k++ {
		samples := (batch + 1<<k - 1) >> k
		f(k, samples)
		if samples <= 1 {
			return
		}
	}
}

// normal draws by two names and what is drawn.
func normal(a, b, what string, k int) float64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%s%d", a, b, what, k)
	return rand.New(rand.NewPCG(h.Sum64(), 0x7861)).NormFloat64()
}
