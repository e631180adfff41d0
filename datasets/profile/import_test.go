package profile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/datasets/table"
	"yardstick/sched"
)

const (
	sharedPipelines = "../../../shared/data/raw/pipeline"
	sharedLayers    = "../../../shared/data/curated/pipeline_layers.csv.gz"
)

// diamond is a graph with a skip edge over a branch: 2 feeds 3, 4 and 6; 6 joins
// all. 1 is the input.
const diamond = `node1 -- Input -- forward_compute_time=500.0, backward_compute_time=0.000, activation_size=77.0, parameter_size=0.000
node6 -- Add(inplace) -- forward_compute_time=0.5, backward_compute_time=0.25, activation_size=10.000, parameter_size=0.000
node2 -- Conv2d(3, 64, kernel_size=(3, 3)) -- forward_compute_time=1.000, backward_compute_time=2.000001, activation_size=100.000, parameter_size=36.000
node3 -- LSTM -- forward_compute_time=3, backward_compute_time=4, activation_size=[20.0; 3; 0.0], parameter_size=8` + " \n" + `node4 -- Branch -- forward_compute_time=0.1, backward_compute_time=0.2, activation_size=7, parameter_size=0
node5 -- -- odd -- name -- forward_compute_time=0, backward_compute_time=0, activation_size=5, parameter_size=0
	node1 -- node2
	node2 -- node3
	node2 -- node4
	node2 -- node6
	node3 -- node6
	node4 -- node5
	node5 -- node6
`

func TestImportGraph(t *testing.T) {
	origin := Origin{Model: "m", GPU: "v100", Batch: 64}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte(diamond)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{diamond, zipped.String()} {
		p, err := ImportPipeDream(strings.NewReader(text), origin)
		if err != nil {
			t.Fatal(err)
		}
		want := []Layer{
			{"Conv2d(3, 64, kernel_size=(3, 3))", 1_000_000, 2_000_001, 100, 36, Stored{100, true}},
			{"LSTM", 3_000_000, 4_000_000, 100 + 23, 8, Stored{23, true}}, // 2 is read by 4 and 6, 3 by 6
			{"Branch", 100_000, 200_000, 100 + 23 + 7, 0, Stored{7, true}},
			{"-- odd -- name", 0, 0, 100 + 23 + 5, 0, Stored{5, true}},
			{"Add(inplace)", 500_000, 250_000, 0, 0, Stored{10, true}},
		}
		if p.Batch != 64 || p.Source != Imported || fmt.Sprint(p.Layers) != fmt.Sprint(want) {
			t.Errorf("layers %+v", p.Layers)
		}
	}
}

