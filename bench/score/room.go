package score

import "fmt"

// lacks says which rule a piece would break if it started now, and how; "" if none.
func (r *room) lacks(p *Piece, full int64) (rule string, detail func() string) {
	if p.GPUs > r.pool {
		return RuleCapacity, func() string {
			return fmt.Sprintf("starts on %s GPUs where %s of %s are free", GPUs(p.GPUs), GPUs(r.pool), GPUs(full))
		}
	}
	for _, part := range p.Parts {
		if part.GPUs > r.servers[part.Server] {
			return RuleCapacity, func() string {
				return fmt.Sprintf("starts on %d GPUs of server %d, of which %d are free", part.GPUs, part.Server, r.servers[part.Server])
			}
		}
		holder := r.holder[part.Server]
		for _, d := range part.Devices {
			if holder != nil && holder[d] != 0 {
				return RuleDevice, func() string { return fmt.Sprintf("takes GPU %d of server %d, which is held", d, part.Server) }
			}
		}
	}
	return "", nil
}

func (r *room) take(p *Piece, i int32, servers []int) {
	r.pool -= p.GPUs
	for _, part := range p.Parts {
		r.servers[part.Server] -= part.GPUs
		if part.Devices != nil && r.holder[part.Server] == nil {
			r.holder[part.Server] = make([]int32, servers[part.Server])
		}
		for _, d := range part.Devices {
			r.holder[part.Server][d] = i + 1
		}
	}
}

func (r *room) leave(p *Piece, i int32) {
	r.pool += p.GPUs
	for _, part := range p.Parts {
		r.servers[part.Server] += part.GPUs
		for _, d := range part.Devices {
			r.holder[part.Server][d] = 0
		}
	}
}
