package external_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"yardstick/heuristics/external"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// program is a policy at the other end of two pipes: a function from lines to lines. It
// says nothing to end, and ends when it is told no more.
func program(t *testing.T, answer func(question string) string) *peer {
	t.Helper()
	questions, toProgram := io.Pipe()
	fromProgram, answers := io.Pipe()
	p := &peer{external.NewConn(toProgram, fromProgram), toProgram, make(chan struct{})}
	t.Cleanup(p.close)
	go func() {
		defer close(p.ended)
		defer answers.Close()
		for lines := bufio.NewScanner(questions); lines.Scan(); {
			if a := answer(lines.Text()); a != "" {
				if _, err := io.WriteString(answers, a); err != nil {
					return
				}
			}
		}
	}()
	return p
}

// peer is the way to a program and its end.
type peer struct {
	*external.Conn
	input io.Closer
	ended chan struct{}
}

// close tells the program that nothing more will come, and waits for it.
func (p *peer) close() {
	p.input.Close()
	<-p.ended
}

// scripted answers line by line, and then no more.
func scripted(t *testing.T, lines ...string) *peer {
	return program(t, func(question string) string {
		if len(lines) == 0 {
			return ""
		}
		next := lines[0]
		lines = lines[1:]
		return next
	})
}

func gang(gpus int, seconds int64, release sched.Time, user string) sched.Job {
	return sched.Job{User: user, Group: "resnet", Release: release, Weight: 1, Iters: seconds, Stages: []sched.Stage{{Replicas: gpus, Compute: 1e9}}}
}

func twoGangs() *sched.Instance {
	return &sched.Instance{Name: "two", Model: sched.ModelGang, Cluster: sched.Uniform(1, 2, 1e9, 1e10),
		Jobs: []sched.Job{gang(1, 3, 0, "ann"), gang(2, 2, sched.Second, "bob")}}
}

// preemptive has a long job and a short one that comes later, with loads and pauses.
func preemptive() *sched.Instance {
	in := twoGangs()
	in.Model = sched.ModelPreemptive
	in.Jobs = []sched.Job{gang(2, 10, 0, "ann"), gang(1, 1, 4*sched.Second, "")}
	in.Jobs[0].Load, in.Jobs[0].Pause = sched.Second, sched.Second/2
	return in
}

// sharedGPUs has two jobs that fit one GPU together.
func sharedGPUs() *sched.Instance {
	in := twoGangs()
	in.Model, in.Interference = sched.ModelSharing, [][]float64{{1.5}}
	in.Cluster.Servers[0].GPUMemory = 100
	for i := range in.Jobs {
		in.Jobs[i].Stages[0].Replicas = 1
		in.Jobs[i].Sharing = &sched.Sharing{Accumulation: []sched.Accumulation{{Steps: 1, Iter: 1e9, Memory: 60}, {Steps: 2, Iter: 12e8, Memory: 40}},
			Sizes: []sched.Size{{GPUs: 1, Iter: 1e9, Memory: 60}, {GPUs: 2, Iter: 6e8, Memory: 40}}}
	}
	return in
}

// elasticJobs has a job with parameter servers and a ring, on two servers of unequal size.
func elasticJobs() *sched.Instance {
	return &sched.Instance{Name: "grows", Model: sched.ModelElastic, Slot: 10 * sched.Second,
		Cluster: sched.Cluster{Inter: 1e9, Intra: 1e10, Servers: []sched.Server{{GPUs: 4, Capacity: []int64{4, 400}}, {GPUs: 2, Capacity: []int64{2, 400}}}},
		Elastic: &sched.ElasticTypes{Resources: []string{"gpu", "bw"}, Bandwidth: 1, Workers: []sched.Container{{Demand: []int64{1, 50}}, {Demand: []int64{2, 50}}}, Servers: []sched.Container{{Demand: []int64{0, 100}}}},
		Jobs: []sched.Job{
			{User: "ann", Weight: 1, Elastic: &sched.Elastic{MaxWorkers: 4, Batches: 120, Train: []sched.Duration{1e9, 6e8}, Update: []sched.Duration{0}, Gradients: 1}},
			{Release: sched.Second, Weight: 2, Elastic: &sched.Elastic{Ring: true, MaxWorkers: 2, Batches: 20, Train: []sched.Duration{1e9, 6e8}, Update: []sched.Duration{0}, Gradients: 1}}}}
}

