package generate

import (
	"fmt"

	"yardstick/datasets/generate/law"
)

// profile is what a trace is generated from.
type profile struct {
	interArrival float64 // s, mean
	duration     law.Law // s
	kinds        []kind  // of programs; the last takes what the others leave

	hours, days []float64 // relative rates of submission, see law.NewCycle
	batch, gap  float64   // see law.Sittings

	recurrent   float64 // share of jobs in groups of at least often
	recurrence  float64 // s over which a group recurs
	repeat      float64 // probability that a run has its group's length, see the package comment
	correlation float64 // ρ, see the package comment
	users       int
	vcs         []float64 // shares of jobs per virtual cluster; none: vc is NULL
	status      []share   // NULL if empty
}

// kind is a share of the jobs that ask for the same.
type kind struct {
	gpus, share float64
	shift       float64 // in the ranking by running time, in standard deviations
	model       string  // "": NULL
	duration    law.Law // nil: the profile's, all such kinds together
}

type share struct {
	name string
	p    float64
}

// Assumptions common to all profiles: nothing published settles them.
const (
	often       = 5           // runs that make a group recurrent; the published share is for this number
	tail        = 1.15        // exponent of the Pareto law of group sizes, as in the trace philly-like
	largest     = 1000        // runs of the largest group
	recurrence  = 7 * 86400.0 // s over which a group recurs
	noise       = 0.001       // relative standard deviation of a repeated length
	skew        = 3.0         // of the users' activity: the busiest share x of them submits x^(1/skew) of the jobs
	recurrent   = 0.65        // published for PAI only, see paiProfile
	correlation = 0.6
	fastest     = 0.1 // s, least and greatest time of an iteration, log-uniform in between
	slowest     = 1.0
)

// profileOf returns the profile of a trace.
//
// Errors: there is none of this number.
func profileOf(l Like) (profile, error) {
	const minute = 60
	switch l {
	case PAI:
		return paiProfile(), nil
	case PAICleaned:
		return paiCleanedProfile(), nil
	case Philly:
		return phillyProfile(), nil
	case HeliosEarth, HeliosSaturn, HeliosUranus:
		return heliosProfile(l, helios(l))
	case HeliosEarthLazer:
		return lazerProfile(HeliosEarth, 39, 59.5*minute)
	case HeliosSaturnLazer:
		return lazerProfile(HeliosSaturn, 80, 72.2*minute)
	case HeliosUranusLazer:
		return lazerProfile(HeliosUranus, 243, 128.1*minute)
	case Pollux:
		return polluxProfile(), nil
	case SJFBSBF:
		return bsbfProfile(), nil
	case SJFBSBFTestbed:
		return bsbfTestbedProfile(), nil
	}
	return profile{}, fmt.Errorf("generate: there is no trace %s", l)
}

// base returns the assumptions common to all profiles.
func base() profile {
	// Rates of submission: low at night, with dips at noon and in the evening,
	// and less at the weekend. Only the shape is published (Hu et al., SC 2021,
	// and Weng et al., NSDI 2022, both as figures); the numbers are assumed.
	return profile{
		hours: []float64{0.8, 0.65, 0.5, 0.4, 0.35, 0.35, 0.4, 0.5, 0.7, 1.0, 1.35, 1.4, 1.15, 1.25, 1.5, 1.6, 1.6, 1.5, 1.15, 1.2, 1.35, 1.35, 1.2, 1.0},
		days:  []float64{1.1, 1.15, 1.15, 1.15, 1.1, 0.7, 0.65},
		batch: 12, gap: 7,
		recurrent: recurrent, recurrence: recurrence, correlation: correlation, users: 200,
	}
}

// phillyProfile: see the figures in package law. 180 users are assumed.
func phillyProfile() profile {
	p := base()
	hours, days, vcs := law.PhillyHour(), law.PhillyWeekday(), law.PhillyVC()
	p.interArrival, p.duration = law.PhillyInterArrival, law.PhillyDuration()
	p.hours, p.days, p.vcs, p.users = hours[:], days[:], vcs[:], 180
	for _, d := range law.PhillyDemand() {
		p.kinds = append(p.kinds, kind{gpus: d.GPUs, share: d.Share, shift: d.Longer})
	}
	p.kinds = append(p.kinds, kind{gpus: 1})
	return p
}

