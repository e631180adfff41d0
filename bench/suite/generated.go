package suite

import (
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
// builtin:NAME?jobs=N&seed=S, with a name of generate.Names. The number of jobs
// must be given and is returned too; the seed is 1 by default.
func generated(trace string) (rows iter.Seq2[datasets.Row, error], jobs int, ok bool, err error) {
	name, isBuiltin := strings.CutPrefix(trace, "builtin:")
	name, query, _ := strings.Cut(name, "?")
	if !isBuiltin || !slices.Contains(generate.Names(), name) {
		return nil, 0, false, nil
	}
	like, err := generate.Parse(name)
	if err != nil {
		return nil, 0, true, err
	}
	values, err := url.ParseQuery(query)
	seed := uint64(1)
	for key, list := range values {
		switch key {
		case "jobs":
			jobs, err = strconv.Atoi(list[0])
		case "seed":
			seed, err = strconv.ParseUint(list[0], 10, 64)
		default:
			err = fmt.Errorf("%q is unknown", key)
		}
		if err != nil {
			break
		}
	}
	if err != nil || jobs < 1 {
		return nil, 0, true, fmt.Errorf("trace %q: a generated trace is written builtin:%s?jobs=N&seed=S", trace, name)
	}
	return generate.Rows(like, jobs, seed), jobs, true, nil
}