func run(t *testing.T, c *external.Conn, in *sched.Instance, o external.Options) (*sim.Result, error) {
	t.Helper()
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	p, err := external.New(c, in, o)
	if err != nil {
		return nil, err
	}
	r, err := sim.Run(context.Background(), in, p, sim.Options{})
	if err != nil {
		return nil, err
	}
	if _, err := verify.Check(in, r.Schedule); err != nil {
		t.Errorf("the schedule is invalid: %v", err)
	}
	return r, p.End(nil)
}

var examples = map[string]func() *sched.Instance{"two-gangs": twoGangs, "preemptive": preemptive, "sharing": sharedGPUs, "elastic": elasticJobs}

// The dialogues of the documentation are what is said, to the letter.
func TestDocumentedDialogues(t *testing.T) {
	page, err := os.ReadFile("../../docs/protocol-policy.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```dialogue instance=")
	if len(blocks) != len(examples)+1 {
		t.Fatalf("the page has %d dialogues, want %d", len(blocks)-1, len(examples))
	}
	for _, block := range blocks[1:] {
		text, _, _ := strings.Cut(block, "\n```")
		name, text, _ := strings.Cut(text, "\n")
		t.Run(name, func(t *testing.T) {
			lines := strings.Split(text, "\n")
			next := func(mark string) string {
				if len(lines) == 0 {
					return "nothing"
				}
				line, ok := strings.CutPrefix(lines[0], mark)
				if !ok {
					t.Fatalf("the page has %s where %q is due", lines[0], mark)
				}
				lines = lines[1:]
				return line
			}
			var asked strings.Builder
			conn := program(t, func(question string) string {
				fmt.Fprintf(&asked, "> %s\n", question)
				if want := next("> "); question != want {
					t.Errorf("asked %s\nwant  %s", question, want)
				}
				if len(lines) == 0 || strings.HasPrefix(question, `{"end"`) {
					return ""
				}
				a := next("< ")
				fmt.Fprintf(&asked, "< %s\n", a)
				return a + "\n"
			})
			predictor := "none"
			if strings.Contains(text, `"predictor":"perfect"`) {
				predictor = "perfect"
			}
			_, err := run(t, conn.Conn, examples[name](), external.Options{Instance: "e1", Objective: "total-jct", Seed: 7, Predictor: predictor})
			if err != nil {
				t.Error(err)
			}
			conn.close()
			if t.Failed() || len(lines) > 0 {
				t.Errorf("not said: %q; all that was:\n%s", lines, asked.String())
			}
		})
	}
}

const hello = `{"hello":{"name":"mine","class":"N"}}` + "\n"

