package datasets

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"yardstick/sched"
)

// LoadRange is a range of offered loads, both ends included; 1 is as much as the
// GPUs can do. Its text form is low..high, such as 0.7..1.0. Zero is no range.
type LoadRange struct{ Low, High float64 }

func (r LoadRange) given() bool { return r != LoadRange{} }

// String returns the text form.
func (r LoadRange) String() string {
	return strconv.FormatFloat(r.Low, 'f', -1, 64) + ".." + strconv.FormatFloat(r.High, 'f', -1, 64)
}

// MarshalText implements encoding.TextMarshaler.
func (r LoadRange) MarshalText() ([]byte, error) {
	if !r.given() {
		return nil, nil
	}
	return []byte(r.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *LoadRange) UnmarshalText(text []byte) error {
	from, to, _ := strings.Cut(string(text), "..")
	low, errLow := strconv.ParseFloat(from, 64)
	high, errHigh := strconv.ParseFloat(to, 64)
	digits := strings.Trim(string(text), "0123456789.") == ""
	if !digits || errLow != nil || errHigh != nil || low > high || high == 0 {
		return fmt.Errorf("load %q: it must be a range low..high of offered loads, such as 0.7..1.0, where 1 is as much as the GPUs can do", text)
	}
	*r = LoadRange{low, high}
	return nil
}

// candidates returns the first jobs, ascending, of the windows that a slice's range
// of loads leaves, all if it has none, and with a range the loads of all windows.
func (t *Trace) candidates(s *Slice, jobs int) (first []int, loads []Opt[float64]) {
	if s.Load.given() {
		loads = offeredLoads(t.jobs, jobs, s.GPUs)
	}
	for f := range len(t.jobs) - jobs + 1 {
		if !s.Load.given() || loads[f].OK && loads[f].V >= s.Load.Low && loads[f].V <= s.Load.High {
			first = append(first, f)
		}
	}
	return first, loads
}

// offeredLoads returns the offered load of every window of so many consecutive jobs
// of a list, NULL for bursts. Work is summed exactly as a sliding window, in
// nanoseconds.
func offeredLoads(list []Job, jobs, gpus int) []Opt[float64] {
	loads := make([]Opt[float64], len(list)-jobs+1)
	work, run := new(big.Int), new(big.Int)
	gang, one := new(big.Int), new(big.Int)
	for i := range list {
		one.SetInt64(int64(list[i].Run))
		run.Add(run, one)
		work.Add(work, one.Mul(one, gang.SetInt64(int64(list[i].Gang))))
		first := i - jobs + 1
		if first < 0 {
			continue
		}
		w, _ := work.Float64()
		r, _ := run.Float64()
		span := float64(list[i].Submit-list[first].Submit) * 1e3
		loads[first].V, loads[first].OK = sched.OfferedLoad(jobs, w, r, span, gpus)
		one.SetInt64(int64(list[first].Run))
		run.Sub(run, one)
		work.Sub(work, one.Mul(one, gang.SetInt64(int64(list[first].Gang))))
	}
	return loads
}

// describeLoads says which loads there are.
func describeLoads(loads []Opt[float64]) string {
	low, high, bursts := math.Inf(1), 0.0, 0
	for _, l := range loads {
		if !l.OK {
			bursts++
			continue
		}
		low, high = min(low, l.V), max(high, l.V)
	}
	if bursts == len(loads) {
		return fmt.Sprintf("all its %d windows are bursts, which have no load", bursts)
	}
	return fmt.Sprintf("its windows have loads from %.4g to %.4g, but for %d of %d, which are bursts", low, high, bursts, len(loads))
}
