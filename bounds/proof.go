package bounds

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"yardstick/sched"
)

// Proof is what makes a bound checkable: a kind, and the data that an exact
// evaluation of that kind needs besides the instance. docs/certificates.md
// describes the kinds. Package certify evaluates them, with other code.
type Proof struct {
	Kind string
	Data any // what encoding/json makes the data of; an empty object if nil
}

// document is a certificate: see docs/certificates.md.
type document struct {
	Format    string          `json:"format"`
	Kind      string          `json:"kind"`
	Objective sched.Objective `json:"objective"`
	Class     sched.Class     `json:"class"`
	Instance  string          `json:"instance_sha256"`
	Value     string          `json:"value"`
	Data      any             `json:"data"`
	Seal      string          `json:"seal"`
}

// Document returns the certificate that the bound's proof makes, a line of JSON, for
// the instance of the given Hash. It states what the bound does; whether it proves
// that is for package certify to say. It returns nil if there is no proof.
func (b *Bound) Document(instanceHash string) ([]byte, error) {
	if b.Proof == nil || b.Value == nil {
		return nil, nil
	}
	d := document{Format: "yardstick-certificate/1", Kind: b.Proof.Kind, Objective: b.Objective, Class: b.Class,
		Instance: instanceHash, Value: b.Value.RatString(), Data: b.Proof.Data}
	if d.Data == nil {
		d.Data = struct{}{}
	}
	bare, err := json.Marshal(&d)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(bare)
	d.Seal = hex.EncodeToString(sum[:])
	text, err := json.Marshal(&d)
	if err != nil {
		return nil, err
	}
	return append(text, '\n'), nil
}

// Claim says that a job trains for at least so many microseconds on any placement.
// Proofs carry claims about jobs of several stages that fit no server.
type Claim struct {
	Job  int   `json:"job"`
	Time int64 `json:"time"`
}

// Claims returns those about an instance's jobs, given their least training times.
func Claims(in *sched.Instance, least []sched.Time) []Claim {
	biggest := 0
	for _, s := range in.Cluster.Servers {
		biggest = max(biggest, s.GPUs)
	}
	var out []Claim
	for i := range in.Jobs {
		if j := &in.Jobs[i]; len(j.Stages) > 1 && j.Gang() > biggest {
			out = append(out, Claim{i, int64(least[i])})
		}
	}
	return out
}

// closedData are the data of the closed bounds: the machine, if it is not the fluid
// one, and the jobs that are not on it.
type closedData struct {
	Machine *machineData `json:"machine,omitempty"`
	Apart   []int        `json:"apart,omitempty"`
	Least   []Claim      `json:"least,omitempty"`
}

// machineData say what gangs count for on the machine.
type machineData struct {
	Whole  int64       `json:"whole"`
	Shares []gangShare `json:"shares"`
}

type gangShare struct {
	Gang  int64 `json:"gang"`
	Share int64 `json:"share"`
}

// machineOf returns the data of a dual-feasible function.
func (w *workload) machineOf(u *dualFeasible) *machineData {
	m := &machineData{Whole: u.whole}
	known := map[int]bool{}
	for i := range w.in.Jobs {
		if g := w.in.Jobs[i].Gang(); !known[g] {
			known[g] = true
			m.Shares = append(m.Shares, gangShare{int64(g), u.share(int64(g))})
		}
	}
	return m
}

// proof returns the proof of what the method has evaluated.
func (w *workload) proof(m method) *Proof {
	if m.proof == "" {
		return nil
	}
	return &Proof{m.proof, w.choice}
}

// sizes returns the data of a bound for schedules that share GPUs.
func (w *workload) sizes(rule string) sizeData {
	if rule == "alone" {
		return sizeData{Rule: rule, Sizes: []int64{}}
	}
	s := sizeData{rule, w.gpus, slices.Clone(w.size)}
	for _, j := range w.choice.Apart {
		s.Sizes[j] = 0
	}
	return s
}

// priceData are the data of Lagrangian bounds: Prices with times in microseconds.
type priceData struct {
	Grid     []int64 `json:"grid"`
	Price    []int64 `json:"price"`
	Exponent int     `json:"exponent"`
	Least    []Claim `json:"least,omitempty"`
}

// spreadData are the same of classes P0 and F(1).
type spreadData struct {
	priceData
	Whole bool `json:"whole"` // gangs run as a whole: class P0
}

// proof returns the proof that prices are, for a class.
func (p *Prices) proof(kind sched.Kind, claims []Claim) *Proof {
	data := priceData{p.Grid.Micros(), p.Price, p.Exponent, claims}
	if kind == sched.N {
		return &Proof{"prices", data}
	}
	return &Proof{"spread-prices", spreadData{data, kind == sched.P0}}
}

// knapsackData are prices by job and slot.
type knapsackData struct {
	Grid     []int64   `json:"grid"`
	Price    [][]int64 `json:"price"`
	Exponent int       `json:"exponent"`
	Spread   bool      `json:"spread"` // jobs may be preempted: class P0
	Least    []Claim   `json:"least,omitempty"`
}

// proof returns the proof that prices by job are, for a class. What a list has no
// price for is free.
func (p *JobPrices) proof(kind sched.Kind, claims []Claim) *Proof {
	d := knapsackData{Grid: p.Grid.Micros(), Price: p.trimmed(), Exponent: p.Exponent, Spread: kind == sched.P0, Least: claims}
	return &Proof{"knapsack", d}
}

// Micros returns the grid points as numbers.
func (g Grid) Micros() []int64 {
	out := make([]int64, len(g))
	for k, t := range g {
		out[k] = int64(t)
	}
	return out
}

// sizeData are the data of closed bounds for schedules that share GPUs: by which
// rule, and the sizes of the jobs on the machine, in units of 1/Whole.
type sizeData struct {
	Rule  string  `json:"rule"`
	Whole int64   `json:"whole"`
	Sizes []int64 `json:"sizes"`
}
