package output

import "testing"

func TestCount(t *testing.T) {
	for want, got := range map[string]string{"no cells": Count(0, "cell"), "1 cell": Count(1, "cell"), "2 cells": Count(2, "cell"), "1 entry": Count(1, "entry"), "11 entries": Count(11, "entry")} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
