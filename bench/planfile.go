package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"yardstick/bench/suite"
	"yardstick/internal/input"
	"yardstick/internal/output"
	"yardstick/internal/strictjson"
)

// PlanFileName is the name of the file in a result directory that says what
// runs there.
const PlanFileName = "plan.json"

// PlanFile has all that is needed to make a plan again, on any machine that
// has the traces and instance files that the suite names.
type PlanFile struct {
	Format   int      `json:"format"`
	PlanID   string   `json:"plan_id"`
	Cells    int      `json:"cells"`
	Suite    string   `json:"suite"`    // name of the file, for messages
	Text     string   `json:"text"`     // its content
	Settings []string `json:"settings"` // as ParseSuite takes them
	// MaxJobs is that of the plan: whoever reads the file may make it again.
	MaxJobs int64 `json:"max_jobs,omitempty"`
}

const planFormat = 1

// Parse reads the suite.
func (f *PlanFile) Parse() (*suite.Suite, error) {
	s, err := suite.Parse(f.Suite, []byte(f.Text), f.Settings...)
	if err != nil {
		return nil, err
	}
	s.MaxJobs = f.MaxJobs
	return s, nil
}

// Plan makes the plan again and checks that it is the one that was recorded.
func (f *PlanFile) Plan(resolve Resolve) (*Plan, error) {
	suite, err := f.Parse()
	if err != nil {
		return nil, err
	}
	plan, err := NewPlan(suite, resolve)
	if err != nil {
		return nil, err
	}
	if id := plan.ID(); id != f.PlanID {
		return nil, fmt.Errorf("the plan of %s is %s now and was %s: a trace, an instance file or the program has changed; use those of the run, or run again", f.Suite, id, f.PlanID)
	}
	return plan, nil
}

// ReadPlanFile reads the plan of a result directory.
func ReadPlanFile(dir string) (*PlanFile, error) {
	path := filepath.Join(dir, PlanFileName)
	data, err := input.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s holds no %s: bench run -o %s makes it: %w", dir, PlanFileName, dir, err)
	}
	if err != nil {
		return nil, err
	}
	f := &PlanFile{}
	if err := strictjson.Unmarshal(data, f); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	if f.Format != planFormat {
		return nil, fmt.Errorf("%s has format %d: this program reads %d", path, f.Format, planFormat)
	}
	return f, nil
}

// Write writes the plan into a result directory, which it makes if need be.
func (f *PlanFile) Write(dir string) error {
	f.Format = planFormat
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	path := filepath.Join(dir, PlanFileName)
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil // shards write the same
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return output.Write(path, func(w io.Writer) error { _, err := w.Write(data); return err })
}
