package throughput

import (
	"errors"
	"fmt"
	"math"
)

// The bounds of γ.
const (
	minGamma = 1
	maxGamma = 10
)

// Sync are the parameters of T_sync on one server or on several.
type Sync struct {
	Known bool    // whether anything was measured; if not, the rest means nothing
	Alpha float64 // s, with two replicas
	Beta  float64 // s per further replica
}

// Params are the parameters of the model.
type Params struct {
	AlphaGrad float64 // s
	BetaGrad  float64 // s per sample
	Local     Sync    // all replicas on one server
	Node      Sync    // on several
	Gamma     float64
}

// Point is a configuration whose iteration time is asked for.
type Point struct {
	Nodes    int // N, servers; at least 1
	Replicas int // K, one per GPU; at least N
	Batch    int // m, samples per replica; at least 1
}

func (p Point) check() error {
	if p.Nodes < 1 || p.Replicas < p.Nodes || p.Batch < 1 {
		return fmt.Errorf("%d replicas on %d servers with %d samples each: each server must have a replica and each replica a sample", p.Replicas, p.Nodes, p.Batch)
	}
	return nil
}

// ErrNotMeasured is returned for configurations of a kind, on one server or on
// several, of which nothing was measured.
var ErrNotMeasured = errors.New("throughput: no such configuration was measured")

// IterTime returns T_iter in seconds.
//
// Errors: the configuration is not one; ErrNotMeasured.
func (p *Params) IterTime(at Point) (float64, error) {
	if err := at.check(); err != nil {
		return 0, fmt.Errorf("throughput: %w", err)
	}
	if s := p.sync(at); s != nil && !s.Known {
		return 0, ErrNotMeasured
	}
	return p.iterTime(at), nil
}

// sync returns the parameters of T_sync that are in force, nil if it is 0.
func (p *Params) sync(at Point) *Sync {
	switch {
	case at.Nodes > 1:
		return &p.Node
	case at.Replicas > 1:
		return &p.Local
	}
	return nil
}

func (p *Params) iterTime(at Point) float64 {
	grad, sync := p.parts(at)
	// Divided by the larger one, so that powers do not overflow.
	large, small := max(grad, sync), min(grad, sync)
	if small == 0 {
		return large
	}
	return large * math.Pow(1+math.Pow(small/large, p.Gamma), 1/p.Gamma)
}

func (p *Params) parts(at Point) (grad, sync float64) {
	grad = p.AlphaGrad + p.BetaGrad*float64(at.Batch)
	if s := p.sync(at); s != nil {
		sync = s.Alpha + s.Beta*float64(at.Replicas-2)
	}
	return grad, sync
}
