package sim

import (
	"fmt"
	"slices"

	"yardstick/sched"
)

// maxShare is how many jobs a GPU holds at most in class S.
const maxShare = 2

// devices says which jobs hold each GPU, for class S.
type devices struct {
	first  []int // index of each server's GPU 0 in the slices below
	jobs   [][maxShare]sched.JobID
	count  []uint8
	memory []sched.Bytes // in use
}

// vet checks that the job, which needs so much memory per GPU, can join those
// that hold the devices of the share: these exist, are named in ascending order,
// hold at most one other job and have the memory.
func (d *devices) vet(id sched.JobID, sh *sched.Share, memory sched.Bytes, server *sched.Server) error {
	if len(sh.Devices) != sh.GPUs {
		return fmt.Errorf("its placement names %d devices for %d GPUs of server %d", len(sh.Devices), sh.GPUs, sh.Server)
	}
	last := -1
	for _, dev := range sh.Devices {
		if dev <= last || dev >= server.GPUs {
			return fmt.Errorf("its placement lists device %d after %d on server %d of %d GPUs", dev, last, sh.Server, server.GPUs)
		}
		last = dev
		on := d.on(sh.Server, dev)
		if len(on) == maxShare || slices.Contains(on, id) {
			return fmt.Errorf("its placement takes GPU %d of server %d, which is held by jobs %v", dev, sh.Server, on)
		}
		if has := server.GPUMemory - d.memory[d.first[sh.Server]+dev]; memory > has {
			return fmt.Errorf("it needs %v on each GPU, but GPU %d of server %d has %v left", memory, dev, sh.Server, has)
		}
	}
	return nil
}

func newDevices(servers []sched.Server) *devices {
	d := &devices{first: make([]int, len(servers)+1)}
	for i := range servers {
		d.first[i+1] = d.first[i] + servers[i].GPUs
	}
	d.jobs = make([][maxShare]sched.JobID, d.first[len(servers)])
	d.count, d.memory = make([]uint8, len(d.jobs)), make([]sched.Bytes, len(d.jobs))
	return d
}

// On returns the jobs that hold a GPU in class S, in the order in which they
// came. It is empty in exclusive classes.
func (c *Cluster) On(server, device int) []sched.JobID {
	if c.devices == nil {
		return nil
	}
	return append([]sched.JobID(nil), c.devices.on(server, device)...)
}

func (d *devices) on(server, device int) []sched.JobID {
	i := d.first[server] + device
	return d.jobs[i][:d.count[i]]
}

// hold adds the job, which needs so much memory per GPU, to the devices of the
// share and returns how many of them were free.
func (d *devices) hold(id sched.JobID, sh *sched.Share, memory sched.Bytes) (wereFree int) {
	for _, dev := range sh.Devices {
		i := d.first[sh.Server] + dev
		if d.count[i] == 0 {
			wereFree++
		}
		d.jobs[i][d.count[i]] = id
		d.count[i]++
		d.memory[i] += memory
	}
	return wereFree
}

// release removes the job from the devices of the share and returns how many
// of them are free now.
func (d *devices) release(id sched.JobID, sh *sched.Share, memory sched.Bytes) (nowFree int) {
	for _, dev := range sh.Devices {
		i := d.first[sh.Server] + dev
		if d.jobs[i][0] == id {
			d.jobs[i][0] = d.jobs[i][1]
		}
		d.count[i]--
		d.memory[i] -= memory
		if d.count[i] == 0 {
			nowFree++
		}
	}
	return nowFree
}

// lowestFree fills out with the lowest free devices of the server.
func (d *devices) lowestFree(server int, out []int) {
	for dev, n := 0, 0; n < len(out); dev++ {
		if d.count[d.first[server]+dev] == 0 {
			out[n] = dev
			n++
		}
	}
}
