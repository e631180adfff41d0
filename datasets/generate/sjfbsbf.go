package generate

import "yardstick/datasets/generate/law"

// The profiles of this file imitate the workloads of the SJF-BSBF paper (Luo et
// al., "Scheduling Deep Learning Jobs in Multi-Tenant GPU Clusters via Wise
// Resource Sharing"), which are not published.
//
// What its Tables III and IV imply of the simulated one: under FIFO, SJF and
// Tiresias a job's completion time less its queueing time is 1.75 h on average for
// jobs of more than four GPUs, and 0.55 h for others, and the mean over all
// jobs puts 12.2 % of them among the large. FIFO's queueing time rises from
// 1.65 h with 240 jobs to nearly 7 h with 480: as on 64 GPUs that 2.9 GPU-hours
// per job keep busy for 11 and 22 hours, if both come within 8. Running times are
// log-uniform (assumed) with these means; by that law two in five jobs run for
// less than 500 s, about as many as complete within that in the paper's Figure
// 5(a). Gangs within the two classes are assumed.

// bsbfTasks are the paper's six tasks, each as frequent (assumed).
var bsbfTasks = [...]string{"bert", "cifar10", "deepspeech2", "imagenet", "ncf", "yolov3"}

// bsbfProfile is that of the simulations.
func bsbfProfile() profile {
	small, large := span(0.02*3600, 2.72*3600), span(0.1*3600, 7.7*3600)
	return bsbfKinds(8*3600/240.0, []law.Demand{{GPUs: 16, Share: 0.037}, {GPUs: 8, Share: 0.085}, {GPUs: 4, Share: 0.118}, {GPUs: 2, Share: 0.11}, {GPUs: 1, Share: 0.65}},
		func(gpus float64) law.Law {
			if gpus > 4 {
				return large
			}
			return small
		})
}

// bsbfTestbedProfile is that of the testbed: 20 jobs of up to 8 GPUs and 10 of 12
// or 16, with 100 to 5,000 iterations. Its running times, log-uniform (assumed)
// from 20 to 650 s, are 185 s on average: 30 jobs then keep 16 GPUs busy for about
// the 2,130 to 2,400 s of the makespans of Table II. That they come 47 s
// apart is assumed, so that FIFO's queueing time comes near the paper's.
func bsbfTestbedProfile() profile {
	all := span(20, 650)
	return bsbfKinds(47, []law.Demand{{GPUs: 16, Share: 1.0 / 6}, {GPUs: 12, Share: 1.0 / 6}, {GPUs: 8, Share: 0.1}, {GPUs: 4, Share: 0.15}, {GPUs: 2, Share: 0.15}, {GPUs: 1, Share: 4.0 / 15}},
		func(float64) law.Law { return all })
}

// span is log-uniform between two running times in seconds.
func span(from, to float64) law.Law { return law.Table{{P: 0, Value: from}, {P: 1, Value: to}} }

func bsbfKinds(interArrival float64, demands []law.Demand, duration func(gpus float64) law.Law) profile {
	p := base()
	p.interArrival = interArrival
	p.hours, p.days = []float64{1}, []float64{1}
	p.batch, p.recurrent, p.correlation = 1, 0, 0 // programs run four times at most
	for _, d := range demands {
		for _, task := range bsbfTasks {
			p.kinds = append(p.kinds, kind{gpus: d.GPUs, share: d.Share / float64(len(bsbfTasks)), model: task, duration: duration(d.GPUs)})
		}
	}
	return p
}
