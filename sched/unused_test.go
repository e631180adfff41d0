package sched_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"yardstick/sched"
)

// used has the models that use a key of instances. Keys that all models use are left out,
// and those of servers, which say what there is and not what is asked for.
var used = map[string]string{
	"deadline":              "gang preemptive sharing elastic",
	"history":               "gang preemptive sharing",
	"interference":          "sharing",
	"elastic":               "elastic",
	"jobs.iters":            "gang preemptive sharing",
	"jobs.stages":           "gang preemptive sharing",
	"jobs.edges":            "gang preemptive",
	"jobs.stages.slices":    "gang preemptive",
	"jobs.stages.sliceSync": "gang preemptive",
	"jobs.sharing":          "sharing",
	"jobs.elastic":          "elastic",
}

// keysOf calls do with the path of every key that the value has or may have, down to
// what is missing, with what is there.
func keysOf(v reflect.Value, path string, do func(path string, field reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			keysOf(v.Elem(), path, do)
		}
	case reflect.Slice:
		for i := range v.Len() {
			keysOf(v.Index(i), path, do)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if name == "" {
				continue
			}
			at := strings.TrimPrefix(path+"."+name, ".")
			do(at, v.Field(i))
			keysOf(v.Field(i), at, do)
		}
	}
}

// TestUnusedKeys: what a model does not use is refused, for every model and every key
// that any model has. A new key needs a row above, or a use in every model.
func TestUnusedKeys(t *testing.T) {
	fixtures := func() map[sched.Model]*sched.Instance {
		return map[sched.Model]*sched.Instance{sched.ModelGang: gang(), sched.ModelPreemptive: preemptive(), sched.ModelSharing: rigid(), sched.ModelElastic: elastic()}
	}
	donated := map[string]reflect.Value{}
	malleable := rigid()
	malleable.Jobs[0].Sharing.Sizes = []sched.Size{{GPUs: 1, Iter: 1}}
	for _, in := range append(slices.Collect(maps.Values(fixtures())), graph(), malleable) {
		keysOf(reflect.ValueOf(in), "", func(path string, field reflect.Value) {
			if !field.IsZero() {
				donated[path] = field
			}
		})
	}
	tried := map[string]bool{}
	for model, own := range fixtures() {
		if err := own.Validate(); err != nil {
			t.Fatal(err)
		}
		keysOf(reflect.ValueOf(own), "", func(path string, field reflect.Value) {
			value, ok := donated[path]
			if !ok || !field.IsZero() {
				return // it is there, and so it is used
			}
			tried[path] = true
			models, listed := used[path]
			field.Set(value)
			text, err := json.Marshal(own)
			if err != nil {
				t.Fatal(err)
			}
			_, err = sched.ReadInstance(strings.NewReader(string(text)))
			switch accepts := !listed || slices.Contains(strings.Fields(models), string(model)); {
			case !accepts && err == nil:
				t.Errorf("%s: %s means nothing and is accepted", model, path)
			case !accepts && strings.Contains(err.Error(), "\n"):
				t.Error(err)
			}
			field.SetZero()
		})
	}
	for path := range used {
		if !tried[path] && path != "jobs.iters" && path != "jobs.stages" {
			t.Errorf("%s was not tried", path)
		}
	}
}
