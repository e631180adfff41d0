package profile

import (
	"fmt"
	"math"

	"yardstick/sched"
)

// element is the size of an activation, weight or gradient in bytes: training
// is in mixed precision, with 16-bit tensors.
const element = 2

// Architecture is a model as its paper describes it: what every layer computes,
// without regard to the GPU.
type Architecture struct {
	Model string
	Batch int // samples
	Works []Work
}

// Work is what one layer does in the forward pass of the whole mini-batch.
type Work struct {
	Name       string
	Kernels    []Kernel
	Parameters int64 // number of trainable parameters; tied ones count where they are first used
	Output     int64 // elements that later layers need across the cut after this one
	Stored     int64 // bytes kept for the backward pass
}

// Kernel is one launch on the GPU.
type Kernel struct {
	MACs  int64 // multiply-accumulate operations of matrix multiplications and convolutions
	Moved int64 // elements read and written, weights included
}

// Derive returns the profile of an architecture on a GPU by a roofline: a
// kernel takes
//
//	max(2·MACs/(reached·peak), bytes/(reached·bandwidth)) + overhead,
//
// a layer's forward pass the sum of its kernels, and its backward pass twice
// the forward pass, because every matrix multiplication has two in the backward
// pass, one for the gradient of each factor, and element-wise kernels read the
// gradient besides what the forward pass kept. Nothing is recomputed, and the
// optimizer's update is not part of either pass.
//
// Source: Williams, Waterman, Patterson, Roofline: an insightful visual
// performance model for multicore architectures, CACM 2009.
// Errors: the GPU lacks a value, or the result is no valid profile.
func Derive(a *Architecture, g GPU) (*Profile, error) {
	if err := g.validate(); err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	p := &Profile{Model: a.Model, GPU: g.Name, Source: Analytic, Batch: a.Batch}
	for i := range a.Works {
		w := &a.Works[i]
		seconds := 0.0
		for _, k := range w.Kernels {
			compute := 2 * float64(k.MACs) / (g.FlopsReached * g.Flops)
			memory := element * float64(k.Moved) / (g.BandwidthReached * g.Bandwidth)
			seconds += max(compute, memory)
		}
		forward := sched.Duration(math.Ceil(seconds*1e9)) + g.Kernel*sched.Duration(len(w.Kernels))
		p.Layers = append(p.Layers, Layer{
			Name:       w.Name,
			Forward:    forward,
			Backward:   2 * forward,
			Activation: sched.Bytes(element * w.Output),
			Parameters: sched.Bytes(element * w.Parameters),
			Stored:     Stored{sched.Bytes(w.Stored), true},
		})
	}
	return p, p.Validate()
}

// layer begins a layer.
func (a *Architecture) layer(name string) {
	a.Works = append(a.Works, Work{Name: name})
}

// work returns the layer begun last.
func (a *Architecture) work() *Work { return &a.Works[len(a.Works)-1] }

func (a *Architecture) kernel(macs, moved int64) {
	w := a.work()
	w.Kernels = append(w.Kernels, Kernel{MACs: macs, Moved: moved})
}

// matmul multiplies rows×in by in×out. The weights are parameters unless they
// are tied to others.
func (a *Architecture) matmul(rows, in, out int64, w weights) {
	a.kernel(rows*in*out, rows*(in+out)+in*out)
	if w != tied {
		a.work().Parameters += in * out
	}
	if w == biased {
		a.work().Parameters += out
	}
}

// weights says what a matrix multiplication has in parameters.
type weights uint8

const (
	plain  weights = iota // a matrix
	biased                // a matrix and a vector
	tied                  // none of its own
)
