package hunt

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"yardstick/bench"
	"yardstick/bench/suite"
	"yardstick/bounds"
	"yardstick/internal/output"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/partition"
)

// Conjecture is a statement about every instance: one formula over quantities of an
// instance and its schedules stands to another one as the relation says.
type Conjecture struct {
	Relation    string // one of Relations
	Left, Right *Formula
	Quantities  []*Quantity // what costs, bounds and optima it names, each once
	quantified  map[string]bool
}

// Relations are those that a conjecture may have between its sides.
func Relations() []string { return []string{"<=", ">=", "<", ">", "="} }

// Quantity is a value that has to be found on an instance.
type Quantity struct {
	Name string // as formulas name it: cost(sjf, makespan)
	Kind string // cost, bound or opt
	// Ref is the policy or the bound, as MethodRef.String writes it; "" of an optimum.
	Ref       string
	Objective sched.Objective
	// Class is that of the schedules that an optimum is about; zero for that of the model.
	Class sched.Class
	// Policy and Bound are what the Ref stands for; only who resolves names sets them.
	Policy Policy
	Bound  bench.Method
}

// Kinds of quantities.
const (
	kindCost  = "cost"
	kindBound = "bound"
	kindOpt   = "opt"
)

// plain are the quantities of the instance itself.
var plain = []string{"n", "G", "M", "g_max", "p_max", "p_min", "p_sum", "area", "r_max", "w_max", "w_sum"}

// SyntaxError says where a conjecture cannot be read.
type SyntaxError struct {
	Text string
	At   int // bytes before what is wrong
	Why  string
}

// Error puts a caret where the fault is.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s, where ‸ stands in %s‸%s", e.Why, output.Name(e.Text[:e.At]), output.Name(e.Text[e.At:]))
}

// ParseConjecture reads a statement such as "cost(sjf) <= 3*opt + p_max". Where a quantity
// names no objective, it is about the given one.
//
// Errors: a SyntaxError.
func ParseConjecture(text string, o sched.Objective) (*Conjecture, error) {
	c := &Conjecture{quantified: map[string]bool{}}
	p := &formulaReader{rest: text}
	p.quantities = func(name string, arguments []string) (string, error) { return c.quantity(name, arguments, o) }
	err := c.read(p, text)
	if err == nil {
		return c, nil
	}
	return nil, &SyntaxError{Text: text, At: len(text) - len(p.rest), Why: err.Error()}
}

func (c *Conjecture) read(p *formulaReader, text string) (err error) {
	if len(text) > maxFormula {
		return fmt.Errorf("it has %d bytes, of at most %d", len(text), maxFormula)
	}
	if c.Left, err = p.sum(); err != nil {
		return err
	}
	p.peek()
	for _, relation := range Relations() { // the longer ones first
		if c.Relation == "" && strings.HasPrefix(p.rest, relation) {
			c.Relation, p.rest = relation, p.rest[len(relation):]
		}
	}
	if c.Relation == "" {
		return fmt.Errorf("one of %s has to follow", strings.Join(Relations(), " "))
	}
	if c.Right, err = p.sum(); err != nil {
		return err
	}
	if p.peek() != 0 {
		return errors.New("nothing more may follow")
	}
	return nil
}

