package datasets

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// The trace philly-like is synthetic. Its marginal distributions and a few
// dependences are calibrated on Microsoft's Philly trace (Jeon et al.,
// "Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN Training
// Workloads", USENIX ATC 2019) in the cleaned form published with Pollux (Qiao
// et al., OSDI 2021, file philly.csv of the AdaptDL repository): the figures
// below are statistics of 70,063 of its 82,247 rows, all but those of four
// virtual clusters. The recurrence of jobs, which that file does not show, is
// calibrated on Weng et al., "MLaaS in the Wild", NSDI 2022. No row is taken
// from either.
const (
	sampleName  = "philly-like"
	sampleSeed  = 1
	sampleJobs  = 27_000
	sampleHours = 1007 // length of the trace: 134.3 s per job
)

// sampleDuration is the quantile function of running times: at these
// probabilities these seconds, and the logarithm linear in between. The value
// at 0.999 is not the file's (1,106,514 s): lines between the others overstate
// the tail, and this one is set so that the mean is the file's, 10,563 s.
var sampleDuration = [...]struct{ p, seconds float64 }{
	{0, 1}, {0.01, 16}, {0.05, 46}, {0.10, 59}, {0.25, 81}, {0.40, 535}, {0.50, 1081}, {0.60, 1815}, {0.75, 2739},
	{0.80, 3765}, {0.90, 9031}, {0.95, 24_299}, {0.97, 59_667}, {0.98, 96_764}, {0.99, 189_527}, {0.999, 670_000}, {1, 4_628_226},
}

// sampleDemand gives the share of jobs per GPU demand, largest first; what is
// left asks for one GPU. Longer is how far jobs of the demand are shifted in
// the ranking by running time, in standard deviations, which makes GPU-hours
// per job agree.
var sampleDemand = [...]struct {
	gpus          int
	share, longer float64
}{{128, 0.0001, 0.6}, {64, 0.0001, 0.6}, {32, 0.0004, 0.8}, {16, 0.0024, 1.6}, {8, 0.012, 1.6}, {4, 0.017, 1.6}, {2, 0.023, 0}}

// sampleVC gives the share of jobs per virtual cluster.
var sampleVC = [...]float64{0.588, 0.230, 0.106, 0.028, 0.022, 0.016, 0.006, 0.002, 0.001, 0.0007, 0.0003}

// sampleHour and sampleWeekday are the rates of submission by hour of the day
// and by day of the week, Monday first, relative to the mean.
var (
	sampleHour    = [24]float64{1.3, 1.0, 1.1, 1.1, 0.7, 1.1, 1.8, 2.2, 1.2, 1.1, 1.1, 0.9, 0.8, 0.7, 0.7, 0.6, 0.9, 0.6, 0.7, 0.7, 1.0, 0.9, 1.1, 1.0}
	sampleWeekday = [7]float64{0.85, 1.04, 1.08, 1.28, 1.54, 0.62, 0.60}
)

// The structure behind the marginals. The tail of the group sizes is set so
// that 65 % of jobs belong to groups of five or more, sittings so that the
// median time between submissions is 9 s and 39 % are at most 5 s, as in the
// file. Nothing published settles the others; they are plausible, no more.
const (
	sampleUsers       = 180
	sampleGroupTail   = 1.15     // exponent of the Pareto law of group sizes
	sampleGroupMax    = 150      // jobs of the largest group
	sampleCorrelation = 0.6      // of the ranks of running times within a group
	sampleBatch       = 12.0     // mean number of jobs submitted at one sitting, if the group has as many
	sampleBatchGap    = 7.0      // s, mean time between them
	sampleWindow      = 7.0 / 42 // share of the trace over which a group recurs
)

// sampleGroup is a set of jobs that run the same program.
type sampleGroup struct {
	user, vc string
	size     int
	gpus     int
	longer   float64
}

// generateSample makes the rows of philly-like. It starts on a Monday at
// midnight.
func generateSample() []Row {
	rng := newRand(sampleSeed, streamSample)
	groups := sampleGroups(rng)
	assignDemand(rng, groups)
	clock := newSampleClock()

	var rows []Row
	var ranks []float64 // what the running times are ranked by
	for g := range groups {
		group := &groups[g]
		common := rng.NormFloat64()
		submit := clock.submissions(rng, group.size)
		for i := range group.size {
			own := rng.NormFloat64()
			ranks = append(ranks, group.longer+math.Sqrt(sampleCorrelation)*common+math.Sqrt(1-sampleCorrelation)*own)
			rows = append(rows, Row{Trace: sampleName, User: Some(group.user), VC: Some(group.vc), Group: Some(fmt.Sprintf("g%05d", g)),
				SubmitS: Some(submit[i]), GPUs: Some(float64(group.gpus))})
		}
	}
	assignDurations(rows, ranks)
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.SubmitS.V, b.SubmitS.V) })
	for i := range rows {
		rows[i].JobID = fmt.Sprintf("j%05d", i)
	}
	return rows
}

