package suite

import (
	"maps"
	"slices"
	"testing"
)

// Every key of a suite is described, and nothing else.
func TestSchemaDescribesEveryKey(t *testing.T) {
	described := map[string]bool{}
	var walk func(s map[string]any, path string)
	walk = func(s map[string]any, path string) {
		if items, ok := s["items"].(map[string]any); ok {
			walk(items, path)
		}
		properties, _ := s["properties"].(map[string]any)
		for name, p := range properties {
			key := path + name
			p := p.(map[string]any)
			if text, _ := p["description"].(string); text == "" {
				t.Errorf("%s has no description", key)
			}
			described[key] = true
			walk(p, key+".")
		}
	}
	walk(Schema([]string{"fifo"}), "")
	for _, key := range slices.Sorted(maps.Keys(describe)) {
		if !described[key] {
			t.Errorf("%s is described and does not exist", key)
		}
	}
}
