package datasets

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// Seed derives the seed of one instance from the suite's master seed, the
// name of the instance's entry in the suite and the repetition, from 0. All
// methods that run on an instance share it; changing one entry of a suite
// leaves the seeds of the others as they were.
//
// The result is the first 53 bits of a sha256, so that programs that hold
// numbers as doubles keep it exact.
func Seed(master uint64, instance string, repetition int) uint64 {
	b := []byte("yardstick seed 1\x00")
	b = binary.BigEndian.AppendUint64(b, master)
	b = binary.BigEndian.AppendUint64(b, uint64(repetition))
	b = append(b, instance...)
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:8]) >> 11
}

// Streams of random numbers that are drawn from one seed for different ends.
const (
	streamWindow = iota + 1
	streamWeights
	_ // of the embedded sample, which the tests make
)

func newRand(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }
