package instances

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"yardstick/datasets"
	"yardstick/internal/number"
	"yardstick/sched"
)

// ElasticOptions say how a window becomes an instance of the elastic model.
// Round is the length of the slots; 0 stands for an hour. History is not
// possible, because jobs of this model have no gang.
type ElasticOptions struct {
	Common // without servers in Cluster, they are drawn

	// Ring makes jobs synchronise in a ring instead of by parameter servers.
	Ring bool

	// Startup is the load at every start of a job but the first: what stopping and
	// resizing cost it.
	Startup sched.Time

	// Servers is how many are drawn. NULL draws until each resource reaches
	// Capacity of what the jobs ask for.
	Servers datasets.Opt[int]
	// Capacity is what the servers have together of each resource, as a share of what
	// the jobs ask for. Servers that were drawn by number are scaled to it, and stay
	// as EC2 has them if it is NULL. Without a number of servers NULL is 0.35, the
	// middle of the paper's range [0.2, 0.5].
	Capacity datasets.Opt[float64]

	WorkerTypes, ServerTypes datasets.Opt[int] // NULL is 8 and 10

	// What jobs may choose from, once all is drawn; the cluster stays. The
	// primal-dual paper varies both in Figures 9 and 10.
	MaxWorkers int // the most workers of a job; 0 for D_j
	WorkerType int // the only worker type, from 1; 0 for all
}

// The elastic model's resources, in the order of every vector. Bandwidths are
// in Mbit/s.
const (
	resourceGPU = iota
	resourceCPU
	resourceBandwidth
	resources
)

// span is a range of whole numbers, both ends included.
type span struct{ low, high int64 }

func (b span) draw(r *rand.Rand) int64 { return between(r, b.low, b.high) }

// settings are the ranges of the primal-dual paper's section 7.
type settings struct {
	workerGPUs, workerCPUs, workerBandwidth span // Mbit/s
	serverCPUs, serverBandwidth             span
	weight                                  span
	epochs, chunks, batches                 span // E_j, D_j, K_j
	update                                  span // U_jp, ms
	train                                   span // v_jm, ms: 0.001 to 0.05 slots of one hour
	gradients                               span // pi_j, MB
}

func paperSettings() settings {
	return settings{
		workerGPUs: span{1, 4}, workerCPUs: span{1, 16}, workerBandwidth: span{100, 5_000},
		serverCPUs: span{1, 16}, serverBandwidth: span{5_000, 20_000},
		weight: span{200, 5_000},
		epochs: span{50, 100}, chunks: span{5, 50}, batches: span{10, 50},
		update: span{10, 100}, train: span{3_600, 180_000}, gradients: span{30, 575},
	}
}

// Elastic makes an instance of the elastic model by the settings of the
// primal-dual paper's section 7: worker and parameter-server types, and all
// that makes up a job, are drawn uniformly from its ranges; servers are GPU
// instances of Amazon EC2 of the families P3, P2 and G3. The trace gives
// releases and, where it has them, weights; its GPUs and durations are not
// used.
//
// Units: slots of the paper are hours, so that v_jm is from 3.6 s to 180 s
// whatever the slot length is; times are drawn in whole milliseconds, pi_j in
// MB of 10^6 bytes, bandwidths in whole Mbit/s. W_j = E_j·D_j·K_j.
//
// Not in the source: the kinds of servers are drawn uniformly from the families'
// ten sizes; the first server is always a p3.16xlarge, which can hold one worker
// and one parameter server of any type, so that every job can run; the paper
// fixes the number of servers and tunes their capacities, as Capacity does; how
// it shares them out it does not say, here in proportion to EC2's sizes, and where no
// server is then left large enough to hold anything, the first takes from the others
// what one worker and one parameter server need. What a job asks for is D_j workers of its
// fastest type and, if not Ring, as many parameter servers of its fastest type
// as take all workers' gradients at once. A weight is drawn only if the trace
// has none.
//
// Errors: a given cluster that no worker fits; options out of range; whatever
// sched.Instance.Validate refuses.
func Elastic(w *datasets.Window, o ElasticOptions) (*sched.Instance, error) {
	return o.finish(elastic(w, &o))
}

