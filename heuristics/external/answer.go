package external

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"yardstick/heuristics/sim"
	"yardstick/internal/strictjson"
	"yardstick/sched"
)

// whole is an integer in plain digits.
type whole int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *whole) UnmarshalJSON(text []byte) error {
	v, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return fmt.Errorf("%s is no integer in plain digits", shown(text))
	}
	*n = whole(v)
	return nil
}

// introduction is the hello of a policy.
type introduction struct {
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	Class    string    `json:"class"`
	Place    *sim.Rule `json:"place"`
	Wants    []string  `json:"wants"`
	Again    bool      `json:"again"`
	Protocol *string   `json:"protocol"`
}

// classes are those that a policy may promise.
var classes = map[string]sched.Kind{"N": sched.N, "P": sched.P, "S": sched.S, "M": sched.M, "E": sched.E, "EP": sched.EP}

// The things that a policy may want beside what is always sent.
const (
	wantProfiles   = "profiles"
	wantPlacements = "placements"
	wantProgress   = "progress"
)

func (h *introduction) validate() error {
	switch {
	case h.Protocol != nil && *h.Protocol != Protocol:
		return fmt.Errorf("it speaks %s, and this is %s", shown([]byte(*h.Protocol)), Protocol)
	case h.Name == "" || len([]rune(h.Name)) > 64 || strings.ContainsFunc(h.Name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("hello.name is %s: it must be 1 to 64 characters that can be printed", shown([]byte(h.Name)))
	case classes[h.Class] == 0:
		return fmt.Errorf("hello.class is %s: it must be N, P, S, M, E or EP", shown([]byte(strconv.Quote(h.Class))))
	}
	seen := map[string]bool{}
	for _, w := range h.Wants {
		if w != wantProfiles && w != wantPlacements && w != wantProgress || seen[w] {
			return fmt.Errorf("hello.wants has %s: it may have %s, %s and %s, each once", shown([]byte(strconv.Quote(w))), wantProfiles, wantPlacements, wantProgress)
		}
		seen[w] = true
	}
	return nil
}

// readHello reads the policy's hello.
func readHello(line []byte) (*introduction, error) {
	var a struct {
		Hello *introduction `json:"hello"`
		Error *string       `json:"error"`
	}
	if err := read(line, &a); err != nil {
		return nil, err
	}
	switch {
	case a.Error != nil:
		return nil, gaveUp(*a.Error)
	case a.Hello == nil:
		return nil, fmt.Errorf("its first answer is no hello: %s", shown(line))
	}
	return a.Hello, a.Hello.validate()
}

// decision is an answer to a question.
type decision struct {
	Start   []start `json:"start"`
	Preempt []whole `json:"preempt"`
	Wake    *whole  `json:"wake"`
	Error   *string `json:"error"`
}

func readDecision(line []byte) (*decision, error) {
	d := &decision{}
	if err := read(line, d); err != nil {
		return nil, err
	}
	if d.Error != nil {
		return nil, gaveUp(*d.Error)
	}
	return d, nil
}

// gaveUp is the error of a policy that says that it has failed.
func gaveUp(text string) error { return fmt.Errorf("it gave up: %s", shown([]byte(text))) }

// read decodes an object.
func read(line []byte, into any) error {
	if text := strings.TrimLeft(string(line[:min(len(line), 64)]), " \t\r"); !strings.HasPrefix(text, "{") {
		return fmt.Errorf("its answer is no JSON object: %s", shown(line))
	}
	if err := strictjson.Unmarshal(line, into); err != nil {
		text := err.Error()
		if e, ok := errors.AsType[*strictjson.Error](err); ok {
			text = e.Text
		}
		return fmt.Errorf("its answer breaks the protocol: %s: %s", text, shown(line))
	}
	return nil
}

// shown is the beginning of a text of a policy's, on one line.
func shown(text []byte) string {
	const most = 100
	end := ""
	if len(text) > most {
		text, end = text[:most], " …"
	}
	clean := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(string(text), "?"))
	return strings.TrimSpace(clean) + end
}

// start is a job to start: [job], [job, parts] or [job, parts, config].
type start struct {
	job    whole
	parts  []part // nil if the rule places it
	config config
}

// part is what the job takes of one server: a number of GPUs or, in class S, these; of an
// elastic job the numbers of workers and parameter servers.
type part struct {
	server  whole
	gpus    int
	devices []int
}

// config is what a policy chooses besides the place.
type config struct {
	Accumulation *whole    `json:"accumulation"`
	Size         *whole    `json:"size"`
	Stages       [][]whole `json:"stages"`
	Types        []whole   `json:"types"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *start) UnmarshalJSON(text []byte) error {
	var list []json.RawMessage
	if err := strictjson.Unmarshal(text, &list); err != nil {
		return errors.New("it must be a list such as [9] or [9,[[0,2]]]")
	}
	if len(list) < 1 || len(list) > 3 {
		return fmt.Errorf("a start has %d elements: it must be [job], [job, parts] or [job, parts, choices]", len(list))
	}
	if err := s.job.UnmarshalJSON(list[0]); err != nil {
		return err
	}
	if len(list) > 1 && string(list[1]) != "null" {
		if err := s.readParts(list[1]); err != nil {
			return fmt.Errorf("start of job %d: %w", s.job, err)
		}
	}
	if len(list) > 2 && string(list[2]) != "null" {
		if err := strictjson.Unmarshal(list[2], &s.config); err != nil {
			return fmt.Errorf("start of job %d: choices: %w", s.job, err)
		}
	}
	return nil
}

func (s *start) readParts(text []byte) error {
	var list [][]json.RawMessage
	if strictjson.Unmarshal(text, &list) != nil || len(list) == 0 {
		return errors.New("parts must be a list such as [[0,2],[2,2]], at least one")
	}
	s.parts = make([]part, len(list))
	for i, pair := range list {
		p := &s.parts[i]
		if len(pair) != 2 {
			return fmt.Errorf("part %d has %d elements: it must be [server, GPUs]", i, len(pair))
		}
		if err := p.server.UnmarshalJSON(pair[0]); err != nil {
			return err
		}
		if pair[1][0] != '[' {
			var n whole
			if err := n.UnmarshalJSON(pair[1]); err != nil {
				return err
			}
			p.gpus = int(n)
			continue
		}
		var devices []whole
		if err := strictjson.Unmarshal(pair[1], &devices); err != nil {
			return fmt.Errorf("part %d: GPUs must be integers in plain digits", i)
		}
		p.devices = ints(devices)
		p.gpus = len(devices)
	}
	return nil
}

func ints(list []whole) []int {
	out := make([]int, len(list))
	for i, n := range list {
		out[i] = int(n)
	}
	return out
}
