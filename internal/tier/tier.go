// Package tier says how much the tests do:
//
//   - A brief run, which is that of make test, has a share of every kind of test.
//   - YARDSTICK_TESTS=all has everything, as .ci/run does.
//   - YARDSTICK_TESTS=long has campaigns of hours where a test has one.
//
// go test -short is brief, whatever the variable says.
package tier

import (
	"fmt"
	"os"
	"testing"
)

const variable = "YARDSTICK_TESTS"

// All reports whether everything is to be run.
func All() bool { return given() != "" }

// Long reports whether campaigns are to be run.
func Long() bool { return given() == "long" }

func given() string {
	switch v := os.Getenv(variable); {
	case testing.Short():
		return ""
	case v == "", v == "all", v == "long":
		return v
	default:
		panic(fmt.Sprintf("%s is %q: it must be all, long, or not set", variable, v))
	}
}

// Draws returns how many instances a test draws, in a brief run and in one of everything.
func Draws(brief, all int) int {
	if All() {
		return all
	}
	return brief
}

// Share returns what of a list a brief run does: every so manieth entry, from the first.
// A run of everything does it all.
func Share[T any](list []T, every int) (share []T) {
	for i := 0; i < len(list); i += Draws(every, 1) {
		share = append(share, list[i])
	}
	return share
}

// Slow ends a test that is not for brief runs.
func Slow(t testing.TB) {
	t.Helper()
	if !All() {
		t.Skip("not for a brief run: YARDSTICK_TESTS=all, which CI sets, runs it")
	}
}

// Raced reports a race run, which is go test -short: everything takes ten times as long
// there.
func Raced() bool { return testing.Short() }

// Unraced ends a test in a race run, where it takes minutes and
// has nothing for the race detector: what it calls, it calls one after the other.
func Unraced(t testing.TB) {
	t.Helper()
	if Raced() {
		t.Skip("not for a race run: nothing runs beside another thing here")
	}
}
