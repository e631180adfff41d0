package profile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"yardstick/internal/input"
	"yardstick/internal/strictjson"
	"yardstick/sched"
)

// Origin is what the files of other systems do not say about themselves.
type Origin struct {
	Model string
	GPU   string
	Batch int // samples per mini-batch, or per micro-batch where that was profiled
}

// ImportPipeDream reads a graph.txt of PipeDream's profiler, gzipped or not.
//
// Lines are nodes, "node7 -- NAME -- forward_compute_time=F,
// backward_compute_time=B, activation_size=A, parameter_size=P" with F and B in
// milliseconds per mini-batch and A and P in bytes, or edges, "node7 -- node8".
// A list A of "[a; b]" is a tuple of tensors that counts with its sum.
//
// A graph that is no chain is laid out in a row, in topological order and
// otherwise by number, and the activation after a layer is the sum over the
// distinct nodes before the cut whose output is read after it. A node keeps its
// own output for the backward pass. Nodes that
// nothing leads to and that hold no parameters are inputs: they are dropped
// with the data-loading time that the profiler books on them.
//
// Errors name the line.
// Source: Narayanan et al., PipeDream: generalized pipeline parallelism for DNN
// training, SOSP 2019, section 3.1, and its published profiles.
func ImportPipeDream(r io.Reader, o Origin) (*Profile, error) {
	return importAs("PipeDream graph", r, o, readGraph)
}

// ImportDAPPLE reads a profile of DAPPLE: PipeDream's syntax, with times and
// activations per micro-batch, which Origin.Batch gives.
//
// Source: Fan et al., DAPPLE: a pipelined data parallel approach for training
// large models, PPoPP 2021, and its published profiles.
func ImportDAPPLE(r io.Reader, o Origin) (*Profile, error) {
	return importAs("DAPPLE profile", r, o, readGraph)
}

// ImportPiper reads an input file of Piper: JSON with nodes and edges. Of each
// node the variant without tensor parallelism and recomputation ("vanilla", or
// the first) is read: timePerSample, milliseconds of both passes together, of
// which a third is taken as the forward pass; parameterSize; and memoryUsageA,
// the bytes kept per micro-batch, as stored bytes. An edge's communicationCost
// is the volume that crosses.
//
// Source: Tarnawski et al., Piper: multidimensional planner for DNN
// parallelization, NeurIPS 2021, and its published inputs.
// Not in the source: how a time splits into the two passes.
func ImportPiper(r io.Reader, o Origin) (*Profile, error) {
	return importAs("Piper input", r, o, readPiper)
}

// maxImport bounds what an importer holds in memory; published files are below
// 1 MB. It stops compressed input that never ends.
const maxImport = 256 << 20

func importAs(what string, r io.Reader, o Origin, read func([]byte) (*graph, error)) (*Profile, error) {
	p, err := func() (*Profile, error) {
		text, err := readAll(r)
		if err != nil {
			return nil, err
		}
		g, err := read(text)
		if err != nil {
			return nil, err
		}
		layers, err := g.chain()
		if err != nil {
			return nil, err
		}
		p := &Profile{Model: o.Model, GPU: o.GPU, Source: Imported, Batch: o.Batch, Layers: layers}
		return p, p.validate()
	}()
	if err != nil {
		return nil, fmt.Errorf("profile: %s %q: %w", what, o.Model, err)
	}
	return p, nil
}

// readAll reads everything; input that begins like gzip is decompressed.
func readAll(r io.Reader) ([]byte, error) {
	buffered := bufio.NewReader(r)
	var source io.Reader = buffered
	if magic, _ := buffered.Peek(2); string(magic) == "\x1f\x8b" {
		unzipped, err := input.Gzip(buffered)
		if err != nil {
			return nil, err
		}
		source = unzipped
	}
	text, err := io.ReadAll(io.LimitReader(source, maxImport+1))
	if err != nil {
		return nil, fmt.Errorf("reading: %w", err)
	}
	if len(text) > maxImport {
		return nil, fmt.Errorf("is larger than %d bytes: a profile never is", maxImport)
	}
	return text, nil
}

// fields are the values of a node line, by name.
var fields = regexp.MustCompile(`([a-z_]+)=(\[[^\]]*\]|[^,\s]+)`)

func readGraph(text []byte) (*graph, error) {
	g := &graph{}
	index := map[string]int{} // of a node, by its identifier
	type link struct {
		from, to string
		line     int
	}
	var links []link
	var volume []sched.Bytes // per node
	for number, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		id, rest, ok := strings.Cut(line, " -- ")
		id, rest = strings.TrimSpace(id), strings.TrimSpace(rest)
		at := strings.LastIndex(rest, " -- ")
		switch {
		case line == "":
		case !ok || id == "" || rest == "":
			return nil, fmt.Errorf("line %d: %q is neither a node (ID -- NAME -- VALUES) nor an edge (ID -- ID)", number+1, clip(line))
		case at < 0:
			links = append(links, link{id, rest, number + 1})
		default:
			if _, twice := index[id]; twice {
				return nil, fmt.Errorf("line %d: node %s is there twice", number+1, id)
			}
			layer, err := readNode(rest[:at], rest[at+len(" -- "):])
			if err != nil {
				return nil, fmt.Errorf("line %d: node %s: %w", number+1, clip(id), err)
			}
			index[id] = len(g.nodes)
			layer.Stored = Stored{layer.Activation, true}
			g.nodes = append(g.nodes, node{layer: layer, rank: rank(id)})
			volume = append(volume, layer.Activation)
		}
	}
	if len(g.nodes) == 0 || len(g.nodes) > maxLayers {
		return nil, fmt.Errorf("has %d nodes: between 1 and %d are supported", len(g.nodes), maxLayers)
	}
	for _, l := range links {
		from, ok := index[l.from]
		to, ok2 := index[l.to]
		if !ok || !ok2 {
			return nil, fmt.Errorf("line %d: edge %s -- %s: there is no such node", l.line, clip(l.from), clip(l.to))
		}
		g.edges = append(g.edges, edge{from, to, volume[from]})
	}
	return g, nil
}