// quantity takes a name with its arguments, and returns the variable for it.
func (c *Conjecture) quantity(name string, arguments []string, o sched.Objective) (string, error) {
	if slices.Contains(plain, name) {
		if arguments != nil {
			return "", fmt.Errorf("%s takes no arguments", name)
		}
		return name, nil
	}
	q := &Quantity{Kind: name, Objective: o}
	switch name {
	case kindOpt:
	case kindCost, kindBound:
		if len(arguments) == 0 || arguments[0] == "" {
			return "", fmt.Errorf("%s needs a name, such as %s", name, map[string]string{kindCost: "cost(sjf)", kindBound: "bound(srpt)"}[name])
		}
		q.Ref, arguments = strings.ReplaceAll(arguments[0], " ", ""), arguments[1:]
	default:
		return "", fmt.Errorf("there is no %q: cost(POLICY), bound(NAME), opt, lg, min, max or one of %s", name, strings.Join(plain, " "))
	}
	for _, text := range arguments {
		if q.Objective.UnmarshalText([]byte(text)) != nil && (q.Kind != kindOpt || q.Class.UnmarshalText([]byte(text)) != nil) {
			return "", fmt.Errorf("%q is no objective, nor a class of opt", text)
		}
	}
	if q.Objective.Maximised() {
		return "", fmt.Errorf("%v is maximised, and conjectures are about costs", q.Objective)
	}
	q.Name = q.text()
	if !c.quantified[q.Name] {
		c.quantified[q.Name] = true
		c.Quantities = append(c.Quantities, q)
	}
	return q.Name, nil
}

// text names the quantity in full.
func (q *Quantity) text() string {
	words := []string{q.Objective.String()}
	if q.Ref != "" {
		words = append([]string{q.Ref}, words...)
	}
	if q.Class.Kind != 0 {
		words = append(words, q.Class.String())
	}
	return q.Kind + "(" + strings.Join(words, ", ") + ")"
}

// String writes the conjecture with every objective named: ParseConjecture reads it.
func (c *Conjecture) String() string { return fmt.Sprintf("%s %s %s", c.Left, c.Relation, c.Right) }

// Found lists the quantities that are what a policy or a method comes to.
func (c *Conjecture) Found() (names []string) {
	for _, q := range c.Quantities {
		if q.Ref != "" {
			names = append(names, q.Name)
		}
	}
	return names
}

// names lists the quantities of the instance that the conjecture names.
func (c *Conjecture) names() (list []string) {
	var walk func(*Formula)
	walk = func(f *Formula) {
		if f == nil {
			return
		}
		if f.op == 'v' && !c.quantified[f.name] && !slices.Contains(list, f.name) {
			list = append(list, f.name)
		}
		walk(f.left)
		walk(f.right)
	}
	walk(c.Left)
	walk(c.Right)
	return list
}

// Suits returns why the conjecture says nothing about a model, or nil.
func (c *Conjecture) Suits(in *sched.Instance) error {
	_, err := c.instanceValues(in)
	return err
}

// instanceValues are the quantities of the instance that the conjecture names: times in
// seconds. p is a job's least running time, its load not counted, and area the sum of g·p
// over G.
func (c *Conjecture) instanceValues(in *sched.Instance) (map[string]*big.Rat, error) {
	values := map[string]*big.Rat{}
	for _, name := range c.names() {
		v, err := instanceValue(in, name)
		if err != nil {
			return nil, err
		}
		values[name] = v
	}
	return values, nil
}

func instanceValue(in *sched.Instance, name string) (*big.Rat, error) {
	v, jobs := new(big.Rat), len(in.Jobs)
	switch name {
	case "n":
		return v.SetInt64(int64(jobs)), nil
	case "G":
		return v.SetInt64(int64(in.Cluster.GPUs())), nil
	case "M":
		return v.SetInt64(int64(len(in.Cluster.Servers))), nil
	case "w_max", "w_sum":
		for i := range in.Jobs {
			w := new(big.Rat)
			w.SetFloat64(in.Jobs[i].Weight)
			collect(v, w, name)
		}
		return v, nil
	case "r_max":
		for i := range in.Jobs {
			collect(v, inSeconds(int64(in.Jobs[i].Release)), name)
		}
		return v, nil
	}
	if !in.Model.Gangs() || !in.Model.Exclusive() {
		return nil, fmt.Errorf("hunt: there is no %s in the %s model, where jobs have no running time of their own", name, in.Model)
	}
	if name == "g_max" {
		for i := range in.Jobs {
			collect(v, new(big.Rat).SetInt64(int64(in.Jobs[i].Gang())), name)
		}
		return v, nil
	}
	least, err := partition.LeastRunTimes(in)
	if err != nil {
		return nil, fmt.Errorf("hunt: %w", err)
	}
	for i := range least {
		p := inSeconds(int64(least[i].Duration))
		switch {
		case name == "area":
			p.Mul(p, big.NewRat(int64(in.Jobs[i].Gang()), int64(in.Cluster.GPUs())))
		case name == "p_min" && (i == 0 || p.Cmp(v) < 0):
			v.Set(p)
		}
		collect(v, p, name)
	}
	return v, nil
}