func elastic(w *datasets.Window, o *ElasticOptions) (*sched.Instance, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	in, err := o.start(w, sched.ModelElastic, 1)
	if err != nil {
		return nil, err
	}
	p := paperSettings()
	in.Elastic = p.types(w.Seed, o)
	jobs := w.List()
	for i := range jobs {
		r := draw(w.Seed, "elastic job", lotName(&jobs[i]))
		weight := p.weight.draw(r)
		if o.Weights == datasets.WeightsTrace && !jobs[i].Weight.OK {
			in.Jobs[i].Weight = float64(weight)
		}
		in.Jobs[i].Elastic = p.job(r, o)
		in.Jobs[i].Load = o.Startup
	}
	if len(o.Cluster.Servers) == 0 {
		in.Cluster.Servers = o.servers(w.Seed, in)
		in.Cluster.Inter, in.Cluster.Intra = 3_125_000_000, 300_000_000_000
	}
	o.limit(in)
	if !canStart(in) && !(o.shared() && makeRoom(in)) {
		return nil, errors.New("no job can run: the given servers hold no worker of any type, or none together with a parameter server; use larger ones")
	}
	return in, nil
}

func (o *ElasticOptions) complete() error {
	if o.Round == 0 {
		o.Round = 3600 * sched.Second
	}
	o.Slotted = true
	if !o.Capacity.OK && !o.Servers.OK {
		o.Capacity = datasets.Some(0.35)
	}
	if !o.WorkerTypes.OK {
		o.WorkerTypes = datasets.Some(8)
	}
	if !o.ServerTypes.OK {
		o.ServerTypes = datasets.Some(10)
	}
	switch {
	case o.History != 0:
		return fmt.Errorf("history is %d: jobs of the elastic model have no gang to remember, so it must be 0", o.History)
	case o.OfferedLoad.OK:
		return errors.New("jobs of the elastic model have no gang and no running time of their own, and so no offered load to set: drop offeredLoad")
	case o.Startup < 0 || o.Startup > sched.MaxTime:
		return fmt.Errorf("startup is %v: it must be from 0 to %v", o.Startup, sched.MaxTime)
	case o.Servers.OK && o.Servers.V < 1 || o.WorkerTypes.V < 1 || o.ServerTypes.V < 1:
		return fmt.Errorf("%d servers, %d worker types, %d parameter-server types: there must be one of each at least", o.Servers.V, o.WorkerTypes.V, o.ServerTypes.V)
	case o.MaxWorkers < 0:
		return fmt.Errorf("maxWorkers is %d: it must be positive, or 0 for as many as are drawn", o.MaxWorkers)
	case o.WorkerType < 0 || o.WorkerType > o.WorkerTypes.V:
		return fmt.Errorf("workerType is %d: it must be from 1 to %d, or 0 for all types", o.WorkerType, o.WorkerTypes.V)
	case o.Capacity.OK && !(o.Capacity.V > 0 && o.Capacity.V <= 1000):
		return fmt.Errorf("capacity is %v: it must be positive and at most 1000", o.Capacity.V)
	}
	return nil
}

// limit takes away what jobs may not choose.
func (o *ElasticOptions) limit(in *sched.Instance) {
	for i := range in.Jobs {
		e := in.Jobs[i].Elastic
		if o.MaxWorkers > 0 {
			e.MaxWorkers = min(e.MaxWorkers, o.MaxWorkers)
		}
		if o.WorkerType > 0 {
			e.Train = e.Train[o.WorkerType-1 : o.WorkerType]
		}
	}
	if o.WorkerType > 0 {
		in.Elastic.Workers = in.Elastic.Workers[o.WorkerType-1 : o.WorkerType]
	}
}

// types draws the container types.
func (p *settings) types(seed uint64, o *ElasticOptions) *sched.ElasticTypes {
	e := &sched.ElasticTypes{Resources: []string{"gpu", "cpu", "bandwidth"}, Bandwidth: resourceBandwidth}
	for m := range o.WorkerTypes.V {
		r := draw(seed, "worker type", strconv.Itoa(m))
		e.Workers = append(e.Workers, sched.Container{Demand: []int64{p.workerGPUs.draw(r), p.workerCPUs.draw(r), p.workerBandwidth.draw(r)}})
	}
	if o.Ring {
		return e
	}
	for k := range o.ServerTypes.V {
		r := draw(seed, "parameter-server type", strconv.Itoa(k))
		e.Servers = append(e.Servers, sched.Container{Demand: []int64{0, p.serverCPUs.draw(r), p.serverBandwidth.draw(r)}})
	}
	return e
}

