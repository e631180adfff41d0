package profile

import (
	"errors"
	"fmt"

	"yardstick/sched"
)

// Source says where the times of a profile come from.
type Source string

// The sources.
const (
	Analytic Source = "analytic" // derived by a roofline
	Measured Source = "measured" // timed on a GPU by datasets/profiler
	Imported Source = "imported" // published by another system
)

// Profile is what one training iteration of a model costs on one GPU.
type Profile struct {
	Model  string // name of the model
	GPU    string // type of the GPU
	Source Source
	Batch  int // mini-batch, in samples, that all times and activations are for
	Layers []Layer
}

// Layer is one link of the chain. A cut of the pipeline falls between two
// layers, never inside one.
type Layer struct {
	Name     string
	Forward  sched.Duration // of the whole mini-batch on one GPU
	Backward sched.Duration // likewise
	// Activation is the volume that crosses the cut after this layer, one
	// direction, for the whole mini-batch; 0 after the last layer. Where the
	// model is not a chain, it counts every tensor that is needed further on.
	Activation sched.Bytes
	Parameters sched.Bytes // trainable, in the precision that gradients are exchanged in
	// Stored is what the forward pass keeps for the backward pass, for the whole
	// mini-batch. Unknown takes Activation in its place; see Kept.
	Stored Stored
}

// Stored is a size that a source may not give. The zero value is unknown.
type Stored struct {
	Bytes sched.Bytes
	Known bool
}

// Kept returns what the layer keeps for its backward pass: Stored where it is
// known, else its Activation, which is the least that any layer keeps.
func (l *Layer) Kept() sched.Bytes {
	if l.Stored.Known {
		return l.Stored.Bytes
	}
	return l.Activation
}

// Limits of a profile. With them no sum or product of the planner overflows.
const (
	maxLayers   = 100_000
	maxDuration = sched.Duration(1e15) // all layers together, about 11 days
	maxBytes    = sched.Bytes(1e14)    // all layers together: what an instance may hold
	maxBatch    = 1 << 24
)

// Time returns how long the whole model takes on one GPU, forward and backward.
func (p *Profile) Time() sched.Duration {
	total := sched.Duration(0)
	for i := range p.Layers {
		total += p.Layers[i].Forward + p.Layers[i].Backward
	}
	return total
}

// Parameters returns the bytes of all trainable parameters.
func (p *Profile) Parameters() sched.Bytes {
	total := sched.Bytes(0)
	for i := range p.Layers {
		total += p.Layers[i].Parameters
	}
	return total
}

// Validate returns an error that names the layer and the field if the profile
// is not one that a plan can be made of.
func (p *Profile) Validate() error {
	if err := p.validate(); err != nil {
		return fmt.Errorf("profile: %q on %q: %w", p.Model, p.GPU, err)
	}
	return nil
}

func (p *Profile) validate() error {
	switch {
	case p.Model == "":
		return errors.New("the model has no name")
	case p.GPU == "":
		return errors.New("the GPU has no name: say what the times were taken on, such as v100")
	case p.Source != Analytic && p.Source != Measured && p.Source != Imported:
		return fmt.Errorf("source is %q: it must be analytic, measured or imported", p.Source)
	case p.Batch < 1 || p.Batch > maxBatch:
		return fmt.Errorf("batch is %d: it must be between 1 and %d samples", p.Batch, maxBatch)
	case len(p.Layers) == 0 || len(p.Layers) > maxLayers:
		return fmt.Errorf("has %d layers: between 1 and %d are supported", len(p.Layers), maxLayers)
	}
	var time sched.Duration
	var activation, parameters, kept sched.Bytes
	for i := range p.Layers {
		l := &p.Layers[i]
		if err := l.validate(); err != nil {
			return fmt.Errorf("layer %d %q: %w", i, l.Name, err)
		}
		time += l.Forward + l.Backward
		activation += l.Activation
		parameters += l.Parameters
		kept += l.Kept()
		if time > maxDuration || activation > maxBytes || parameters > maxBytes || kept > maxBytes {
			return fmt.Errorf("layers 0 to %d take %v, %v of parameters, %v of activations and keep %v: at most %v and %v of each are supported",
				i, time, parameters, activation, kept, maxDuration, maxBytes)
		}
	}
	if last := p.Layers[len(p.Layers)-1]; last.Activation != 0 {
		return fmt.Errorf("the last layer %q has an activation of %v: nothing follows it, so it must be 0", last.Name, last.Activation)
	}
	if time == 0 {
		return errors.New("all layers together take no time")
	}
	return nil
}

func (l *Layer) validate() error {
	if l.Name == "" {
		return errors.New("has no name")
	}
	if l.Stored.Bytes != 0 && !l.Stored.Known {
		return errors.New("has stored bytes that are marked unknown")
	}
	for _, f := range []struct {
		name       string
		value, max int64
	}{
		{"forward_ns", int64(l.Forward), int64(maxDuration)}, {"backward_ns", int64(l.Backward), int64(maxDuration)},
		{"activation_bytes", int64(l.Activation), int64(maxBytes)}, {"parameter_bytes", int64(l.Parameters), int64(maxBytes)},
		{"stored_bytes", int64(l.Stored.Bytes), int64(maxBytes)},
	} {
		if f.value < 0 || f.value > f.max {
			return fmt.Errorf("%s is %d: it must be between 0 and %d", f.name, f.value, f.max)
		}
	}
	return nil
}
