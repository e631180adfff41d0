package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"yardstick/bench"
)

// bundleTime is about how long a task of a job array is to take: long beside
// the seconds that starting one costs, short beside the time that one that is
// lost loses.
const bundleTime = 30 * time.Minute

// bundlesUntimed is the number of tasks where nothing is known about the time
// that cells take.
const bundlesUntimed = 32

// bundle is a way to cut the open cells of a plan into tasks: shard i of n has
// the cells whose index is i modulo n.
type bundle struct {
	shards   int
	tasks    []int         // the shards that have open cells
	open     int           // cells
	finished int           // cells whose times are known
	longest  time.Duration // expected of the longest task; 0 if unknown
}

// newBundle chooses the least number of shards of which none is expected to
// take longer than the goal, unless shards gives it.
func newBundle(e bench.Estimate, shards, workers int, goal time.Duration) bundle {
	b := bundle{finished: e.Finished}
	for _, open := range e.Open {
		if open {
			b.open++
		}
	}
	most := min(len(e.Open), mostTasks)
	switch {
	case shards > 0:
		b.shards = min(shards, most)
	case e.Finished == 0:
		b.shards = min(most, bundlesUntimed)
	default:
		b.shards = leastShards(e.Cells, most, workers, goal)
	}
	if b.shards == 0 {
		return b // a plan without cells
	}
	b.longest = slices.Max(shardTimes(e.Cells, b.shards, workers))
	has := make([]bool, b.shards)
	for i, open := range e.Open {
		has[i%b.shards] = has[i%b.shards] || open
	}
	for i, yes := range has {
		if yes {
			b.tasks = append(b.tasks, i)
		}
	}
	return b
}

// shardTimes returns what every one of n shards will take: the sum of its cells
// over its workers, and no less than its longest cell.
func shardTimes(cells []time.Duration, n, workers int) []time.Duration {
	sums, longest := make([]time.Duration, n), make([]time.Duration, n)
	for i, t := range cells {
		sums[i%n] += t
		longest[i%n] = max(longest[i%n], t)
	}
	for i := range sums {
		sums[i] = max(sums[i]/time.Duration(workers), longest[i])
	}
	return sums
}

// leastShards returns the least number of shards, of at most most, whose longest
// takes no more than the goal, or than the longest cell if that is more; if
// there is none, the one whose longest takes least.
func leastShards(cells []time.Duration, most, workers int, goal time.Duration) int {
	var total, longest time.Duration
	for _, t := range cells {
		total += t
		longest = max(longest, t)
	}
	goal = max(goal, longest)
	best, least := 1, total+1
	for n := max(int(total/(goal*time.Duration(workers))), 1); n <= most; n++ {
		if t := slices.Max(shardTimes(cells, n, workers)); t < least {
			best, least = n, t
		}
		if least <= goal {
			break
		}
	}
	return best
}

// String says what was chosen.
func (b bundle) String() string {
	about := "nothing is known about their times; --shards sets the number of tasks"
	if b.finished > 0 {
		about = fmt.Sprintf("a task takes up to %v by the times of %d finished cells", cmp.Or(b.longest.Round(time.Second), time.Second), b.finished)
	}
	text := fmt.Sprintf("%d cells in %d tasks, up to %d each: %s", b.open, len(b.tasks), (b.open+len(b.tasks)-1)/max(len(b.tasks), 1), about)
	if len(b.tasks) < b.shards {
		text += fmt.Sprintf("; %d of %d shards have nothing left", b.shards-len(b.tasks), b.shards)
	}
	return text
}

// ranges writes the tasks as sbatch reads them: 0-3,7.
func (b bundle) ranges() string {
	var parts []string
	for from := 0; from < len(b.tasks); {
		to := from
		for to+1 < len(b.tasks) && b.tasks[to+1] == b.tasks[to]+1 {
			to++
		}
		part := fmt.Sprint(b.tasks[from])
		if to > from {
			part += fmt.Sprintf("-%d", b.tasks[to])
		}
		parts, from = append(parts, part), to+1
	}
	return strings.Join(parts, ",")
}
