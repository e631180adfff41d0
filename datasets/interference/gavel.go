package interference

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"yardstick/datasets"
)

// Report says what an import did.
type Report struct {
	Entries      int // pairs read, in the file's own count
	Rows         int // ordered pairs of tasks in the table
	Measured     int // of these, those that have a xi
	Clamped      int // of these, those measured below 1, which is noise, and set to 1
	UnequalScale int // entries left out: the two jobs have different numbers of GPUs
	Conflicts    int // ordered pairs that the file has twice with different throughputs; the entry of the task itself counts
}

// String says it in one line.
func (r *Report) String() string {
	return fmt.Sprintf("%d pairs in the file, %d ordered pairs in the table, %d measured, %d do not fit or were not measured; %d measured below 1 and set to 1, %d of unequal numbers of GPUs left out, %d contradictory",
		r.Entries, r.Rows, r.Measured, r.Rows-r.Measured, r.Clamped, r.UnequalScale, r.Conflicts)
}

// maxJSON bounds what is read into memory; Gavel's file has 1 MB.
const maxJSON = 1 << 28

// GavelSource is the source of the tables that ImportGavel makes.
const GavelSource = "gavel"

// ImportGavel reads the throughputs that Gavel's simulator uses
// (simulation_throughputs.json) and makes interference tables of them.
//
// The file maps a type of worker to the jobs, written "('ResNet-18 (batch size
// 16)', 1)" with the number of GPUs behind the name; a job to its partners; and
// a partner to the steps per second [of the job, of the partner] of the two
// together. The partner "null" stands for the job alone, with one number. A
// worker type that ends in _unconsolidated is the same with GPUs on several
// servers. [0, 0] means that the pair does not fit or was not measured.
//
//	xi(a|b) = steps per second of a alone / of a beside b, at least 1.
//
// The name appears in errors, which say the line, the worker, job and partner.
//
// Source: Narayanan et al., "Heterogeneity-Aware Cluster Scheduling Policies
// for Deep Learning Workloads", OSDI 2020, and its published simulator.
func ImportGavel(name string, r io.Reader) (*Table, *Report, error) {
	t, report, err := importGavel(r)
	if err != nil {
		return nil, nil, fmt.Errorf("interference: %s: %w", name, err)
	}
	return t, report, nil
}

func importGavel(r io.Reader) (*Table, *Report, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxJSON+1))
	if err != nil {
		return nil, nil, err
	}
	if len(data) > maxJSON {
		return nil, nil, fmt.Errorf("has more than %d MB: no table of throughputs is that large", maxJSON>>20)
	}
	p := &parser{data: data, decoder: json.NewDecoder(bytes.NewReader(data))}
	var rows []Row
	report := &Report{}
	err = p.object("the file", func(worker string) error {
		g := gavelWorker{alone: map[gavelJob]float64{}, together: map[gavelPair][2]float64{}}
		if err := g.read(p, worker, report); err != nil {
			return err
		}
		more, err := g.rows(worker, report)
		rows = append(rows, more...)
		return err
	})
	if err == nil {
		if _, more := p.decoder.Token(); !errors.Is(more, io.EOF) {
			err = p.errorf("something follows the end of the table")
		}
	}
	if err != nil {
		return nil, nil, err
	}
	t, err := New(rows)
	return t, report, err
}

// gavelJob is a type of job with its number of GPUs.
type gavelJob struct {
	task string
	gpus int
}

type gavelPair struct{ job, partner gavelJob }

// gavelWorker holds the throughputs on one type of worker, in steps per second.
type gavelWorker struct {
	alone    map[gavelJob]float64
	together map[gavelPair][2]float64 // of the job, of the partner
	order    []gavelPair
}

func (g *gavelWorker) read(p *parser, worker string, report *Report) error {
	return p.object("worker "+worker, func(key string) error {
		job, err := parseGavelJob(key)
		if err != nil {
			return p.errorf("worker %s: %w", worker, err)
		}
		return p.object(key, func(partnerKey string) error {
			where := fmt.Sprintf("worker %s: job %s: partner %s", worker, key, partnerKey)
			if partnerKey == "null" {
				v, err := p.numbers(where, 1)
				if err == nil {
					g.alone[job] = v[0]
				}
				return err
			}
			partner, err := parseGavelJob(partnerKey)
			if err != nil {
				return p.errorf("worker %s: job %s: %w", worker, key, err)
			}
			v, err := p.numbers(where, 2)
			if err != nil {
				return err
			}
			report.Entries++
			if partner.gpus != job.gpus {
				report.UnequalScale++
				return nil
			}
			pair := gavelPair{job, partner}
			g.together[pair] = [2]float64(v)
			g.order = append(g.order, pair)
			return nil
		})
	})
}

