package timeindexed

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"yardstick/formulate"
	"yardstick/sched"
	"yardstick/solvers/milp"
	"yardstick/solvers/partition"
)

// Program says what the programs know of servers, beside how many GPUs there are.
type Program uint8

// The programs, each at least as strong as the one before.
const (
	Starts         Program = iota // nothing: see Build
	Configurations                // in every slot, what runs can be packed: see BuildConfigurations
	Servers                       // which servers every job has: see BuildServers
)

var programNames = [...]string{"starts", "configurations", "servers"}

func (x Program) String() string { return programNames[x] }

// UnmarshalText implements encoding.TextUnmarshaler.
func (x *Program) UnmarshalText(text []byte) error {
	i := slices.Index(programNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("program %q is unknown: %s", text, strings.Join(programNames[:], ", "))
	}
	*x = Program(i)
	return nil
}

// BuildConfigurations returns the program with the given slot in which
// moreover, in every slot, the parts of the running jobs are packed into the
// servers:
//
//	u[j,p,s] ∈ {0,1}: job j starts in slot s with pattern p
//	λ[τ,q,c] ∈ {0,1,…}: so many servers of size q hold the configuration c,
//	                    a partition of q, in slot τ
//	min Σ cost(j,p,s) u[j,p,s]
//	Σ_{p,s} u[j,p,s] = 1                                                  each job j
//	Σ_j g_j Σ_{p, s ≤ τ < s + D_jp} u[j,p,s] ≤ G                           each slot τ
//	Σ_{j,p} n_pqx Σ_{s ≤ τ < s + D_jp} u[j,p,s] ≤ Σ_c c_x λ[τ,q,c]          each τ, q, part size x
//	Σ_c λ[τ,q,c] ≤ M_q                                                     each τ, q
//
// n_pqx is the number of parts of x GPUs that pattern p has on servers of size
// q, c_x that of configuration c. Jobs that run equally long on any GPUs take
// what is left. A job has to stay on its servers, of which the program knows
// nothing: it is a relaxation of what the grid stands for, as Build's is, and
// its linear program is at least as strong.
//
// Relation, Decode and errors: as for Build.
func BuildConfigurations(in *sched.Instance, obj sched.Objective, slot sched.Time, up bool) (*formulate.Program, error) {
	return buildPatterns(in, obj, slot, up, Configurations)
}

// BuildServers returns the program with the given slot that chooses servers:
//
//	v[j,p,s,m,x] ∈ {0,1}: job j, started in slot s with pattern p, has a part
//	                      of x GPUs on server m
//	y[j,s,m] ∈ {0,1,…}: a job that runs equally long on any GPUs, started in
//	                    slot s, has so many on server m
//	Σ_m v[j,p,s,m,x] = n_px u[j,p,s]                                      each j, p, s, x
//	Σ_x v[j,p,s,m,x] ≤ u[j,p,s]                                           each j, p, s, m
//	Σ_m y[j,s,m] = g_j u[j,s]                                             each such j, s
//	Σ_{j,p,x} x Σ_{s ≤ τ < s + D_jp} v[j,p,s,m,x] + Σ_j Σ_s y[j,s,m] ≤ g_m   each slot τ, server m
//
// beside the rows of Build. If the slot divides all data, it is exact. On equal
// servers its linear program is no stronger than Build's: from any point of
// that, v = u n/M, all servers taken alike, makes one of this. It is larger by
// one or two orders of magnitude, and meant for comparisons.
//
// The relation is Exact if the slot divides all data; otherwise as for Build.
// Decode is nil if the relation is Relaxation. Errors: as for Build.
func BuildServers(in *sched.Instance, obj sched.Objective, slot sched.Time, up bool) (*formulate.Program, error) {
	return buildPatterns(in, obj, slot, up, Servers)
}

// maxConfigured is the largest server whose configurations are listed: 12 GPUs
// have 77 partitions, 16 have 231, 30 have 5604.
const maxConfigured = 16

