package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"yardstick/internal/strictjson"
)

// FormatVersion is the version of the result directory's format. Appending
// columns does not change it.
const FormatVersion = 1

// ManifestName is the name of the manifest's file.
const ManifestName = "manifest.json"

// Manifest says what a result directory holds and how it came about.
type Manifest struct {
	FormatVersion int             `json:"format_version"`
	Created       time.Time       `json:"created"` // given by the caller; written in UTC, to the microsecond
	Suite         json.RawMessage `json:"suite"`   // the suite with every default filled in
	PlanID        string          `json:"plan_id"`
	Params        []Param         `json:"params,omitempty"` // the swept parameters, in order of their columns
	Inputs        []Input         `json:"inputs,omitempty"`
	Execution     Execution       `json:"execution"`
	Versions      Versions        `json:"versions"`
	Machine       MachineInfo     `json:"machine"`
	ResultDigest  string          `json:"result_digest"`   // filled in by Write
	Files         []FileInfo      `json:"files,omitempty"` // filled in by Write

	// SHA256 is the hash of the manifest's own bytes with zeros in its place,
	// filled in by Write.
	SHA256 string `json:"manifest_sha256,omitempty"`
}

// unsigned stands for the hash while it is computed.
var unsigned = strings.Repeat("0", 2*sha256.Size)

// seal returns the manifest's text with its own hash.
func (m *Manifest) seal() ([]byte, error) {
	m.SHA256 = unsigned
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	m.SHA256 = hashOf(text)
	at := bytes.LastIndex(text, []byte(unsigned))
	copy(text[at:], m.SHA256)
	return text, nil
}

// checkSeal compares a manifest's text with the hash in it. Manifests written
// before there was one have none.
func (m *Manifest) checkSeal(text []byte) error {
	at := bytes.LastIndex(text, []byte(m.SHA256))
	if m.SHA256 == "" {
		return nil
	}
	if at < 0 || len(m.SHA256) != len(unsigned) {
		return fmt.Errorf("its manifest_sha256 is %q", m.SHA256)
	}
	blank := bytes.Clone(text)
	copy(blank[at:], unsigned)
	if got := hashOf(blank); got != m.SHA256 {
		return fmt.Errorf("its sha256 is %.12s…, it says %.12s…; run again or restore it", got, m.SHA256)
	}
	return nil
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Param is a swept parameter: a key of the suite's matrix. Its values are in
// Ratio.Params.
type Param struct {
	Name   string `json:"name"`             // as in the suite, such as cluster.inter
	Number bool   `json:"number,omitempty"` // float64 rather than text
	Unit   string `json:"unit,omitempty"`
}

// Column returns the name of the parameter's column in ratios.arrow: p_ and
// the name in lower case, with _ for every other character than a letter or
// digit.
func (p Param) Column() string {
	return "p_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '_'
	}, p.Name)
}

// Input is a file that the run read.
type Input struct {
	Name   string `json:"name"` // as the suite names it
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// ReadInputs reads the files that a run read and hashes them.
func ReadInputs(names ...string) ([]Input, error) {
	inputs := make([]Input, len(names))
	for i, name := range names {
		var err error
		if inputs[i], err = readInput(name); err != nil {
			return nil, err
		}
	}
	return inputs, nil
}

func readInput(name string) (Input, error) {
	f, err := os.Open(name)
	if err != nil {
		return Input{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return Input{name, hex.EncodeToString(h.Sum(nil)), n}, err
}

// Execution says how the plan was run. None of it influences a value.
type Execution struct {
	Command []string `json:"command,omitempty"`
	Workers int      `json:"workers"`
	Cells   int      `json:"cells"`  // planned
	Failed  int      `json:"failed"` // cells that could not run or broke a rule
	Skipped int      `json:"skipped"`
	Reused  int      `json:"reused,omitempty"` // cells that an earlier run had finished
	Wall    float64  `json:"wall_s"`
}

// FileInfo is what the manifest knows of a table's file.
type FileInfo struct {
	Name   string `json:"name"`
	Rows   int    `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// ReadManifest reads the manifest of a result directory, and nothing beside it.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestName)
	data, err := os.ReadFile(path)
	if err != nil {
		if os.IsNotExist(err) {
			return nil, fmt.Errorf("record: %s holds no %s: it is not a result directory, or its run did not end", dir, ManifestName)
		}
		return nil, fmt.Errorf("record: %w", err)
	}
	m := &Manifest{}
	if err := strictjson.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("record: %s is damaged: %w", path, err)
	}
	if m.FormatVersion != FormatVersion {
		return nil, fmt.Errorf("record: %s has format_version %d: this program reads %d", path, m.FormatVersion, FormatVersion)
	}
	if err := m.checkSeal(data); err != nil {
		return nil, fmt.Errorf("record: %s is not the file that was written: %w", path, err)
	}
	if err := m.validate(); err != nil {
		return nil, fmt.Errorf("record: %s: %w", path, err)
	}
	return m, nil
}

// validate refuses what neither Write nor Open can work with.
func (m *Manifest) validate() error {
	if _, err := m.SolveLimit(); err != nil {
		return fmt.Errorf("the suite cannot be read: %w", err)
	}
	columns := map[string]string{}
	for _, p := range m.Params {
		if other, taken := columns[p.Column()]; taken {
			return fmt.Errorf("the parameters %q and %q share the column %s: rename one", other, p.Name, p.Column())
		}
		columns[p.Column()] = p.Name
	}
	return nil
}

// SolveLimit returns the time limit of the suite's solves in seconds, 0 if the
// manifest does not say.
func (m *Manifest) SolveLimit() (float64, error) {
	var suite struct {
		Limits struct {
			Solve any `json:"solve"`
		} `json:"limits"`
	}
	if len(m.Suite) == 0 {
		return 0, nil
	}
	if err := strictjson.UnmarshalPart(m.Suite, &suite); err != nil {
		return 0, err
	}
	switch v := suite.Limits.Solve.(type) {
	case float64:
		return time.Duration(v).Seconds(), nil
	case string:
		if d, err := time.ParseDuration(v); err == nil {
			return d.Seconds(), nil
		}
	}
	return 0, nil
}

// embedded returns the manifest as each table carries it: without the list of
// files, whose hashes it would change.
func (m *Manifest) embedded() (string, error) {
	bare := *m
	bare.Files, bare.SHA256 = nil, ""
	b, err := json.Marshal(&bare)
	return string(b), err
}
