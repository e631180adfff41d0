//go:build unix

package importer_test

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strconv"
	"syscall"
	"testing"
	"time"

	"yardstick/datasets/acme"
	"yardstick/datasets/helios"
	"yardstick/datasets/importer"
	"yardstick/datasets/pai"
	"yardstick/datasets/philly"
)

// synthesise writes lines to a file until it has the wanted size.
func synthesise(b *testing.B, dir, name, header string, bytes int64, line func(rng *rand.Rand, n int, out []byte) []byte) string {
	b.Helper()
	path := filepath.Join(dir, name)
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	rng := rand.New(rand.NewPCG(1, 2))
	fmt.Fprint(w, header)
	var buffer []byte
	for n, written := 0, int64(0); written < bytes; n++ {
		buffer = line(rng, n, buffer[:0])
		written += int64(len(buffer))
		if _, err := w.Write(buffer); err != nil {
			b.Fatal(err)
		}
	}
	if header == "[\n" {
		fmt.Fprint(w, "\n]\n")
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	return path
}

func date(n int) string {
	return time.Unix(1.586e9+int64(n), 0).UTC().Format(time.DateTime)
}

func heliosLine(rng *rand.Rand, n int, out []byte) []byte {
	gpus, queue, runs := 1<<rng.IntN(4), rng.IntN(100), 1+rng.IntN(100000)
	return fmt.Appendf(out, "%d,u%04x,vc%02d,%d,%d,1,%s,%s,%s,%s,%d,%d\n", 1425511+n, rng.IntN(300), rng.IntN(25), gpus, 4*gpus,
		[...]string{"COMPLETED", "FAILED", "CANCELLED"}[rng.IntN(3)], date(5*n), date(5*n+queue), date(5*n+queue+runs), runs, queue)
}

func acmeLine(rng *rand.Rand, n int, out []byte) []byte {
	queue, runs := rng.IntN(100), 1+rng.IntN(10000)
	return fmt.Appendf(out, "%d,u%04d,1,8,128,Other,COMPLETED,%s+08:00,%s+08:00,%s+08:00,%d,%d,%d.0\n", 5778432+n, rng.IntN(300),
		date(5*n), date(5*n+queue), date(5*n+queue+runs), runs, queue, 8*runs)
}

func phillyLine(rng *rand.Rand, n int, out []byte) []byte {
	gpus, runs := 1<<rng.IntN(4), 1+rng.IntN(100000)
	return fmt.Appendf(out, "%s,%d.0,%d,%d.0,%06x\n", date(7*n), runs, gpus, gpus*runs, rng.IntN(15))
}

func phillyLogEntry(rng *rand.Rand, n int, out []byte) []byte {
	if n > 0 {
		out = append(out, ",\n"...)
	}
	out = fmt.Appendf(out, `    {"status": "Pass", "vc": "%06x", "jobid": "application_1506638472019_%d", "attempts": [`, rng.IntN(15), n)
	for i := range 1 + rng.IntN(2) {
		if i > 0 {
			out = append(out, ", "...)
		}
		out = fmt.Appendf(out, `{"start_time": "%s", "end_time": "%s", "detail": [{"ip": "m47", "gpus": ["gpu0", "gpu1"]}]}`, date(7*n+1000*i), date(7*n+1000*i+500))
	}
	return fmt.Appendf(out, `], "submitted_time": "%s", "user": "%06x"}`, date(7*n), rng.IntN(300))
}

func paiJobLine(rng *rand.Rand, n int, out []byte) []byte {
	return fmt.Appendf(out, "%d,1,%d,6.0,0.5,T4,%d.0,%012x,%08x\n", n, 10*n, 1+rng.IntN(100000), rng.IntN(1300), rng.IntN(n/5+1))
}

// hash is a name of so many hexadecimal digits that does not sort like n.
func hash(n uint64, digits int) string {
	s := ""
	for len(s) < digits {
		n = n*6364136223846793005 + 1442695040888963407
		s += strconv.FormatUint(n>>8|1<<55, 16)
	}
	return s[:digits]
}

// BenchmarkImport imports files of some 100 MB on one core, and reports the
// speed and the largest heap.
func BenchmarkImport(b *testing.B) {
	const size = 100e6
	csv := func(header string, line func(*rand.Rand, int, []byte) []byte, run func(in, out string) (*importer.Report, error)) func(*testing.B) {
		return func(b *testing.B) {
			in := synthesise(b, b.TempDir(), "in.csv", header, size, line)
			measure(b, size, func(out string) (*importer.Report, error) { return run(in, out) })
		}
	}
	b.Run("helios", csv("job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n", heliosLine,
		func(in, out string) (*importer.Report, error) { return helios.Import(in, out, helios.Options{}) }))
	b.Run("acme", csv("job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,gpu_time\n", acmeLine,
		func(in, out string) (*importer.Report, error) { return acme.Import(in, out, acme.Options{}) }))
	b.Run("philly", csv("timestamp,duration,num_gpus,gpu_time,cluster\n", phillyLine,
		func(in, out string) (*importer.Report, error) { return philly.Import(in, out, philly.Options{}) }))
	b.Run("philly-log", csv("[\n", phillyLogEntry,
		func(in, out string) (*importer.Report, error) { return philly.ImportLog(in, out, philly.Options{}) }))
	b.Run("pai-jobs", csv("job_id,num_inst,submit_time,num_cpu,num_gpu,gpu_type,duration,user,group\n", paiJobLine,
		func(in, out string) (*importer.Report, error) { return pai.ImportJobs(in, out, pai.Options{}) }))
	b.Run("pai", func(b *testing.B) {
		dir := b.TempDir()
		tables := pai.Tables{
			Jobs: synthesise(b, dir, "jobs", "", 0.4*size, func(rng *rand.Rand, n int, out []byte) []byte {
				return fmt.Appendf(out, "%s,%s,%s,Terminated,%d.0,%d.0\n", hash(uint64(n), 24), hash(uint64(n)+1e9, 60), hash(uint64(rng.IntN(1300)), 12), 10*n+1, 10*n+1+rng.IntN(10000))
			}),
			Tasks: synthesise(b, dir, "tasks", "", 0.3*size, func(rng *rand.Rand, n int, out []byte) []byte {
				return fmt.Appendf(out, "%s,tensorflow,1.0,Terminated,%d.0,%d.0,600.0,29.296875,50.0,MISC\n", hash(uint64(n), 24), 10*n+1, 10*n+500)
			}),
			Tags: synthesise(b, dir, "tags", "", 0.3*size, func(rng *rand.Rand, n int, out []byte) []byte {
				return fmt.Appendf(out, "%s,%s,,%s,\n", hash(uint64(n)+1e9, 60), hash(uint64(rng.IntN(1300)), 12), hash(uint64(rng.IntN(n/5+1)), 32))
			}),
		}
		measure(b, size, func(out string) (*importer.Report, error) { return pai.Import(tables, out, pai.Options{}) })
	})
}

// cpu is the processor time used so far, in seconds. On a busy machine it says
// more than the time that passed.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return math.NaN()
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// measure runs an import on one core and watches the heap.
func measure(b *testing.B, size int64, run func(out string) (*importer.Report, error)) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	out := filepath.Join(b.TempDir(), "out.parquet")
	stop, largest := make(chan bool), make(chan uint64)
	go func() {
		most := uint64(0)
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			select {
			case <-stop:
				largest <- most
				return
			case <-time.After(2 * time.Millisecond):
				metrics.Read(sample)
				most = max(most, sample[0].Value.Uint64())
			}
		}
	}()
	rows := 0
	b.SetBytes(size)
	b.ReportAllocs()
	before := cpu()
	b.ResetTimer()
	for range b.N {
		r, err := run(out)
		if err != nil {
			b.Fatal(err)
		}
		rows = r.Kept
	}
	b.StopTimer()
	b.ReportMetric(float64(size)*float64(b.N)/1e6/(cpu()-before), "MB/cpu-s")
	stop <- true
	b.ReportMetric(float64(<-largest)/(1<<20), "MiB-heap")
	b.ReportMetric(float64(rows), "rows")
}
