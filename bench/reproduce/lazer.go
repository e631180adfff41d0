package reproduce

const lazerPaper = "Y. Go, C. Shin, M. Kang, J. Hwang, C. Yoo, G. Yang, Making Sense of Job Preemption for Distributed Deep Learning Acceleration, DAC 2026"

// lazer returns the items of its paper.
func lazer() []Item {
	return []Item{
		{
			Name: "lazer-fig3", Paper: lazerPaper, Suites: []string{"lazer-earth"}, Make: lazerFig3, Differs: lazerDiffers(),
			Caption: "Figure 3: median JCT and its breakdown into waiting, loading, training and pausing, Earth",
		}, {
			Name: "lazer-fig4", Paper: lazerPaper, Suites: []string{"lazer-earth"}, Make: lazerFig4, Differs: lazerDiffers(),
			Caption: "Figure 4: share of the GPU time that futile preemptions waste, Earth",
		}, {
			Name: "lazer-fig5", Paper: lazerPaper, Suites: []string{"lazer-earth"}, Make: lazerFig5, Differs: lazerDiffers(),
			Caption: "Figure 5: median waiting time, normalised to SJF, Earth",
		}, {
			Name: "lazer-fig8abc", Paper: lazerPaper, Suites: []string{"lazer-testbed"}, Make: lazerFig8abc,
			Caption: "Figure 8a-c: JCT, waiting time and futile-preemption time of 100 jobs of Earth on 16 GPUs, normalised to Lazer",
			Differs: append(lazerDiffers(), "The paper ran one sample of 100 jobs on a testbed; here 20 samples are replayed, and percentiles are over the jobs of all of them.",
				"Jobs of more than 16 GPUs are left out. Figure 8d, the utilisation of GPU cores, is not something that a replay can measure."),
		}, {
			Name: "lazer-fig8e", Paper: lazerPaper, Make: lazerFig8e, Differs: append(lazerDiffers(),
				"F does not depend on X here (docs/lazer.md), so that all searches meet the same decisions, those of SRTF."),
			Caption: "Figure 8e: best f(X|c) found by Bayesian optimisation, random and grid search in 100 searches",
		}, {
			Name: "lazer-fig8f", Paper: lazerPaper, Make: lazerFig8f, Differs: append(lazerDiffers(),
				"Time of one call of the policy by the simulator, on the machine at hand; the paper's is Python's."),
			Caption: "Figure 8f: average scheduling delay per decision",
		}, {
			Name: "lazer-table2", Paper: lazerPaper, Suites: []string{"lazer-earth", "lazer-saturn", "lazer-uranus"}, Make: lazerTable2, Differs: lazerDiffers(),
			Caption: "Table 2: JCT, waiting time and futile-preemption time in large-scale simulation (minutes)",
		}, {
			Name: "lazer-loads", Paper: lazerPaper, Suites: []string{"lazer-loads", "lazer-testbed"}, Make: lazerLoads, Differs: lazerDiffers(),
			Caption: "Not in the paper: what deferring does as loads take longer, Earth on 512 GPUs and its samples on 16",
		}, {
			Name: "lazer-bursts", Paper: lazerPaper, Make: lazerBursts,
			Caption: "Not in the paper: what deferring does as jobs come in bursts, synthetic workloads",
		},
	}
}

// lazerDiffers is what all items have in common.
func lazerDiffers() []string {
	return []string{
		"The traces are generated: they have the number of jobs, the mean time between arrivals and the mean training time of table 1, and otherwise the published figures of the Helios clusters (docs/generator.md).",
		"Loads and pauses follow from a model's size (docs/instances.md), about 1 s, and a startup; the paper measured them and does not publish them. A startup of 3 s is our inference from its section 3.2, 100 s its h; measured restarts of other systems lie between 15 and 250 s.",
		"Lazer learns from the F that should have been chosen; with observed F from the load that was wasted, as the paper says. Warmed up, its predictor has gone through 110 preemptions of earlier jobs, after which it learns no more.",
		"Pollux, Muri and Optimus are the periodic schedulers that the paper calls by these names: they repack by remaining time every 60, 360 and 600 s.",
	}
}

// lazerScheduler is one of the six of the comparison.
type lazerScheduler struct{ name, method string }

// lazerVariants are Lazer as it starts, under both readings of F, and after a warm-up.
func lazerVariants() []lazerScheduler {
	return []lazerScheduler{{"Lazer", "lazer"}, {"Lazer, observed F", "lazer(f=observed)"}, {"Lazer, warmed up", "lazer(warmup=110)"}, {"Lazer, both", "lazer(f=observed,warmup=110)"}}
}

func lazerSchedulers() []lazerScheduler {
	return []lazerScheduler{{"SJF", "sjf(blocking=skip,placement=pool)"}, {"SRTF", "srtf"}, {"Pollux", "periodic-60"}, {"Muri", "periodic-360"}, {"Optimus", "periodic-600"}, {"Lazer", "lazer"}}
}

// lazerTrace is a row group of Table 2, with its suite.
type lazerTrace struct{ name, family string }

func lazerTraces() []lazerTrace {
	return []lazerTrace{{"Earth", "earth"}, {"Saturn", "saturn"}, {"Uranus", "uranus"}}
}

// lazerPublished is Table 2 in minutes: metric, trace, then P50 and P95 of the
// schedulers in order.
func lazerPublished() map[string]map[string][]string {
	return map[string]map[string][]string{
		"JCT": {
			"Earth":  {"5.6", "12.6", "7.4", "29.0", "9.9", "94.5", "8.2", "24.4", "10.8", "22.9", "4.6", "10.4"},
			"Saturn": {"5.3", "129.5", "8.1", "595.1", "8.7", "2260.7", "6.6", "24.8", "9.6", "27.1", "2.8", "13.2"},
			"Uranus": {"14.6", "6999.9", "9.7", "245.6", "14.2", "1018.4", "11.1", "73.9", "12.8", "68.7", "5.9", "29.9"},
		},
		"Waiting time": {
			"Earth":  {"0.2", "50.7", "1.0", "255.0", "2.9", "1667.9", "4.5", "286.7", "6.9", "270.8", "0.1", "1.1"},
			"Saturn": {"0.4", "1286.3", "1.6", "13988.2", "3.1", "53772.9", "4.7", "329.6", "7.4", "418.8", "0.0", "4.6"},
			"Uranus": {"2.9", "167529.8", "1.8", "4835.8", "4.4", "23585.2", "5.82", "986.5", "8.7", "917.1", "0.2", "88.3"},
		},
		"Futile preemption": {
			"Earth":  {"0.0", "0.0", "1.3", "128.0", "6.4", "252.4", "0.0", "0.0", "0.0", "0.0", "0.1", "4.3"},
			"Saturn": {"0.0", "0.0", "4.0", "231.8", "7.6", "377.2", "0.0", "0.0", "0.0", "0.0", "0.2", "5.3"},
			"Uranus": {"0.0", "0.0", "1.7", "223.5", "2.8", "331.2", "0.0", "0.0", "0.0", "0.0", "0.0", "4.7"},
		},
	}
}
