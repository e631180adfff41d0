package proof

import (
	"bytes"
	"fmt"

	"yardstick/internal/output"
	"yardstick/sched"
)

// Names of files in the folder of a proof.
const (
	ProblemName = "instance.txt"
	ReadmeName  = "README.md"
)

// Section is a proof in one format: what it proves, its files by name, and what the README
// of the folder says of it, in Markdown with headings of the second level.
type Section struct {
	Claim  Claim
	Files  map[string][]byte
	Readme string
}

// Folder returns the files of a folder that strangers check: the problem, those of the
// sections, and a README that takes a reader from the instance to a verdict. reached says
// whether a schedule of the instance is known that has the value of the claim.
func Folder(in *sched.Instance, p *Problem, claim Claim, reached bool, sections ...Section) map[string][]byte {
	files := map[string][]byte{ProblemName: p.Text()}
	var b bytes.Buffer
	value := p.Value(claim.Value).RatString()
	unit := "microseconds"
	if p.Objective.Weighted() {
		unit = "microseconds times weight"
	}
	fmt.Fprintf(&b, "# A proof about %s\n\n", output.Name(in.Name))
	fmt.Fprintf(&b, "Instance of sha256 `%s`, objective `%s`, schedules of class %s: %d jobs on %d GPUs.\n\n", p.Instance, p.Objective, p.Class, len(p.Jobs), p.Capacity)
	fmt.Fprintf(&b, "**Claim.** No schedule of `%s` costs less than %v.", ProblemName, claim.Value)
	if claim.Starts != nil {
		b.WriteString(" One costs as much, so that this is the optimum of that problem.")
	}
	fmt.Fprintf(&b, "\n\nFor the instance: no schedule has a `%s` below %s %s.", p.Objective, value, unit)
	switch {
	case reached:
		b.WriteString(" A schedule has it: **this is the optimum**.")
	case claim.Starts != nil && p.Placed:
		b.WriteString(" No schedule that is known has it: for the instance, whose jobs run the slower the more they are spread, this is a lower bound.")
	}
	b.WriteString("\n")
	for _, s := range sections {
		for name, data := range s.Files {
			files[name] = data
		}
		b.WriteString("\n" + s.Readme)
		if s.Claim.Value.Cmp(claim.Value) < 0 {
			fmt.Fprintf(&b, "\n**Of this form the proof is one of a bound**: it shows that no schedule of `%s` costs less than %v, and the claim above is shown by the other form.\n", ProblemName, s.Claim.Value)
		}
	}
	p.mapping(&b, in)
	files[ReadmeName] = b.Bytes()
	return files
}

// mapping says how the integers follow from the instance.
func (p *Problem) mapping(b *bytes.Buffer, in *sched.Instance) {
	fmt.Fprintf(b, "\n## From the instance to the integers\n\nOne unit of time is %d microseconds", int64(p.Unit))
	if p.Class.Slotted {
		b.WriteString(", the instance's slot; releases and durations are rounded up to whole slots, as jobs of this class start and leave at boundaries of slots")
	} else {
		b.WriteString(", which all releases and durations are multiples of")
	}
	if p.Servers != nil {
		fmt.Fprintf(b, ". The servers have %v GPUs. ", p.Servers)
	} else {
		fmt.Fprintf(b, ". The GPUs of all servers are one pool of %d. ", p.Capacity)
	}
	switch {
	case p.Makespan:
		b.WriteString("The cost is the last end, and weights are 0. ")
	case p.Objective.Weighted():
		b.WriteString("The cost is the sum of weight times end; weights of the instance are floating-point numbers, which are integers times powers of two: the integers here stand in the same proportions exactly. ")
	default:
		b.WriteString("The cost is the sum of all ends, with weights of 1. ")
	}
	fmt.Fprintf(b, "The objective is %s · cost + %s, in microseconds.\n\n", p.Scale.RatString(), p.Offset.RatString())
	b.WriteString("A duration is the job's load and its least running time over all placements: `iters` times the time of an iteration, rounded up to microseconds. ")
	b.WriteString("For a job of one stage that has nothing to synchronise, an iteration takes `compute`, wherever it runs.")
	if p.Placed {
		b.WriteString(" For other jobs, the least time of an iteration follows from the model of the instance, and has to be believed or computed anew; a schedule on servers takes no less, so that what holds for the pool with least durations holds for it.")
	}
	if p.Servers != nil {
		b.WriteString(" Here the patterns of `instance.txt` have the least time for each way to cut the gang, in units rounded up; the table has the least of them.")
	}
	b.WriteString("\n\n| job | name | release µs | duration µs | weight | in units: release | duration | GPUs | weight |\n|---|---|---|---|---|---|---|---|---|\n")
	for i, j := range p.Jobs {
		unit := int64(p.Unit)
		fmt.Fprintf(b, "| %d | %s | %d | ", i, cell(in.Jobs[i].Name), int64(in.Jobs[i].Release))
		if p.Class.Slotted {
			fmt.Fprintf(b, "at most %d", j.Duration*unit)
		} else {
			fmt.Fprintf(b, "%d", j.Duration*unit)
		}
		fmt.Fprintf(b, " | %v | %d | %d | %d | %d |\n", in.Jobs[i].Weight, j.Release, j.Duration, j.Gang, j.Weight)
	}
}

// cell returns a name as a table of Markdown shows it.
func cell(name string) string {
	return string(bytes.ReplaceAll([]byte(output.Name(name)), []byte("|"), []byte(`\|`)))
}
