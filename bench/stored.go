package bench

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"syscall"
	"time"

	"yardstick/bounds/certify"
	"yardstick/heuristics/sim"
	"yardstick/internal/output"
	"yardstick/internal/pack"
	"yardstick/internal/strictjson"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// storedCell is what became of a cell, in the form that is kept in journals
// and sent between processes: JSON, in which every number is exact, with schedules and
// predictions packed.
type storedCell struct {
	ID       string          `json:"id"`
	Method   string          `json:"method"` // for people
	Instance string          `json:"instance"`
	Outcomes []storedOutcome `json:"outcomes,omitempty"`
	Err      *storedError    `json:"error,omitempty"`
	Limited  bool            `json:"limited,omitempty"` // a limit in time or memory shaped a value
	Wall     time.Duration   `json:"wall_ns"`
	CPU      time.Duration   `json:"cpu_ns"`
	PeakRSS  int64           `json:"peak_rss,omitempty"`
}

// storedOutcome is an Outcome whose schedule, where several objectives share
// one, is stored with the first of them. Journals of earlier versions have schedules and
// predictions in JSON, in the places that they have in an Outcome.
type storedOutcome struct {
	Outcome
	Packed      []byte        `json:"packed,omitempty"`      // the schedule, as sched.Unpack reads it
	Predictions []byte        `json:"predictions,omitempty"` // of the replay, as packPredictions writes them
	Same        bool          `json:"same,omitempty"`        // the schedule is that of the outcome before
	Solves      []storedSolve `json:",omitempty"`            // hides Outcome.Solves
}

// storedSolve is a Solve without its point and duals, which can be large. What
// JSON has no numbers for, an infinite bound, is left out.
type storedSolve struct {
	Solve
	Result       *struct{} `json:",omitempty"` // hides Solve.Result
	Termination  milp.Termination
	Primal, Dual milp.Evidence
	PrimalBound  *float64 `json:",omitempty"`
	DualBound    *float64 `json:",omitempty"`
	Message      string   `json:",omitempty"`
	Stats        milp.Stats
}

// Encode returns the stored form of a result.
func (r *CellResult) Encode() ([]byte, error) {
	s := storedCell{ID: r.Cell.ID, Method: r.Cell.Method.Ref().String(), Instance: r.Cell.Instance.Name,
		Limited: r.Limited(), Wall: r.Wall, CPU: r.CPU, PeakRSS: r.PeakRSS}
	if r.Err != nil {
		var stored *storedError
		if !errors.As(r.Err, &stored) {
			stored = &storedError{Text: r.Err.Error(), Panicked: errors.Is(r.Err, ErrPanicked), Invalid: errors.Is(r.Err, ErrInvalidSchedule), Refuted: errors.Is(r.Err, ErrBoundRefuted),
				Machine: output.Full(r.Err) && !errors.Is(r.Err, syscall.ENOMEM)} // which may be the cell's own doing
		}
		s.Err = stored
		return json.Marshal(&s)
	}
	for i, o := range r.Outcomes {
		out := storedOutcome{Outcome: o}
		if i > 0 && o.Schedule != nil && o.Schedule == r.Outcomes[i-1].Schedule {
			out.Same, out.Outcome.Schedule = true, nil
		}
		if i > 0 && o.Replay != nil && o.Replay == r.Outcomes[i-1].Replay {
			out.Outcome.Replay = nil
		}
		if out.Schedule != nil {
			out.Packed, out.Schedule = out.Schedule.Pack(), nil
		}
		if p := out.Replay; p != nil && len(p.Predictions) > 0 {
			bare := *p
			out.Predictions, bare.Predictions = packPredictions(p.Predictions), nil
			out.Replay = &bare
		}
		for _, v := range o.Solves {
			out.Solves = append(out.Solves, storedSolve{Solve: v, Termination: v.Result.Termination, Primal: v.Result.Primal, Dual: v.Result.Dual,
				PrimalBound: orNil(v.Result.PrimalBound), DualBound: orNil(v.Result.DualBound), Message: v.Result.Message, Stats: v.Result.Stats})
		}
		s.Outcomes = append(s.Outcomes, out)
	}
	return json.Marshal(&s)
}

