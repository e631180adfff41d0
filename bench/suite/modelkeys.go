package suite

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A source may have every key that nothing takes away: its model (see models), profiles,
// or a file.
var (
	withProfiles    = []string{"singleShare", "matchDemand", "shrink"}
	withoutProfiles = []string{"iteration", "params"}
	withFile        = []string{"name", "file", "drawAs", "objectives", "methods", "references", "prove"}
)

// misplaced returns an error if the source does not know the key, because of its
// model or of what else it has: it would say something that is not done.
func (src *Source) misplaced(key string) error {
	model := cmp.Or(src.Model, defaultModel)
	top, _, _ := strings.Cut(key, ".")
	if src.File != "" && !slices.Contains(withFile, top) {
		return fmt.Errorf("has a file, which holds a whole instance: %s, and whatever else is about a trace, do not go with it", key)
	}
	if known := knowing(key); len(known) < len(models) && !slices.Contains(known, model) {
		names := make([]string, len(known))
		for i, m := range known {
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