func buildPatterns(in *sched.Instance, obj sched.Objective, slot sched.Time, up bool, x Program) (*formulate.Program, error) {
	prog, err := buildPatternsOf(in, obj, slot, up, x)
	if err != nil {
		return nil, fmt.Errorf("timeindexed: instance %q: %w", in.Name, err)
	}
	return prog, nil
}

func buildPatternsOf(in *sched.Instance, obj sched.Objective, slot sched.Time, up bool, x Program) (*formulate.Program, error) {
	p, err := newTotal(in, obj, slot)
	if err != nil {
		return nil, err
	}
	g := grid{slot: slot, up: up}
	known := p.knownOn(g) // before choices are split: list schedules are quicker
	p.splitChoices()
	m, err := p.buildTotal(g, known, p.every())
	if err != nil {
		return nil, err
	}
	if err := m.extend(x); err != nil {
		return nil, err
	}
	out := m.stated()
	if x == Servers && p.divides(slot) {
		out.Relation = formulate.Exact
	}
	if x == Servers && out.Decode != nil {
		out.Decode = m.decode
	}
	return out, nil
}

// every says that all jobs have columns for all their choices.
func (p *problem) every() []bool { return slices.Repeat([]bool{true}, len(p.jobs)) }

// extend adds what a program knows of servers. All jobs have columns for all their
// choices, which have been split.
//
// Errors: sched.ErrNotApplicable.
func (m *program) extend(x Program) error {
	switch x {
	case Configurations:
		return m.addConfigurations()
	case Servers:
		return m.addServers()
	}
	return nil
}

// splitChoices gives every pattern a choice of its own. Jobs whose patterns all
// run equally long keep one choice, for any GPUs.
func (p *problem) splitChoices() {
	for i := range p.jobs {
		j := &p.jobs[i]
		if len(j.choices) == 1 {
			j.choices[0].patterns = nil
			continue
		}
		var split []choice
		for _, c := range j.choices {
			for k := range c.patterns {
				split = append(split, choice{c.time, c.patterns[k : k+1]})
			}
		}
		j.choices = split
	}
}

// pattern returns the pattern of a run, or nil if any GPUs will do.
func (m *program) pattern(r *run) *partition.Pattern {
	if c := &m.p.jobs[r.job].choices[r.choice]; c.patterns != nil {
		return &c.patterns[0]
	}
	return nil
}

// sizes returns the numbers of servers by size.
func (p *problem) sizes() map[int]int {
	out := map[int]int{}
	for _, s := range p.in.Cluster.Servers {
		out[s.GPUs]++
	}
	return out
}

// addConfigurations adds λ and its rows for the slots in which jobs may run
// whose place matters.
func (m *program) addConfigurations() error {
	type cell struct{ slot, size, part int }
	demand := map[cell]*milp.Row{}
	entries := 0
	for k := range m.runs {
		r := &m.runs[k]
		q := m.pattern(r)
		if q == nil {
			continue
		}
		for v := range r.n {
			if err := m.tooMany(entries + r.slots*len(q.Parts)); err != nil {
				return err
			}
			for s := r.first + v; s < r.first+v+r.slots; s++ {
				for i, part := range q.Parts {
					if i > 0 && part == q.Parts[i-1] && q.Sizes[i] == q.Sizes[i-1] {
						continue // counted below
					}
					c := cell{s, q.Sizes[i], part}
					if demand[c] == nil {
						demand[c] = &milp.Row{Name: fmt.Sprintf("parts%d_%d_%d", s, c.size, part), Sense: milp.LE}
					}
					row := demand[c]
					row.Cols, row.Vals = append(row.Cols, r.base+v), append(row.Vals, float64(count(q, c.size, part)))
					entries++
				}
			}
		}
	}
	m.packed = map[string]int{}
	servers := m.p.sizes()
	for size := range servers {
		if size > maxConfigured {
			return fmt.Errorf("%w: configurations of servers of %d GPUs, more than %d: too large for a time-indexed program", sched.ErrNotApplicable, size, maxConfigured)
		}
	}
	for size := range m.p.gpus + 1 {
		if servers[size] == 0 {
			continue
		}
		configurations := partitions(size)
		for s := range m.covered.slots {
			used := milp.Row{Name: fmt.Sprintf("servers%d_%d", s, size), Sense: milp.LE, RHS: float64(servers[size])}
			for n, c := range configurations {
				col := -1
				for part, times := range c {
					row := demand[cell{s, size, part}]
					if row == nil || times == 0 {
						continue
					}
					if col < 0 {
						col = m.model.AddVar(milp.Variable{Name: fmt.Sprintf("l%d_%d_%d", s, size, n), Upper: float64(servers[size]), Integer: true})
						used.Cols, used.Vals = append(used.Cols, col), append(used.Vals, 1)
						m.packed[packedKey(s, size, c)] = col
					}
					row.Cols, row.Vals = append(row.Cols, col), append(row.Vals, -float64(times))
					entries++
				}
			}
			for part := range size + 1 {
				if row := demand[cell{s, size, part}]; row != nil {
					m.model.AddRow(*row)
				}
			}
			if len(used.Cols) > 0 {
				m.model.AddRow(used)
			}
			if err := m.tooMany(entries); err != nil {
				return err
			}
		}
	}
	return nil
}

