package bench

import "yardstick/sched"

// SharingRef holds what a suite may say of instances of the sharing model.
type SharingRef struct {
	Load      float64    `yaml:"load" json:"load,omitzero"`           // divides releases: jobs come that many times as often
	Xi        float64    `yaml:"xi" json:"xi,omitzero"`               // interference of every pair, in place of the table
	Pause     sched.Time `yaml:"pause" json:"pause,omitzero"`         // at every preemption and change of size
	Malleable bool       `yaml:"malleable" json:"malleable,omitzero"` // jobs may change their number of GPUs: class M
}