func TestImportGraphErrors(t *testing.T) {
	const values = "forward_compute_time=1, backward_compute_time=1, activation_size=1, parameter_size=1\n"
	for text, want := range map[string]string{
		"":                    "has 0 nodes",
		"node1\n":             "neither a node",
		"node1 -- a -- x=1\n": "no forward_compute_time",
		"node1 -- a -- " + values + "node1 -- b -- " + values:                                        "twice",
		"node1 -- a -- " + values + "\tnode1 -- node2\n":                                             "no such node",
		"node1 -- a -- " + values + "\tnode1 -- node1\n":                                             "cycle",
		"node1 -- a -- " + strings.Replace(values, "parameter_size=1", "parameter_size=0", 1):        "nothing but inputs|besides inputs",
		"node1 -- a -- " + strings.Replace(values, "activation_size=1", "activation_size=[1; x]", 1): "activation_size is",
		"node1 -- a -- " + strings.Replace(values, "=1", "=-1", 1):                                   "forward_compute_time is",
		"node1 -- a -- " + strings.Replace(values, "=1", "=NaN", 1):                                  "forward_compute_time is",
		"node1 -- a -- " + strings.Replace(values, "=1", "=1e300", 1):                                "forward_compute_time is",
		"\x1f\x8bxx": "damaged gzip",
	} {
		_, err := ImportDAPPLE(strings.NewReader(text), Origin{"m", "g", 1})
		matched := false
		for _, w := range strings.Split(want, "|") {
			matched = matched || err != nil && strings.Contains(err.Error(), w)
		}
		if !matched {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
	if _, err := ImportPipeDream(strings.NewReader(diamond), Origin{"m", "g", 0}); err == nil {
		t.Error("a mini-batch of 0 is imported")
	}
}

func TestImportPiper(t *testing.T) {
	const text = `{"maxDevices": 2, "nodes": [
	 {"id": 5, "name": "node9", "TMPCs": {"1": [{"id": "activation recomp", "timePerSample": 99}, {"id": "vanilla", "timePerSample": 3, "parameterSize": 40.0, "memoryUsageA": 6.0}]}},
	 {"id": 0, "name": "node2", "TMPCs": {"1": [{"id": "x", "timePerSample": 1.5, "parameterSize": 4.0, "memoryUsageA": 2.0}], "2": []}},
	 {"id": 1, "name": "node1", "TMPCs": {"1": [{"id": "vanilla", "timePerSample": 1000}]}}],
	 "edges": [{"sourceId": 0, "destId": 5, "communicationCost": 12.0}, {"sourceId": 1, "destId": 0, "communicationCost": 5}]}`
	p, err := ImportPiper(strings.NewReader(text), Origin{"m", "v100", 8})
	if err != nil {
		t.Fatal(err)
	}
	want := []Layer{{"node2", 500_000, 1_000_000, 12, 4, Stored{2, true}}, {"node9", 1_000_000, 2_000_000, 0, 40, Stored{6, true}}}
	if fmt.Sprint(p.Layers) != fmt.Sprint(want) {
		t.Errorf("layers %+v", p.Layers)
	}
	for _, bad := range []string{"", "[]", `{"nodes":[]}`, strings.Replace(text, `"id": 5, `, "", 1), strings.Replace(text, `"id": 5`, `"id": 0`, 1),
		strings.Replace(text, `"destId": 5`, `"destId": 7`, 1), strings.Replace(text, `"sourceId": 0, `, "", 1), strings.Replace(text, `"1": [`, `"4": [`, 1),
		strings.Replace(text, `"timePerSample": 3, `, "", 1), strings.Replace(text, "12.0", "-1", 1), text[:100]} {
		if _, err := ImportPiper(strings.NewReader(bad), Origin{"m", "g", 1}); err == nil {
			t.Errorf("%q is imported", bad)
		}
	}
}

// The volume across every cut of a random graph is what its definition says.
func TestCutVolumes(t *testing.T) {
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 9))
	for n := range 2000 {
		g := &graph{}
		size := 1 + r.IntN(9)
		for v := range size {
			g.nodes = append(g.nodes, node{layer: Layer{Name: fmt.Sprint(v), Parameters: sched.Bytes(r.IntN(2))}, rank: int64(r.IntN(size))})
		}
		label := r.Perm(size) // edges go up by label, not by index
		for range r.IntN(3 * size) {
			a, b := r.IntN(size), r.IntN(size)
			if label[a] > label[b] {
				a, b = b, a
			}
			if a != b {
				g.edges = append(g.edges, edge{a, b, sched.Bytes(r.IntN(50))})
			}
		}
		layers, err := g.chain()
		if err != nil {
			if len(layers) == 0 && strings.Contains(err.Error(), "besides inputs") {
				continue
			}
			t.Fatalf("seed %d, case %d: %v", seed, n, err)
		}
		place := map[string]int{}
		for i, l := range layers {
			place[l.Name] = i
		}
		for _, e := range g.edges {
			from, ok := place[fmt.Sprint(e.from)]
			if to := place[fmt.Sprint(e.to)]; ok && to <= from {
				t.Fatalf("seed %d, case %d: edge %v goes back in %+v", seed, n, e, layers)
			}
		}
		for cut := range layers {
			crossing := map[int]sched.Bytes{}
			for _, e := range g.edges {
				from, ok := place[fmt.Sprint(e.from)]
				if ok && from <= cut && place[fmt.Sprint(e.to)] > cut {
					crossing[e.from] = max(crossing[e.from], e.volume)
				}
			}
			want := sched.Bytes(0)
			for _, v := range crossing {
				want += v
			}
			if layers[cut].Activation != want {
				t.Fatalf("seed %d, case %d: %v crosses after layer %d, want %v: %+v", seed, n, layers[cut].Activation, cut, want, g)
			}
		}
	}
}