// collect adds to a sum or raises a maximum, as the name says; a minimum it leaves.
func collect(v, x *big.Rat, name string) {
	switch {
	case strings.HasSuffix(name, "_sum") || name == "area":
		v.Add(v, x)
	case strings.HasSuffix(name, "_max") && x.Cmp(v) > 0:
		v.Set(x)
	}
}

func inSeconds(microseconds int64) *big.Rat { return big.NewRat(microseconds, int64(sched.Second)) }

// Value is what a quantity is on an instance, and why.
type Value struct {
	Quantity *Quantity
	Value    *big.Rat         // in seconds, times a weight where weighted
	Schedule *verify.Verified // of that cost; nil of a bound
	Method   string           // what proved an optimum
	Class    sched.Class      // that an optimum or a bound is about
	// Certificate is of an optimum or a bound, and was checked in exact arithmetic; nil if
	// there is none.
	Certificate []byte
}

// Case is what a conjecture comes to on an instance.
type Case struct {
	Instance    *sched.Instance
	Conjecture  *Conjecture
	Left, Right *big.Rat
	Values      []Value             // of the conjecture's quantities, in its order
	Plain       map[string]*big.Rat // of those of the instance
}

// Excess says by how much the statement fails, in [-1, 1]: the difference of the sides,
// over the sum of their absolute values. Below 0 it holds, and by the more the lower; at 0
// the sides are equal. An equation fails by the absolute difference.
func (c *Case) Excess() *big.Rat {
	left, right := c.Left, c.Right
	if strings.HasPrefix(c.Conjecture.Relation, ">") {
		left, right = right, left
	}
	d := new(big.Rat).Sub(left, right)
	if c.Conjecture.Relation == "=" {
		d.Abs(d)
	}
	if d.Sign() == 0 {
		return d
	}
	return d.Quo(d, new(big.Rat).Add(new(big.Rat).Abs(left), new(big.Rat).Abs(right)))
}

// Violated reports that the statement is false here.
func (c *Case) Violated() bool {
	strict := c.Conjecture.Relation == "<" || c.Conjecture.Relation == ">"
	return c.Excess().Sign() > 0 || strict && c.Excess().Sign() == 0
}

// conclude evaluates both sides from the values.
func (c *Case) conclude() (err error) {
	values := map[string]*big.Rat{}
	for name, v := range c.Plain {
		values[name] = v
	}
	for _, v := range c.Values {
		values[v.Quantity.Name] = v.Value
	}
	if c.Left, err = c.Conjecture.Left.Eval(values); err != nil {
		return err
	}
	c.Right, err = c.Conjecture.Right.Eval(values)
	return err
}

// errNoCase means that a quantity has no value on an instance, which is passed over.
var errNoCase = errors.New("hunt: a quantity of the conjecture has no value here")

// Evaluate finds the quantities of a conjecture on an instance, and certifies its bounds
// and optima where that can be done.
//
// Errors: a policy that fails, a schedule that breaks a rule; an optimum that is not proven
// within the limits; a side that has no value, such as a division by 0.
func (c *Conjecture) Evaluate(ctx context.Context, in *sched.Instance) (*Case, error) {
	return c.evaluate(ctx, in, prove, true)
}

// optimizer finds the optimum that schedules of a class are compared with.
type optimizer func(context.Context, *sched.Instance, sched.Objective, sched.Class) (*optimum, error)

