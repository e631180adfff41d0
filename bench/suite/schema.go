package suite

import (
	"encoding"
	"reflect"
	"strings"

	"yardstick/datasets"
	"yardstick/sched"
)

// Schema returns the JSON schema (draft 2020-12) of suite files, for editors.
// methods are the names that a suite may use.
func Schema(methods []string) map[string]any {
	b := schemaBuilder{methods: methods}
	s := b.object(reflect.TypeFor[Suite](), "")
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "Yardstick suite"
	s["required"] = []string{"instances"}
	return s
}

type schemaBuilder struct{ methods []string }

// object describes a struct by the yaml tags of its fields.
func (b schemaBuilder) object(t reflect.Type, path string) map[string]any {
	properties := map[string]any{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "" || name == "-" {
			continue
		}
		p := b.value(f.Type, path+name)
		if text := describe[path+name]; text != "" {
			p["description"] = text
		}
		properties[name] = p
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}

func (b schemaBuilder) value(t reflect.Type, path string) map[string]any {
	switch {
	case t.Kind() == reflect.Pointer && t != reflect.TypeFor[*Matrix]():
		return b.value(t.Elem(), path)
	case pattern(t) != "":
		return map[string]any{"type": "string", "pattern": pattern(t)}
	case t == reflect.TypeFor[*Matrix]():
		return map[string]any{"type": "object", "minProperties": 1, "additionalProperties": map[string]any{"type": "array", "minItems": 1}}
	case t == reflect.TypeFor[MethodRef]():
		name := map[string]any{"enum": b.methods}
		params := map[string]any{"type": "object", "additionalProperties": map[string]any{"type": []string{"string", "number", "boolean"}}}
		long := map[string]any{"type": "object", "required": []string{"name"}, "additionalProperties": false,
			"properties": map[string]any{"name": name, "params": params, "as": map[string]any{"type": "string"}}}
		return map[string]any{"anyOf": []any{name, long}}
	case t == reflect.TypeFor[datasets.At]():
		return map[string]any{"anyOf": []any{map[string]any{"type": "string"}, map[string]any{"type": "integer", "minimum": 0}}}
	case t == reflect.TypeFor[sched.Objective]():
		return map[string]any{"enum": objectiveNames()}
	case t == reflect.TypeFor[sched.Model]():
		return map[string]any{"enum": sched.Models()}
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Struct:
		return b.object(t, path+".")
	case reflect.Slice:
		return map[string]any{"type": "array", "items": b.value(t.Elem(), path)}
	case reflect.Map:
		return map[string]any{"type": "object"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	}
	return map[string]any{"type": "string"}
}

func objectiveNames() []string {
	var names []string
	for _, o := range sched.Objectives() {
		names = append(names, o.String())
	}
	return names
}

// describe says what the keys of a suite mean, for editors.
var describe = map[string]string{
	"apiVersion":             "Version of the suite format: " + APIVersion,
	"name":                   "Name of the suite; results go to results/NAME",
	"seed":                   "Master seed, at most 2^53; all randomness derives from it",
	"fresh":                  "Whether the seed was drawn for this run, so that nobody who wrote a policy knew the instances; bench gate --fresh and evaluate set it",
	"instances":              "What to run on: instance files, or traces with the way to cut and build instances from them",
	"objectives":             "What schedules are judged by",
	"methods":                "Policies and exact methods to compare",
	"references":             "Methods that give the denominators: bounds and exact searches",
	"matrix":                 "Keys of sources to sweep, such as cluster.inter, with lists of values; include adds settings, exclude takes some out",
	"limits":                 "Limits of every solve and cell",
	"limits.solve":           "Wall-clock limit of a solve; 0s for none",
	"limits.nodes":           "Limit of search nodes; 0 for none",
	"limits.memory":          "Memory of a process that runs cells; beyond it the process is killed; 0B for no limit",
	"limits.cell":            "Wall-clock time after which a cell's method is told to stop, and some seconds later killed; 0 for ten times solve per objective",
	"instances.name":         "Name of the source; instances are NAME/00, NAME/01, …",
	"instances.file":         "A file that holds one instance, instead of a trace and of all that is said about one",
	"instances.drawAs":       "Name that random numbers are drawn by, in place of the source's: equal ones have the same windows and jobs",
	"instances.trace":        "A built-in trace (builtin:philly-like) or a Parquet file",
	"instances.where":        "Filters of rows, by column: {gpus: \"<=4\", status: completed}",
	"instances.slice":        "Which consecutive jobs of the trace become instances",
	"instances.slice.jobs":   "Jobs per instance; 0 for all of the trace",
	"instances.slice.at":     "Where the windows lie: start, busiest, random, sample or the index of the first job",
	"instances.slice.repeat": "Number of windows",
	"instances.slice.load":   "Windows of this offered load alone, low..high, such as 0.7..1.0: of the trace's gangs and durations on the cluster; bursts have none",
	"instances.cluster":      "The cluster: uniform servers",

	"instances.cluster.servers":       "Number of servers",
	"instances.cluster.gpusPerServer": "GPUs of each server",
	"instances.cluster.inter":         "Bandwidth between servers, per server",
	"instances.cluster.intra":         "Bandwidth within a server",
	"instances.model":                 "The model of jobs",
	"instances.round":                 "Releases and durations are rounded up to multiples of this; 0s leaves them. Of the elastic model, the length of a slot, 1h by default",
	"instances.iteration":             "Length of one iteration, about; 0s for the whole run. By default the whole run or, with params, 1s; of the preemptive model round or 1s",
	"instances.params":                "Synthetic AllReduce volume of jobs on several GPUs; 0 for none",
	"instances.weights":               "unit or random; empty for the trace's",
	"instances.tooLarge":              "error or drop: what to do with gangs larger than the cluster",
	"instances.history":               "Jobs completed before the slice that predictors may see; the last ones",
	"instances.slotted":               "Decisions at slot boundaries alone; the slot is round. Elastic instances always are",
	"instances.deadline":              "Deadline of the objective scheduled-weight; positive",
	"instances.offeredLoad":           "Offered load of every instance, 1 being as much as the GPUs can do: the times between releases are multiplied by one number",
	"instances.profiles":              "Pipeline configurations on a GPU (builtin:v100) or a Parquet file of profiles",
	"instances.singleShare":           "Share of single-GPU jobs, drawn anew",
	"instances.matchDemand":           "Configurations of as many GPUs as the trace says",
	"instances.overlap":               "Share of every AllReduce that computation hides, from 0 to 1",
	"instances.microBatches":          "Micro-batches of a mini-batch in synchronous pipelines; asynchronous without the key",
	"instances.shrink":                "Divides releases and iterations of profiles; 1 by default",
	"instances.storage":               "Bandwidth of the storage that checkpoints are loaded from and saved to; none where preemption takes no time",
	"instances.past":                  "Jobs completed before the slice, the last ones, that policies may learn from by replaying them",
	"instances.startup":               "Time of every (re)start beside the load",
	"instances.gpuMemory":             "Memory of a GPU",
	"instances.ring":                  "Ring AllReduce instead of parameter servers",
	"instances.capacity":              "What the servers of the elastic model have of each resource together, as a share of what the jobs ask for; without, EC2's sizes",
	"instances.maxWorkers":            "Most workers of an elastic job; 0 for as many as were drawn",
	"instances.workerType":            "The only worker type that elastic jobs may use, from 1; 0 for all",
	"instances.sharing":               "What the sharing model takes beside",
	"instances.sharing.rate":          "Divides releases: jobs come that many times as often",
	"instances.sharing.xi":            "Interference of every pair of jobs, in place of the built-in table; with a file, of the pairs that it lacks",
	"instances.sharing.interference":  "Interference of jobs by task: a Parquet file of bench dataset interference, or builtin:heavy-tailed, in place of the built-in table",
	"instances.sharing.pause":         "Time of every preemption and change of size",
	"instances.sharing.malleable":     "Jobs may change their number of GPUs (class M)",
	"instances.objectives":            "Objectives of this source, instead of the suite's",
	"instances.methods":               "Methods of this source, instead of the suite's",
	"instances.references":            "References of this source, instead of the suite's",
	"instances.prove":                 "Proofs of optima that strangers check with Python alone",
	"instances.prove.upTo":            "Jobs that an instance may have for its optima to be proven so; 0 for no proofs",
}
