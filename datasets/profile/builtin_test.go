package profile

import (
	"math"
	"testing"
)

// Totals as their papers or reference implementations publish them.
func TestPublishedTotals(t *testing.T) {
	published := map[string]struct {
		parameters, within float64 // and the relative tolerance
		gigaMACs           float64 // per sample; 0 where none is published
	}{
		"vgg19":        {143_667_240, 0, 19.63}, // torchvision's model table, also for the next two
		"resnet152":    {60_192_808, 0, 11.51},
		"inception-v3": {23_834_568, 0, 5.71}, // without auxiliary classifier
		"bert-large":   {335_141_888 + 2050, 0, 0},
		"xlnet-large":  {360_268_800 + 2050, 0, 0},
		"t5-11b":       {11_307_321_344, 0, 0},
		"gpt-6.7b":     {6.7e9, 0.01, 0}, // table 2.1 of the paper, rounded there
		"gpt-13b":      {13.0e9, 0.015, 0},
		"gpt-175b":     {175.0e9, 0.005, 0},
	}
	for _, a := range Architectures() {
		want, ok := published[a.Model]
		if !ok {
			t.Fatalf("no published totals of %s", a.Model)
		}
		macs, parameters := totals(a)
		if math.Abs(float64(parameters)-want.parameters) > want.within*want.parameters {
			t.Errorf("%s has %d parameters, published are %.0f", a.Model, parameters, want.parameters)
		}
		per := float64(macs) / float64(a.Batch) / 1e9
		if want.gigaMACs > 0 && math.Abs(per-want.gigaMACs) > 0.006 {
			t.Errorf("%s takes %.3f GMAC per sample, published are %.2f", a.Model, per, want.gigaMACs)
		}
		delete(published, a.Model)
	}
	if len(published) > 0 {
		t.Errorf("%v are not built in", published)
	}
}

// The floating-point operations of an iteration of a decoder-only model with
// recomputation, four forward passes of the layers and three of the output, are
// 96 B s l h² (1 + s/(6h) + V/(16 l h)); what a layer keeps is s b h (34 + 5 a s/h) bytes.
//
// Source: Narayanan et al., Efficient large-scale language model training on GPU
// clusters using Megatron-LM, SC 2021, eq. (2); Korthikanti et al., Reducing
// activation recomputation in large transformer models, MLSys 2023, eq. (2).
func TestDecoderFormulas(t *testing.T) {
	for _, m := range []struct {
		a       *Architecture
		l, h, n int64 // layers, width, heads
	}{{GPT6B(32), 32, 4096, 32}, {GPT13B(32), 40, 5120, 40}, {GPT175B(16), 96, 12288, 96}} {
		const s, v = 512, 50257
		b := int64(m.a.Batch)
		var flops int64
		for i, w := range m.a.Works {
			passes := int64(4)
			if i == len(m.a.Works)-1 {
				passes = 3
			}
			for _, k := range w.Kernels {
				flops += 2 * passes * k.MACs
			}
			if i > 0 && i <= int(m.l) {
				if want := 34*s*b*m.h + 5*m.n*s*s*b; w.Stored != want {
					t.Errorf("%s: %s keeps %d bytes, want %d", m.a.Model, w.Name, w.Stored, want)
				}
			}
		}
		// 96 B s l h² + 16 B s² l h + 6 B s h V, without fractions.
		if want := 96*b*s*m.l*m.h*m.h + 16*b*s*s*m.l*m.h + 6*b*s*m.h*v; flops != want {
			t.Errorf("%s: %d floating-point operations, want %d", m.a.Model, flops, want)
		}
	}
}