func (c *Conjecture) evaluate(ctx context.Context, in *sched.Instance, optimal optimizer, certified bool) (*Case, error) {
	out := &Case{Instance: in, Conjecture: c}
	var err error
	if out.Plain, err = c.instanceValues(in); err != nil {
		return nil, err
	}
	for _, q := range c.Quantities {
		v := Value{Quantity: q, Class: in.Class()}
		var value *big.Rat
		switch q.Kind {
		case kindCost:
			value, err = v.cost(ctx, in)
		case kindOpt:
			value, err = v.optimum(ctx, in, optimal, certified)
		case kindBound:
			value, err = v.bound(ctx, in, certified)
		}
		if err == nil && value == nil {
			err = errNoCase
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.Name, err)
		}
		v.Value = new(big.Rat).Quo(value, big.NewRat(int64(sched.Second), 1))
		out.Values = append(out.Values, v)
	}
	return out, out.conclude()
}

func (v *Value) cost(ctx context.Context, in *sched.Instance) (*big.Rat, error) {
	var err error
	if v.Schedule, err = checked(ctx, in, v.Quantity.Policy); err != nil {
		return nil, err
	}
	v.Class = v.Schedule.Class()
	return v.Schedule.Cost(v.Quantity.Objective), nil
}

func (v *Value) optimum(ctx context.Context, in *sched.Instance, optimal optimizer, certified bool) (*big.Rat, error) {
	if v.Quantity.Class.Kind != 0 {
		v.Class = v.Quantity.Class
	}
	best, err := optimal(ctx, in, v.Quantity.Objective, v.Class)
	if err != nil {
		return nil, err
	}
	if best.class != v.Class {
		return nil, fmt.Errorf("the exact method is about class %v, not %v", best.class, v.Class)
	}
	v.Schedule, v.Method = best.schedule, best.method
	return best.cost, v.certify(in, &bounds.Bound{Name: best.method, Class: best.class, Objective: v.Quantity.Objective, Value: best.cost}, certified)
}

// bound runs a method that bounds, and returns the best of what it says.
func (v *Value) bound(ctx context.Context, in *sched.Instance, certified bool) (*big.Rat, error) {
	q := v.Quantity
	out, err := bench.Attempt(ctx, q.Bound, bench.Problem{Instance: in, Objectives: []sched.Objective{q.Objective}, Seed: 1, Limits: suite.Limits{Nodes: hunted[in.Model].nodes}}, false)
	if err != nil {
		return nil, err
	}
	var best *bounds.Bound
	for i := range out[0].Bounds {
		if b := &out[0].Bounds[i]; b.Objective == q.Objective && (best == nil || b.Value.Cmp(best.Value) > 0) {
			best = b
		}
	}
	if best == nil {
		return nil, errNoCase
	}
	v.Method = q.Ref
	return best.Value, v.certify(in, best, certified)
}

// certify says what class a bound is about, and makes a certificate of it, if that is asked
// for and is short.
func (v *Value) certify(in *sched.Instance, b *bounds.Bound, asked bool) error {
	v.Class = b.Class
	if !asked {
		return nil
	}
	err := bench.CertifyBound(in, b)
	v.Certificate = b.Certificate
	return err
}

// settle shrinks an instance where the conjecture fails, and evaluates it once more, with
// optima by the general methods and with certificates.
func (h *hunt) settle(ctx context.Context, best *candidate) (*Case, error) {
	if best.shown.Violated() {
		e := &evaluator{breed: h.breed, objective: h.Objective, conjecture: h.Conjecture}
		var err error
		if best, err = e.shrink(ctx, best, h.Keep); err != nil {
			return nil, err
		}
	}
	again, err := h.Conjecture.Evaluate(ctx, best.in)
	if err != nil {
		return nil, err
	}
	for i, v := range again.Values {
		if was := best.shown.Values[i].Value; was.Cmp(v.Value) != 0 {
			return nil, fmt.Errorf("hunt: %s is %s, and was %s before", v.Quantity.Name, v.Value.RatString(), was.RatString())
		}
	}
	return again, nil
}
