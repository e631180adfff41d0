package hunt

import (
	"fmt"
	"strings"

	"yardstick/sched"
)

// Words describes a small instance in a sentence: its jobs in order, equal ones
// together. Sizes that an instance of a Space does not have are left out.
func Words(in *sched.Instance) string {
	words := hunted[in.Model].words
	var list []string
	for i := 0; i < len(in.Jobs); {
		text := words(in, &in.Jobs[i])
		n := 1
		for i+n < len(in.Jobs) && words(in, &in.Jobs[i+n]) == text {
			n++
		}
		i += n
		if n > 1 {
			text = fmt.Sprintf("%d × %s", n, text)
		}
		list = append(list, text)
	}
	text := strings.Join(list, "; ")
	if rest := hunted[in.Model].rest; rest != nil {
		text += "; " + rest(in)
	}
	return text
}

// gangWords describes a gang.
func gangWords(_ *sched.Instance, j *sched.Job) string {
	var b strings.Builder
	var parts []string
	for _, st := range j.Stages {
		parts = append(parts, fmt.Sprint(st.Replicas))
	}
	compute := j.Stages[0].Compute
	fmt.Fprintf(&b, "%s GPU", strings.Join(parts, "+"))
	if j.Gang() > 1 {
		b.WriteByte('s')
	}
	fmt.Fprintf(&b, " for %v", sched.Time(j.Iters)*sched.Time(compute/1000))
	if j.Stages[0].Params > 0 {
		fmt.Fprintf(&b, " (%v to exchange)", j.Stages[0].Params)
	}
	if j.Stages[0].Boundary > 0 {
		fmt.Fprintf(&b, " (%v between stages)", j.Stages[0].Boundary)
	}
	return b.String() + timeWords(j)
}

// timeWords says of any job when it is released and what its times are worth.
func timeWords(j *sched.Job) string {
	text := fmt.Sprintf(" at %v", j.Release)
	if j.Weight != 1 {
		text += fmt.Sprintf(", weight %v", j.Weight)
	}
	if j.Load > 0 {
		text += fmt.Sprintf(", load %v", j.Load)
	}
	if j.Pause > 0 {
		text += fmt.Sprintf(", pause %v", j.Pause)
	}
	return text
}