// packedKey identifies the column of a configuration: how many parts of each size a
// server of the given size holds in a slot.
func packedKey(slot, size int, times []int) string { return fmt.Sprint(slot, size, times) }

// Columns and entries beyond which no program that knows of servers is built: its
// linear program alone would take minutes.
const (
	maxPlaced  = 400_000
	maxEntries = 5_000_000
)

// tooMany returns an error if the program has more columns, or so many entries in
// rows about servers, than is worth building.
func (m *program) tooMany(entries int) error {
	if n := len(m.model.Vars); n > maxPlaced || entries > maxEntries {
		return fmt.Errorf("%w: %d columns and %d entries about servers, more than %d or %d: too large for a time-indexed program", sched.ErrNotApplicable, n, entries, maxPlaced, maxEntries)
	}
	return nil
}

// count returns how many parts of a pattern are of part GPUs on servers of the
// given size.
func count(q *partition.Pattern, size, part int) int {
	n := 0
	for i := range q.Parts {
		if q.Parts[i] == part && q.Sizes[i] == size {
			n++
		}
	}
	return n
}

// partitions returns all partitions of n, each as the number of its parts by
// part size.
func partitions(n int) [][]int {
	var out [][]int
	times := make([]int, n+1)
	var split func(left, largest int)
	split = func(left, largest int) {
		if left == 0 {
			out = append(out, slices.Clone(times))
			return
		}
		for part := min(left, largest); part > 0; part-- {
			times[part]++
			split(left-part, part)
			times[part]--
		}
	}
	split(n, n)
	return out
}

// partColumn says that a column puts GPUs of a start on a server: part of them
// if it is 1, or as many as its value if part is 0.
type partColumn struct {
	col, start   int // columns of the part and of the start
	server, part int
}

// addServers adds v and y and their rows.
func (m *program) addServers() error {
	type cell struct{ slot, server int }
	load := map[cell]*milp.Row{}
	m.parts = []partColumn{}
	entries := 0
	for k := range m.runs {
		r := &m.runs[k]
		for v := range r.n {
			if err := m.tooMany(entries); err != nil {
				return err
			}
			for _, c := range m.addParts(r, r.base+v) {
				m.parts = append(m.parts, c)
				entries += r.slots
				if err := m.tooMany(entries); err != nil {
					return err
				}
				for s := r.first + v; s < r.first+v+r.slots; s++ {
					row := load[cell{s, c.server}]
					if row == nil {
						row = &milp.Row{Name: fmt.Sprintf("server%d_%d", s, c.server), Sense: milp.LE, RHS: float64(m.p.in.Cluster.Servers[c.server].GPUs)}
						load[cell{s, c.server}] = row
					}
					row.Cols, row.Vals = append(row.Cols, c.col), append(row.Vals, float64(max(c.part, 1)))
				}
			}
		}
	}
	for s := range m.covered.slots {
		for n := range m.p.in.Cluster.Servers {
			if row := load[cell{s, n}]; row != nil {
				m.model.AddRow(*row)
			}
		}
	}
	return nil
}