// paiProfile is calibrated on
//
//   - the row PAI of the summary published with Hu et al., "Characterization of
//     Large Language Model Development in the Datacenter", NSDI 2024 (file
//     cluster_summary.csv of AcmeTrace): 1,037,085 GPU jobs, run time 4,787.1 s
//     on average, 480.667 s in the median, 626,371 s at most; 0.683 GPUs on
//     average, 0.5 in the median, 8 at most;
//   - Weng et al., "MLaaS in the Wild", NSDI 2022, and its README: July and
//     August 2020, more than 1,300 users; about 65 % of jobs recur at least five
//     times, as the A-SRPT paper reports from it;
//   - the run times from 300 s to 3 days of 59,002 jobs published with Hanafy
//     et al., "Going Green for Less Green", ASPLOS 2024 (file pai-100k.csv of
//     GAIA): quantiles 0.01 to 0.999 of what follows 300 s below.
//
// The two sources of run times fit: 13.05 % of GAIA's are below the median of
// all, so that 300 s must be the quantile q with q+0.1305(1−q) = 0.5, and the
// mean of the joined law is within 2 % of the published one. What is below
// 300 s is assumed, and so are the shares of the demands.
func paiProfile() profile {
	p := base()
	p.interArrival = 62 * 86400 / 1_037_085.0
	p.users = 1300
	duration := law.Table{{P: 0, Value: 1}, {P: 0.1, Value: 20}, {P: 0.25, Value: 90}, {P: paiBelow, Value: 300}}
	for _, q := range paiConditional() {
		duration = append(duration, law.Point{P: paiBelow + (1-paiBelow)*q[0], Value: q[1]})
	}
	p.duration = append(duration, law.Point{P: 1, Value: 626_371})
	p.kinds = []kind{{gpus: 8, share: 0.004}, {gpus: 4, share: 0.008}, {gpus: 2, share: 0.018},
		{gpus: 0.5, share: 0.28}, {gpus: 0.25, share: 0.33}, {gpus: 1}}
	return p
}

// paiRepeat: see paiCleanedProfile.
const paiRepeat = 0.98

// paiBelow is the share of PAI's jobs that run for less than 300 s.
const paiBelow = 0.425

// paiConditional lists probabilities and quantiles of GAIA's run times; the one at 0.1305 is
// the median of all.
func paiConditional() [][2]float64 {
	return [][2]float64{{0.01, 311}, {0.05, 352}, {0.10, 424}, {0.1305, 480.667}, {0.15, 521}, {0.20, 638}, {0.25, 788}, {0.30, 975},
		{0.40, 1501}, {0.50, 2423}, {0.60, 3858}, {0.70, 6018}, {0.75, 7616}, {0.80, 10_028.6}, {0.85, 13_664.7}, {0.90, 20_113.5},
		{0.95, 34_177.8}, {0.97, 50_162.9}, {0.98, 59_153.8}, {0.99, 84_999.7}, {0.995, 127_727}, {0.999, 190_940}}
}

// paiCleanedProfile is paiProfile with what the A-SRPT paper (sections IV and
// V) says of the trace after its cleaning: 758,223 jobs in two months and more
// than 70 % of them on one GPU. It counts the GPUs of all instances of a job,
// whole ones, as the official summary does not. The shares above one GPU are
// assumed.
//
// Groups recur over the two months, and a run repeats the length of its group with
// the probability paiRepeat, which is set so that predictions are as often right
// as in the paper's Figure 4: of 758,223 jobs the last fifth, predicted by the
// means of their groups in the first four. Right is an error of at most 10 of the
// figure's iterations, whose length the paper does not say: they are those of
// which predicting the mean of all is off by 593 on average (section V-2d).
func paiCleanedProfile() profile {
	p := paiProfile()
	p.interArrival = 62 * 86400 / 758_223.0
	p.recurrence, p.repeat = 62*86400, paiRepeat
	p.kinds = []kind{{gpus: 32, share: 0.01}, {gpus: 16, share: 0.03}, {gpus: 8, share: 0.06}, {gpus: 4, share: 0.08}, {gpus: 2, share: 0.10}, {gpus: 1}}
	return p
}
