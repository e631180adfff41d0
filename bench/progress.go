package bench

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Progress shows how a run advances: one line that is rewritten on a terminal,
// a plain line every half minute elsewhere. The zero value shows nothing.
type Progress struct {
	W        io.Writer // where to write; nil for nowhere
	Terminal bool      // rewrite one line

	mu       sync.Mutex
	start    time.Time
	last     time.Time
	total    int
	done     int
	failed   int
	running  map[int]runningCell  // by index
	mean     map[string]*meanTime // by method
	pending  map[string]int       // cells not finished, by method
	workers  int
	stop     chan struct{}
	finished sync.WaitGroup
}

type runningCell struct {
	name  string
	since time.Time
}

type meanTime struct {
	sum time.Duration
	n   int
}

// begin is told the cells to run, out of total.
func (p *Progress) begin(cells []Cell, total, workers int) {
	if p.W == nil {
		return
	}
	p.start, p.total, p.done, p.workers = time.Now(), total, total-len(cells), workers
	p.last = p.start
	p.running, p.mean, p.pending = map[int]runningCell{}, map[string]*meanTime{}, map[string]int{}
	for _, c := range cells {
		p.pending[c.Method.Ref().String()]++
	}
	p.stop = make(chan struct{})
	p.finished.Add(1)
	go func() {
		defer p.finished.Done()
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-tick.C:
				p.show(time.Now())
			}
		}
	}()
}

func (p *Progress) started(c Cell) {
	if p.W == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[c.Index] = runningCell{c.Method.Ref().String() + " on " + c.Instance.Name, time.Now()}
}

func (p *Progress) ended(c Cell, wall time.Duration, failed bool) {
	if p.W == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, c.Index)
	p.done++
	if failed {
		p.failed++
	}
	m := c.Method.Ref().String()
	p.pending[m]--
	if p.mean[m] == nil {
		p.mean[m] = &meanTime{}
	}
	p.mean[m].sum += wall
	p.mean[m].n++
}

func (p *Progress) end() {
	if p.W == nil {
		return
	}
	close(p.stop)
	p.finished.Wait()
	if p.Terminal {
		fmt.Fprint(p.W, "\r\x1b[K")
	}
}

func (p *Progress) show(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.Terminal && now.Sub(p.last) < 30*time.Second {
		return
	}
	p.last = now
	line := p.line(now)
	if p.Terminal {
		fmt.Fprintf(p.W, "\r\x1b[K%.100s", line)
	} else {
		fmt.Fprintln(p.W, line)
	}
}

// line is "37/144 cells, 0 failed, 2 running, ETA 40s, slowest optimum on x (12s)".
func (p *Progress) line(now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%d cells, %d failed, %d running", p.done, p.total, p.failed, len(p.running))
	if eta, ok := p.eta(); ok {
		fmt.Fprintf(&b, ", ETA %v", eta.Round(time.Second))
	}
	var slowest runningCell
	for _, r := range p.running {
		if slowest.name == "" || r.since.Before(slowest.since) {
			slowest = r
		}
	}
	if slowest.name != "" {
		fmt.Fprintf(&b, ", slowest %s (%v)", slowest.name, now.Sub(slowest.since).Round(time.Second))
	}
	return b.String()
}

// eta adds up, over the cells not finished, the mean time of their method's
// finished ones; a method with none counts with the mean over all.
func (p *Progress) eta() (time.Duration, bool) {
	var all meanTime
	for _, m := range p.mean {
		all.sum += m.sum
		all.n += m.n
	}
	if all.n == 0 {
		return 0, false
	}
	var left time.Duration
	for name, n := range p.pending {
		m := p.mean[name]
		if m == nil {
			m = &all
		}
		left += time.Duration(n) * m.sum / time.Duration(m.n)
	}
	return left / time.Duration(p.workers), true
}