// sampleGroups draws groups until they hold all jobs: sizes from a Pareto law,
// each with a user of some virtual cluster.
func sampleGroups(rng *rand.Rand) []sampleGroup {
	var groups []sampleGroup
	for left := sampleJobs; left > 0; {
		size := int(math.Pow(1-rng.Float64(), -1/sampleGroupTail))
		size = min(size, sampleGroupMax, left)
		left -= size
		vc, u := 0, rng.Float64()
		for ; vc < len(sampleVC)-1 && u >= sampleVC[vc]; vc++ {
			u -= sampleVC[vc]
		}
		// The users of a virtual cluster are in proportion to its jobs, and
		// the square makes some of them busier than others.
		users := max(1, math.Round(sampleUsers*sampleVC[vc]))
		user := int(users * math.Pow(rng.Float64(), 2))
		groups = append(groups, sampleGroup{size: size, gpus: 1,
			vc: fmt.Sprintf("vc%02d", vc), user: fmt.Sprintf("u%02d-%03d", vc, user)})
	}
	return groups
}

// assignDemand gives whole groups the demands above one GPU, in random order,
// so that the shares of jobs come out exactly.
func assignDemand(rng *rand.Rand, groups []sampleGroup) {
	order := rng.Perm(len(groups))
	for _, d := range sampleDemand {
		quota := int(math.Round(d.share * sampleJobs))
		for _, g := range order {
			if groups[g].gpus == 1 && groups[g].size <= quota {
				groups[g].gpus, groups[g].longer = d.gpus, d.longer
				quota -= groups[g].size
			}
		}
	}
}

// assignDurations gives the job of rank r out of n the quantile (r+½)/n of
// sampleDuration, in whole seconds. The distribution is thus met exactly
// whatever the dependences that the ranks carry.
func assignDurations(rows []Row, ranks []float64) {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
	at := 1
	for r, i := range order {
		p := (float64(r) + 0.5) / float64(len(rows))
		for p > sampleDuration[at].p {
			at++
		}
		low, high := sampleDuration[at-1], sampleDuration[at]
		v := low.seconds * math.Pow(high.seconds/low.seconds, (p-low.p)/(high.p-low.p))
		rows[i].DurationS = Some(math.Round(v))
	}
}

// sampleClock draws times of submission with the cycles of day and week.
type sampleClock struct{ cumulative []float64 } // cumulative[h] is the share of submissions before hour h

func newSampleClock() *sampleClock {
	c := &sampleClock{cumulative: []float64{0}}
	total := 0.0
	for h := range sampleHours {
		total += sampleHour[h%24] * sampleWeekday[h/24%7]
		c.cumulative = append(c.cumulative, total)
	}
	for h := range c.cumulative {
		c.cumulative[h] /= total
	}
	return c
}

// at returns the second by which the share u of all submissions was made.
func (c *sampleClock) at(u float64) float64 {
	h := sort.Search(len(c.cumulative)-2, func(h int) bool { return c.cumulative[h+1] > u })
	within := (u - c.cumulative[h]) / (c.cumulative[h+1] - c.cumulative[h])
	return 3600 * (float64(h) + within)
}

// submissions draws the times of n runs of one program: sittings spread over
// sampleWindow from a random point (past the end of the trace they go on at its
// start), with a few runs each.
func (c *sampleClock) submissions(rng *rand.Rand, n int) []float64 {
	start := rng.Float64()
	var times []float64
	for sitting := 0; len(times) < n; sitting++ {
		u := start
		if sitting > 0 {
			_, u = math.Modf(start + sampleWindow*rng.Float64())
		}
		t := c.at(u)
		for k := 0; len(times) < n && (k == 0 || rng.Float64() > 1/sampleBatch); k++ {
			times = append(times, math.Floor(t))
			t += sampleBatchGap * rng.ExpFloat64()
		}
	}
	return times
}
