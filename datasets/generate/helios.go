package generate

import (
	"math"

	"yardstick/datasets/generate/law"
)

// heliosSummary is a row of the official summary of the Helios logs (file
// helios_cluster_summary.csv of HeliosArtifact, published with Hu et al.,
// "Characterization and Prediction of Deep Learning Workloads in Large-Scale GPU
// Datacenters", SC 2021), of GPU jobs. The logs cover 183 days, April to
// September 2020.
type heliosSummary struct {
	jobs         float64
	mean, median float64 // s, run time
	gpus         float64 // mean; the median is 1
	gpuSeconds   float64 // of all jobs together, over the three ways to end
	complete     float64 // shares of jobs; the rest failed
	cancel       float64
}

// heliosMax is the longest run time of all Helios GPU jobs, in seconds, by
// cluster_summary.csv of AcmeTrace (Hu et al., NSDI 2024).
const heliosMax = 4_320_009

func helios(l Like) heliosSummary {
	switch l {
	case HeliosEarth:
		return heliosSummary{427_148, 5130.609, 234, 2.101, 5_713_038_873 + 4_793_853_520 + 932_310_362, 0.735, 0.136}
	case HeliosSaturn:
		return heliosSummary{698_896, 5252.927, 124, 4.010, 14_375_709_962 + 10_733_792_235 + 2_542_859_066, 0.582, 0.272}
	default:
		return heliosSummary{329_117, 9163.725, 280, 4.038, 13_532_231_815 + 10_267_196_772 + 2_761_134_934, 0.607, 0.201}
	}
}

// heliosProfile takes run times to be log-normal, with the published median and
// mean, capped at the longest. The shares of the demands are assumed, such that
// the median is one GPU and the mean is the published one; so is the number of
// virtual clusters of Saturn and Uranus (Earth has 25) and of users. Larger jobs
// run longer by as much as makes GPU-time per job agree.
func heliosProfile(l Like, s heliosSummary) (profile, error) {
	p := base()
	p.interArrival = 183 * 86400 / s.jobs
	duration, err := law.NewLogNormal(s.median, s.mean, heliosMax)
	if err != nil {
		return profile{}, err
	}
	p.duration = duration
	p.kinds = heliosDemand(l)
	for vc := range 25 { // the k-th largest has a share proportional to 1/k
		p.vcs = append(p.vcs, 1/float64(vc+1)/3.8159582)
	}
	p.status = []share{{"COMPLETED", s.complete}, {"CANCELLED", s.cancel}, {"FAILED", 1 - s.complete - s.cancel}}
	return p, nil
}

// lazerProfile replaces the inter-arrival time and the mean run time by those
// of the Lazer paper's Table 1. They do not follow from the whole logs: at 80 s,
// Saturn's 698,896 jobs would take 647 days. The paper has no median; the
// official one is kept, and so is all else.
func lazerProfile(l Like, interArrival, mean float64) (profile, error) {
	s := helios(l)
	s.mean = mean
	p, err := heliosProfile(l, s)
	p.interArrival = interArrival
	return p, err
}

// heliosDemand lists the demands, with a shift in proportion to the logarithm of
// the demand, up to 8 GPUs.
func heliosDemand(l Like) []kind {
	list, shift := []kind{{gpus: 256, share: 0.0005}, {gpus: 128, share: 0.0025}, {gpus: 64, share: 0.005}, {gpus: 32, share: 0.01},
		{gpus: 16, share: 0.02}, {gpus: 8, share: 0.184}, {gpus: 4, share: 0.09}, {gpus: 2, share: 0.08}, {gpus: 1}}, 0.21
	switch l {
	case HeliosEarth:
		list, shift = []kind{{gpus: 256, share: 0.0001}, {gpus: 128, share: 0.0005}, {gpus: 64, share: 0.0016}, {gpus: 32, share: 0.0035},
			{gpus: 16, share: 0.01}, {gpus: 8, share: 0.075}, {gpus: 4, share: 0.03}, {gpus: 2, share: 0.035}, {gpus: 1}}, 0.29
	case HeliosUranus:
		list[5].share, shift = 0.188, 0.285
	}
	for i := range list {
		list[i].shift = shift * math.Log2(min(8, list[i].gpus))
	}
	return list
}
