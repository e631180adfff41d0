// Package treecheck checks what package tree writes: that no schedule of a problem costs
// less than some value. It shares no code with what makes problems and proofs, and knows
// both by their texts alone. It decides as check_tree.py does, which is the program that
// strangers are given; what the two make of a file is compared by tests.
//
// All numbers that decide are integers of any size.
package treecheck

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// ErrRefused reports a problem or a certificate that is not one, or a certificate that
// does not prove what it claims.
var ErrRefused = errors.New("the proof does not hold")

// Statement is what has been proven: no schedule of the problem costs less than Value and,
// of an Optimum, one costs as much.
type Statement struct {
	Optimum bool
	Value   *big.Int
	Nodes   int
	// What the problem says of itself: instance, objective, class, unit, scale, offset.
	About map[string]string
}

type instance struct {
	about                           map[string]string
	makespan                        bool
	capacity                        *big.Int
	release, duration, gang, weight []*big.Int
	cluster                         *cluster // of problems on servers; nil of one pool
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

// Check decides whether the certificate proves what it claims of the problem.
//
// Errors: ErrRefused, with the reason.
func Check(problem, certificate []byte) (*Statement, error) {
	in, err := readProblem(problem)
	if err != nil {
		return nil, fmt.Errorf("the problem: %w", err)
	}
	c, err := readCertificate(certificate, problem, in)
	if err != nil {
		return nil, fmt.Errorf("the certificate: %w", err)
	}
	if c.optimum {
		var cost *big.Int
		if in.cluster != nil {
			cost, err = in.costOn(c.starts, c.places)
		} else {
			cost, err = in.cost(c.starts)
		}
		if err != nil {
			return nil, err
		}
		if cost.Cmp(c.value) != 0 {
			return nil, refuse("the schedule costs %v, and not %v", cost, c.value)
		}
	}
	w := walk{in: in, c: c}
	all := w.all
	if in.cluster != nil {
		all = w.allOn
	}
	if err := all(); err != nil {
		return nil, err
	}
	return &Statement{Optimum: c.optimum, Value: c.value, Nodes: len(c.answers), About: in.about}, nil
}

// reader reads the lines of a file. After an error it reads nothing more.
type reader struct {
	lines []string
	err   error
}

func newReader(data []byte) *reader {
	text := string(data)
	if !strings.HasSuffix(text, "\n") || strings.Contains(text, "\n\n") || strings.ContainsFunc(text, func(r rune) bool { return r > 127 }) {
		return &reader{err: refuse("it is not text, has empty lines or is cut off")}
	}
	return &reader{lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
}

func (r *reader) line() string {
	if len(r.lines) == 0 {
		if r.err == nil {
			r.err = refuse("it ends too early")
		}
		return ""
	}
	first := r.lines[0]
	r.lines = r.lines[1:]
	return first
}

// key returns what the next line says of a key.
func (r *reader) key(word string) string {
	found, value, _ := strings.Cut(r.line(), " ")
	if found != word && r.err == nil {
		r.err = refuse("%.70q is where %q should be", found, word)
	}
	return value
}

func (r *reader) end() {
	if len(r.lines) > 0 && r.err == nil {
		r.err = refuse("%.70q follows its end", r.lines[0])
	}
}

const digits = 60

// integers returns numbers that are not negative, each of at most 60 digits.
func (r *reader) integers(text string) []*big.Int {
	if text == "" {
		return nil
	}
	var list []*big.Int
	for word := range strings.SplitSeq(text, " ") {
		plain := word != "" && len(word) <= digits && strings.Trim(word, "0123456789") == "" && (word[0] != '0' || word == "0")
		if !plain {
			if r.err == nil {
				r.err = refuse("%.70q is no integer from 0 to 10^60", word)
			}
			return nil
		}
		v, _ := new(big.Int).SetString(word, 10)
		list = append(list, v)
	}
	return list
}

// integer returns one number, or 0 after an error.
func (r *reader) integer(text string) *big.Int {
	list := r.integers(text)
	if len(list) != 1 {
		if r.err == nil {
			r.err = refuse("%.70q is where one integer should be", text)
		}
		return new(big.Int)
	}
	return list[0]
}

// count returns how many of the lines ahead belong to something.
func (r *reader) count(text string) int {
	n := r.integer(text)
	if n.Cmp(big.NewInt(int64(len(r.lines)))) > 0 {
		if r.err == nil {
			r.err = refuse("it says that %v lines follow, and has %d", n, len(r.lines))
		}
		return 0
	}
	return int(n.Int64())
}

func readProblem(data []byte) (*instance, error) {
	r := newReader(data)
	head := r.line()
	if r.err == nil && head != "yardstick-problem 1" && head != "yardstick-servers 1" {
		return nil, refuse("it begins with %.70q", head)
	}
	in := &instance{about: map[string]string{}}
	for _, word := range []string{"instance", "objective", "class", "unit", "scale", "offset"} {
		in.about[word] = r.key(word)
	}
	kind := r.key("minimise")
	in.makespan = kind == "makespan"
	if head == "yardstick-servers 1" {
		if err := in.readCluster(r); err != nil {
			return nil, err
		}
		return in, in.complete(r, kind)
	}
	in.capacity = r.integer(r.key("capacity"))
	n := r.count(r.key("jobs"))
	for range n {
		row := r.integers(r.line())
		if len(row) != 4 {
			return nil, refuse("a job does not have four numbers")
		}
		in.release, in.duration = append(in.release, row[0]), append(in.duration, row[1])
		in.gang, in.weight = append(in.gang, row[2]), append(in.weight, row[3])
		switch {
		case row[1].Sign() == 0:
			return nil, refuse("a job has no duration")
		case row[2].Sign() == 0 || row[2].Cmp(in.capacity) > 0:
			return nil, refuse("a gang is empty, or larger than the pool")
		case in.makespan && row[3].Sign() != 0:
			return nil, refuse("a makespan has no weights")
		}
	}
	return in, in.complete(r, kind)
}

// complete returns what is wrong with a problem that has been read to its end.
func (in *instance) complete(r *reader, kind string) error {
	r.end()
	switch {
	case r.err != nil:
		return r.err
	case len(in.gang) == 0:
		return refuse("it has no jobs")
	case kind != "sum" && kind != "makespan":
		return refuse("it minimises %.70q", kind)
	}
	return nil
}

// cost returns the cost of a schedule, which must be one.
func (in *instance) cost(starts []*big.Int) (*big.Int, error) {
	if len(starts) != len(in.gang) {
		return nil, refuse("%d starts for %d jobs", len(starts), len(in.gang))
	}
	total := new(big.Int)
	for j, s := range starts {
		if s.Cmp(in.release[j]) < 0 {
			return nil, refuse("job %d starts before its release", j)
		}
		held := new(big.Int)
		for k, t := range starts {
			if t.Cmp(s) <= 0 && s.Cmp(sum(t, in.duration[k])) < 0 {
				held.Add(held, in.gang[k])
			}
		}
		if held.Cmp(in.capacity) > 0 {
			return nil, refuse("%v GPUs are held at %v, of %v", held, s, in.capacity)
		}
		end := sum(s, in.duration[j])
		if !in.makespan {
			total.Add(total, product(in.weight[j], end))
		} else if end.Cmp(total) > 0 {
			total = end
		}
	}
	return total, nil
}

// certificate is what a file says, which nothing has been checked of yet.
type certificate struct {
	optimum bool
	value   *big.Int
	scale   *big.Int
	order   []int
	starts  []*big.Int
	places  []*big.Int // on servers
	prices  []*prices
	answers []int
}

func readCertificate(data, problem []byte, in *instance) (*certificate, error) {
	r := newReader(data)
	want := "yardstick-tree 2"
	if in.cluster != nil {
		want = "yardstick-tree-on-servers 2"
	}
	if head := r.line(); r.err == nil && head != want {
		return nil, refuse("it begins with %.70q", head)
	}
	hash := sha256.Sum256(problem)
	if found := r.key("problem"); r.err == nil && found != hex.EncodeToString(hash[:]) {
		return nil, refuse("it is of another problem")
	}
	claim := r.key("claim")
	c := &certificate{optimum: claim == "optimum", value: r.integer(r.key("value")), scale: r.integer(r.key("scale"))}
	order := r.integers(r.key("order"))
	c.starts = r.integers(r.key("starts"))
	if in.cluster != nil {
		c.places = r.integers(r.key("places"))
	}
	n := r.count(r.key("prices"))
	for range n {
		numbers := r.integers(r.line())
		if r.err != nil {
			return nil, r.err
		}
		v, err := newPrices(in, numbers)
		if err != nil {
			return nil, err
		}
		c.prices = append(c.prices, v)
	}
	for text := r.line(); text != "end" && r.err == nil; text = r.line() {
		list := r.integers(text)
		for _, v := range list {
			if !v.IsInt64() || v.Int64() > int64(n) {
				return nil, refuse("there are no prices %v", v)
			}
			c.answers = append(c.answers, int(v.Int64()))
		}
	}
	r.end()
	switch {
	case r.err != nil:
		return nil, r.err
	case claim != "optimum" && (claim != "bound" || len(c.starts)+len(c.places) > 0):
		return nil, refuse("it claims neither an optimum nor a bound without starts")
	case c.scale.Sign() == 0:
		return nil, refuse("its scale is 0")
	}
	seen := make([]bool, len(in.gang))
	for _, v := range order {
		if !v.IsInt64() || v.Int64() >= int64(len(seen)) || seen[v.Int64()] {
			return nil, refuse("its order does not have each job once")
		}
		seen[v.Int64()] = true
		c.order = append(c.order, int(v.Int64()))
	}
	if slices.Contains(seen, false) {
		return nil, refuse("its order does not have each job once")
	}
	return c, nil
}

func sum(a, b *big.Int) *big.Int     { return new(big.Int).Add(a, b) }
func minus(a, b *big.Int) *big.Int   { return new(big.Int).Sub(a, b) }
func product(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }
