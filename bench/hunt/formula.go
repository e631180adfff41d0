package hunt

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Formula is an arithmetic expression over named variables, such as "n*G - 1". It knows
// + - * / ^, parentheses, lg(x), the whole part of the logarithm to base 2, and min and max
// of two. Everything is exact: 7/2 is three and a half.
type Formula struct {
	op          byte // one of + - * / ^, 'l', 'm' and 'M' for lg, min and max, 'v' for a variable, 0 for a number
	number      int64
	name        string
	left, right *Formula
}

// Limits of formulas, which may come from files.
const (
	maxFormula  = 400  // bytes
	maxBits     = 1024 // of a numerator or denominator on the way
	maxExponent = 64
)

var functions = map[string]byte{"lg": 'l', "min": 'm', "max": 'M'}

func whole(v int64) *Formula               { return &Formula{number: v} }
func variable(name string) *Formula        { return &Formula{op: 'v', name: name} }
func equal(f, g *Formula) bool             { return f.String() == g.String() }
func (f *Formula) precedence() int         { return map[byte]int{'+': 1, '-': 1, '*': 2, '/': 2, '^': 3}[f.op] }
func (f *Formula) under(p int) bool        { return f.precedence() > 0 && f.precedence() < p }
func join(op byte, l, r *Formula) *Formula { return &Formula{op: op, left: l, right: r} }

// size is how many numbers, variables and operations the formula has.
func (f *Formula) size() int {
	n := 1
	if f.left != nil {
		n += f.left.size()
	}
	if f.right != nil {
		n += f.right.size()
	}
	return n
}

// String writes the formula with no more parentheses than it needs.
func (f *Formula) String() string {
	inner := func(g *Formula, p int) string {
		if g.under(p) {
			return "(" + g.String() + ")"
		}
		return g.String()
	}
	switch f.op {
	case 0:
		return strconv.FormatInt(f.number, 10)
	case 'v':
		return f.name
	case 'l':
		return "lg(" + f.left.String() + ")"
	case 'm', 'M':
		return map[byte]string{'m': "min", 'M': "max"}[f.op] + "(" + f.left.String() + ", " + f.right.String() + ")"
	case '^':
		return inner(f.left, 4) + "^" + inner(f.right, 3)
	}
	p := f.precedence()
	right := p
	if f.op == '-' || f.op == '/' {
		right++
	}
	space := " "
	if p > 1 {
		space = ""
	}
	return inner(f.left, p) + space + string(f.op) + space + inner(f.right, right)
}

// MarshalText implements encoding.TextMarshaler.
func (f *Formula) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *Formula) UnmarshalText(text []byte) error {
	g, err := ParseFormula(string(text))
	if err == nil {
		*f = *g
	}
	return err
}

// ParseFormula reads a formula.
func ParseFormula(text string) (*Formula, error) {
	if len(text) > maxFormula {
		return nil, fmt.Errorf("hunt: a formula of %d characters: at most %d", len(text), maxFormula)
	}
	p := &formulaReader{rest: text}
	f, err := p.sum()
	if err == nil && p.peek() != 0 {
		err = fmt.Errorf("%q is left over", p.rest)
	}
	if err != nil {
		return nil, fmt.Errorf("hunt: formula %q: %w", text, err)
	}
	return f, nil
}

// formulaReader reads a formula. Names, and functions that it does not know, are those of
// the quantities, nil for any name and no function: it returns the variable that a name
// with arguments stands for.
type formulaReader struct {
	rest       string
	quantities func(name string, arguments []string) (string, error)
}

