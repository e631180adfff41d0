package verify_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"yardstick/sched"
	"yardstick/sched/verify"
)

func TestSeveralRules(t *testing.T) {
	in, s := gangInstance(), gangSchedule()
	s.Segments[0].End = 9    // progress
	s.Segments[3].Start = 19 // release
	_, err := verify.Check(in, s)
	var e *verify.Error
	if !errors.As(err, &e) || !slices.Equal(e.Rules(), []verify.Rule{verify.RuleProgress, verify.RuleRelease}) {
		t.Fatalf("got %v", err)
	}
	const want = "verify: progress: at 9µs job 0 ends after 9µs of training, 1 short of its 10 iterations (and 1 more; rules broken: progress, release)"
	if err.Error() != want {
		t.Errorf("message\n%s\nwant\n%s", err, want)
	}
}

func TestManyViolations(t *testing.T) {
	in, s := gangInstance(), &sched.Schedule{Class: sched.Class{Kind: sched.N}}
	for range 1000 {
		in.Jobs = append(in.Jobs, in.Jobs[2])
	}
	_, err := verify.Check(in, s)
	var e *verify.Error
	if !errors.As(err, &e) || len(e.Violations) != 10 || e.Omitted != 993 {
		t.Fatalf("got %v", err)
	}
}

func TestRefusals(t *testing.T) {
	in := gangInstance()
	in.Jobs[0].Iters = 0
	var e *verify.Error
	if _, err := verify.Check(in, gangSchedule()); err == nil || errors.As(err, &e) || !strings.Contains(err.Error(), "iters") {
		t.Errorf("invalid instance: %v", err)
	}
}

func TestNothingScheduled(t *testing.T) {
	in := gangInstance()
	in.Deadline = 10
	v, err := verify.Check(in, &sched.Schedule{Class: sched.Class{Kind: sched.N}})
	if err != nil {
		t.Fatal(err)
	}
	if v.Cost(sched.ScheduledWeight).Sign() != 0 || v.Cost(sched.Makespan) != nil || v.Makespan() != 0 || v.Utilisation() != 0 || v.Complete() {
		t.Error("an empty schedule has a weight, a makespan or a utilisation")
	}
}

func TestTimes(t *testing.T) {
	v, err := verify.Check(preemptiveInstance(), preemptiveSchedule())
	if err != nil {
		t.Fatal(err)
	}
	want := []verify.JobTimes{
		{Job: 0, Scheduled: true, Completion: 29, Wait: 9, Load: 8, Train: 10, Pause: 2, Preemptions: 2, AbortedLoads: 1, Futile: 2, GPUs: 2, Servers: 1, GPUTime: 40},
		{Job: 1, Scheduled: true, Completion: 10, Wait: 4, Train: 6, Preemptions: 2, GPUs: 1, Servers: 1, GPUTime: 6},
	}
	if !slices.Equal(v.Jobs(), want) {
		t.Errorf("got %+v", v.Jobs())
	}
	if got := v.Utilisation(); got != 46.0/(6*29) {
		t.Errorf("utilisation %v", got)
	}
	in, s := preemptiveInstance(), preemptiveSchedule()
	in.Jobs[0].Release, in.Jobs[1].Release = 7, 5
	for i := range s.Segments {
		s.Segments[i].Start, s.Segments[i].End = s.Segments[i].Start+7, s.Segments[i].End+7
	}
	if v, err = verify.Check(in, s); err != nil || v.Utilisation() != 46.0/(6*31) {
		t.Errorf("utilisation from the first release: %v, %v", v.Utilisation(), err)
	}
	// Two jobs on one GPU use it once.
	v, err = verify.Check(sharingInstance(), sharingSchedule())
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Utilisation(); got != 18.0/24 {
		t.Errorf("utilisation with sharing %v", got)
	}
}
