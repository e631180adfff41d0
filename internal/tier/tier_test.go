package tier

import "testing"

func TestTiers(t *testing.T) {
	for _, c := range []struct {
		value     string
		all, long bool
		draws     int
	}{{"", false, false, 3}, {"all", true, false, 10}, {"long", true, true, 10}} {
		t.Setenv(variable, c.value)
		if testing.Short() {
			c.all, c.long, c.draws = false, false, 3
		}
		if All() != c.all || Long() != c.long || Draws(3, 10) != c.draws {
			t.Errorf("%q: all %t, long %t, %d draws", c.value, All(), Long(), Draws(3, 10))
		}
		if got, want := len(Share([]int{1, 2, 3, 4, 5, 6, 7}, 3)), map[bool]int{false: 3, true: 7}[c.all]; got != want {
			t.Errorf("%q: a share of %d of 7", c.value, got)
		}
		skipped := true
		t.Run("slow", func(t *testing.T) {
			defer func() { skipped = t.Skipped() }()
			Slow(t)
		})
		if skipped == c.all {
			t.Errorf("%q: a slow test is skipped: %t", c.value, skipped)
		}
	}
	defer func() {
		if testing.Short() != (recover() == nil) {
			t.Error("another value counts as one of the three")
		}
	}()
	t.Setenv(variable, "1")
	All()
}
