package generate

import "yardstick/datasets/generate/law"

// polluxProfile is calibrated on the workloads of Pollux's simulator (Qiao et
// al., "Pollux: Co-adaptive Cluster Scheduling for Goodput-Optimized Deep
// Learning", OSDI 2021; files workloads/workload-{1,3,4,6,7}.csv of AdaptDL):
// 800 jobs, 160 in each 8 hours; their shares by application and number of
// replicas, and by hour. Longer traces repeat the 8 hours. An application is
// small, medium, large or extra large by its GPU-time: up to 1, 10, 100 and 1000
// GPU-hours (section 5.1 of the paper). The law of GPU-time within these bounds,
// log-uniform, is assumed, and so are users and recurrence, which the workloads
// do not have.
func polluxProfile() profile {
	p := base()
	p.interArrival = 8 * 3600 / 160.0
	p.hours, p.days = []float64{0.116, 0.111, 0.065, 0.121, 0.133, 0.223, 0.120, 0.111}, []float64{1}
	p.batch = 1 // the workloads have no bursts
	const total = 800.0
	for _, application := range []struct {
		model    string
		from, to float64 // GPU-hours
		jobs     []law.Demand
	}{
		{"imagenet", 100, 1000, []law.Demand{{GPUs: 24, Share: 5}, {GPUs: 32, Share: 7}, {GPUs: 48, Share: 4}}},
		{"yolov3", 10, 100, []law.Demand{{GPUs: 4, Share: 38}}},
		{"bert", 1, 10, []law.Demand{{GPUs: 6, Share: 17}, {GPUs: 8, Share: 10}, {GPUs: 12, Share: 13}, {GPUs: 16, Share: 15}}},
		{"deepspeech2", 1, 10, []law.Demand{{GPUs: 6, Share: 20}, {GPUs: 8, Share: 21}, {GPUs: 12, Share: 24}}},
		{"cifar10", 0.1, 1, []law.Demand{{GPUs: 6, Share: 84}, {GPUs: 8, Share: 76}, {GPUs: 12, Share: 86}, {GPUs: 16, Share: 65}}},
		{"ncf", 0.1, 1, []law.Demand{{GPUs: 1, Share: 315}}},
	} {
		for _, d := range application.jobs {
			p.kinds = append(p.kinds, kind{gpus: d.GPUs, share: d.Share / total, model: application.model,
				duration: law.Table{{P: 0, Value: application.from * 3600 / d.GPUs}, {P: 1, Value: application.to * 3600 / d.GPUs}}})
		}
	}
	return p
}
