package reproduce

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"yardstick/internal/tier"
)

// memory keeps parts as a journal does, and ends the context after so many of them.
type memory struct {
	kept   map[string]string
	asked  []string // the names that were shown
	until  int      // 0 for no end
	cancel context.CancelFunc
	total  int
}

func (m *memory) parts() Parts {
	return Parts{
		Find: func(name string) ([]byte, bool) { content, ok := m.kept[name]; return []byte(content), ok },
		Keep: func(name string, content []byte) error {
			if _, ok := m.kept[name]; ok {
				return errors.New(name + " is computed again")
			}
			m.kept[name] = string(content)
			if len(m.kept) == m.until {
				m.cancel()
			}
			return nil
		},
		Show: func(done, total int, next string) {
			if done != len(m.asked) {
				panic("a part is not counted")
			}
			m.asked, m.total = append(m.asked, next), total
		},
	}
}

// An item that is interrupted after any of its parts goes on where it was, computes
// nothing again, and says what one says that is not interrupted, but for times.
func TestItemsGoOn(t *testing.T) {
	items := map[string]float64{"lazer-bursts": 0.01}
	if tier.All() {
		items["asrpt-table2"] = 0.05
		items["lazer-fig8e"], items["lazer-fig8f"] = 0.1, 0.1
	}
	for name, scale := range items {
		t.Run(name, func(t *testing.T) {
			item, err := Find(name)
			if err != nil {
				t.Fatal(err)
			}
			in := Input{Seed: 1, Scale: scale}
			whole := &memory{kept: map[string]string{}}
			in.Parts = whole.parts()
			want, err := item.Make(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if len(whole.kept) < 2 || len(whole.kept) != whole.total || len(whole.asked) != whole.total {
				t.Fatalf("%d parts are kept, %d shown, %d said", len(whole.kept), len(whole.asked), whole.total)
			}
			// What was computed is found again: the output is that of the first run to the letter.
			in.Parts = (&memory{kept: whole.kept}).parts()
			if again, err := item.Make(t.Context(), in); err != nil || text(again) != text(want) {
				t.Errorf("found again: %v, or another output", err)
			}
			half := &memory{kept: map[string]string{}, until: len(whole.kept) / 2}
			var ctx context.Context
			ctx, half.cancel = context.WithCancel(t.Context())
			in.Parts = half.parts()
			if _, err := item.Make(ctx, in); !errors.Is(err, context.Canceled) || len(half.kept) != half.until {
				t.Fatalf("%d parts, %v", len(half.kept), err)
			}
			before := len(half.kept)
			rest := &memory{kept: half.kept} // whose Keep refuses what is there
			in.Parts = rest.parts()
			got, err := item.Make(t.Context(), in)
			if err != nil || len(rest.kept) != whole.total || before == whole.total {
				t.Fatalf("%d parts of %d, %v", len(rest.kept), whole.total, err)
			}
			if name == "lazer-bursts" || name == "lazer-fig8e" {
				if text(got) != text(want) {
					t.Error("gone on: another output")
				}
			} else if !slices.Equal(got.Notes, want.Notes) {
				t.Error(got.Notes)
			}
		})
	}
}

// text has all of an output: numbers may be no numbers, which are equal to nothing.
func text(o *Output) string { return fmt.Sprintf("%+v", o) }

// A part that cannot be read back is an error that says what to do.
func TestPartsThatCannotBeRead(t *testing.T) {
	item, err := Find("lazer-bursts")
	if err != nil {
		t.Fatal(err)
	}
	_, err = item.Make(t.Context(), Input{Seed: 1, Scale: 0.01, Parts: Parts{Find: func(string) ([]byte, bool) { return []byte("{"), true }}})
	if err == nil {
		t.Error("no error")
	}
}