// job draws one job.
func (p *settings) job(r *rand.Rand, o *ElasticOptions) *sched.Elastic {
	const ms = sched.Duration(1_000_000)
	chunks := p.chunks.draw(r)
	j := &sched.Elastic{
		Ring:       o.Ring,
		MaxWorkers: int(chunks),
		Batches:    p.epochs.draw(r) * chunks * p.batches.draw(r),
		Gradients:  sched.Bytes(p.gradients.draw(r) * 1e6),
	}
	for range o.WorkerTypes.V {
		j.Train = append(j.Train, sched.Duration(p.train.draw(r))*ms)
	}
	updates := o.ServerTypes.V
	if o.Ring {
		updates = 1
	}
	for range updates {
		j.Update = append(j.Update, sched.Duration(p.update.draw(r))*ms)
	}
	return j
}

// ec2 lists the GPU instances of the families P3, P2 and G3 of Amazon EC2:
// GPUs, virtual CPUs and Mbit/s. "Up to 10 Gigabit" is taken as 10 Gbit/s and
// the network performance "High" of p2.xlarge as 1 Gbit/s.
func ec2() [][resources]int64 {
	return [][resources]int64{
		{8, 64, 25_000},  // p3.16xlarge
		{4, 32, 10_000},  // p3.8xlarge
		{1, 8, 10_000},   // p3.2xlarge
		{16, 64, 25_000}, // p2.16xlarge
		{8, 32, 10_000},  // p2.8xlarge
		{1, 4, 1_000},    // p2.xlarge
		{4, 64, 25_000},  // g3.16xlarge
		{2, 32, 10_000},  // g3.8xlarge
		{1, 16, 10_000},  // g3.4xlarge
		{1, 4, 10_000},   // g3s.xlarge
	}
}

// shared reports whether a number of servers share a capacity.
func (o *ElasticOptions) shared() bool {
	return len(o.Cluster.Servers) == 0 && o.Servers.OK && o.Capacity.OK
}

// servers draws the cluster.
func (o *ElasticOptions) servers(seed uint64, in *sched.Instance) []sched.Server {
	ideal := idealDemand(in)
	kinds := ec2()
	r := draw(seed, "servers", "")
	var list []sched.Server
	var total [resources]int64
	scaled := o.shared()
	enough := func() bool {
		if o.Servers.OK {
			return len(list) == o.Servers.V
		}
		for i := range total {
			if float64(total[i]) < o.Capacity.V*float64(ideal[i]) {
				return false
			}
		}
		return true
	}
	for kind := kinds[0]; ; kind = kinds[r.IntN(len(kinds))] {
		list = append(list, sched.Server{GPUs: int(kind[resourceGPU]), Capacity: slices.Clone(kind[:])})
		for i := range total {
			total[i] += kind[i]
		}
		if enough() || !scaled && total[resourceGPU] > sched.MaxGPUs { // which Validate refuses
			break
		}
	}
	if !scaled {
		return list
	}
	for i := range total {
		most := int64(math.Round(o.Capacity.V * float64(ideal[i])))
		share(list, i, most, total[i])
	}
	for h := range list {
		list[h].GPUs = int(list[h].Capacity[resourceGPU])
	}
	return list
}

// share gives the servers so much of a resource together, in proportion to the total that
// they have, rounded by largest remainders; one that would get nothing takes a unit from
// the one with most, as long as there are units for all.
func share(list []sched.Server, resource int, most, total int64) {
	type part struct{ server, rest int64 }
	parts := make([]part, len(list))
	left := most
	for h := range list {
		c := &list[h].Capacity[resource]
		product := number.Product(uint64(most), uint64(*c))
		*c = int64(product.Over(uint64(total)).Lo)
		parts[h] = part{int64(h), int64(product.Minus(number.Product(uint64(*c), uint64(total))).Lo)}
		left -= *c
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.rest, a.rest) })
	for _, x := range parts[:left] {
		list[x.server].Capacity[resource]++
	}
	for h := range list {
		if list[h].Capacity[resource] == 0 && most >= int64(len(list)) {
			rich := slices.MaxFunc(list, func(a, b sched.Server) int { return cmp.Compare(a.Capacity[resource], b.Capacity[resource]) })
			rich.Capacity[resource]-- // shared with the list's
			list[h].Capacity[resource] = 1
		}
	}
}

