package suite

import "yardstick/sched"

// SharingRef holds what a suite may say of instances of the sharing model.
type SharingRef struct {
	Rate float64 `yaml:"rate" json:"rate,omitzero"` // divides releases: jobs come that many times as often
	Xi   float64 `yaml:"xi" json:"xi,omitzero"`     // factor of every pair, in place of a table
	// Interference is a Parquet file of factors by tasks, as bench dataset interference
	// writes it, in place of the built-in table; xi is then of the pairs that it lacks.
	Interference string `yaml:"interference" json:"interference,omitzero"`

	Pause     sched.Time `yaml:"pause" json:"pause,omitzero"`         // at every preemption and change of size
	Malleable bool       `yaml:"malleable" json:"malleable,omitzero"` // jobs may change their number of GPUs: class M
}

// renamed says what a key that suites had is called now.
func (SharingRef) renamed(key string) string {
	if key == "load" {
		return "it is called rate now, sharing.rate, as it says how often jobs come; offeredLoad sets an offered load"
	}
	return ""
}
