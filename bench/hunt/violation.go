package hunt

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"

	"yardstick/bounds/certify"
	"yardstick/internal/strictjson"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// Violation is what is written beside an instance on which a conjecture fails: what its
// quantities are there, and why. Values are exact fractions, of seconds where they are
// times.
type Violation struct {
	Instance   string  `json:"instance_sha256"`
	Statement  string  `json:"statement"` // with every objective named
	Left       string  `json:"left"`
	Right      string  `json:"right"`
	Quantities []Shown `json:"quantities"` // in the order in which the statement names them

	Seed        uint64 `json:"seed"`
	Evaluations int64  `json:"evaluations"`
}

// Shown is the value of a quantity with its evidence: the schedule of that cost, and the
// certificate that none, or no schedule at all, costs less.
type Shown struct {
	Name        string          `json:"name"`
	Value       string          `json:"value"`
	Class       sched.Class     `json:"class"`
	Method      string          `json:"method,omitempty"` // that proved it
	Schedule    *sched.Schedule `json:"schedule,omitempty"`
	Certificate json.RawMessage `json:"certificate,omitempty"`
}

// Violation returns what there is to write of a case.
func (c *Case) Violation() *Violation {
	v := &Violation{Instance: c.Instance.Hash(), Statement: c.Conjecture.String(), Left: c.Left.RatString(), Right: c.Right.RatString()}
	for i := range c.Values {
		value := &c.Values[i]
		s := Shown{Name: value.Quantity.Name, Value: value.Value.RatString(), Class: value.Class, Method: value.Method, Certificate: value.Certificate}
		if value.Schedule != nil {
			s.Schedule = value.Schedule.Schedule()
		}
		v.Quantities = append(v.Quantities, s)
	}
	return v
}

// Write encodes the violation as indented JSON.
func (v *Violation) Write(w io.Writer) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// ReadViolation decodes a violation. Keys that are unknown, there twice or in another case
// are errors.
func ReadViolation(text []byte) (*Violation, error) {
	var v Violation
	if err := strictjson.Unmarshal(text, &v); err != nil {
		return nil, fmt.Errorf("hunt: a violation: %w", err)
	}
	return &v, nil
}

// Check verifies the schedules and certificates of a violation, and that the statement
// follows to be false. Trusted lists the quantities that have no certificate: who found
// them has to be believed. That a schedule is its policy's, and that a bound of another value
// is not what the named method finds, is not checked: both have to be run again.
func (v *Violation) Check(in *sched.Instance) (c *Case, trusted []string, err error) {
	if v.Instance != in.Hash() {
		return nil, nil, fmt.Errorf("hunt: the violation is of another instance than %s", in.Name)
	}
	o, err := ParseConjecture(v.Statement, sched.TotalCompletion)
	if err != nil {
		return nil, nil, err
	}
	if o.String() != v.Statement || len(v.Quantities) != len(o.Quantities) {
		return nil, nil, errors.New("hunt: the statement is not written in full, or its quantities are others")
	}
	c = &Case{Instance: in, Conjecture: o}
	if c.Plain, err = o.instanceValues(in); err != nil {
		return nil, nil, err
	}
	for i, q := range o.Quantities {
		value, err := v.Quantities[i].check(in, q)
		if err != nil {
			return nil, nil, fmt.Errorf("hunt: %s: %w", q.Name, err)
		}
		if q.Kind != kindCost && value.Certificate == nil {
			trusted = append(trusted, q.Name)
		}
		c.Values = append(c.Values, *value)
	}
	if err := c.conclude(); err != nil {
		return nil, nil, err
	}
	if c.Left.RatString() != v.Left || c.Right.RatString() != v.Right {
		return nil, nil, fmt.Errorf("hunt: the violation says %.100q and %.100q: the sides are %s and %s", v.Left, v.Right, c.Left.RatString(), c.Right.RatString())
	}
	if !c.Violated() {
		return nil, nil, fmt.Errorf("hunt: the statement holds here: %s %s %s", v.Left, o.Relation, v.Right)
	}
	return c, trusted, nil
}

// check verifies the evidence of one quantity.
func (s *Shown) check(in *sched.Instance, q *Quantity) (*Value, error) {
	value, ok := new(big.Rat).SetString(s.Value)
	if s.Name != q.Name || len(s.Value) > maxFormula || !ok || value.RatString() != s.Value {
		return nil, fmt.Errorf("it is called %.100q here, and its value %.100q: name and exact fraction are expected", s.Name, s.Value)
	}
	v := &Value{Quantity: q, Value: value, Method: s.Method, Class: s.Class, Certificate: s.Certificate}
	if (s.Schedule == nil) != (q.Kind == kindBound) {
		return nil, errors.New("costs and optima have a schedule, and bounds have none")
	}
	want := q.Class
	if want.Kind == 0 {
		want = in.Class()
	}
	if q.Kind == kindOpt && s.Class != want {
		return nil, fmt.Errorf("it is of class %v, and the statement is about %v", s.Class, want)
	}
	micros := new(big.Rat).Mul(value, big.NewRat(int64(sched.Second), 1))
	if s.Schedule != nil {
		var err error
		if v.Schedule, err = verify.Check(in, s.Schedule); err != nil {
			return nil, err
		}
		if cost := v.Schedule.Cost(q.Objective); cost == nil || cost.Cmp(micros) != 0 {
			return nil, fmt.Errorf("its schedule does not have the value %s", s.Value)
		}
		if class := v.Schedule.Class(); q.Kind == kindCost && class != s.Class || !class.Reaches(s.Class) {
			return nil, fmt.Errorf("its schedule is of class %v, not %v", class, s.Class)
		}
	}
	if s.Certificate == nil || q.Kind == kindCost {
		return v, nil
	}
	stated, err := certify.Check(in, s.Certificate)
	if err != nil {
		return nil, err
	}
	if stated.Objective != q.Objective || stated.Class != s.Class || stated.Value.Cmp(micros) != 0 {
		return nil, errors.New("its certificate states something else")
	}
	return v, nil
}

// Text writes the values that the sides come from, in lines.
func (c *Case) Text() []string {
	var lines []string
	for _, name := range c.Conjecture.names() {
		lines = append(lines, fmt.Sprintf("%s = %s", name, c.Plain[name].RatString()))
	}
	slices.Sort(lines)
	for _, v := range c.Values {
		how := fmt.Sprintf("class %v", v.Class)
		switch {
		case v.Certificate != nil:
			how += ", certified"
		case v.Quantity.Kind == kindOpt:
			how += ", proven by " + v.Method
		case v.Quantity.Kind == kindCost:
			how += ", verified"
		}
		lines = append(lines, fmt.Sprintf("%s = %s (%s)", v.Quantity.Name, v.Value.RatString(), how))
	}
	return lines
}