// addParts adds the columns that say where the start u of a run has its GPUs,
// and the rows that tie them to it.
func (m *program) addParts(r *run, u int) []partColumn {
	var out []partColumn
	name := m.model.Vars[u].Name
	add := func(server, part int, upper float64) int {
		col := m.model.AddVar(milp.Variable{Name: fmt.Sprintf("%s_%d_%d", name, server, part), Upper: upper, Integer: true})
		out = append(out, partColumn{col, u, server, part})
		return col
	}
	q := m.pattern(r)
	if q == nil {
		gang := m.p.jobs[r.job].gang
		all := milp.Row{Name: name + "_all", Sense: milp.EQ, Cols: []int{u}, Vals: []float64{-float64(gang)}}
		for n, s := range m.p.in.Cluster.Servers {
			if upper := min(gang, s.GPUs); upper > 0 {
				all.Cols, all.Vals = append(all.Cols, add(n, 0, float64(upper))), append(all.Vals, 1)
			}
		}
		m.model.AddRow(all)
		return out
	}
	once := map[int]*milp.Row{} // by server
	for i, part := range q.Parts {
		size := q.Sizes[i]
		if i > 0 && part == q.Parts[i-1] && size == q.Sizes[i-1] {
			continue
		}
		row := milp.Row{Name: fmt.Sprintf("%s_%d_%d", name, size, part), Sense: milp.EQ, Cols: []int{u}, Vals: []float64{-float64(count(q, size, part))}}
		for n, s := range m.p.in.Cluster.Servers {
			if s.GPUs != size {
				continue
			}
			col := add(n, part, 1)
			row.Cols, row.Vals = append(row.Cols, col), append(row.Vals, 1)
			if once[n] == nil {
				once[n] = &milp.Row{Name: fmt.Sprintf("%s_once%d", name, n), Sense: milp.LE, Cols: []int{u}, Vals: []float64{-1}}
			}
			once[n].Cols, once[n].Vals = append(once[n].Cols, col), append(once[n].Vals, 1)
		}
		m.model.AddRow(row)
	}
	for n := range m.p.in.Cluster.Servers {
		if row := once[n]; row != nil {
			m.model.AddRow(*row)
		}
	}
	return out
}

// decode reads starts and servers off a point.
func (m *program) decode(x []float64) (*sched.Schedule, error) {
	starts := m.starts(x)
	if starts == nil {
		return nil, errNoStarts
	}
	return m.p.schedule(m.p.shift(m.placed(starts, x)))
}

// placed reads the servers of starts off a point of a program that chooses them.
func (m *program) placed(starts []start, x []float64) []stay {
	stays := make([]stay, len(starts))
	for k, r := range m.requests(starts) {
		stays[k] = stay{job: r.job, start: r.start, end: r.start + m.p.jobs[r.job].choices[r.limit].time}
	}
	for _, c := range m.parts {
		if x[c.start] < 0.5 || x[c.col] < 0.5 {
			continue
		}
		s := &stays[m.runs[m.cols[c.start].run].job]
		gpus := c.part
		if gpus == 0 {
			gpus = int(x[c.col] + 0.5)
		}
		s.servers, s.parts = append(s.servers, c.server), append(s.parts, gpus)
	}
	return stays
}

