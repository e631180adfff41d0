package catalogue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"yardstick/bench"
	"yardstick/bench/score"
	"yardstick/bench/score/logs"
	"yardstick/bench/suite"
	"yardstick/internal/input"
	"yardstick/sched"
)

// recorded makes the method whose schedules are those that something else wrote to a file,
// in a format of bench score. The content of the file is part of its version. Without a
// file it applies to nothing.
func recorded(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	path, formatName := p.get("file", noFile), p.get("format", "table")
	if err := p.finish(); err != nil {
		return nil, err
	}
	format, err := logs.Find(formatName)
	if err != nil {
		return nil, &suite.Error{Path: "params.format", Err: err}
	}
	version := noFile
	if path != noFile {
		path = suite.Beside(ref.Folder, path)
		if version, err = digest(path); err != nil {
			return nil, &suite.Error{Path: "params.file", Err: err}
		}
	}
	m := bench.Configured(bench.Heuristic(ref, "1-"+version, func(_ context.Context, p bench.Problem, _ sched.Objective) (bench.Outcome, error) {
		if path == noFile {
			return bench.Outcome{}, fmt.Errorf("recorded: %w without the parameter file, the schedule that something else wrote", sched.ErrNotApplicable)
		}
		s, err := recordedSchedule(p.Instance, path, format)
		if err != nil {
			return bench.Outcome{}, fmt.Errorf("recorded: %s: %w", path, err)
		}
		return bench.Outcome{Schedule: s, Termination: bench.Completed}, nil
	}), formatName, version)
	if path != noFile {
		m = bench.ReadFrom(m, path)
	}
	return m, nil
}

// noFile is what the parameter file is by default.
const noFile = "none"

// digest returns the sha256 of a file, in hex.
func digest(path string) (string, error) {
	f, err := input.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// recordedSchedule reads a file as a schedule of the instance, whose jobs it names.
func recordedSchedule(in *sched.Instance, path string, format *logs.Format) (*sched.Schedule, error) {
	log, err := logs.Read(path, logs.Options{Format: format})
	if err != nil {
		return nil, err
	}
	from := score.Input{Instance: in, Schedule: log, GPUs: int64(in.Cluster.GPUs()) * score.Milli}
	for _, s := range in.Cluster.Servers {
		from.Servers = append(from.Servers, s.GPUs)
	}
	a, err := score.Assemble(from)
	if err != nil {
		return nil, err
	}
	c, err := score.Check(a.Jobs, a.Cluster, a.Record, score.Options{})
	if err != nil {
		return nil, err
	}
	if broken := append(a.Unknown, c.Violations...); len(broken) > 0 {
		return nil, fmt.Errorf("%w: %v (bench score has all of %d violations)", bench.ErrInvalidSchedule, broken[0].String(), len(a.Unknown)+c.Broken)
	}
	return c.Schedule(in)
}
