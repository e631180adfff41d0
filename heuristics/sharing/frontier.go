package sharing

import (
	"cmp"
	"encoding/binary"
	"slices"

	"yardstick/sched"
)

// frontier is the accumulation options that are worth choosing in GPUs of some
// memory: each needs less memory than those before it, and is slower.
type frontier []sched.Accumulation

func newFrontier(list []sched.Accumulation, memory sched.Bytes) frontier {
	byIter := slices.Clone(list)
	slices.SortFunc(byIter, func(a, b sched.Accumulation) int {
		return cmp.Or(cmp.Compare(a.Iter, b.Iter), cmp.Compare(a.Steps, b.Steps))
	})
	var f frontier
	room := memory + 1
	for _, a := range byIter {
		if a.Memory < room {
			f, room = append(f, a), a.Memory
		}
	}
	return f
}

// within returns the index of the fastest option that fits the room, or −1.
func (f frontier) within(room sched.Bytes) int {
	return slices.IndexFunc(f, func(a sched.Accumulation) bool { return a.Memory <= room })
}

// key identifies jobs that wait for the same: those of one task and gang with
// one list of options.
func key(task, gang int, list []sched.Accumulation) string {
	b := binary.AppendUvarint(make([]byte, 0, 64), uint64(task))
	b = binary.AppendUvarint(b, uint64(gang))
	for _, a := range list {
		b = binary.AppendUvarint(b, uint64(a.Steps))
		b = binary.AppendUvarint(b, uint64(a.Iter))
		b = binary.AppendUvarint(b, uint64(a.Memory))
	}
	return string(b)
}
