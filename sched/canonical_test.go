package sched_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"yardstick/sched"
)

// TestCanonical compares the canonical JSON, and the hash, with what encoding/json makes
// of random values of every field that there is, those included that no valid instance has.
func TestCanonical(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 24))
	for n := range 2000 {
		var in sched.Instance
		fill(r, reflect.ValueOf(&in).Elem(), 3)
		bare := in
		bare.Name = ""
		want, err := json.Marshal(&bare)
		if err != nil {
			t.Fatal(err)
		}
		if got := in.Canonical(); string(got) != string(want) {
			t.Fatalf("draw %d: the canonical JSON is\n%s\nand encoding/json's\n%s", n, got, want)
		}
		if sum := sha256.Sum256(want); in.Hash() != hex.EncodeToString(sum[:]) {
			t.Fatalf("draw %d: the hash is not that of the canonical JSON", n)
		}
	}
}

// TestCanonicalLong does so for lists that are written in several pieces.
func TestCanonicalLong(t *testing.T) {
	in := preemptive()
	for range 11 {
		in.Jobs, in.Past, in.History = append(in.Jobs, in.Jobs...), append(in.Past, in.Jobs...), append(in.History, in.History...)
	}
	in.Name = ""
	want, err := json.Marshal(in)
	if err != nil || len(want) < 1<<17 {
		t.Fatalf("%d bytes, %v", len(want), err)
	}
	if sum := sha256.Sum256(want); string(in.Canonical()) != string(want) || in.Hash() != hex.EncodeToString(sum[:]) {
		t.Error("the canonical JSON or the hash of a long instance is not encoding/json's")
	}
}

// fill gives a value, and all that it holds, random contents: nothing at all in one of
// three cases, lists of up to most elements, numbers of all sizes, texts that JSON escapes.
func fill(r *rand.Rand, v reflect.Value, most int) {
	if r.IntN(3) == 0 && v.Kind() != reflect.Struct {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i), most)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem(), most)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(most+1), most))
		for i := range v.Len() {
			fill(r, v.Index(i), most)
		}
	case reflect.String:
		texts := []string{"a", "job 17", `"`, `\`, "<&>", "\x00\t\n", "\x7f", "é µ 日", "\u2028", "\xff", "null}"}
		v.SetString(texts[r.IntN(len(texts))] + texts[r.IntN(len(texts))])
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> r.IntN(64))
	case reflect.Uint8: // of a Phase or a Kind, of which none is in an instance
		v.SetUint(r.Uint64N(2))
	case reflect.Float64:
		numbers := []float64{1, -1, 0.1, 1e-6, 1e-7, 1e21, 1e20, 123456789.25, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Copysign(0, -1), r.NormFloat64()}
		v.SetFloat(numbers[r.IntN(len(numbers))])
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic("no random value of " + v.Type().String())
	}
}