func orNil(v float64) *float64 {
	if math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// DecodeCell reads the stored form of the cell's result. Schedules are claims
// again: nothing is verified.
func DecodeCell(cell Cell, data []byte) (CellResult, error) {
	r := CellResult{Cell: cell}
	var s storedCell
	if err := strictjson.Unmarshal(data, &s); err != nil {
		return r, err
	}
	if s.ID != cell.ID {
		return r, errors.New("it is another cell's")
	}
	r.Wall, r.CPU, r.PeakRSS = s.Wall, s.CPU, s.PeakRSS
	if s.Err != nil {
		r.Err = s.Err
		if len(s.Outcomes) > 0 || r.Limited() != s.Limited {
			return r, errors.New("its error does not go with the rest")
		}
		return r, nil
	}
	if len(s.Outcomes) != len(cell.Objectives) {
		return r, errors.New("it has another number of objectives")
	}
	for i, stored := range s.Outcomes {
		o := stored.Outcome
		if err := stored.unpack(&o); err != nil {
			return r, err
		}
		if stored.Same {
			if i == 0 || o.Schedule != nil || r.Outcomes[i-1].Schedule == nil {
				return r, errors.New("a schedule is said to be that of the outcome before, which there is not")
			}
			o.Schedule = r.Outcomes[i-1].Schedule
		}
		if err := o.check(cell, cell.Objectives[i]); err != nil {
			return r, err
		}
		if o.Replay == nil && i > 0 {
			o.Replay = r.Outcomes[i-1].Replay
		}
		o.Solves = nil
		for _, v := range stored.Solves {
			solve := v.Solve
			solve.Result = milp.Result{Termination: v.Termination, Primal: v.Primal, Dual: v.Dual, PrimalBound: orInf(v.PrimalBound, 1),
				DualBound: orInf(v.DualBound, -1), Message: v.Message, Stats: v.Stats}
			if v.DualBound == nil && v.Dual != milp.None {
				solve.Result.DualBound = math.Inf(1) // infeasible
			}
			o.Solves = append(o.Solves, solve)
		}
		r.Outcomes = append(r.Outcomes, o)
	}
	if r.Limited() != s.Limited {
		return r, errors.New("it says otherwise than its outcomes whether a limit shaped them")
	}
	return r, nil
}

// unpack gives an outcome the schedule and the predictions that are stored packed.
func (s *storedOutcome) unpack(o *Outcome) (err error) {
	if s.Packed != nil {
		if o.Schedule != nil {
			return errors.New("a schedule is there twice")
		}
		if o.Schedule, err = sched.Unpack(s.Packed); err != nil {
			return err
		}
	}
	if s.Predictions == nil {
		return nil
	}
	if o.Replay == nil || o.Replay.Predictions != nil {
		return errors.New("predictions are there twice, or without a replay")
	}
	o.Replay.Predictions, err = unpackPredictions(s.Predictions)
	return err
}

// packPredictions writes predictions as their number and, of each, the job, counted from
// the one before, and its iterations.
func packPredictions(list []sim.Prediction) []byte {
	b := binary.AppendUvarint(nil, uint64(len(list)))
	last := sched.JobID(0)
	for _, p := range list {
		b = binary.AppendVarint(binary.AppendVarint(b, int64(p.Job-last)), p.Iters)
		last = p.Job
	}
	return b
}

func unpackPredictions(data []byte) ([]sim.Prediction, error) {
	r := pack.NewReader(data)
	list := make([]sim.Prediction, r.Count(2))
	last := sched.JobID(0)
	for i := range list {
		list[i] = sim.Prediction{Job: last + sched.JobID(r.Int()), Iters: r.Varint()}
		last = list[i].Job
	}
	if err := r.End(); err != nil {
		return nil, fmt.Errorf("predictions: %w", err)
	}
	return list, nil
}

// check refuses an outcome that tables cannot be made of, or that calls a bound
// certified by a certificate of something else.
func (o *Outcome) check(cell Cell, objective sched.Objective) error {
	if o.Termination == "" {
		return errors.New("an outcome does not say how it ended")
	}
	switch bound := cell.Method.Kind() == Bound; {
	case !bound && o.Schedule == nil && (o.Termination == Completed || o.Termination == milp.Optimal):
		return errors.New("it ran to its end and has no schedule")
	case bound && len(o.Bounds) == 0 && o.Message == "":
		return errors.New("it has no bound and does not say why")
	}
	for i := range o.Bounds {
		b := &o.Bounds[i]
		if b.Value == nil || b.Objective != objective {
			return fmt.Errorf("bound %q lacks a value or is of another objective", b.Name)
		}
		if !b.Certified {
			continue
		}
		s, instance, err := certify.Stated(b.Certificate)
		if err != nil {
			return fmt.Errorf("bound %q: %w", b.Name, err)
		}
		if s.Objective != objective || s.Class != b.Class || s.Value.Cmp(b.Value) != 0 || instance != cell.Instance.SHA256 {
			return fmt.Errorf("bound %q: its certificate states another bound", b.Name)
		}
	}
	if p := o.Proof; p != nil && (p.Certificate == nil) == (p.Message == "") {
		return errors.New("a proof for strangers has neither a certificate nor a reason, or both")
	}
	if o.Replay == nil {
		return nil
	}
	for _, p := range o.Replay.Predictions {
		if p.Job < 0 || int(p.Job) >= len(cell.Instance.Jobs) {
			return fmt.Errorf("a prediction is of job %d of %d", p.Job, len(cell.Instance.Jobs))
		}
	}
	return nil
}

func orInf(v *float64, sign int) float64 {
	if v == nil {
		return math.Inf(sign)
	}
	return *v
}
