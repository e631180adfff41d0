package suite

import (
	"reflect"
	"time"

	"yardstick/datasets"
	"yardstick/sched"
)

// What quantities with a unit look like.
const (
	timePattern      = `^(0|([0-9.]+(ns|us|µs|ms|s|m|h))+)$`
	bytesPattern     = `^[0-9.]+ ?([KMGT]i?)?B$`
	bandwidthPattern = `^[0-9.]+ ?([KMGT]?B/s|[KMGT]bps)$`
	loadPattern      = `^[0-9.]+\.\.[0-9.]+$`
)

// pattern returns what a quantity looks like, "" for other types.
func pattern(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Duration](), reflect.TypeFor[sched.Time](), reflect.TypeFor[sched.Duration]():
		return timePattern
	case reflect.TypeFor[sched.Bytes]():
		return bytesPattern
	case reflect.TypeFor[sched.Bandwidth]():
		return bandwidthPattern
	case reflect.TypeFor[datasets.LoadRange]():
		return loadPattern
	}
	return ""
}

// wanted says what a value of a type looks like.
func wanted(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "a duration with its unit, such as 90s or 1h30m"
	case t.Kind() == reflect.Slice:
		return "a list, such as [a, b]"
	case t.Kind() == reflect.Struct || t.Kind() == reflect.Map:
		return "a mapping, such as {key: value}"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		return "a whole number"
	case t.Kind() == reflect.Float64:
		return "a number"
	}
	return "text"
}