// pointOf returns the point of stays with their servers, or nil if some column is
// missing. On a grid rounded down any schedule has one, unless a pattern of it is
// not listed, and it costs no more; on a grid rounded up stays are on that grid.
//
// In a slot the servers hold what they hold in the schedule: intervals rounded down
// that overlap in a slot overlap pairwise in truth, and so at some instant all together
// (see grid).
func (m *program) pointOf(stays []stay) []float64 {
	starts := make([]start, len(stays))
	for k := range stays {
		starts[k] = start{job: stays[k].job, choice: m.p.choiceOf(&stays[k]), slot: int(stays[k].start / m.grid.slot)}
	}
	x := m.point(starts)
	if x == nil {
		return nil
	}
	x = append(x, make([]float64, len(m.model.Vars)-len(x))...)
	columns := map[partColumn]int{}
	for _, c := range m.parts {
		columns[partColumn{0, c.start, c.server, c.part}] = c.col
	}
	type cell struct{ slot, server int }
	held := map[cell][]int{} // parts whose size matters
	for k := range stays {
		s, at := &stays[k], starts[k]
		u, free := m.column(at), m.p.jobs[s.job].choices[at.choice].patterns == nil
		for i, server := range s.servers {
			if m.parts != nil {
				part, value := s.parts[i], 1
				if free {
					part, value = 0, s.parts[i]
				}
				col, ok := columns[partColumn{0, u, server, part}]
				if !ok {
					return nil
				}
				x[col] = float64(value)
			}
			for slot := at.slot; !free && slot < at.slot+m.grid.occupied(m.p.jobs[s.job].choices[at.choice].time); slot++ {
				held[cell{slot, server}] = append(held[cell{slot, server}], s.parts[i])
			}
		}
	}
	if m.packed == nil {
		return x
	}
	for c, parts := range held {
		size := m.p.in.Cluster.Servers[c.server].GPUs
		times, rest := make([]int, size+1), size
		for _, part := range parts {
			times[part]++
			rest -= part
		}
		if rest < 0 {
			return nil
		}
		times[1] += rest
		col, ok := m.packed[packedKey(c.slot, size, times)]
		if !ok {
			return nil
		}
		x[col]++
	}
	return x
}

// choiceOf returns the choice that has the pattern of a stay, or −1.
func (p *problem) choiceOf(s *stay) int {
	type part struct{ gpus, size int }
	compare := func(a, b part) int { return cmp.Or(cmp.Compare(a.gpus, b.gpus), cmp.Compare(a.size, b.size)) }
	var have []part
	for i, server := range s.servers {
		have = append(have, part{s.parts[i], p.in.Cluster.Servers[server].GPUs})
	}
	slices.SortFunc(have, compare)
	return slices.IndexFunc(p.jobs[s.job].choices, func(c choice) bool {
		if c.patterns == nil {
			return true
		}
		var want []part
		for i, gpus := range c.patterns[0].Parts {
			want = append(want, part{gpus, c.patterns[0].Sizes[i]})
		}
		slices.SortFunc(want, compare)
		return slices.Equal(have, want)
	})
}

// listedOn makes of the point of a linear program one of the program, servers
// included: a list schedule in order of mean start, of jobs that are as long as on the
// grid if that is rounded up.
func (m *program) listedOn(x []float64) []float64 {
	return m.pointOf(m.p.on(m.grid).listSchedule(m.meanOrder(x)))
}

// on returns the problem whose times are those of the grid if that is rounded up, and
// the problem itself if it is rounded down.
func (p *problem) on(g grid) *problem {
	if !g.up {
		return p
	}
	out := *p
	out.jobs = slices.Clone(p.jobs)
	for i := range out.jobs {
		j := &out.jobs[i]
		j.release = sched.Time(g.firstSlot(j.release)) * g.slot
		j.choices = slices.Clone(j.choices)
		for k := range j.choices {
			j.choices[k].time = sched.Time(g.occupied(j.choices[k].time)) * g.slot
		}
	}
	return &out
}

// knownOn returns the cost of a list schedule, on the grid if that is rounded
// up.
func (p *problem) knownOn(g grid) *big.Rat {
	known := p.first()
	if g.up {
		return g.cost(p, p.onGrid(g, startOrder(known.stays)))
	}
	return known.cost
}
