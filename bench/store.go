package bench

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"yardstick/bench/journal"
)

// Store keeps the outcomes of finished cells in a journal. A nil store keeps
// nothing. It may be used by several goroutines.
type Store struct {
	journal *journal.Journal
	options StoreOptions

	mu     sync.Mutex
	err    error
	broken []error
	again  map[Again]int
}

// Again is why a cell that the journal holds runs again.
type Again int

// The reasons.
const (
	OtherBuild   Again = iota // of the program, finished it
	OtherMachine              // on which a limit in time or memory shaped it
	WasKilled                 // by something else than the run
	DidFail
)

// Again returns how many of the cells that were asked for run again, by why. Those that
// are forced are not among them.
func (s *Store) Again() map[Again]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.again)
}

func (s *Store) runsAgain(why Again) (CellResult, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.again == nil {
		s.again = map[Again]int{}
	}
	s.again[why]++
	return CellResult{}, false
}

// StoreOptions say which of the cells that the journal holds count as
// finished.
type StoreOptions struct {
	// Build identifies the running program. Cells that another one finished
	// count as not finished, as its methods may have been others. Empty: any.
	Build string
	// Machine identifies this machine. Cells that a limit in time or memory
	// shaped count on the machine that finished them alone. Empty: any.
	Machine     string
	Force       bool // none of them counts
	RetryFailed bool // those that failed do not count
	RetryKilled bool // those that something else than the run has killed do not count
}

// NewStore returns the store that reads from the journal and, if its Start has
// been called, appends to it.
func NewStore(j *journal.Journal, o StoreOptions) *Store { return &Store{journal: j, options: o} }

// Err returns the first error in writing to the journal.
func (s *Store) Err() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Unread returns why entries of the journal whose hashes are right could not be read
// back. Their cells do not count as finished.
func (s *Store) Unread() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.broken)
}

func (s *Store) unread(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = append(s.broken, err)
}

func (s *Store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// find returns a cell's result, without its outcomes, if it counts as finished. An
// entry that cannot be read back, whatever its hash, does not: the cell runs again.
func (s *Store) find(c Cell) (CellResult, bool) {
	if s == nil || s.options.Force {
		return CellResult{}, false
	}
	entry, ok := s.journal.Find(c.ID)
	switch {
	case !ok:
		return CellResult{}, false
	case s.options.Build != "" && entry.Header.Build != s.options.Build:
		return s.runsAgain(OtherBuild)
	}
	r, err := s.read(c)
	switch {
	case err != nil:
		s.unread(err)
		return CellResult{}, false
	case r.Limited() && s.options.Machine != "" && entry.Header.Machine != s.options.Machine:
		return s.runsAgain(OtherMachine)
	case errors.Is(r.Err, ErrOutside) && s.options.RetryKilled:
		return s.runsAgain(WasKilled)
	case r.Err != nil && s.options.RetryFailed:
		return s.runsAgain(DidFail)
	}
	return CellResult{Cell: c, Err: r.Err, Reused: true, Wall: r.Wall, stored: s.reader(c)}, true
}

// put appends a finished cell and lets go of its outcomes.
func (s *Store) put(r *CellResult) bool {
	if s == nil || r.Skipped || errors.Is(r.Err, ErrMachine) {
		return true
	}
	content, err := r.Encode()
	if err == nil {
		err = s.journal.Append(r.Cell.ID, content)
	}
	if err != nil {
		s.fail(err)
		return false
	}
	r.Outcomes, r.Verified, r.stored = nil, nil, s.reader(r.Cell)
	return true
}

// reader returns what reads a finished cell again.
func (s *Store) reader(c Cell) func() (CellResult, error) {
	return func() (CellResult, error) { return s.read(c) }
}

func (s *Store) read(c Cell) (CellResult, error) {
	entry, ok := s.journal.Find(c.ID)
	if !ok {
		return CellResult{}, errors.New("the journal has lost a cell")
	}
	content, err := s.journal.Read(entry)
	if err != nil {
		return CellResult{}, err
	}
	r, err := DecodeCell(c, content)
	if err != nil {
		return r, fmt.Errorf("the journal's cell %s (%s on %s): %w", c.ID, c.Method.Ref(), c.Instance.Name, err)
	}
	return r, nil
}
