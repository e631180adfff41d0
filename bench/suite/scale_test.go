package suite

import "testing"

// TestScale: a scale is of the jobs; servers whose capacity is a share of what the jobs
// ask for become fewer alike, others stay.
func TestScale(t *testing.T) {
	const text = `
apiVersion: yardstick/v1
name: scaled
instances:
  - {name: shared, model: elastic, capacity: 0.35, slice: {jobs: 100}, cluster: {servers: 150}}
  - {name: whole, model: elastic, slice: {jobs: 3}, cluster: {servers: 150}}
methods: [elastic-fifo]
`
	s, err := Parse("scaled.yaml", []byte(text), "scale=0.2")
	if err != nil {
		t.Fatal(err)
	}
	shared, whole := &s.Instances[0], &s.Instances[1]
	if shared.Slice.Jobs != 20 || shared.Cluster.Servers != 30 || whole.Slice.Jobs != 1 || whole.Cluster.Servers != 150 {
		t.Errorf("%d jobs on %d servers, %d on %d", shared.Slice.Jobs, shared.Cluster.Servers, whole.Slice.Jobs, whole.Cluster.Servers)
	}
}