// readNode reads the values of a node. Activation holds its whole output until
// the layer has a place in the chain.
func readNode(name, values string) (Layer, error) {
	l := Layer{Name: strings.TrimSpace(name)}
	found := map[string]string{}
	for _, m := range fields.FindAllStringSubmatch(values, -1) {
		found[m[1]] = m[2]
	}
	for _, want := range []string{"forward_compute_time", "backward_compute_time", "activation_size", "parameter_size"} {
		text, ok := found[want]
		if !ok {
			return l, fmt.Errorf("has no %s", want)
		}
		v, err := sum(text)
		if err != nil {
			return l, fmt.Errorf("%s %w", want, err)
		}
		switch want {
		case "forward_compute_time":
			l.Forward, err = milliseconds(v)
		case "backward_compute_time":
			l.Backward, err = milliseconds(v)
		case "activation_size":
			l.Activation, err = byteCount(v)
		default:
			l.Parameters, err = byteCount(v)
		}
		if err != nil {
			return l, fmt.Errorf("%s %w", want, err)
		}
	}
	return l, nil
}

// sum reads a number, or a list "[a; b]" as the sum of its numbers.
func sum(text string) (float64, error) {
	if list, ok := strings.CutPrefix(text, "["); ok {
		text = strings.TrimSuffix(list, "]")
	}
	total := 0.0
	for part := range strings.SplitSeq(text, ";") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(v >= 0) {
			return 0, fmt.Errorf("is %q: it must be a number of at least 0, or a list of such", clip(text))
		}
		total += v
	}
	return total, nil
}

// rank returns the number that an identifier ends in: "node12" comes after
// "node9". Identifiers without one come last.
func rank(id string) int64 {
	digits := id[len(strings.TrimRight(id, "0123456789")):]
	n, err := strconv.ParseInt(digits, 10, 63)
	if err != nil {
		return 1 << 62
	}
	return n
}

// clip shortens a text of unknown length for an error message.
func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}

// piperFile is the part of a Piper input that is read.
type piperFile struct {
	Nodes []struct {
		ID    *int64                    `json:"id"`
		Name  string                    `json:"name"`
		TMPCs map[string][]piperVariant `json:"TMPCs"` // by degree of tensor parallelism
	} `json:"nodes"`
	Edges []struct {
		Source *int64  `json:"sourceId"`
		Dest   *int64  `json:"destId"`
		Cost   float64 `json:"communicationCost"`
	} `json:"edges"`
}

type piperVariant struct {
	ID         string   `json:"id"`
	Time       *float64 `json:"timePerSample"`
	Parameters float64  `json:"parameterSize"`
	Stored     float64  `json:"memoryUsageA"`
}

func readPiper(text []byte) (*graph, error) {
	var file piperFile
	if err := strictjson.UnmarshalPart(text, &file); err != nil {
		return nil, fmt.Errorf("is not the JSON of a Piper input: %w", err)
	}
	if len(file.Nodes) == 0 || len(file.Nodes) > maxLayers {
		return nil, fmt.Errorf("has %d nodes: between 1 and %d are supported", len(file.Nodes), maxLayers)
	}
	g := &graph{}
	index := map[int64]int{}
	for i, n := range file.Nodes {
		if n.ID == nil {
			return nil, fmt.Errorf("nodes[%d] has no id", i)
		}
		if _, twice := index[*n.ID]; twice {
			return nil, fmt.Errorf("nodes[%d]: id %d is there twice", i, *n.ID)
		}
		index[*n.ID] = i
		layer, err := piperLayer(n.Name, n.TMPCs["1"])
		if err != nil {
			return nil, fmt.Errorf("nodes[%d] %q: %w", i, clip(n.Name), err)
		}
		g.nodes = append(g.nodes, node{layer: layer, rank: rank(n.Name)})
	}
	for i, e := range file.Edges {
		if e.Source == nil || e.Dest == nil {
			return nil, fmt.Errorf("edges[%d] has no sourceId or destId", i)
		}
		from, ok := index[*e.Source]
		to, ok2 := index[*e.Dest]
		if !ok || !ok2 {
			return nil, fmt.Errorf("edges[%d] leads from %d to %d: there is no such node", i, *e.Source, *e.Dest)
		}
		volume, err := byteCount(e.Cost)
		if err != nil {
			return nil, fmt.Errorf("edges[%d]: communicationCost %w", i, err)
		}
		g.edges = append(g.edges, edge{from, to, volume})
	}
	return g, nil
}

func piperLayer(name string, variants []piperVariant) (l Layer, err error) {
	if len(variants) == 0 {
		return l, errors.New("has no variant without tensor parallelism (TMPCs 1)")
	}
	v := variants[0]
	for _, other := range variants {
		if other.ID == "vanilla" {
			v = other
			break
		}
	}
	if v.Time == nil {
		return l, errors.New("has no timePerSample")
	}
	both, err := milliseconds(*v.Time)
	if err != nil {
		return l, fmt.Errorf("timePerSample %w", err)
	}
	parameters, err := byteCount(v.Parameters)
	if err != nil {
		return l, fmt.Errorf("parameterSize %w", err)
	}
	stored, err := byteCount(v.Stored)
	if err != nil {
		return l, fmt.Errorf("memoryUsageA %w", err)
	}
	return Layer{Name: name, Forward: both / 3, Backward: both - both/3, Parameters: parameters, Stored: Stored{stored, true}}, nil
}
