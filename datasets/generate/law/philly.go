package law

// The figures of Microsoft's Philly trace (Jeon et al., "Analysis of
// Large-Scale Multi-Tenant GPU Clusters for DNN Training Workloads", USENIX ATC
// 2019) in the cleaned form published with Pollux (Qiao et al., OSDI 2021, file
// philly.csv of the AdaptDL repository): statistics of 70,063 of its 82,247
// rows, all but those of four virtual clusters.

// PhillyInterArrival is the mean time between submissions, in seconds.
const PhillyInterArrival = 134.3

// PhillyDuration is the law of running times, in seconds. The value at 0.999 is
// not the file's (1,106,514 s): lines between the others overstate the tail, and
// this one is set so that the mean is the file's, 10,563 s.
func PhillyDuration() Table {
	return Table{{0, 1}, {0.01, 16}, {0.05, 46}, {0.10, 59}, {0.25, 81}, {0.40, 535}, {0.50, 1081}, {0.60, 1815}, {0.75, 2739},
		{0.80, 3765}, {0.90, 9031}, {0.95, 24_299}, {0.97, 59_667}, {0.98, 96_764}, {0.99, 189_527}, {0.999, 670_000}, {1, 4_628_226}}
}

// Demand is a share of the jobs that ask for a number of GPUs.
type Demand struct {
	GPUs, Share float64
	// Longer is how far jobs of the demand are shifted in the ranking by
	// running time, in standard deviations, which makes GPU-hours per job
	// agree.
	Longer float64
}

// PhillyDemand lists the demands above one GPU, largest first; what is left
// asks for one.
func PhillyDemand() [7]Demand {
	return [...]Demand{{128, 0.0001, 0.6}, {64, 0.0001, 0.6}, {32, 0.0004, 0.8}, {16, 0.0024, 1.6}, {8, 0.012, 1.6}, {4, 0.017, 1.6}, {2, 0.023, 0}}
}

// PhillyVC gives the share of jobs per virtual cluster.
func PhillyVC() [11]float64 {
	return [...]float64{0.588, 0.230, 0.106, 0.028, 0.022, 0.016, 0.006, 0.002, 0.001, 0.0007, 0.0003}
}

// PhillyHour and PhillyWeekday are the rates of submission by hour of the day
// and by day of the week, Monday first, relative to the mean.
func PhillyHour() [24]float64 {
	return [...]float64{1.3, 1.0, 1.1, 1.1, 0.7, 1.1, 1.8, 2.2, 1.2, 1.1, 1.1, 0.9, 0.8, 0.7, 0.7, 0.6, 0.9, 0.6, 0.7, 0.7, 1.0, 0.9, 1.1, 1.0}
}

// PhillyWeekday: see PhillyHour.
func PhillyWeekday() [7]float64 {
	return [...]float64{0.85, 1.04, 1.08, 1.28, 1.54, 0.62, 0.60}
}
