package suite

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"yardstick/sched"
)

// A source may have every key that nothing here takes away: keys of a model, of
// profiles, and of a file.
var (
	gangs      = []sched.Model{sched.ModelGang}
	elastics   = []sched.Model{sched.ModelElastic}
	notElastic = []sched.Model{sched.ModelGang, sched.ModelPreemptive, sched.ModelSharing}

	// keyModels are the models that know a key, or all keys under it.
	keyModels = map[string][]sched.Model{
		"profiles": gangs, "singleShare": gangs, "matchDemand": gangs, "shrink": gangs, "params": gangs,
		"iteration":  {sched.ModelGang, sched.ModelPreemptive},
		"storage":    {sched.ModelPreemptive},
		"startup":    {sched.ModelPreemptive, sched.ModelElastic},
		"gpuMemory":  {sched.ModelSharing},
		"sharing":    {sched.ModelSharing},
		"ring":       elastics,
		"maxWorkers": elastics,
		"workerType": elastics,
		// Elastic instances are always slotted, and their servers are drawn.
		"slotted":               notElastic,
		"cluster.gpusPerServer": notElastic, "cluster.inter": notElastic, "cluster.intra": notElastic,
		// Elastic jobs have no gang and no running time of their own, and so no load.
		"slice.load": notElastic, "offeredLoad": notElastic,
	}

	withProfiles    = []string{"singleShare", "matchDemand", "shrink"}
	withoutProfiles = []string{"iteration", "params"}
	withFile        = []string{"name", "file", "drawAs", "objectives", "methods", "references"}
)

// misplaced returns an error if the source does not know the key, because of its
// model or of what else it has: it would say something that is not done.
func (src *Source) misplaced(key string) error {
	model := cmp.Or(src.Model, sched.ModelGang)
	top, _, _ := strings.Cut(key, ".")
	if src.File != "" && !slices.Contains(withFile, top) {
		return fmt.Errorf("has a file, which holds a whole instance: %s, and whatever else is about a trace, do not go with it", key)
	}
	models, limited := keyModels[key]
	if !limited {
		models, limited = keyModels[top]
	}
	if limited && !slices.Contains(models, model) {
		names := make([]string, len(models))
		for i, m := range models {
			names[i] = string(m)
		}
		return fmt.Errorf("has %s, which the %s model does not know: drop it, or say model: %s", key, model, strings.Join(names, " or "))
	}
	if src.Profiles == "" && slices.Contains(withProfiles, key) {
		return fmt.Errorf("has %s, which is about profiles: say profiles: builtin:v100", key)
	}
	if src.Profiles != "" && slices.Contains(withoutProfiles, key) {
		return fmt.Errorf("has %s and profiles, which tell how long an iteration is and what it exchanges: drop one of the two", key)
	}
	return nil
}

// givenKeys returns the keys that a mapping has, as paths into a type: those of
// its structs and not of its maps.
func givenKeys(t reflect.Type, mapping map[string]any) []string {
	var keys []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		value, there := mapping[name]
		if !there || name == "-" || name == "" {
			continue
		}
		if inner, ok := value.(map[string]any); ok && t.Field(i).Type.Kind() == reflect.Struct {
			for _, k := range givenKeys(t.Field(i).Type, inner) {
				keys = append(keys, name+"."+k)
			}
			continue
		}
		keys = append(keys, name)
	}
	return keys
}
