package elastic_test

import (
	"math/rand/v2"
	"testing"

	"yardstick/heuristics/elastic"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// shape draws the shape of a small instance that enumeration can cope with.
func shape(r *rand.Rand, jobs int) schedtest.ElasticShape {
	return schedtest.ElasticShape{Jobs: jobs, Servers: 1 + r.IntN(3), Resources: 1 + r.IntN(3), WorkerTypes: 1 + r.IntN(2), ServerTypes: r.IntN(3),
		Workers: 4, Capacity: 4 + r.IntN(4), Slots: 6, Rings: r.IntN(2) == 0, Weights: true, Releases: sched.Time(r.IntN(3)) * 30 * sched.Second}
}

// volume is the cost of a placement by its definition.
func volume(in *sched.Instance, p *sched.Placement) int64 {
	sum := int64(0)
	for i := range p.Shares {
		for r, c := range in.Cluster.Servers[p.Shares[i].Server].Capacity {
			sum += in.ElasticDemand(p, i, r) * (1 << 32 / c)
		}
	}
	return sum
}

func fitsIn(in *sched.Instance, free [][]int64, p *sched.Placement) bool {
	for i := range p.Shares {
		for r, has := range free[p.Shares[i].Server] {
			if in.ElasticDemand(p, i, r) > max(0, has) {
				return false
			}
		}
	}
	return true
}

// TestPackerBruteForce compares with all placements of the workers, any number
// of parameter servers on any servers.
func TestPackerBruteForce(t *testing.T) {
	one, several, none := 0, 0, 0
	schedtest.EachSeed(t, 300, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, shape(r, 1))
		e := in.Jobs[0].Elastic
		all := schedtest.ElasticChoices(in, 0)
		p := elastic.NewPacker(in)
		for range 5 {
			var free [][]int64
			for h := range in.Cluster.Servers {
				var row []int64
				for _, c := range in.Cluster.Servers[h].Capacity {
					row = append(row, r.Int64N(c+2)-1) // less than nothing is nothing
				}
				free = append(free, row)
			}
			for m := range e.Train {
				for k := range e.Update {
					for n := 1; n <= e.MaxWorkers; n++ {
						least := map[bool]int64{}
						for i := range all {
							c, err := in.ReadElastic(0, &all[i].Place)
							if err != nil || c.WorkerType != m || c.ServerType != k || c.Workers != n || !fitsIn(in, free, &all[i].Place) {
								continue
							}
							if v, ok := least[c.OneServer]; !ok || volume(in, &all[i].Place) < v {
								least[c.OneServer] = volume(in, &all[i].Place)
							}
						}
						want, together := least[true]
						if !together {
							want = least[false]
						}
						got, ok := p.Place(free, e.Ring, m, k, n)
						if ok != (len(least) > 0) {
							t.Fatalf("%d workers of type %d, servers of type %d: found %t, want %v\nfree %v\n%+v", n, m, k, ok, least, free, in)
						}
						if !ok {
							none++
							continue
						}
						c, err := in.ReadElastic(0, &got)
						if err != nil || c.Workers != n || c.OneServer != together || !fitsIn(in, free, &got) || volume(in, &got) != want {
							t.Fatalf("%+v of %d workers costs %d, want %d (%v)\nfree %v\n%+v", got, n, volume(in, &got), want, err, free, in)
						}
						if together {
							one++
						} else {
							several++
						}
					}
				}
			}
		}
	})
	t.Logf("%d on one server, %d on several, %d nowhere", one, several, none)
	if one < 500 || several < 200 || none < 500 {
		t.Error("too little of a kind")
	}
}

// TestIdeal compares with all choices in the empty cluster.
func TestIdeal(t *testing.T) {
	schedtest.EachSeed(t, 150, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, shape(r, 2))
		p := elastic.NewPacker(in)
		for i := range in.Jobs {
			id := sched.JobID(i)
			least := int64(1 << 60)
			for _, c := range schedtest.ElasticChoices(in, id) {
				least = min(least, c.Slots)
			}
			c, ok := p.Ideal(id)
			if !ok || c.Slots != least {
				t.Fatalf("job %d: %+v, want %d slots\n%+v", i, c, least, in)
			}
			for n := 1; n <= in.Jobs[i].Elastic.MaxWorkers+1; n++ {
				c, ok := p.Fixed(id, n)
				if !ok {
					t.Fatalf("job %d runs nowhere with %d workers", i, n)
				}
				most, fastest := 0, int64(1<<60)
				for _, x := range schedtest.ElasticChoices(in, id) {
					read, err := in.ReadElastic(id, &x.Place)
					if err != nil {
						t.Fatal(err)
					}
					if read.Workers <= n && read.Workers > most {
						most, fastest = read.Workers, x.Slots
					} else if read.Workers == most {
						fastest = min(fastest, x.Slots)
					}
				}
				if c.Workers != most || c.Slots != fastest {
					t.Fatalf("job %d with %d workers: %+v, want %d workers and %d slots\n%+v", i, n, c, most, fastest, in)
				}
			}
		}
	})
}
