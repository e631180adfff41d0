package catalogue

import "yardstick/sched"

// Exact is an exact method, a formulation of bench solve.
type Exact struct {
	Name  string
	Model sched.Model // whose schedules it is exact for
	About string
}

// ExactMethods lists the exact methods, those of a model in the order in which they
// are tried.
func ExactMethods() []Exact {
	return []Exact{
		{"exhaustive", sched.ModelGang, "branch and bound over semi-active schedules, continuous time"},
		{"time-indexed", sched.ModelGang, "integer program over start slots, continuous time"},
		{"bout-dp", sched.ModelPreemptive, "dynamic program over preemptive schedules, in slots"},
		{"bouts", sched.ModelPreemptive, "integer program over the bouts of jobs, in slots"},
		{"sharing-search", sched.ModelSharing, "branch and bound over schedules that share GPUs, in slots"},
		{"elastic-optimum", sched.ModelElastic, "branch and price over configurations, in slots"},
	}
}

// ExactNames lists the exact methods of a model, or all of them for "".
func ExactNames(model sched.Model) (names []string) {
	for _, m := range ExactMethods() {
		if model == "" || model == m.Model {
			names = append(names, m.Name)
		}
	}
	return names
}
