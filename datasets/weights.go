package datasets

import "fmt"

// Weights say where job weights come from. Its text form is its value.
type Weights string

// The sources of weights.
const (
	WeightsTrace  Weights = ""       // the column weight, 1 where it is NULL
	WeightsUnit   Weights = "unit"   // 1
	WeightsRandom Weights = "random" // integers from 1 to 10, from the window's seed
)

// UnmarshalText implements encoding.TextUnmarshaler.
func (w *Weights) UnmarshalText(text []byte) error {
	*w = Weights(text)
	return w.validate()
}

func (w Weights) validate() error {
	switch w {
	case WeightsTrace, WeightsUnit, WeightsRandom:
		return nil
	}
	return fmt.Errorf("weights %q: it must be unit or random, or absent", string(w))
}

// Weigh returns the weights of the window's jobs. Errors: there is no such
// source of weights.
func (w *Window) Weigh(from Weights) ([]float64, error) {
	if err := from.validate(); err != nil {
		return nil, err
	}
	r := newRand(w.Seed, streamWeights)
	list := make([]float64, w.Jobs)
	for i := range w.List() {
		list[i] = 1
		switch j := &w.List()[i]; {
		case from == WeightsRandom:
			list[i] = float64(1 + r.IntN(10))
		case from == WeightsTrace && j.Weight.OK:
			list[i] = j.Weight.V
		}
	}
	return list, nil
}