// The output of every layer is the shape that the next one's paper gives.
func TestFeatureMaps(t *testing.T) {
	for _, c := range []struct {
		a     *Architecture
		sizes map[string]int64 // elements per sample after a layer
	}{
		{VGG19(2), map[string]int64{"conv1_1": 64 * 224 * 224, "conv1_2": 64 * 112 * 112, "conv5_4": 512 * 7 * 7, "fc7": 4096, "fc8": 0}},
		{ResNet152(3), map[string]int64{"stem": 64 * 56 * 56, "block2_3": 256 * 56 * 56, "block3_1": 512 * 28 * 28, "block4_36": 1024 * 14 * 14, "block5_3": 2048 * 7 * 7, "head": 0}},
		{InceptionV3(5), map[string]int64{"stem1": 32 * 149 * 149, "stem5": 192 * 35 * 35, "a1": 256 * 35 * 35, "a3": 288 * 35 * 35, "b": 768 * 17 * 17, "c4": 768 * 17 * 17, "d": 1280 * 8 * 8, "e2": 2048 * 8 * 8}},
		{T5(8), map[string]int64{"encoder24": 512 * 1024, "decoder1": 2 * 512 * 1024, "decoder23": 2 * 512 * 1024, "decoder24": 512 * 1024, "head": 0}},
	} {
		for _, w := range c.a.Works {
			if want, ok := c.sizes[w.Name]; ok {
				delete(c.sizes, w.Name)
				if w.Output != want*int64(c.a.Batch) {
					t.Errorf("%s: %d elements after %s, want %d times %d", c.a.Model, w.Output, w.Name, c.a.Batch, want)
				}
			}
		}
		if len(c.sizes) > 0 {
			t.Errorf("%s has no layers %v", c.a.Model, c.sizes)
		}
	}
}

func TestDerive(t *testing.T) {
	profiles := map[string][]Profile{}
	for _, g := range GPUs() {
		list, err := Builtin(g.Name)
		if err != nil || len(list) != 9 {
			t.Fatalf("%s: %d profiles, %v", g.Name, len(list), err)
		}
		profiles[g.Name] = list
	}
	for i := range 9 {
		slow, mid, fast, wide := &profiles["v100"][i], &profiles["a100"][i], &profiles["h100"][i], &profiles["h200"][i]
		if !(slow.Time() > mid.Time() && mid.Time() > fast.Time() && fast.Time() >= wide.Time()) {
			t.Errorf("%s: %v on V100, %v on A100, %v on H100, %v on H200", slow.Model, slow.Time(), mid.Time(), fast.Time(), wide.Time())
		}
		for l := range slow.Layers {
			if slow.Layers[l].Backward != 2*slow.Layers[l].Forward || slow.Layers[l].Activation != wide.Layers[l].Activation {
				t.Errorf("%s: layer %+v", slow.Model, slow.Layers[l])
			}
		}
	}
	// By hand: one kernel bound by arithmetic and one by memory.
	g := GPU{Name: "g", Flops: 1e12, Bandwidth: 1e9, FlopsReached: 0.5, BandwidthReached: 0.25, Kernel: 7}
	a := &Architecture{Model: "m", Batch: 1, Works: []Work{{Name: "w", Kernels: []Kernel{{MACs: 1e6, Moved: 3}, {MACs: 1, Moved: 1000}}, Parameters: 5, Stored: 9}}}
	p, err := Derive(a, g)
	if err != nil {
		t.Fatal(err)
	}
	// 2e6/(0.5·1e12) s = 4 µs, 2000/(0.25·1e9) s = 8 µs, two kernels of 7 ns.
	if l := p.Layers[0]; l.Forward != 12_014 || l.Parameters != 10 || l.Stored.Bytes != 9 {
		t.Errorf("layer %+v", l)
	}
	for _, bad := range []GPU{{}, {Name: "g", Flops: 1, Bandwidth: 1, FlopsReached: 2, BandwidthReached: 1}} {
		if _, err := Derive(a, bad); err == nil {
			t.Errorf("%+v has a profile", bad)
		}
	}
}

// totals returns the multiply-accumulate operations of a forward pass of the
// whole mini-batch and the number of parameters.
func totals(a *Architecture) (macs, parameters int64) {
	for i := range a.Works {
		parameters += a.Works[i].Parameters
		for _, k := range a.Works[i].Kernels {
			macs += k.MACs
		}
	}
	return macs, parameters
}
