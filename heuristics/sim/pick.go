package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"yardstick/sched"
)

// Rule chooses free GPUs for a gang. All ties go to the lower server index.
type Rule int32

// The placement rules.
const (
	// Pool treats the cluster as one pool: any free GPUs, servers in order of
	// index.
	Pool Rule = iota
	// Consolidate uses as few servers as the gang would use if all were free,
	// or waits: the largest servers on which everything is free, whole, and
	// one server for the remainder, the one with the least sufficient number
	// of free GPUs.
	Consolidate
	// BestFit uses as few servers as is possible now: the server with the
	// least sufficient number of free GPUs; for a gang that fits on no single
	// server, all free GPUs of those with the most until the remainder does.
	BestFit
	// MostAvailable takes all free GPUs of the server that has the most, then
	// of the next, and of the last one what is still needed. For a gang that fits
	// on one server it is worst fit.
	MostAvailable
	// LeastAvailable does so from the server with the fewest free GPUs, at
	// least one, upwards.
	LeastAvailable
	// FirstFit is BestFit with the first server that has a sufficient number of free
	// GPUs in place of the one that has the least.
	FirstFit

	// beforeSwitch is below every rule of Switch, and above all others.
	beforeSwitch Rule = 1 << 8
)

// Switch is BestFit for a cluster whose servers are in racks of so many, at least 1,
// by their index; the last rack may have fewer. A gang that fits on no single server
// uses as few racks as is possible now: the one with the least sufficient number of
// free GPUs; where no single rack will do, all free GPUs of those with the most until
// the remainder fits in one. In its last rack it uses as few servers as is possible.
// It prefers one rack, and never waits for it.
func Switch(servers int) Rule { return beforeSwitch + Rule(servers) }

// rack returns how many servers a rack has, if the rule knows racks.
func (r Rule) rack() (servers int, ok bool) { return int(r - beforeSwitch), r > beforeSwitch }

var ruleNames = []string{"pool", "consolidate", "best-fit", "most-available", "least-available", "first-fit"}

const (
	worstFit     = "worst-fit" // another name of MostAvailable
	switchPrefix = "switch:"
	mostPerRack  = 1 << 20
)

func (r Rule) String() string {
	if n, ok := r.rack(); ok {
		return switchPrefix + strconv.Itoa(n)
	}
	return ruleNames[r]
}

// MarshalText implements encoding.TextMarshaler.
func (r Rule) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. It knows MostAvailable by the name
// worst-fit too.
func (r *Rule) UnmarshalText(text []byte) error {
	if number, ok := strings.CutPrefix(string(text), switchPrefix); ok {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > mostPerRack {
			return fmt.Errorf("placement rule %q: a rack has a whole number of servers, from 1 to %d, such as switch:8", text, mostPerRack)
		}
		*r = Switch(n)
		return nil
	}
	i := slices.Index(ruleNames, string(text))
	if string(text) == worstFit {
		i = int(MostAvailable)
	}
	if i < 0 {
		return fmt.Errorf("placement rule %q is unknown: %s, %s, %sN with N servers in a rack", text, strings.Join(ruleNames, ", "), worstFit, switchPrefix)
	}
	*r = Rule(i)
	return nil
}

// Fits reports whether the rule finds GPUs for a gang now, each replica of which
// has one. Cost: O(1), for Consolidate O(servers that the gang uses).
func (c *Cluster) Fits(r Rule, gang int) bool {
	if r != Consolidate {
		return 1 <= gang && gang <= c.idle
	}
	return c.find(r, gang)
}

// Pick returns the GPUs that the rule chooses for a gang, each replica of which
// has one: one share per server in ascending order and without stages, or false
// if the rule finds none. PickWhole is for replicas of several slices. In
// class S the shares name their devices, the lowest that are free. Cost: that
// of the answer, times the logarithm of the number of servers.
func (c *Cluster) Pick(r Rule, gang int) ([]sched.Share, bool) {
	if !c.find(r, gang) {
		return nil, false
	}
	return c.share(), true
}

