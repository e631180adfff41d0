package reproduce

import "context"

const primalDualPaper = "R. Zhou, J. Pang, Q. Zhang, C. Wu, L. Jiao, Y. Zhong, Z. Li, Online Scheduling Algorithm for Heterogeneous Distributed Machine Learning Jobs, IEEE TCC 2022, Section 7"

// primalDual returns the items of its paper. All are made of one suite.
func primalDual() []Item {
	item := func(name, caption string, make func(context.Context, Input) (*Output, error), differs ...string) Item {
		return Item{Name: name, Paper: primalDualPaper, Caption: caption, Suites: []string{"primal-dual"}, Make: make, Differs: append(primalDualDiffers(), differs...)}
	}
	return []Item{
		item("primal-dual-fig2", "Figure 2: total weighted completion time by the number of jobs, parameter servers", primalDualByJobs("false")),
		item("primal-dual-fig3", "Figure 3: total weighted completion time by the number of servers, parameter servers", primalDualByServers("false")),
		item("primal-dual-fig4", "Figure 4: total weighted completion time of A_online by F", primalDualFactor("factor"),
			"The paper does not say by how much it varies F. Here F is what the jobs need, times a factor."),
		item("primal-dual-fig5", "Figure 5: total weighted completion time by the number of jobs, Ring-AllReduce", primalDualByJobs("true")),
		item("primal-dual-fig6", "Figure 6: total weighted completion time by the number of servers, Ring-AllReduce", primalDualByServers("true")),
		item("primal-dual-fig7", "Figure 7: running time of A_online by the number of jobs, both architectures", primalDualTimes,
			"The paper's times are of MATLAB on an Intel Core i3-6100; here processor time of this program on the machine at hand."),
		item("primal-dual-fig8", "Figure 8: weight done by a deadline, A_maxweight and the greedy algorithm of Jain et al., by the number of jobs", primalDualWeight,
			"The greedy algorithm is a reading of a citation: by density, from the deadline backwards, jobs keep their containers."),
		item("primal-dual-fig9", "Figure 9: total weighted completion time of A_online by the type of workers that all jobs employ", primalDualTypes,
			"The paper's four types are instances of Amazon EC2; here each of the eight types drawn is the only one in turn."),
		item("primal-dual-fig10", "Figure 10: total weighted completion time of A_online by the number of workers", primalDualWorkers,
			"The paper plots \"the computing process\" of the number of workers; here it is the most that a job may have."),
		item("primal-dual-fig11", "Figure 11: weight done by a deadline by A_maxweight, by F", primalDualFactor("weight-factor"),
			"The paper does not say by how much it varies F. Here F is what the jobs need, times a factor."),
		item("primal-dual-fig12", "Figure 12: weight done by a deadline by A_maxweight, by the numbers of servers and jobs", primalDualWeightByServers),
	}
}

// primalDualDiffers is what all items have in common.
func primalDualDiffers() []string {
	return []string{
		"The figures are images: the paper's text has no numbers but \"at least 30 %\" (Figure 2) and \"< 2 minutes\" (Figure 7), so that shapes are compared.",
		"Jobs, containers and servers are drawn from the ranges of Section 7 (docs/instances.md); servers have together 0.35 of what the jobs ask for at their fastest, whatever their number, in proportion to EC2 instances; the paper has about 0.2 to 0.5 and does not say how servers share it.",
		"Jobs arrive as in a generated trace, at a rate that does not depend on their number: 100 of them within about 160 slots, and fewer within less. The paper's T is given.",
		"A_online is the certified form with the paper's prices, exact pricing and jobs by density. Fill and shift are ours; literal is Algorithms 1 to 3 with alpha = 4, exact pricing and T the horizon of each round (docs/primaldual.md).",
		"A job that was stopped loads for a slot at its next start.",
	}
}

// primalDualScheduler is a method with the name that tables give it.
type primalDualScheduler struct{ name, method string }

func primalDualSchedulers() []primalDualScheduler {
	return []primalDualScheduler{
		{"A_online", "primal-dual"},
		{"A_online, fill and shift", "primal-dual(fill=true,prices=normalised,shift=true)"},
		{"A_online, literal", "primal-dual(alpha=4,form=literal,schedules=exact,slots=horizon)"},
		{"FIFO", "elastic-fifo"},
		{"DRF", "elastic-drf"},
		{"AntMan", "elastic-antman"},
		{"Tiresias", "elastic-tiresias"},
	}
}

func primalDualWeighers() []primalDualScheduler {
	return []primalDualScheduler{
		{"A_maxweight", "a-maxweight"},
		{"A_maxweight, normalised, fill", "a-maxweight(fill=true,prices=normalised)"},
		{"greedy by density", "elastic-density"},
	}
}
