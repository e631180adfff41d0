package veripb

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"yardstick/bounds/proof"
)

// Names of the files in the folder of a proof.
const (
	ModelName   = "model.opb"
	ProofName   = "proof.pbp"
	CheckerName = "check_model.py"
)

//go:embed check_model.py
var checker []byte

//go:embed readme.md
var readme string

// leftShift is the lemma that only wide programs need.
const leftShift = `**Latest start.** *In some best schedule no job starts after max r + ⌊Σ g p / (capacity − max g + 1)⌋:* take one in which no job alone could start a slot
earlier. In each slot from the last release to the last start, more than capacity − max g GPUs are busy, or the job that starts next would
fit a slot earlier, as nobody starts in between; and there is work for no more such slots.

`

// Section returns the files, and how they are checked.
func (p *Proof) Section() proof.Section {
	lemma := ""
	if p.Shifted {
		lemma = leftShift
	}
	return proof.Section{
		Files:  map[string][]byte{ModelName: p.Model, ProofName: p.Proof, CheckerName: checker},
		Readme: strings.Replace(readme, "SHIFTED", lemma, 1),
	}
}

// Verify checks that a program is that of a problem, given by its text, has VeriPB check
// the proof, and returns what both together say of the problem.
//
// Errors: *RefusedError; those of Check; the program is not that of the problem.
func Verify(ctx context.Context, problem, model []byte, modelPath, proofPath string) (*Verdict, error) {
	most, err := checkModel(problem, model)
	if err != nil {
		return nil, &RefusedError{err.Error()}
	}
	v, err := Check(ctx, modelPath, proofPath)
	if err != nil {
		return nil, err
	}
	if v.Lower.Cmp(big.NewInt(most)) > 0 {
		return nil, &RefusedError{fmt.Sprintf("veripb: the program has all schedules that cost less than %d, and no others need be in it: it does not show that none costs less than %v", most, v.Lower)}
	}
	return v, nil
}

// checkModel checks that a program is that of a problem, given by its text: it makes it
// anew from what its own head says. It returns the value below which every schedule is in
// the program, and above which a bound on the program is none on the problem.
func checkModel(problem, text []byte) (int64, error) {
	p, err := parse(problem)
	if err != nil {
		return 0, err
	}
	head := bytes.SplitN(text, []byte("\n"), 4)
	var windows string
	var value int64
	if len(head) < 4 {
		return 0, errors.New("veripb: the program has no head")
	}
	if _, err := fmt.Sscanf(string(head[2]), "* windows %s for %d", &windows, &value); err != nil || value > maxCost {
		return 0, errors.New("veripb: the program does not say what its windows are")
	}
	m, err := newModel(p, value, windows == "budget+left-shift")
	if err != nil {
		return 0, err
	}
	sum := sha256.Sum256(problem)
	m.hash = hex.EncodeToString(sum[:])
	if !bytes.Equal(m.OPB(), text) {
		return 0, fmt.Errorf("veripb: %s is not the program of %s", ModelName, proof.ProblemName)
	}
	return value, nil
}

// parse reads what the program is made of.
func parse(problem []byte) (*proof.Problem, error) {
	lines := strings.Split(string(problem), "\n")
	if len(lines) < 12 || lines[0] != proof.Header || lines[7] != "minimise sum" {
		return nil, errors.New("veripb: no problem whose cost is a sum")
	}
	p, n := &proof.Problem{}, 0
	if _, err := fmt.Sscanf(lines[8]+"\n"+lines[9], "capacity %d\njobs %d", &p.Capacity, &n); err != nil || n != len(lines)-11 || lines[len(lines)-1] != "" {
		return nil, errors.New("veripb: the problem says otherwise than its lines how many jobs it has")
	}
	for i, line := range lines[10 : 10+n] {
		var j proof.Job
		if _, err := fmt.Sscanf(line, "%d %d %d %d", &j.Release, &j.Duration, &j.Gang, &j.Weight); err != nil {
			return nil, fmt.Errorf("veripb: job %d of the problem: %w", i, err)
		}
		if max(j.Release, j.Duration, j.Weight) > maxCost || j.Release < 0 || j.Duration < 1 || j.Gang < 1 || j.Gang > p.Capacity || j.Weight < 1 {
			return nil, fmt.Errorf("veripb: job %d of the problem is none: %s", i, line)
		}
		p.Jobs = append(p.Jobs, j)
	}
	return p, nil
}
