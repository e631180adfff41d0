package sharing

import (
	"cmp"
	"encoding/binary"
	"slices"

	"yardstick/sched"
)

// frontier is the accumulation options that are worth choosing in GPUs of some
// memory: each needs less memory than those before it, and is slower.
type frontier []option

// option is an accumulation and its row of the interference table.
type option struct {
	sched.Accumulation
	row int
}

// newFrontier returns the frontier of a job's options. Where these have rows of their
// own, a slower one that needs no less memory may slow others down less, or be slowed down
// less: then all that fit are worth choosing.
func newFrontier(sh *sched.Sharing, memory sched.Bytes) frontier {
	var byIter []option
	for k, a := range sh.Accumulation {
		byIter = append(byIter, option{a, sh.Row(k)})
	}
	slices.SortFunc(byIter, func(a, b option) int {
		return cmp.Or(cmp.Compare(a.Iter, b.Iter), cmp.Compare(a.Steps, b.Steps))
	})
	var f frontier
	room := memory + 1
	for _, a := range byIter {
		if a.Memory < room {
			f = append(f, a)
			if sh.Rows == nil {
				room = a.Memory
			}
		}
	}
	return f
}

// varied reports whether interference depends on which option is chosen.
func (f frontier) varied() bool {
	return slices.ContainsFunc(f, func(o option) bool { return o.row != f[0].row })
}

// within returns the index of the fastest option that fits the room, or −1.
func (f frontier) within(room sched.Bytes) int {
	return slices.IndexFunc(f, func(a option) bool { return a.Memory <= room })
}

// key identifies jobs that wait for the same: those of one task and gang with
// one list of options.
func key(gang int, sh *sched.Sharing) string {
	b := binary.AppendUvarint(make([]byte, 0, 64), uint64(gang))
	for k, a := range sh.Accumulation {
		b = binary.AppendUvarint(b, uint64(sh.Row(k)))
		b = binary.AppendUvarint(b, uint64(a.Steps))
		b = binary.AppendUvarint(b, uint64(a.Iter))
		b = binary.AppendUvarint(b, uint64(a.Memory))
	}
	return string(b)
}
