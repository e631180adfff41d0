package reproduce

const sharingPaper = "Y. Luo, Q. Wang, S. Shi, J. Lai, S. Qi, J. Zhang, X. Wang, Scheduling Deep Learning Jobs in Multi-Tenant GPU Clusters via Wise Resource Sharing, 2024"

// sharing returns the items of its paper.
func sharing() []Item {
	return []Item{
		{
			Name: "sjf-bsbf-fig2", Paper: sharingPaper, Make: sharingFig2,
			Caption: "Figure 2: throughput of the six tasks by GPUs and mini-batch, Eqs. (3), (4), (7) and (14) fitted to measurements",
			Differs: []string{"The paper measured on 16 GeForce RTX 2080 Ti and publishes no numbers; here are the curves fitted to the measurements that Pollux (OSDI 2021) and Sia (SOSP 2023) published, on the Quadro RTX 6000. The measurements themselves are not part of this program."},
		}, {
			Name: "sjf-bsbf-fig3", Paper: sharingPaper, Make: sharingFig3,
			Caption: "Figure 3: throughput of the tasks beside CIFAR10, and the interference ratio xi",
			Differs: []string{"Factors are synthetic (package interference): the paper publishes none. They are at most 2; the paper's reach 6. docs/reproduction/sharing.md has what the same model says of Gavel's measured pairs."},
		}, {
			Name: "sjf-bsbf-table2", Paper: sharingPaper, Suites: []string{"sjf-bsbf-physical"}, Make: sharingTable2, Differs: sharingDiffers(),
			Caption: "Table II: makespan and average JCT of 30 jobs on 4 servers of 4 GPUs",
		}, {
			Name: "sjf-bsbf-table3", Paper: sharingPaper, Suites: []string{"sjf-bsbf-240"}, Make: sharingTable3, Differs: sharingDiffers(),
			Caption: "Table III: average JCT and queueing time of 240 jobs on 16 servers of 4 GPUs",
		}, {
			Name: "sjf-bsbf-table4", Paper: sharingPaper, Suites: []string{"sjf-bsbf-480"}, Make: sharingTable4, Differs: append(sharingDiffers(),
				"The paper's queueing times of FIFO are those of SJF-FFS, digit by digit; by its JCT, FIFO's must be near 6.8 h."),
			Caption: "Table IV: average JCT and queueing time of 480 jobs on 16 servers of 4 GPUs",
		}, {
			Name: "sjf-bsbf-fig4", Paper: sharingPaper, Suites: []string{"sjf-bsbf-physical"}, Make: sharingFig4, Differs: sharingDiffers(),
			Caption: "Figure 4: distribution of JCT, and queueing time by task, on 4 servers of 4 GPUs",
		}, {
			Name: "sjf-bsbf-fig5", Paper: sharingPaper, Suites: []string{"sjf-bsbf-240"}, Make: sharingFig5, Differs: sharingDiffers(),
			Caption: "Figure 5: distribution of JCT, and queueing time by task, of 240 jobs on 16 servers of 4 GPUs",
		}, {
			Name: "sjf-bsbf-fig6", Paper: sharingPaper, Suites: []string{"sjf-bsbf-load", "sjf-bsbf-xi"}, Make: sharingFig6, Differs: sharingDiffers(),
			Caption: "Figure 6: average JCT by load and by injected interference ratio",
		}, {
			Name: "sjf-bsbf-batches", Paper: sharingPaper, Make: sharingBatches, Differs: sharingDiffers(),
			Caption: "Not in the paper: how often Algorithm 2 does not take the largest sub-batch, where interference depends on it",
		},
	}
}

// sharingDiffers is what all items of a suite have in common.
func sharingDiffers() []string {
	return []string{
		"The workloads are not published. Ours are generated with the mean running times, shares of large jobs and density that the paper's tables imply (docs/generator.md); values are means over several windows, their range in brackets.",
		"Iteration times are fitted to measurements on the Quadro RTX 6000, mini-batches and memory made up, interference synthetic. GPUs have the 24 GB of that card unless a table says 11 GB, as the paper's have.",
		"SJF-BSBF shares where that lowers the sum of the pair's completion times (docs/sharing.md); “recheck” looks at all partners together, which is ours.",
		"Pollux-like changes the number of GPUs of jobs, not their mini-batches, and knows all speeds; a stop costs it and Tiresias 30 s.",
		"Each policy is divided by the best proven bound of a class that its own reaches: SP0 for FIFO, SJF, Tiresias and the sharing policies, F(min) for the malleable one. Ratios of the two kinds do not compare.",
	}
}

// sharingPolicy is one of the compared policies.
type sharingPolicy struct{ name, method string }

func sharingPolicies() []sharingPolicy {
	return []sharingPolicy{{"FIFO", "sharing-fifo"}, {"SJF", "sharing-sjf"}, {"Tiresias", "tiresias-las"}, {"Pollux", "pollux-like"},
		{"SJF-FFS", "sjf-ffs"}, {"SJF-BSBF", "sjf-bsbf"}, {"SJF-BSBF, recheck", "sjf-bsbf(recheck=true)"}}
}

// sharingFamily is a family of instances of the suites, with what it is called.
type sharingFamily struct{ name, title string }

func sharingFamilies() []sharingFamily {
	return []sharingFamily{{"jobs", "the paper's workload as far as it is known"}, {"memory", "the same on GPUs of 11 GB"}, {"pollux", "the workload of Pollux's simulator, without ImageNet"}}
}

// sharingTable2Published is Table II in seconds: makespan, average JCT.
func sharingTable2Published() map[string][2]string {
	return map[string][2]string{"FIFO": {"2317", "662.6"}, "SJF": {"2319", "609.55"}, "Tiresias": {"2398", "664.73"}, "SJF-FFS": {"2176", "530.36"}, "SJF-BSBF": {"2129", "483.16"}}
}

// sharingTable3Published is Table III in hours: average JCT of all, large and small jobs,
// and average queueing time of the same.
func sharingTable3Published() map[string][6]string {
	return map[string][6]string{
		"FIFO": {"2.34", "3.92", "2.13", "1.65", "2.17", "1.58"}, "SJF": {"1.25", "3.50", "0.94", "0.56", "1.76", "0.39"},
		"Tiresias": {"1.51", "3.48", "1.23", "0.81", "1.73", "0.68"}, "Pollux": {"1.04", "1.96", "0.91", "1.00", "1.21", "0.97"},
		"SJF-FFS": {"1.23", "4.29", "0.81", "0.18", "0.98", "0.07"}, "SJF-BSBF": {"1.01", "3.38", "0.68", "0.14", "0.89", "0.03"}}
}

// sharingTable4Published is Table IV likewise.
func sharingTable4Published() map[string][6]string {
	return map[string][6]string{
		"FIFO": {"7.52", "10.06", "7.08", "0.73", "4.06", "0.21"}, "SJF": {"2.55", "7.00", "1.90", "1.87", "5.35", "1.35"},
		"Tiresias": {"5.09", "8.25", "4.59", "4.41", "6.60", "4.04"}, "Pollux": {"4.69", "6.03", "4.51", "4.41", "5.03", "4.31"},
		"SJF-FFS": {"1.89", "8.12", "0.99", "0.73", "4.06", "0.21"}, "SJF-BSBF": {"1.57", "6.13", "0.88", "0.69", "3.62", "0.21"}}
}