// Every fault of a policy is an error of one line that says what it is.
func TestFaults(t *testing.T) {
	introduced := func(class, rest string) string {
		return fmt.Sprintf(`{"hello":{"name":"mine","class":%q%s}}`+"\n", class, rest)
	}
	for name, c := range map[string]struct {
		in      func() *sched.Instance
		answers []string
		want    string
	}{
		"no hello":              {nil, []string{"{}\n"}, "its first answer is no hello"},
		"another protocol":      {nil, []string{introduced("N", `,"protocol":"yardstick-policy/2"`)}, "hello: it speaks yardstick-policy/2, and this is yardstick-policy/1"},
		"no class":              {nil, []string{`{"hello":{"name":"mine"}}` + "\n"}, `hello.class is "": it must be N, P, S, M, E or EP`},
		"a relaxation":          {nil, []string{introduced("P0", "")}, `hello.class is "P0"`},
		"no name":               {nil, []string{`{"hello":{"class":"N"}}` + "\n"}, "hello.name"},
		"a name of two lines":   {nil, []string{`{"hello":{"class":"N","name":"a\nb"}}` + "\n"}, "hello.name"},
		"unknown wish":          {nil, []string{introduced("N", `,"wants":["future"]`)}, `hello.wants has "future"`},
		"unknown rule":          {nil, []string{introduced("N", `,"place":"best"`)}, `placement rule "best" is unknown`},
		"class of other models": {nil, []string{introduced("P", "")}, "class P, which does not belong to the gang model"},
		"claims a cost":         {nil, []string{hello, `{"cost":0}` + "\n"}, "unknown key cost"},
		"repeated keys":         {nil, []string{hello, `{"wake":5,"wake":6}` + "\n"}, "the key wake is there twice"},
		"another case":          {nil, []string{hello, `{"Start":[]}` + "\n"}, "unknown key Start"},
		"no object":             {nil, []string{hello, "null\n"}, "no JSON object: null"},
		"an empty line":         {nil, []string{hello, "\n"}, "no JSON object"},
		"not JSON":              {nil, []string{hello, "start 0\n"}, "no JSON object: start 0"},
		"NaN":                   {nil, []string{hello, `{"wake":NaN}` + "\n"}, "breaks the protocol"},
		"a fraction":            {nil, []string{hello, `{"wake":1.5}` + "\n"}, "1.5 is no integer in plain digits"},
		"an exponent":           {nil, []string{hello, `{"wake":1e6}` + "\n"}, "1e6 is no integer"},
		"beyond 64 bits":        {nil, []string{hello, `{"preempt":[99999999999999999999]}` + "\n"}, "is no integer"},
		"null for a job":        {nil, []string{hello, `{"preempt":[null]}` + "\n"}, "null is no integer"},
		"two lines":             {nil, []string{hello, "{}\n{}\n"}, "a second line"},
		"not UTF-8":             {nil, []string{hello, "{\"error\":\"\xff\"}\n"}, "breaks the protocol"},
		"ends":                  {nil, []string{}, "closed its output"},
		"gives up":              {nil, []string{hello, `{"error":"no\nidea"}` + "\n"}, "it gave up: no idea"},
		"a line without end":    {nil, []string{strings.Repeat("x", 17<<20)}, "longer than 16 MiB"},
		"wakes in the past":     {nil, []string{hello, `{"wake":0}` + "\n"}, "not after now"},
		"wakes before now":      {nil, []string{hello, `{"wake":-5}` + "\n"}, "must be later than now"},
		"unknown job":           {nil, []string{hello, `{"start":[[7]]}` + "\n"}, "start of job 7: job 7: no such job has been released"},
		"a job of the future":   {nil, []string{hello, `{"start":[[1]]}` + "\n"}, "no such job has been released"},
		"a negative job":        {nil, []string{hello, `{"start":[[-1]]}` + "\n"}, "no such job has been released"},
		"a job twice":           {nil, []string{hello, `{"start":[[0],[0]]}` + "\n"}, "cannot start job 0: it is training"},
		"too few GPUs":          {nil, []string{hello, `{"start":[[0]]}` + "\n", `{"start":[[1,[[0,1]]]]}` + "\n"}, "it takes 1 GPUs, and its gang is 2"},
		"too many GPUs":         {nil, []string{hello, `{"start":[[0,[[0,2]]]]}` + "\n"}, "it takes 2 GPUs, and its gang is 1"},
		"more than there are":   {nil, []string{hello, `{"start":[[0,[[0,9223372036854775807]]]]}` + "\n"}, "of server 0, which has 2"},
		"absent server":         {nil, []string{hello, `{"start":[[0,[[1,1]]]]}` + "\n"}, "there is no server 1"},
		"server twice":          {nil, []string{hello, `{"start":[[0,[[0,1],[0,1]]]]}` + "\n"}, "ascending order, each once"},
		"no part":               {nil, []string{hello, `{"start":[[0,[]]]}` + "\n"}, "at least one"},
		"part of three":         {nil, []string{hello, `{"start":[[0,[[0,1,1]]]]}` + "\n"}, "[server, GPUs]"},
		"busy GPUs":             {nil, []string{hello, `{"start":[[0,[[0,1]]]]}` + "\n", `{"start":[[1,[[0,2]]]]}` + "\n"}, "which has 1 free"},
		"no room by the rule":   {nil, []string{hello, `{"start":[[0]]}` + "\n", `{"start":[[1]]}` + "\n"}, "finds no free GPUs for its gang of 2: 1 are free in all"},
		"devices in class N":    {nil, []string{hello, `{"start":[[0,[[0,[1]]]]]}` + "\n"}, "which only class S does"},
		"stages of no parts":    {nil, []string{hello, `{"start":[[0,null,{"stages":[[1]]}]]}` + "\n"}, "names no parts"},
		"negative stages":       {nil, []string{hello, `{"start":[[0,[[0,1]],{"stages":[[-1]]}]]}` + "\n"}, "negative"},
		"stages too many":       {nil, []string{hello, `{"start":[[0,[[0,1]],{"stages":[[1],[1]]}]]}` + "\n"}, "2 lists for 1 parts"},
		"size in class N":       {nil, []string{hello, `{"start":[[0,null,{"size":2}]]}` + "\n"}, "a size belongs to a start of class M"},
		"a start of nothing":    {nil, []string{hello, `{"start":[[]]}` + "\n"}, "a start has 0 elements"},
		"preempts in class N":   {nil, []string{hello, `{"start":[[0]]}` + "\n", `{"preempt":[0]}` + "\n"}, "class N is not preemptive"},
		"never starts":          {nil, []string{hello, "{}\n", "{}\n", "{}\n"}, "stalled"},
		"preempts what waits":   {preemptive, []string{introduced("P", ""), `{"preempt":[0]}` + "\n"}, "cannot preempt job 0: it is waiting"},
		"absent GPU":            {sharedGPUs, []string{introduced("S", ""), `{"start":[[0,[[0,[5]]]]]}` + "\n"}, "its placement lists device 5"},
		"no devices in class S": {sharedGPUs, []string{introduced("S", ""), `{"start":[[0,[[0,1]]]]}` + "\n"}, "names 0 devices for 1 GPUs"},
		"memory of a GPU": {sharedGPUs, []string{introduced("S", ""), `{"start":[[0,[[0,[0]]]]]}` + "\n", `{"start":[[1,[[0,[0]]]]]}` + "\n"},
			"it needs 60B on each GPU, but GPU 0 of server 0 has 40B left"},
		"accumulation unknown":    {sharedGPUs, []string{introduced("S", ""), `{"start":[[0,null,{"accumulation":3}]]}` + "\n"}, "accumulation 3 is none of the job's"},
		"no parts in class E":     {elasticJobs, []string{introduced("E", ""), `{"start":[[0]]}` + "\n"}, "an elastic job is placed by parts"},
		"GPUs in class E":         {elasticJobs, []string{introduced("E", ""), `{"start":[[0,[[0,2]]]]}` + "\n"}, "part 0 must be [server, [workers, parameter servers]]"},
		"no containers":           {elasticJobs, []string{introduced("E", ""), `{"start":[[0,[[0,[0,0]]]]]}` + "\n"}, "not both 0"},
		"negative workers":        {elasticJobs, []string{introduced("E", ""), `{"start":[[0,[[0,[-1,2]]]]]}` + "\n"}, "not both 0"},
		"workers beyond counting": {elasticJobs, []string{introduced("E", ""), `{"start":[[0,[[0,[9223372036854775807,9223372036854775807]]]]]}` + "\n"}, "part 0 must be"},
		"more workers than data":  {elasticJobs, []string{introduced("E", ""), `{"start":[[0,[[0,[4,1]],[1,[1,0]]]]]}` + "\n"}, "more than 4 workers"},
		"no parameter servers":    {elasticJobs, []string{introduced("E", ""), `{"start":[[0,[[0,[2,0]]]]]}` + "\n"}, "parameter servers (false): none in a ring, at least one elsewhere"},
		"too few of them":         {elasticJobs, []string{introduced("E", ""), `{"start":[[0,[[0,[3,0]],[1,[0,1]]]]]}` + "\n"}, "too few for the 3 workers elsewhere"},
		"more than is free":       {elasticJobs, []string{introduced("E", ""), `{"start":[[0,[[0,[4,1]]]]]}` + "\n", `{"start":[[1,[[0,[1,0]]]]]}` + "\n"}, "it needs 1 gpu of server 0, of which 0 are free"},
		"absent type":             {elasticJobs, []string{introduced("E", ""), `{"start":[[0,[[0,[1,1]]],{"types":[0,1]}]]}` + "\n"}, "2 types of workers and 1 of parameter servers"},
		"types of three":          {elasticJobs, []string{introduced("E", ""), `{"start":[[0,[[0,[1,1]]],{"types":[0,0,0]}]]}` + "\n"}, "types has 3 entries"},
		"absent server in E":      {elasticJobs, []string{introduced("E", ""), `{"start":[[0,[[2,[1,1]]]]]}` + "\n"}, "there is no server 2"},
		"server twice in E":       {elasticJobs, []string{introduced("E", ""), `{"start":[[0,[[0,[1,1]],[0,[1,0]]]]]}` + "\n"}, "ascending order, each once"},
		"size in class E":         {elasticJobs, []string{introduced("E", ""), `{"start":[[0,[[0,[1,1]]],{"size":2}]]}` + "\n"}, "an elastic job has no accumulation, size or stages"},
		"preempts in class E":     {elasticJobs, []string{introduced("E", ""), `{"start":[[0,[[0,[4,1]]]]]}` + "\n", `{"preempt":[0]}` + "\n"}, "class E"},
		"class N of elastic jobs": {elasticJobs, []string{hello}, "elastic"},
		"class E of gangs":        {nil, []string{introduced("E", "")}, "schedules elastic jobs"},
		"types of gangs":          {nil, []string{hello, `{"start":[[0,null,{"types":[0,0]}]]}` + "\n"}, "types belong to elastic jobs"},
		"size unknown":            {sharedGPUs, []string{introduced("M", ""), `{"start":[[0,null,{"size":3}]]}` + "\n"}, "a size belongs to a start of class M"},
	} {
		t.Run(name, func(t *testing.T) {
			in := c.in
			if in == nil {
				in = twoGangs
			}
			lines := c.answers
			conn := external.NewConn(io.Discard, strings.NewReader(""))
			if len(lines) > 0 {
				conn = scripted(t, lines...).Conn
			}
			_, err := run(t, conn, in(), external.Options{Instance: "e1", Objective: "total-jct", Predictor: external.NoPredictor})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is %v, want one line with %q", err, c.want)
			}
		})
	}
}

