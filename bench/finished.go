package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"yardstick/bench/journal"
	"yardstick/bench/record"
	"yardstick/bench/suite"
	"yardstick/internal/input"
	"yardstick/internal/output"
	"yardstick/internal/strictjson"
)

// FinishedName is the name of the file in a result directory that says that all cells of
// its plan are finished and tabulated, and of what.
const FinishedName = "finished.json"

// Finished is a run that ended with nothing left to do and nothing wrong. As long as its key
// is the same, running it again would make the same tables: neither instances are built for
// that, nor schedules verified.
type Finished struct {
	Format int      `json:"format"`
	Key    string   `json:"key"` // see Origin.Key
	Cells  int      `json:"cells"`
	Notes  []string `json:"notes,omitempty"` // what the run said of its plan
}

const finishedFormat = 1

// Origin is the hash of what the cells of a plan depend on: the program, the machine, which
// limits of cells may depend on, the limits of the environment, every method with its version
// and every file that the plan is read from but the suite's own, whose text is in plan.json. The
// zero value is unknown.
type Origin string

// NewOrigin returns the origin of a suite's cells, without building an instance. Build
// and machine identify the program and the machine.
//
// Errors: a file that cannot be read, a method that there is not, a program that is unknown.
func NewOrigin(s *suite.Suite, resolve Resolve, build, machine string) (Origin, error) {
	if build == "" {
		return "", errors.New("the program that runs cannot be read")
	}
	type method struct {
		Ref             suite.MethodRef
		Version, Broken string
	}
	origin := struct {
		Build, Machine string
		Limits         []int64
		Methods        [][]method // of each source
		Inputs         []record.Input
	}{Build: build, Machine: machine}
	for _, limit := range input.Limits() {
		n, err := limit.Value(0)
		if err != nil {
			return "", err
		}
		origin.Limits = append(origin.Limits, n)
	}
	var all []Method
	for i := range s.Instances {
		methods, err := resolveAll(s, &s.Instances[i], resolve)
		if err != nil {
			return "", err
		}
		var list []method
		for _, m := range methods {
			x := method{Ref: m.Ref(), Version: m.Version()}
			if err := Broken(m); err != nil {
				x.Broken = err.Error()
			}
			list = append(list, x)
		}
		origin.Methods, all = append(origin.Methods, list), append(all, methods...)
	}
	var err error
	if origin.Inputs, err = inputsOf(s, all, nil); err != nil {
		return "", err
	}
	key, err := keyOf(origin)
	return Origin(key), err
}

func keyOf(v any) (string, error) {
	h := sha256.New()
	err := json.NewEncoder(h).Encode(v)
	return hex.EncodeToString(h.Sum(nil)), err
}

// Key hashes the origin with all that a run has left in its directory: the plan, the journal,
// the tables and what lies beside them, and the files that are named besides. Cost: reading
// all these once.
//
// Errors: a file that cannot be read; the origin is unknown.
func (o Origin) Key(dir string, besides ...string) (string, error) {
	if o == "" {
		return "", errors.New("what the cells depend on is unknown")
	}
	names, err := filesIn(dir, besides)
	if err != nil {
		return "", err
	}
	files, err := record.ReadInputs(names...)
	if err != nil {
		return "", err
	}
	for i := range files { // wherever the directory lies
		if files[i].Name, err = filepath.Rel(dir, names[i]); err != nil {
			return "", err
		}
	}
	return keyOf(struct {
		Origin Origin
		Files  []record.Input
	}{o, files})
}

// filesIn returns the files of a result directory that a run makes, in order.
func filesIn(dir string, besides []string) ([]string, error) {
	m, err := record.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	names := append([]string{record.ManifestName, PlanFileName}, besides...)
	for _, f := range m.Files {
		names = append(names, f.Name)
	}
	for i := range names {
		names[i] = filepath.Join(dir, names[i])
	}
	for _, folder := range []string{journal.Folder, record.CertificateFolder, record.InstanceFolder, record.ProofFolder} {
		entries, err := os.ReadDir(filepath.Join(dir, folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			names = append(names, filepath.Join(dir, folder, e.Name()))
		}
	}
	return names, nil
}

// ReadFinished returns what a result directory says of a run that was finished there.
func ReadFinished(dir string) (*Finished, error) {
	data, err := input.Read(filepath.Join(dir, FinishedName))
	if err != nil {
		return nil, err
	}
	f := &Finished{}
	if err := strictjson.Unmarshal(data, f); err != nil {
		return nil, err
	}
	if f.Format != finishedFormat {
		return nil, fmt.Errorf("%s in %s has format %d: this program reads %d", FinishedName, dir, f.Format, finishedFormat)
	}
	return f, nil
}

// Write writes the file into a result directory.
func (f *Finished) Write(dir string) error {
	f.Format = finishedFormat
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return output.Write(filepath.Join(dir, FinishedName), func(w io.Writer) error { _, err := w.Write(append(data, '\n')); return err })
}
