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
//	xi = 1 + 0.45·exp(1.26 z)·1.25^log2(s)·0.85^log2(t), at most 11,
//
// rounded to three decimals, z being standard normal, one for every ordered pair of
// tasks, drawn by their names. The law is that of the 508 ordered pairs that Gavel
// measured on one V100: their xi − 1 has the median 0.45, quartiles 2.4 and a 95th
// percentile 8 times as far, and the largest xi is 11. There, a mini-batch of half the size
// has 1.25 times the xi − 1 at the median, and beside one of half the size 0.85 times. Gavel
// measured no pairs on several GPUs, so that the number of GPUs changes nothing here.
func HeavyTailed(tasks []Sized) *Table {
	s := Setting{HeavyTailedSource, "any", Consolidated, 1}
	var rows []Row
	for _, a := range tasks {
		for _, b := range tasks {
			base := 0.45 * math.Exp(1.26*normal(a.Task, b.Task))
			eachSplit(a.Batch, func(parts, own int) {
				eachSplit(b.Batch, func(others, samples int) {
					xi := 1 + base*math.Pow(1.25, float64(parts))*math.Pow(0.85, float64(others))
					rows = append(rows, Row{s, WithBatch(a.Task, own), WithBatch(b.Task, samples), datasets.Some(math.Round(min(xi, 11)*1000) / 1000)})
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

// normal draws by two names.
func normal(a, b string) float64 {
	h := fnv.New64a()
	h.Write([]byte(a + "\x00" + b))
	return rand.New(rand.NewPCG(h.Sum64(), 0x7861)).NormFloat64()
}
