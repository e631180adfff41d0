package reproduce

const asrptPaper = "Z. Luo, J. Liu, M. Lee, N. B. Shroff, Prediction-Assisted Online Distributed Deep Learning Workload Scheduling in GPU Clusters, INFOCOM 2025"

// asrpt returns the items of its paper.
func asrpt() []Item {
	return []Item{
		{
			Name: "asrpt-table2", Paper: asrptPaper, Make: asrptTable2,
			Caption: "Table II: iteration time and time to place, Heavy-Edge against the optimum, 20 random fragmentations",
			Differs: []string{
				"Profiles follow from the published architectures by a roofline of a V100 (docs/profiles.md); the paper's are measured and not public.",
				"The paper does not say how many GPUs the two jobs have: here VGG19 is cut into 4 stages on 16 GPUs and GPT-175B into 64 on 64.",
				"The optimum is proven by combinatorial search (docs/placement.md) and, beside it, by the integer program under our own branch and bound with 10 s per case; the paper used Gurobi.",
			},
		}, {
			Name: "asrpt-fig5", Paper: asrptPaper, Suites: []string{"asrpt-fig5"}, Make: asrptFig5,
			Caption: "Figure 5: total JCT and makespan of three sets of 75 jobs on 14 GPUs",
			Differs: append(asrptDiffers(), "Replayed, not run on GPUs: profiles of a V100 stand for those of the paper's slices of an H100, and jobs start without its 5 s of overhead.",
				"Jobs of more than 14 GPUs are left out; the paper does not say what it did with them."),
		}, {
			Name: "asrpt-fig6", Paper: asrptPaper, Suites: []string{"asrpt-fig6"}, Make: asrptSweep("slice.jobs", "number of jobs"), Differs: asrptLoaded(),
			Caption: "Figure 6: total job completion time by number of jobs, 250 servers of 8 GPUs",
		}, {
			Name: "asrpt-fig7", Paper: asrptPaper, Suites: []string{"asrpt-fig7"}, Make: asrptSweep("singleShare", "share of single-GPU jobs"), Differs: asrptLoaded(),
			Caption: "Figure 7: total job completion time by share of single-GPU jobs, 75,000 jobs",
		}, {
			Name: "asrpt-fig8", Paper: asrptPaper, Suites: []string{"asrpt-fig8"}, Make: asrptSweep("cluster.inter", "bandwidth between servers"), Differs: asrptLoaded(),
			Caption: "Figure 8: total job completion time by bandwidth between servers, 75,000 jobs, none on a single GPU",
		}, {
			Name: "asrpt-fig9", Paper: asrptPaper, Suites: []string{"asrpt-fig9"}, Make: asrptFig9, Differs: append(asrptLoaded(),
				"The paper does not say what its mean and median are of. A forest on group and user is nearly the mean of the group, and the paper's differ: here they are of all jobs, and those of the group stand beside.",
				"Right is an error in the first bar of Figure 4, 10 of the 593 iterations that the mean is off by. The trace is calibrated on that figure, which is therefore no result."),
			Caption: "Figure 9: total job completion time by what predicts, 75,000 jobs",
		}, {
			Name: "asrpt-loads", Paper: asrptPaper, Suites: []string{"asrpt-loads"}, Make: asrptSweep("offeredLoad", "offered load"), Differs: asrptDiffers(),
			Caption: "Not in the paper: total job completion time by offered load, 75,000 jobs",
		},
	}
}

// asrptDiffers is what all items on traces have in common.
func asrptDiffers() []string {
	return []string{
		"The trace is generated: it has the published figures of the PAI trace, and repeats as often as makes predictions right as in Figure 4 (docs/generator.md).",
		"Profiles follow from the published architectures by a roofline of a V100 (docs/profiles.md); the paper's are measured and not public.",
		"Total JCT counts from the release of each job, total completion time from the first release: the paper's figures fit the former, its Theorem 1 is about the latter. Lower bounds are proven (docs/bounds.md), so that a ratio is at least the true one.",
	}
}

// asrptLoaded is what the simulations have in common.
func asrptLoaded() []string {
	return append(asrptDiffers(),
		"Jobs on more than one GPU take a configuration of our profiles, which are of more GPUs than the trace's: as they come in the trace, they offer the cluster two to nine times what it can do. The paper does not say what its cluster is offered; at a load of 0.9 the same jobs come further apart.",
		"The paper does not say what tau is: it is 1, and 100 in the rows that say so.")
}

// asrptMethod is a policy under the name that the paper uses, and by asrptKey.
type asrptMethod struct{ name, method string }

func asrptMethods() []asrptMethod {
	return append([]asrptMethod{{"A-SRPT", "a-srpt"}, {"A-SRPT-Perfect", "a-srpt-perfect"}}, asrptBaselines()...)
}

func asrptBaselines() []asrptMethod {
	return []asrptMethod{{"SPJF", "spjf"}, {"SPWF", "spwf"}, {"WCS-Duration", "wcs-duration"}, {"WCS-Workload", "wcs-workload"}, {"WCS-SubTime", "wcs-subtime"}}
}

// asrptPatience is the parameter of policies that wait for a better placement a
// hundred times as long as by default.
const asrptPatience = "tau=100"

// asrptVariants are A-SRPT as it predicts and told the truth, with either tau.
func asrptVariants() []asrptMethod {
	return []asrptMethod{{"A-SRPT, tau 1", "a-srpt"}, {"A-SRPT, tau 100", "a-srpt " + asrptPatience},
		{"A-SRPT-Perfect, tau 1", "a-srpt-perfect"}, {"A-SRPT-Perfect, tau 100", "a-srpt-perfect " + asrptPatience}}
}
