package bench

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Line shows how a command advances: one line that is rewritten on a terminal, a plain
// line every half minute elsewhere. The zero value shows nothing.
type Line struct {
	W        io.Writer // where to write; nil for nowhere
	Terminal bool      // rewrite one line
	// Width returns the columns of the terminal, which the line stays within, as what is
	// beyond wraps and cannot be removed; nil for 80.
	Width func() int

	mu       sync.Mutex
	last     time.Time
	stop     chan struct{}
	finished sync.WaitGroup
}

// Begin shows what text returns, which is called by another goroutine, until End.
func (l *Line) Begin(text func(now time.Time) string) {
	if l.W == nil {
		return
	}
	l.last, l.stop = time.Now(), make(chan struct{})
	l.finished.Go(func() {
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-l.stop:
				return
			case now := <-tick.C:
				l.show(now, text)
			}
		}
	})
}

// End shows nothing more, and removes the line from a terminal. A second one does nothing,
// so that a function that ends the line early may defer it as well.
func (l *Line) End() {
	if l.stop == nil {
		return
	}
	close(l.stop)
	l.finished.Wait()
	l.stop = nil
	if l.Terminal {
		fmt.Fprint(l.W, "\r\x1b[K")
	}
}

// Above has write print what stays on the terminal, above the line.
func (l *Line) Above(write func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.W != nil && l.Terminal {
		fmt.Fprint(l.W, "\r\x1b[K")
	}
	write()
}

func (l *Line) show(now time.Time, text func(time.Time) string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.Terminal:
		columns := 0
		if l.Width != nil {
			columns = l.Width()
		}
		if columns <= 0 {
			columns = 80
		}
		fmt.Fprintf(l.W, "\r\x1b[K%.*s", columns-1, text(now))
	case now.Sub(l.last) >= 30*time.Second:
		l.last = now
		fmt.Fprintln(l.W, text(now))
	}
}

// Progress shows how a run advances. The zero value shows nothing.
type Progress struct {
	Line

	state   sync.Mutex
	total   int
	done    int
	failed  int
	running map[int]runningCell  // by index
	mean    map[string]*meanTime // by method
	pending map[string]int       // cells not finished, by method
	workers int
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
	p.total, p.done, p.workers = total, total-len(cells), workers
	p.running, p.mean, p.pending = map[int]runningCell{}, map[string]*meanTime{}, map[string]int{}
	for _, c := range cells {
		p.pending[c.Method.Ref().String()]++
	}
	p.Begin(p.line)
}

func (p *Progress) started(c Cell) {
	if p.W == nil {
		return
	}
	p.state.Lock()
	defer p.state.Unlock()
	p.running[c.Index] = runningCell{c.Method.Ref().String() + " on " + c.Instance.Name, time.Now()}
}

func (p *Progress) ended(c Cell, wall time.Duration, failed bool) {
	if p.W == nil {
		return
	}
	p.state.Lock()
	defer p.state.Unlock()
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

// line is "37/144 cells, 0 failed, 2 running, ETA 40s, slowest optimum on x (12s)".
func (p *Progress) line(now time.Time) string {
	p.state.Lock()
	defer p.state.Unlock()
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
