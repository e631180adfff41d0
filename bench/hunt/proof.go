package hunt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"

	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/internal/strictjson"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// Proof is what is written beside an instance that was found: how bad the policy
// is on it, and why that is so. Costs are in microseconds, times a weight where
// weighted, as exact fractions.
type Proof struct {
	Instance  string            `json:"instance_sha256"`
	Policy    string            `json:"policy"`
	Params    map[string]string `json:"params,omitempty"`
	Objective sched.Objective   `json:"objective"`
	Class     sched.Class       `json:"class"` // of the policy's schedule
	Ratio     string            `json:"ratio"`
	Cost      string            `json:"cost"`
	Optimum   Proven            `json:"optimum"`

	Seed        uint64 `json:"seed"`
	Evaluations int64  `json:"evaluations"`

	Schedule *sched.Schedule `json:"schedule"` // the policy's
	Optimal  *sched.Schedule `json:"optimal"`  // one of least cost
}

// Proven is an optimum and what is known about it.
type Proven struct {
	Value  string      `json:"value"`
	Method string      `json:"method"` // that proved it, as a suite names it
	Class  sched.Class `json:"class"`
	Status string      `json:"status"` // proven, certified if there is a certificate, or StatusSchedule
	// Certificate is the sha256 of a certificate that no schedule costs less.
	Certificate string `json:"certificate,omitempty"`
}

// StatusSchedule says that what a policy is compared with is a schedule of its class that
// may not be optimal, by Method: the ratio is at least the one that is stated.
const StatusSchedule = "schedule"

// Proof returns what there is to write about an instance found for a policy.
func (f *Found) Proof(policy string, params map[string]string) *Proof {
	p := &Proof{Instance: f.Instance.Hash(), Policy: policy, Params: params, Objective: f.Objective, Class: f.Policy.Class(),
		Ratio: f.Ratio().RatString(), Cost: f.Cost.RatString(), Schedule: f.Policy.Schedule(), Optimal: f.Optimal.Schedule(),
		Optimum: Proven{Value: f.Optimum.RatString(), Method: f.Method, Class: f.Class, Status: "proven"}}
	if f.Compared {
		p.Optimum.Status = StatusSchedule
	}
	if f.Certificate != nil {
		p.Optimum.Status, p.Optimum.Certificate = "certified", certify.SHA256(f.Certificate)
	}
	return p
}

// Write encodes the proof as indented JSON, with one segment per line.
func (p *Proof) Write(w io.Writer) error {
	without := *p
	without.Schedule, without.Optimal = nil, nil
	head, err := json.MarshalIndent(&without, "", "  ")
	if err != nil {
		return err
	}
	const empty = ",\n  \"schedule\": null,\n  \"optimal\": null\n}"
	head, ok := bytes.CutSuffix(head, []byte(empty))
	if !ok {
		return errors.New("hunt: the schedules are not last")
	}
	b := bytes.NewBuffer(head)
	for _, one := range []struct {
		name string
		s    *sched.Schedule
	}{{"schedule", p.Schedule}, {"optimal", p.Optimal}} {
		class, err := json.Marshal(one.s.Class)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, ",\n  %q: {\n    \"class\": %s,\n    \"segments\": [", one.name, class)
		for i := range one.s.Segments {
			line, err := json.Marshal(&one.s.Segments[i])
			if err != nil {
				return err
			}
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString("\n      ")
			b.Write(line)
		}
		b.WriteString("\n    ]\n  }")
	}
	b.WriteString("\n}\n")
	_, err = b.WriteTo(w)
	return err
}

// ReadProof decodes a proof. Keys that are unknown, there twice or in another case
// are errors.
func ReadProof(r io.Reader) (*Proof, error) {
	var p Proof
	if err := strictjson.Read(r, &p); err != nil {
		return nil, fmt.Errorf("hunt: a proof: %w", err)
	}
	return &p, nil
}

// Check verifies both schedules of a proof and that what it says follows from
// them: the ratio is that of their costs. That the second one is optimal has to be
// proven (Prove).
func (p *Proof) Check(in *sched.Instance) error {
	if p.Instance != in.Hash() {
		return fmt.Errorf("hunt: the proof is of another instance than %s", in.Name)
	}
	if p.Schedule == nil || p.Optimal == nil {
		return errors.New("hunt: the proof lacks a schedule")
	}
	var costs [2]*big.Rat
	for i, s := range []*sched.Schedule{p.Schedule, p.Optimal} {
		v, err := verify.Check(in, s)
		if err != nil {
			return fmt.Errorf("hunt: a schedule of the proof: %w", err)
		}
		if i == 0 && v.Class() != p.Class || i == 1 && !v.Class().Reaches(p.Optimum.Class) {
			return fmt.Errorf("hunt: a schedule of the proof is of class %v", v.Class())
		}
		if costs[i] = v.Cost(p.Objective); costs[i] == nil || costs[i].Sign() <= 0 {
			return errors.New("hunt: a schedule of the proof has no cost")
		}
	}
	for _, one := range []struct {
		what, said string
		value      *big.Rat
	}{{"cost", p.Cost, costs[0]}, {"optimum", p.Optimum.Value, costs[1]}, {"ratio", p.Ratio, new(big.Rat).Quo(costs[0], costs[1])}} {
		if said, ok := new(big.Rat).SetString(one.said); !ok || said.Cmp(one.value) != 0 {
			return fmt.Errorf("hunt: the proof says the %s is %s: it is %s", one.what, one.said, one.value.RatString())
		}
	}
	if (&bounds.Bound{Class: p.Optimum.Class, Objective: p.Objective}).Divides(p.Class, p.Objective) != nil {
		return fmt.Errorf("hunt: the proof compares class %v with an optimum of class %v", p.Class, p.Optimum.Class)
	}
	return nil
}

// CheckCertificate checks that the certificate is the one that the proof names and
// proves that no schedule costs less than the optimum. Check has to accept the proof.
func (p *Proof) CheckCertificate(in *sched.Instance, certificate []byte) error {
	if got := certify.SHA256(certificate); got != p.Optimum.Certificate {
		return fmt.Errorf("hunt: the proof names the certificate %.12s…, and this is %.12s…", p.Optimum.Certificate, got)
	}
	s, err := certify.Check(in, certificate)
	if err != nil {
		return err
	}
	if s.Objective != p.Objective || s.Class != p.Optimum.Class || s.Value.RatString() != p.Optimum.Value {
		return fmt.Errorf("hunt: the certificate states %s for class %v and %v, which is not the optimum of the proof", s.Value.RatString(), s.Class, s.Objective)
	}
	return nil
}