// share returns c.picked as shares.
func (c *Cluster) share() []sched.Share {
	if len(c.picked) > 1 {
		slices.SortFunc(c.picked, func(a, b taken) int { return cmp.Compare(a.server, b.server) })
	}
	shares := c.shares.take(len(c.picked))
	for i, t := range c.picked {
		shares[i] = sched.Share{Server: t.server, GPUs: t.gpus}
		if c.devices != nil {
			shares[i].Devices = c.ints.take(t.gpus)
			c.devices.lowestFree(t.server, shares[i].Devices)
		}
	}
	return shares
}

// find leaves what the rule chooses in c.picked.
func (c *Cluster) find(r Rule, gang int) bool {
	c.picked = c.picked[:0]
	if gang < 1 || gang > c.idle {
		return false
	}
	if n, ok := r.rack(); ok {
		c.inRacks(c.racksOf(n), gang)
		return true
	}
	switch r {
	case Pool:
		c.pool(gang)
	case Consolidate:
		return c.consolidate(gang)
	case BestFit, FirstFit:
		c.fewestNow(r, gang)
	case MostAvailable:
		c.mostAvailable(gang)
	case LeastAvailable:
		c.leastAvailable(gang)
	default:
		panic(fmt.Sprintf("sim: placement rule %d", r))
	}
	return true
}

func (c *Cluster) pick(server, gpus int) { c.picked = append(c.picked, taken{server, gpus}) }

func (c *Cluster) pool(rest int) {
	for s := -1; rest > 0; {
		s, _ = c.nonempty.next(s + 1)
		n := min(rest, c.free[s])
		c.pick(s, n)
		rest -= n
	}
}

// consolidate takes the largest vacant servers first. If any choice of
// fewest−1 vacant servers and one more holds the gang, so does this one:
// exchanging a server taken whole for a larger vacant one only shortens the
// remainder, and if that larger one held the remainder, the two trade places.
func (c *Cluster) consolidate(rest int) bool {
	last := -1 // the vacant servers of rank up to last are taken
	for range c.fewest[rest] - 1 {
		r, ok := c.vacant.next(last + 1)
		if !ok {
			return false
		}
		s := c.ranked[r]
		c.pick(s, c.size[s])
		rest -= c.size[s]
		last = r
	}
	for f, ok := c.counts.next(rest); ok; f, ok = c.counts.next(f + 1) {
		for s, ok := c.byFree[f].next(0); ok; s, ok = c.byFree[f].next(s + 1) {
			if f < c.size[s] || c.rank[s] > last {
				c.pick(s, rest)
				return true
			}
		}
	}
	return false
}

// fewestNow takes the servers with the most free GPUs until the rest fits on one.
func (c *Cluster) fewestNow(r Rule, rest int) {
	f, s := c.most()
	for f < rest {
		c.pick(s, f)
		rest -= f
		f, s = c.nextMost(f, s)
	}
	c.pick(c.lastOf(r, rest, f, s), rest)
}

// lastOf returns the server that the rule chooses for the rest of a gang where s, which
// has f free GPUs, is the first in order of free GPUs, most first, that was not taken. No
// server with fewer free GPUs than s has been taken.
func (c *Cluster) lastOf(r Rule, rest, f, s int) int {
	for least, _ := c.counts.next(rest); least < f; least, _ = c.counts.next(least + 1) {
		first, _ := c.byFree[least].next(0)
		if r == BestFit {
			return first
		}
		s = min(s, first)
	}
	return s
}

func (c *Cluster) mostAvailable(rest int) {
	f, s := c.most()
	for f < rest {
		c.pick(s, f)
		rest -= f
		f, s = c.nextMost(f, s)
	}
	c.pick(s, rest)
}

func (c *Cluster) leastAvailable(rest int) {
	for f, ok := c.counts.next(1); ok; f, ok = c.counts.next(f + 1) {
		for s, ok := c.byFree[f].next(0); ok; s, ok = c.byFree[f].next(s + 1) {
			n := min(rest, f)
			c.pick(s, n)
			if rest -= n; rest == 0 {
				return
			}
		}
	}
}