// peek returns the next character that is no space, 0 at the end.
func (p *formulaReader) peek() byte {
	p.rest = strings.TrimLeft(p.rest, " ")
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

func (p *formulaReader) take(c byte) error {
	if p.peek() != c {
		return fmt.Errorf("%q is missing before %q", c, p.rest)
	}
	p.rest = p.rest[1:]
	return nil
}

// chain reads operands of one precedence, from left to right.
func (p *formulaReader) chain(ops string, operand func() (*Formula, error)) (*Formula, error) {
	f, err := operand()
	for err == nil && p.peek() != 0 && strings.IndexByte(ops, p.peek()) >= 0 {
		op := p.rest[0]
		p.rest = p.rest[1:]
		var right *Formula
		if right, err = operand(); err == nil {
			f = join(op, f, right)
		}
	}
	return f, err
}

func (p *formulaReader) sum() (*Formula, error)     { return p.chain("+-", p.product) }
func (p *formulaReader) product() (*Formula, error) { return p.chain("*/", p.power) }

func (p *formulaReader) power() (*Formula, error) {
	f, err := p.atom()
	if err != nil || p.peek() != '^' {
		return f, err
	}
	p.rest = p.rest[1:]
	right, err := p.power()
	if err != nil {
		return nil, err
	}
	return join('^', f, right), nil
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

func (p *formulaReader) atom() (*Formula, error) {
	c := p.peek()
	switch {
	case c == '(':
		p.rest = p.rest[1:]
		f, err := p.sum()
		if err != nil {
			return nil, err
		}
		return f, p.take(')')
	case digit(c):
		end := 1
		for end < len(p.rest) && digit(p.rest[end]) {
			end++
		}
		v, err := strconv.ParseInt(p.rest[:end], 10, 64)
		p.rest = p.rest[end:]
		return whole(v), err
	case letter(c):
		end := 1
		for end < len(p.rest) && (letter(p.rest[end]) || digit(p.rest[end])) {
			end++
		}
		name := p.rest[:end]
		begin := p.rest
		p.rest = p.rest[end:]
		called := p.peek() == '('
		switch {
		case called && (p.quantities == nil || functions[name] != 0):
			return p.call(name)
		case p.quantities == nil:
			return variable(name), nil
		}
		arguments, err := p.arguments(called)
		if err != nil {
			return nil, err
		}
		if name, err = p.quantities(name, arguments); err != nil {
			p.rest = begin
			return nil, err
		}
		return variable(name), nil
	}
	return nil, fmt.Errorf("a number or a name is missing before %q", p.rest)
}

// arguments reads what stands in parentheses, apart at the commas that are in no others.
func (p *formulaReader) arguments(called bool) (list []string, err error) {
	if !called {
		return nil, nil
	}
	depth, from := 0, 1
	for i := range len(p.rest) {
		switch c := p.rest[i]; {
		case c == '(':
			depth++
		case c == ',' && depth == 1, c == ')' && depth == 1:
			list = append(list, strings.TrimSpace(p.rest[from:i]))
			from = i + 1
			if c == ')' {
				p.rest = p.rest[from:]
				return list, nil
			}
		case c == ')':
			depth--
		}
	}
	return nil, errors.New("the parenthesis is never closed")
}

func (p *formulaReader) call(name string) (*Formula, error) {
	op, ok := functions[name]
	if !ok {
		return nil, fmt.Errorf("there is no function %s: lg, min and max", name)
	}
	p.rest = p.rest[1:]
	left, err := p.sum()
	if err != nil {
		return nil, err
	}
	f := &Formula{op: op, left: left}
	if op != 'l' {
		if err := p.take(','); err != nil {
			return nil, err
		}
		if f.right, err = p.sum(); err != nil {
			return nil, err
		}
	}
	return f, p.take(')')
}

var errFormula = errors.New("it has no value")

// Eval returns the value, with a value for each variable.
//
// Errors: a variable that there is not; a division by zero; a logarithm of less than 1; a
// power that is no whole number from 0 to 64; numbers beyond a thousand bits.
func (f *Formula) Eval(values map[string]*big.Rat) (*big.Rat, error) {
	switch f.op {
	case 0:
		return new(big.Rat).SetInt64(f.number), nil
	case 'v':
		v := values[f.name]
		if v == nil {
			return nil, fmt.Errorf("hunt: formula: there is no variable %s", f.name)
		}
		return v, nil
	}
	l, err := f.left.Eval(values)
	if err != nil {
		return nil, err
	}
	if f.op == 'l' {
		floor := new(big.Int).Quo(l.Num(), l.Denom())
		if floor.Sign() <= 0 {
			return nil, fmt.Errorf("hunt: %s of %s: %w", f, l.RatString(), errFormula)
		}
		return new(big.Rat).SetInt64(int64(floor.BitLen() - 1)), nil
	}
	r, err := f.right.Eval(values)
	if err != nil {
		return nil, err
	}
	v, err := f.apply(l, r)
	if err == nil && max(v.Num().BitLen(), v.Denom().BitLen()) > maxBits {
		err = errFormula
	}
	if err != nil {
		return nil, fmt.Errorf("hunt: %s: %w", f, err)
	}
	return v, nil
}

func (f *Formula) apply(l, r *big.Rat) (*big.Rat, error) {
	v := new(big.Rat)
	switch f.op {
	case '+':
		return v.Add(l, r), nil
	case '-':
		return v.Sub(l, r), nil
	case '*':
		return v.Mul(l, r), nil
	case 'm', 'M':
		if (l.Cmp(r) < 0) == (f.op == 'm') {
			return l, nil
		}
		return r, nil
	case '/':
		if r.Sign() == 0 {
			return nil, errFormula
		}
		return v.Quo(l, r), nil
	}
	if !r.IsInt() || r.Sign() < 0 || r.Cmp(big.NewRat(maxExponent, 1)) > 0 {
		return nil, errFormula
	}
	v.SetInt64(1)
	for range r.Num().Int64() {
		if v.Mul(v, l); max(v.Num().BitLen(), v.Denom().BitLen()) > maxBits {
			return nil, errFormula
		}
	}
	return v, nil
}