// Every published file imports, with the layers and sums that another program
// took from it.
func TestPublishedFiles(t *testing.T) {
	if _, err := os.Stat(sharedLayers); err != nil {
		t.Skipf("the published profiles are not here: %v", err)
	}
	type total struct {
		nodes                                 int
		forward, backward, output, parameters float64
	}
	want := map[string]*total{}
	csv, err := table.OpenCSV(sharedLayers)
	if err != nil {
		t.Fatal(err)
	}
	defer csv.Close()
	var at [6]int
	for i, name := range []string{"source", "model", "fwd_ms", "bwd_ms", "activation_bytes", "parameter_bytes"} {
		if at[i], err = table.Find(csv.Header(), name); err != nil {
			t.Fatal(err)
		}
	}
	for csv.Next() == nil {
		key := csv.Text(at[0]) + "/" + csv.Text(at[1])
		if want[key] == nil {
			want[key] = &total{}
		}
		w := want[key]
		w.nodes++
		for i, to := range []*float64{&w.forward, &w.backward, &w.output, &w.parameters} {
			v, _, err := csv.Number(at[i+2])
			if err != nil {
				t.Fatal(err)
			}
			*to += v
		}
	}
	files, err := filepath.Glob(sharedPipelines + "/*/*/*/graph.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	more, _ := filepath.Glob(sharedPipelines + "/dapple/*.txt.gz")
	for _, path := range append(files, more...) {
		key := "pipedream/" + filepath.Base(filepath.Dir(path))
		read := ImportPipeDream
		if name, ok := strings.CutSuffix(filepath.Base(path), ".txt.gz"); ok && name != "graph" {
			key, read = "dapple/"+name, ImportDAPPLE
		}
		w := want[key]
		delete(want, key)
		if w == nil {
			t.Errorf("%s is not in the list of layers", path)
			continue
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := readAll(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		g, err := readGraph(text)
		if err != nil {
			t.Fatal(err)
		}
		var got total
		inputs := 0
		for i, input := range g.inputs() {
			if input {
				inputs++
			}
			l := &g.nodes[i].layer
			got.nodes++
			got.forward += float64(l.Forward) / 1e6
			got.backward += float64(l.Backward) / 1e6
			got.output += float64(l.Activation)
			got.parameters += float64(l.Parameters)
		}
		near := func(a, b float64) bool { return a-b < 1e-3 && b-a < 1e-3 } // the list rounds to whole bytes, sums of decimal milliseconds
		if got.nodes != w.nodes || !near(got.forward, w.forward) || !near(got.backward, w.backward) || !near(got.output, w.output) || !near(got.parameters, w.parameters) {
			t.Errorf("%s: nodes and sums %+v, want %+v", key, got, *w)
		}
		p, err := read(bytes.NewReader(raw), Origin{key, "v100", 32})
		if err != nil {
			t.Error(err)
			continue
		}
		if len(p.Layers) != w.nodes-inputs || inputs < 1 || inputs > 4 {
			t.Errorf("%s: %d layers of %d nodes, %d inputs", key, len(p.Layers), w.nodes, inputs)
		}
	}
	if len(want) > 0 {
		t.Errorf("no file of %v", want)
	}
	for name, layers := range map[string]int{"resnet": 176, "gnmt": 78} {
		f, err := os.Open(filepath.Join(sharedPipelines, "piper", name+".json.gz"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := ImportPiper(f, Origin{name, "v100", 1})
		f.Close()
		if err != nil || len(p.Layers) > layers || len(p.Layers) < layers-3 {
			t.Errorf("%s: %v, want about %d layers", name, err, layers)
		}
	}
}

func FuzzImportGraph(f *testing.F) {
	f.Add([]byte(diamond))
	f.Add([]byte("node1 -- a -- forward_compute_time=1, backward_compute_time=1, activation_size=[1; 2], parameter_size=1\nnode1 -- node1"))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, err := ImportPipeDream(bytes.NewReader(text), Origin{"m", "g", 1}); err == nil {
			if err := p.Validate(); err != nil {
				t.Error(err)
			}
		}
	})
}

func FuzzImportPiper(f *testing.F) {
	f.Add([]byte(`{"nodes":[{"id":1,"name":"node1","TMPCs":{"1":[{"timePerSample":1,"parameterSize":1}]}}],"edges":[]}`))
	f.Add([]byte(`{"nodes":[{"id":1}],"edges":[{"sourceId":1,"destId":1}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, err := ImportPiper(bytes.NewReader(text), Origin{"m", "g", 1}); err == nil {
			if err := p.Validate(); err != nil {
				t.Error(err)
			}
		}
	})
}
