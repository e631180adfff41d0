package suite

import (
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"yardstick/datasets"
	"yardstick/datasets/generate"
)

// generated returns the rows of a generated trace, and whether the name is one:
// builtin:NAME?jobs=N&seed=S, with a name of generate.Names and the knobs of
// generate.Spec. The number of jobs must be given and is returned too; the seed
// is 1 by default.
func generated(trace string) (rows iter.Seq2[datasets.Row, error], jobs int, ok bool, err error) {
	name, isBuiltin := strings.CutPrefix(trace, "builtin:")
	name, query, _ := strings.Cut(name, "?")
	if !isBuiltin || !slices.Contains(generate.Names(), name) {
		return nil, 0, false, nil
	}
	spec, err := parseSpec(name, query)
	if err != nil {
		return nil, 0, true, fmt.Errorf("trace %q: %w; a generated trace is written builtin:%s?jobs=N&seed=S, with &repeat=0.6, &recurrence=30d or &interArrival=10s", trace, err, name)
	}
	return spec.Rows(), spec.Jobs, true, nil
}

func parseSpec(name, query string) (generate.Spec, error) {
	s := generate.Spec{Seed: 1}
	var err error
	if s.Like, err = generate.Parse(name); err != nil {
		return s, err
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return s, err
	}
	for key, list := range values {
		if len(list) > 1 {
			return s, fmt.Errorf("%s is given %d times", key, len(list))
		}
		switch text := list[0]; key {
		case "jobs":
			s.Jobs, err = strconv.Atoi(text)
		case "seed":
			s.Seed, err = strconv.ParseUint(text, 10, 64)
		case "repeat":
			var p float64
			p, err = strconv.ParseFloat(text, 64)
			s.Repeat = &p
		case "recurrence":
			s.Recurrence, err = generate.ParseSpan(text)
		case "interArrival":
			s.InterArrival, err = generate.ParseSpan(text)
		default:
			return s, fmt.Errorf("%q is unknown", key)
		}
		if err != nil {
			return s, fmt.Errorf("%s: %w", key, err)
		}
	}
	if s.Jobs < 1 {
		return s, errors.New("jobs must be at least 1")
	}
	return s, s.Check()
}
