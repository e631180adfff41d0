package reproduce

import (
	"context"
	"encoding/json"
	"fmt"

	"yardstick/internal/strictjson"
)

// Parts are what an item computes beside the results of suites, piece by piece. The zero
// value keeps nothing and shows nothing.
type Parts struct {
	// Find returns a part that an earlier run has kept, by its name in the item.
	Find func(name string) (content []byte, ok bool)
	// Keep keeps a finished part.
	Keep func(name string, content []byte) error
	// Show is told how many parts are done, of how many, and which one is next.
	Show func(done, total int, next string)
}

// maker makes an item of so many parts.
type maker struct {
	Parts
	done, total int
}

// part returns a part of an item: as an earlier run has kept it, or computed and kept.
// What is kept is T as JSON.
func part[T any](ctx context.Context, m *maker, name string, compute func() (T, error)) (T, error) {
	var v T
	if m.Show != nil {
		m.Show(m.done, m.total, name)
	}
	if err := ctx.Err(); err != nil {
		return v, err
	}
	m.done++
	if m.Find != nil {
		if content, ok := m.Find(name); ok {
			if err := strictjson.Unmarshal(content, &v); err != nil {
				return v, fmt.Errorf("%s, as it was kept, cannot be read (%w): compute it again with --force", name, err)
			}
			return v, nil
		}
	}
	v, err := compute()
	if err != nil || m.Keep == nil {
		return v, err
	}
	content, err := json.Marshal(v)
	if err != nil {
		return v, err
	}
	return v, m.Keep(name, content)
}