// rows turns throughputs into ordered pairs of tasks.
func (g *gavelWorker) rows(worker string, report *Report) ([]Row, error) {
	gpuType, spread := strings.CutSuffix(worker, "_unconsolidated")
	placement := Consolidated
	if spread {
		placement = Spread
	}
	var rows []Row
	add := func(task, partner gavelJob, own float64) error {
		r := Row{Setting{GavelSource, gpuType, placement, task.gpus}, task.task, partner.task, datasets.Opt[float64]{}}
		alone, ok := g.alone[task]
		if !ok {
			return fmt.Errorf("worker %s: job %q on %d GPUs is in a pair but has no throughput alone (partner \"null\")", worker, task.task, task.gpus)
		}
		report.Rows++
		// A job that does not run alone has no xi either. Above 2^20, the
		// division has met a number that is no throughput.
		if xi := alone / own; alone > 0 && own > 0 && xi <= 1<<20 {
			report.Measured++
			if xi < 1 {
				report.Clamped++
			}
			r.Xi = datasets.Some(max(xi, 1))
		}
		rows = append(rows, r)
		return nil
	}
	for _, pair := range g.order {
		v := g.together[pair]
		if err := add(pair.job, pair.partner, v[0]); err != nil {
			return nil, err
		}
		mirror, ok := g.together[gavelPair{pair.partner, pair.job}]
		if !ok {
			if err := add(pair.partner, pair.job, v[1]); err != nil {
				return nil, err
			}
		} else if pair.job != pair.partner && mirror[1] != v[0] {
			report.Conflicts++
		}
	}
	return rows, nil
}

var gavelKey = regexp.MustCompile(`^\((?:'([^']+)'|"([^"]+)"), ([0-9]{1,6})\)$`)

// parseGavelJob reads a pair in Python's notation: ('LM (batch size 5)', 1).
func parseGavelJob(key string) (gavelJob, error) {
	m := gavelKey.FindStringSubmatch(key)
	if m == nil {
		return gavelJob{}, fmt.Errorf("%.60q is not a job such as ('LM (batch size 5)', 1)", key)
	}
	gpus, err := strconv.Atoi(m[3])
	if err != nil || gpus < 1 {
		return gavelJob{}, fmt.Errorf("job %q has %s GPUs", key, m[3])
	}
	return gavelJob{m[1] + m[2], gpus}, nil
}

// parser reads JSON token by token, so that errors can name the line and keys
// that are there twice are found.
type parser struct {
	data    []byte
	decoder *json.Decoder
}

// errorf adds the line to an error.
func (p *parser) errorf(format string, args ...any) error {
	line := 1 + bytes.Count(p.data[:min(p.decoder.InputOffset(), int64(len(p.data)))], []byte("\n"))
	return fmt.Errorf("line %d: %w", line, fmt.Errorf(format, args...))
}

func (p *parser) token() (json.Token, error) {
	token, err := p.decoder.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, p.errorf("not JSON: %w", err)
	}
	return token, nil
}

// object reads an object and calls value for every key.
func (p *parser) object(what string, value func(key string) error) error {
	token, err := p.token()
	if err != nil {
		return err
	}
	if token != json.Delim('{') {
		return p.errorf("%s is %v: it must be an object", what, token)
	}
	seen := map[string]bool{}
	for p.decoder.More() {
		if token, err = p.token(); err != nil {
			return err
		}
		key, ok := token.(string)
		if !ok || seen[key] {
			return p.errorf("%s: %v is there twice", what, token)
		}
		seen[key] = true
		if err := value(key); err != nil {
			return err
		}
	}
	_, err = p.token()
	return err
}

// numbers reads one number, or a list of n if n is above 1: finite and not
// negative.
func (p *parser) numbers(what string, n int) ([]float64, error) {
	if n > 1 {
		if token, err := p.token(); err != nil || token != json.Delim('[') {
			return nil, errors.Join(err, p.errorf("%s: must be a list of %d throughputs", what, n))
		}
	}
	list := make([]float64, n)
	for i := range list {
		token, err := p.token()
		if err != nil {
			return nil, err
		}
		v, ok := token.(float64)
		if !ok || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, p.errorf("%s: %v is no throughput: a number of at least 0 is needed", what, token)
		}
		list[i] = v
	}
	if n > 1 {
		if token, err := p.token(); err != nil || token != json.Delim(']') {
			return nil, errors.Join(err, p.errorf("%s: must be a list of %d throughputs", what, n))
		}
	}
	return list, nil
}