// A program that is gone is explained by whoever has started it.
func TestCause(t *testing.T) {
	conn := external.NewConn(io.Discard, strings.NewReader(""))
	gone := errors.New("it was killed")
	conn.Cause = func() error { return gone }
	if _, err := external.New(conn, twoGangs(), external.Options{}); !errors.Is(err, gone) {
		t.Errorf("the error is %v", err)
	}
}

// What is said after the end was not asked.
func TestRest(t *testing.T) {
	for text, ok := range map[string]bool{"": true, "{}\n": false} {
		if err := external.NewConn(io.Discard, strings.NewReader(text)).Rest(); (err == nil) != ok {
			t.Errorf("%q is left over: %v", text, err)
		}
	}
}

// Jobs are numbered in order of release, whatever their order in the instance, and the
// schedule names the right ones.
func TestNumbers(t *testing.T) {
	in := twoGangs()
	in.Jobs = []sched.Job{gang(2, 2, 5*sched.Second, ""), gang(1, 1, 0, "ann"), gang(1, 4, 0, "ann")}
	r, err := run(t, scripted(t, hello, `{"start":[[0]]}`+"\n", `{"start":[[1]]}`+"\n", `{"start":[[2]]}`+"\n", "{}\n").Conn, in,
		external.Options{Predictor: external.NoPredictor})
	if err != nil {
		t.Fatal(err)
	}
	var jobs []sched.JobID
	var starts []sched.Time
	for _, s := range r.Schedule.Segments {
		jobs, starts = append(jobs, s.Job), append(starts, s.Start)
	}
	if want := []sched.JobID{1, 2, 0}; !reflect.DeepEqual(jobs, want) {
		t.Errorf("jobs %v started at %v, want %v", jobs, starts, want)
	}
}
