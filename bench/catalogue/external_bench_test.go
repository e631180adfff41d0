package catalogue

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"yardstick/bench"
	"yardstick/bench/suite"
	"yardstick/sched"
)

// replayExternal replays an instance under a program and reports what a decision takes,
// from the question to the answer.
func replayExternal(b *testing.B, ref suite.MethodRef, in *sched.Instance) {
	b.Helper()
	m, err := Resolve(ref)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		out, err := m.Run(context.Background(), bench.Problem{Instance: in, Objectives: []sched.Objective{sched.TotalJCT}, Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(out[0].Replay.DecisionP50.Microseconds()), "µs/decision")
		b.ReportMetric(float64(out[0].Replay.Decisions), "decisions")
	}
}

// idle is a policy that answers without looking, for the time of the way there and
// back: it is asked ten thousand times to do nothing, and then starts all.
const idle = `
import sys
asked, start = 0, []
for line in sys.stdin:
    if line.startswith('{"hello"'):
        sys.stdout.write('{"hello":{"name":"idle","class":"N"}}\n')
    elif line.startswith('{"end"'):
        continue
    elif asked < 10000:
        asked += 1
        sys.stdout.write('{"wake":%d}\n' % asked)
    else:
        sys.stdout.write('{"start":[[0]]}\n' if asked == 10000 else '{}\n')
        asked += 1
    sys.stdout.flush()
`

// BenchmarkDecision is the overhead of a decision on 250 servers.
func BenchmarkDecision(b *testing.B) {
	path := filepath.Join(b.TempDir(), "idle.py")
	if err := os.WriteFile(path, []byte(idle), 0o644); err != nil {
		b.Fatal(err)
	}
	in := workload(1, 250)
	replayExternal(b, programmed(interpreter+" idle.py", "files", path), in)
}

// BenchmarkHundredThousand replays a hundred thousand jobs on 250 servers under first come
// first served in Python.
func BenchmarkHundredThousand(b *testing.B) {
	replayExternal(b, programmed(interpreter+" testdata/list.py fifo skip"), workload(100_000, 250))
}

// BenchmarkWide replays a hundred thousand jobs that are all released at once: the widest
// state there is. Each job crosses once, in the first question; later ones say what has changed.
func BenchmarkWide(b *testing.B) {
	in := workload(100_000, 250)
	for i := range in.Jobs {
		in.Jobs[i].Release = 0
	}
	replayExternal(b, programmed(interpreter+" testdata/list.py fifo strict"), in)
}
