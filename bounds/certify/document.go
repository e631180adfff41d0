package certify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"yardstick/internal/strictjson"
	"yardstick/sched"
)

// Format is the version of the document.
const Format = "yardstick-certificate/1"

// document is the JSON form of a certificate, in the order of its keys.
//
// Seal is the sha256, in hex, of the document without spaces and with an empty
// seal. It is no part of the proof. It makes damage show that leaves another true
// statement, such as one digit of a price that does not matter.
type document struct {
	Format    string          `json:"format"`
	Kind      string          `json:"kind"`
	Objective sched.Objective `json:"objective"`
	Class     sched.Class     `json:"class"`
	Instance  string          `json:"instance_sha256"`
	Value     string          `json:"value"` // a fraction, in microseconds or microseconds times weight
	Data      json.RawMessage `json:"data"`
	Seal      string          `json:"seal"`

	value *big.Rat
}

// SHA256 returns the hash that names a stored certificate, in hex.
func SHA256(certificate []byte) string {
	sum := sha256.Sum256(certificate)
	return hex.EncodeToString(sum[:])
}

func parse(text []byte) (*document, error) {
	var d document
	if err := strictjson.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	if d.Format != Format {
		return nil, fmt.Errorf("format is %q: it must be %q", d.Format, Format)
	}
	if d.Objective == 0 || d.Class.Kind == 0 { // left out, or null
		return nil, errors.New("objective or class is missing")
	}
	var ok bool
	if d.value, ok = new(big.Rat).SetString(d.Value); !ok || d.value.RatString() != d.Value {
		return nil, fmt.Errorf("value %q is not a fraction in lowest terms", d.Value)
	}
	seal, err := d.seal()
	if err != nil {
		return nil, err
	}
	if seal != d.Seal {
		return nil, fmt.Errorf("the seal is %.12s…, but the content has %.12s…: it was changed or damaged", d.Seal, seal)
	}
	return &d, nil
}

// Stated returns what a certificate states, with nothing checked but its form and
// its seal, and the hash of the instance that it is about.
//
// Errors: ErrFormat.
func Stated(certificate []byte) (s *Statement, instance string, err error) {
	d, err := parse(certificate)
	if err != nil {
		return nil, "", fmt.Errorf("certify: %w: %w", ErrFormat, err)
	}
	return &Statement{Kind: d.Kind, Objective: d.Objective, Class: d.Class, Value: d.value}, d.Instance, nil
}

// seal returns the seal that the document should have.
func (d *document) seal() (string, error) {
	bare := *d
	bare.Seal = ""
	text, err := json.Marshal(&bare) // compacts Data
	if err != nil {
		return "", err
	}
	return SHA256(text), nil
}

// read decodes the data of a proof.
func (d *document) read(into any) error {
	if err := strictjson.Unmarshal(d.Data, into); err != nil {
		return fmt.Errorf("%w: data: %w", ErrFormat, err)
	}
	return nil
}
