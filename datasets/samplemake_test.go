package datasets

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"yardstick/datasets/generate/law"
)

// The trace philly-like is synthetic. Its marginal distributions and a few
// dependences are calibrated on the figures of Microsoft's Philly trace that
// package law cites. The recurrence of jobs, which Philly's cleaned form does
// not show, is calibrated on Weng et al., "MLaaS in the Wild", NSDI 2022. No row
// is taken from either.
const (
	sampleSeed   = 1
	streamSample = 3
	sampleJobs   = 27_000
	sampleHours  = 1007 // length of the trace: 134.3 s per job
)

// sampleVC gives the share of jobs per virtual cluster, sampleHour and
// sampleWeekday the rates of submission by hour of the day and by day of the
// week, Monday first, relative to the mean.
var (
	sampleVC      = law.PhillyVC()
	sampleHour    = law.PhillyHour()
	sampleWeekday = law.PhillyWeekday()
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
	clock := law.NewCycle(sampleHour[:], sampleWeekday[:], sampleHours*3600)

	var rows []Row
	var ranks []float64 // what the running times are ranked by
	for g := range groups {
		group := &groups[g]
		common := rng.NormFloat64()
		submit := clock.Submissions(rng, nil, group.size, law.Sittings{Batch: sampleBatch, Gap: sampleBatchGap, Window: sampleWindow})
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
	for _, d := range law.PhillyDemand() {
		quota := int(math.Round(d.Share * sampleJobs))
		for _, g := range order {
			if groups[g].gpus == 1 && groups[g].size <= quota {
				groups[g].gpus, groups[g].longer = int(d.GPUs), d.Longer
				quota -= groups[g].size
			}
		}
	}
}

// assignDurations gives the job of rank r out of n the quantile (r+½)/n of the
// law of running times, in whole seconds. The distribution is thus met exactly
// whatever the dependences that the ranks carry.
func assignDurations(rows []Row, ranks []float64) {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
	duration := law.PhillyDuration()
	for r, i := range order {
		rows[i].DurationS = Some(math.Round(duration.At((float64(r) + 0.5) / float64(len(rows)))))
	}
}
