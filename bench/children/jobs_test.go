package children

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// TestPackedJobs: of every model, the child has the instance that the parent has.
func TestPackedJobs(t *testing.T) {
	plain := 0
	for seed := range uint64(20) {
		for model, in := range schedtest.Every(seed) {
			bare, data := packed(in)
			if (data == nil) != (bare == in) {
				t.Fatalf("%s: jobs neither packed nor left", model)
			}
			if data == nil {
				continue
			}
			plain++
			jobs, err := unpackJobs(data)
			if err != nil {
				t.Fatal(err)
			}
			bare.Jobs = jobs
			if !reflect.DeepEqual(bare, in) || bare.Hash() != in.Hash() {
				t.Errorf("%s, seed %d: %+v became %+v", model, seed, in, bare)
			}
		}
	}
	if plain < 20 {
		t.Errorf("%d instances were packed", plain)
	}
}

// TestEveryFieldIsPacked: a job whose every field is set is either the same after packing,
// or not packed.
func TestEveryFieldIsPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	fill := func(v reflect.Value) {
		for i := range v.NumField() {
			switch f := v.Field(i); f.Kind() {
			case reflect.String:
				f.SetString(fmt.Sprint("é", r.Int()))
			case reflect.Float64:
				f.SetFloat(r.NormFloat64())
			case reflect.Int, reflect.Int64:
				f.SetInt(r.Int64() - r.Int64())
			}
		}
	}
	for range 100 {
		jobs := make([]sched.Job, 1+r.IntN(4))
		for i := range jobs {
			fill(reflect.ValueOf(&jobs[i]).Elem())
			jobs[i].Stages = make([]sched.Stage, 1+r.IntN(4))
			for k := range jobs[i].Stages {
				fill(reflect.ValueOf(&jobs[i].Stages[k]).Elem())
			}
		}
		bare, data := packed(&sched.Instance{Jobs: jobs})
		if bare.Jobs != nil {
			t.Fatal("not packed")
		}
		got, err := unpackJobs(data)
		if err != nil || !reflect.DeepEqual(got, jobs) {
			t.Fatalf("%+v became %+v: %v", jobs, got, err)
		}
		if _, err := unpackJobs(data[:r.IntN(len(data))]); err == nil {
			t.Fatal("a part is read")
		}
	}
	// What the loop above leaves empty is not packed.
	job := reflect.ValueOf(&sched.Job{Stages: make([]sched.Stage, 1)}).Elem()
	for i := range job.NumField() {
		f, old := job.Field(i), reflect.New(job.Field(i).Type()).Elem()
		switch {
		case job.Type().Field(i).Name == "Stages":
			continue
		case f.Kind() == reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case f.Kind() == reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		default:
			continue
		}
		if _, data := packed(&sched.Instance{Jobs: []sched.Job{job.Interface().(sched.Job)}}); data != nil {
			t.Errorf("a job with %s is packed without it", job.Type().Field(i).Name)
		}
		f.Set(old)
	}
}
