package sched

import "fmt"

// Cluster is a set of GPU servers joined by a network.
type Cluster struct {
	Servers []Server  `json:"servers"`
	Inter   Bandwidth `json:"inter"` // B_inter: NIC of each server, each direction
	Intra   Bandwidth `json:"intra"` // B_intra: between GPUs of one server
}

// Server is one machine.
type Server struct {
	GPUs      int     `json:"gpus"`
	GPUMemory Bytes   `json:"gpuMemory,omitempty"` // per GPU; a limit in the sharing model alone, whose jobs have needs of it
	Capacity  []int64 `json:"capacity,omitempty"`  // per Instance.Elastic.Resources; elastic model only
}

// MaxGPUs bounds a cluster, and its servers, so that GPUs times MaxTime fits an int64.
const MaxGPUs = 10_000

// Uniform returns a cluster of identical servers.
func Uniform(servers, gpusPerServer int, inter, intra Bandwidth) Cluster {
	c := Cluster{Servers: make([]Server, servers), Inter: inter, Intra: intra}
	for i := range c.Servers {
		c.Servers[i].GPUs = gpusPerServer
	}
	return c
}

// GPUs returns G, the number of GPUs of the cluster.
func (c *Cluster) GPUs() int {
	total := 0
	for i := range c.Servers {
		total += c.Servers[i].GPUs
	}
	return total
}

// gpusOf returns how many GPUs have at least so much memory.
func (c *Cluster) gpusOf(memory Bytes) int {
	total := 0
	for i := range c.Servers {
		if c.Servers[i].GPUMemory >= memory {
			total += c.Servers[i].GPUs
		}
	}
	return total
}

// validate checks assumption A0, B_intra ≥ B_inter > 0, without which more
// spread could make a job faster and several published statements fail.
func (c *Cluster) validate() error {
	if len(c.Servers) == 0 {
		return fmt.Errorf("cluster has no servers")
	}
	for i, s := range c.Servers {
		if s.GPUs < 0 || s.GPUs > MaxGPUs || s.GPUMemory < 0 {
			return fmt.Errorf("cluster.servers[%d]: %d GPUs of %v: both must be at least 0, and there are at most %d GPUs", i, s.GPUs, s.GPUMemory, MaxGPUs)
		}
		if s.GPUMemory > maxBytes {
			return fmt.Errorf("cluster.servers[%d].gpuMemory is %v: at most %v is supported", i, s.GPUMemory, maxBytes)
		}
		for r, v := range s.Capacity {
			if v < 0 {
				return fmt.Errorf("cluster.servers[%d].capacity[%d] is %d: it must be at least 0", i, r, v)
			}
		}
	}
	if g := c.GPUs(); g < 1 || g > MaxGPUs {
		return fmt.Errorf("cluster has %d GPUs: between 1 and %d are supported", g, MaxGPUs)
	}
	if c.Inter <= 0 || c.Intra < c.Inter {
		return fmt.Errorf("cluster bandwidths inter %v, intra %v: 0 < inter ≤ intra is required", c.Inter, c.Intra)
	}
	return nil
}
