package profile

import (
	"fmt"
	"strings"

	"yardstick/datasets/table"
	"yardstick/sched"
)

// GPU is what the roofline knows of a GPU.
type GPU struct {
	Name      string
	Flops     float64     // peak of dense 16-bit matrix multiplication with 32-bit accumulation, FLOP/s
	Bandwidth float64     // of the memory, bytes/s
	Memory    sched.Bytes // capacity

	// What of the two peaks kernels reach, and what each costs besides.
	FlopsReached     float64
	BandwidthReached float64
	Kernel           sched.Duration // launch and tail of one kernel
}

// What is taken of every GPU: half of the peak in matrix multiplications, three
// quarters of the memory bandwidth, and 5 µs per kernel. docs/profiles.md gives
// the reasons.
const (
	flopsReached     = 0.5
	bandwidthReached = 0.75
	kernelOverhead   = sched.Duration(5_000)
)

// GPUs lists the GPUs that have built-in profiles. Peaks are those of NVIDIA's
// data sheets, without sparsity: V100 SXM2 32 GB (FP16), A100 SXM 80 GB, H100
// SXM 80 GB and H200 SXM 141 GB (BF16).
func GPUs() []GPU {
	gpu := func(name string, teraflops, gigabytesPerSecond float64, memory sched.Bytes) GPU {
		return GPU{name, teraflops * 1e12, gigabytesPerSecond * 1e9, memory, flopsReached, bandwidthReached, kernelOverhead}
	}
	return []GPU{
		gpu("v100", 125, 900, 32e9),
		gpu("a100", 312, 2039, 80e9),
		gpu("h100", 989.4, 3350, 80e9),
		gpu("h200", 989.4, 4800, 141e9),
	}
}

// FindGPU returns the GPU of a name. Errors: there is none; the nearest is
// named.
func FindGPU(name string) (GPU, error) {
	var names []string
	for _, g := range GPUs() {
		if g.Name == name {
			return g, nil
		}
		names = append(names, g.Name)
	}
	return GPU{}, fmt.Errorf("profile: there is no GPU %q; the nearest is %q (all: %s)", name, table.Nearest(name, names), strings.Join(names, ", "))
}

func (g *GPU) validate() error {
	positive := g.Flops > 0 && g.Bandwidth > 0 && g.FlopsReached > 0 && g.BandwidthReached > 0
	if g.Name == "" || !positive || g.FlopsReached > 1 || g.BandwidthReached > 1 || g.Kernel < 0 {
		return fmt.Errorf("GPU %+v: it needs a name, positive peaks, shares reached between 0 and 1, and a kernel overhead of at least 0", *g)
	}
	return nil
}
