package exhaustive

import "slices"

// patternKey names a pattern of a job: the multiset of (size class of the
// server, GPUs on it).
type patternKey struct {
	parts []uint32
	buf   []byte
}

func (k *patternKey) reset() { k.parts = k.parts[:0] }

func (k *patternKey) add(kind, gpus int) { k.parts = append(k.parts, uint32(kind)<<16|uint32(gpus)) }

// bytes returns the canonical encoding, valid until the next call.
func (k *patternKey) bytes() []byte {
	slices.Sort(k.parts)
	k.buf = k.buf[:0]
	for _, p := range k.parts {
		k.buf = append(k.buf, byte(p>>24), byte(p>>16), byte(p>>8), byte(p))
	}
	return k.buf
}

// durationOn returns how long job j runs with counts[m] GPUs on each server m.
func (p *problem) durationOn(key *patternKey, j *job, counts []int) int64 {
	if j.duration == nil {
		return j.short
	}
	key.reset()
	for m, n := range counts {
		if n > 0 {
			key.add(p.kind[m], n)
		}
	}
	return j.duration[string(key.bytes())]
}