// makeRoom moves resources to the first server from those that have most, a unit at a
// time, until it holds the worker and, without Ring, the parameter server whose largest
// share of what all servers have is least, the first of equal ones. It is false, and
// moves nothing, if all have too little.
func makeRoom(in *sched.Instance) bool {
	list := in.Cluster.Servers
	var total [resources]int64
	for h := range list {
		for k, v := range list[h].Capacity {
			total[k] += v
		}
	}
	servers := in.Elastic.Servers
	if in.Jobs[0].Elastic.Ring {
		servers = []sched.Container{{Demand: make([]int64, resources)}}
	}
	var least []int64
	lowest := math.Inf(1)
	for _, w := range in.Elastic.Workers {
		for _, s := range servers {
			both, share := make([]int64, resources), 0.0
			for k := range both {
				both[k] = w.Demand[k] + s.Demand[k]
				share = max(share, float64(both[k])/float64(total[k]))
			}
			if share < lowest {
				least, lowest = both, share
			}
		}
	}
	if lowest > 1 {
		return false
	}
	for k := range least {
		for list[0].Capacity[k] < least[k] {
			rich := slices.MaxFunc(list[1:], func(a, b sched.Server) int { return cmp.Compare(a.Capacity[k], b.Capacity[k]) })
			rich.Capacity[k]-- // shared with the list's
			list[0].Capacity[k]++
		}
	}
	for h := range list {
		list[h].GPUs = int(list[h].Capacity[resourceGPU])
	}
	return true
}

// idealDemand returns what all jobs ask for together, per resource.
func idealDemand(in *sched.Instance) (total [resources]int64) {
	for i := range in.Jobs {
		j := in.Jobs[i].Elastic
		worker := in.Elastic.Workers[fastest(j.Train)].Demand
		workers := int64(j.MaxWorkers)
		for k := range total {
			total[k] += workers * worker[k]
		}
		if j.Ring || len(in.Elastic.Servers) == 0 {
			continue
		}
		server := in.Elastic.Servers[fastest(j.Update)].Demand
		servers := (workers*worker[resourceBandwidth] + server[resourceBandwidth] - 1) / server[resourceBandwidth]
		for k := range total {
			total[k] += servers * server[k]
		}
	}
	return total
}

// fastest returns the index of the least time, the first of equal ones.
func fastest(times []sched.Duration) int {
	best := 0
	for i, t := range times {
		if t < times[best] {
			best = i
		}
	}
	return best
}

// canStart reports whether one worker and, without Ring, one parameter server
// of some types fit the empty cluster, on one server or on two. Which do is the
// same for all jobs. Every parameter server of the settings takes the gradients
// of any one worker.
func canStart(in *sched.Instance) bool {
	for _, w := range in.Elastic.Workers {
		if in.Jobs[0].Elastic.Ring && fitsSome(in, w.Demand, -1) {
			return true
		}
		for _, s := range in.Elastic.Servers {
			both := make([]int64, resources)
			for k := range both {
				both[k] = w.Demand[k] + s.Demand[k]
			}
			if fitsSome(in, both, -1) {
				return true
			}
			for h := range in.Cluster.Servers {
				if fits(&in.Cluster.Servers[h], s.Demand) && fitsSome(in, w.Demand, h) {
					return true
				}
			}
		}
	}
	return false
}

// fitsSome reports whether a server other than the given one has room.
func fitsSome(in *sched.Instance, demand []int64, except int) bool {
	for h := range in.Cluster.Servers {
		if h != except && fits(&in.Cluster.Servers[h], demand) {
			return true
		}
	}
	return false
}

func fits(s *sched.Server, demand []int64) bool {
	for k := range demand {
		if k >= len(s.Capacity) || s.Capacity[k] < demand[k] {
			return false
		}
	}
	return true
}

// elastic describes the jobs and containers of the elastic model.
func (d *description) elastic() error {
	e := d.in.Elastic
	total := make([]int64, len(e.Resources))
	for _, s := range d.in.Cluster.Servers {
		for k, v := range s.Capacity {
			total[k] += v
		}
	}
	var amounts []string
	for k, name := range e.Resources {
		amounts = append(amounts, fmt.Sprintf("%d %s", total[k], name))
	}
	d.line("resources", "%s", strings.Join(amounts, ", "))
	d.line("containers", "%d worker types, %d parameter-server types", len(e.Workers), len(e.Servers))
	var workers []int
	var batches []int64
	var train, update []sched.Duration
	var gradients []sched.Bytes
	ring := 0
	for i := range d.in.Jobs {
		j := d.in.Jobs[i].Elastic
		workers, batches, gradients = append(workers, j.MaxWorkers), append(batches, j.Batches), append(gradients, j.Gradients)
		train, update = append(train, j.Train...), append(update, j.Update...)
		if j.Ring {
			ring++
		}
	}
	d.line("synchronisation", "%d by ring, %d by parameter servers", ring, len(d.in.Jobs)-ring)
	d.line("workers at most", "%s", quantiles(workers))
	d.line("mini-batches", "%s", quantiles(batches))
	d.line("train", "%s", quantiles(train))
	d.line("update", "%s", quantiles(update))
	d.line("gradients", "%s", quantiles(gradients))
	return nil
}
