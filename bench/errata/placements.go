package errata

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
	"yardstick/solvers/partition"
)

// The estimate alpha~ and the number of servers. All three instances have 10 Gbps
// between servers and 300 GB/s inside; replicas compute for 0.1 s, stages have
// 100 MB of parameters, and 10 MB cross between stages.

// pipeline returns one job of the given replicas per stage.
func pipeline(name string, servers, gpus int, replicas ...int) *sched.Instance {
	j := sched.Job{Weight: 1, Iters: 1000}
	for s, k := range replicas {
		st := sched.Stage{Replicas: k, Compute: sched.Duration(1e8), Params: 1e8}
		if s < len(replicas)-1 {
			st.Boundary = 1e7
		}
		j.Stages = append(j.Stages, st)
	}
	return &sched.Instance{Name: name, Model: sched.ModelGang, Cluster: sched.Uniform(servers, gpus, 1_250_000_000, 300_000_000_000), Jobs: []sched.Job{j}}
}

// alphas compares the least time per iteration for given parts with what it
// must be, and alpha~ and alpha_max where wanted.
type alphas struct {
	parts [][]int
	want  []*big.Rat
	tilde *big.Rat // nil if it is not of interest
	max   *big.Rat // nil too
	least *big.Rat // over all placements
}

func (a alphas) on(in *sched.Instance) (*Evidence, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	e := &Evidence{Instance: in}
	for i, parts := range a.parts {
		servers := make([]int, len(parts))
		for m := range servers {
			servers[m] = m
		}
		best, err := partition.BestAlpha(in, 0, servers, parts, 0)
		if err != nil {
			return nil, err
		}
		e.Facts = append(e.Facts,
			Fact{"least alpha on the parts " + partsText(parts), "s", best.Alpha, a.want[i]},
			Fact{"its lower bound", "s", best.Lower, a.want[i]})
	}
	if a.tilde != nil {
		tilde, err := heavyedge.AlphaTilde(in, 0, heavyedge.Ring)
		if err != nil {
			return nil, err
		}
		e.Facts = append(e.Facts, Fact{"alpha~", "s", tilde, a.tilde})
	}
	if a.max != nil {
		spread, err := partition.AlphaSpread(in, 0)
		if err != nil {
			return nil, err
		}
		e.Facts = append(e.Facts, Fact{"alpha_max", "s", spread, a.max})
	}
	m, err := partition.LeastRunTime(in, 0)
	if err != nil {
		return nil, err
	}
	got := big.NewRat(int64(m.Duration), 1)
	want := new(big.Rat).Mul(a.least, big.NewRat(in.Jobs[0].Iters*int64(sched.Second), 1))
	e.Facts = append(e.Facts, Fact{"n·alpha_min, rounded up", "µs", got, number.Ceil(want)})
	return e, nil
}

func partsText(parts []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(parts), "[]"), " ", "+")
}

// fewestServers: with a whole server to itself, the middle stage sends
// 2·(2·10 MB/2) over a quarter of the network card, 0.1 + 0.064 + 0.1/300 s. On two
// full servers some stage is split: one replica of the middle stage beside all
// of the first takes 0.1 + 0.32 + 0.032 + 0.01/300 s.
func fewestServers() Remark {
	return Remark{
		Name: "fewest-servers",
		Passage: Passage{asrptPaper, "Section IV-B",
			"To minimize per-iteration time, each job is allocated to the fewest servers possible"},
		Finding: "Stages of 3, 2 and 3 replicas on servers of four take 0.1643 s per iteration on three servers, 3+2+3, and at best 0.4520 s on two.",
		True:    "The fewest servers are a heuristic. alpha_min is a minimum over all numbers of servers, at most 2g_i/(g+1) of them if servers are alike.",
		run: func(context.Context) (*Evidence, error) {
			three := big.NewRat(493, 3000)
			return alphas{parts: [][]int{{3, 2, 3}, {4, 4}}, want: []*big.Rat{three, big.NewRat(13561, 30000)}, least: three}.
				on(pipeline("fewest-servers", 3, 4, 3, 2, 3))
		},
	}
}

// fullServers: on 3+3, 0.1 + (2·10 MB/3)·4/1.25 GB/s + (4/3·100 MB)/300 GB/s. On 4+2 the
// second stage has one replica beside all of the first: 0.1 + (2·10 MB/3)/300 GB/s +
// (4/3·100 MB)·4/1.25 GB/s.
func fullServers() Erratum {
	return Erratum{
		Name: "full-servers",
		Passage: Passage{asrptPaper, "Section IV-B",
			"With the Heavy-Edge GPU mapping algorithm, we obtain the minimum achievable per-iteration training time α̃^min_i for jobs"},
		Scope:      []string{"M alike servers of g GPUs", "B_intra at least an order of magnitude above B_inter", "alpha~ on servers that are full but for the last"},
		Finding:    "Two stages of three replicas on servers of four: alpha~ is 0.5267 s, on 4+2; the minimum is 0.1218 s, on 3+3.",
		Correction: "alpha~ is an upper bound on alpha_min, and an estimate, as Sections III-B and IV-B call it too. Lower bounds and rho need alpha_min itself.",
		run: func(context.Context) (*Evidence, error) {
			even := big.NewRat(137, 1125)
			split := big.NewRat(23701, 45000)
			in := pipeline("full-servers", 3, 4, 3, 3)
			e, err := alphas{parts: [][]int{{3, 3}, {4, 2}}, want: []*big.Rat{even, split}, tilde: split, least: even}.on(in)
			if err != nil {
				return nil, err
			}
			alike, faster := true, in.Cluster.Intra >= 10*in.Cluster.Inter
			for _, s := range in.Cluster.Servers {
				alike = alike && s.GPUs == in.Cluster.Servers[0].GPUs
			}
			full := e.Facts[2].Got.Cmp(e.Facts[4].Got) == 0 // the least on 4+2 is alpha~
			e.Scope = []Clause{{"M alike servers of g GPUs", alike}, {"B_intra at least an order of magnitude above B_inter", faster}, {"alpha~ on servers that are full but for the last", full}}
			return e, nil
		},
	}
}

// loneReplica: one replica of nine has 1/8 of its server's card, 0.1 + (16/9·100
// MB)·8/1.25 GB/s; on 5+4 the slower server has 4/8 of it.
func loneReplica() Remark {
	return Remark{
		Name: "lone-replica",
		Passage: Passage{asrptPaper, "Section IV-C",
			"Jobs are classified by the ratio α^max_i/α̃^min_i."},
		Finding: "Nine data-parallel replicas on servers of eight: alpha~ = alpha_max = 1.2378 s, on 8+1, so that the ratio is 1; on 5+4 it takes 0.3844 s.",
		True:    "The ratio says what full servers save, and not always what placement can. alpha_max/alpha_min does; `reference: least` classifies by it.",
		run: func(context.Context) (*Evidence, error) {
			even, lone := big.NewRat(173, 450), big.NewRat(557, 450)
			return alphas{parts: [][]int{{5, 4}, {8, 1}}, want: []*big.Rat{even, lone}, tilde: lone, max: lone, least: even}.
				on(pipeline("lone-replica", 9, 8, 9))
		},
	}
}
