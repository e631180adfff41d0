package main

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/solvers/isolate"
)

// slurmConf is a Slurm of one node: this machine, on the loopback interface
// alone, without systemd and control groups.
const slurmConf = `ClusterName=bench
SlurmctldHost=%[1]s(127.0.0.1)
SlurmUser=%[2]s
SlurmdUser=%[2]s
AuthType=auth/munge
AuthInfo=socket=%[3]s/munge.sock
CredType=cred/munge
SlurmctldPort=%[4]d
SlurmdPort=%[5]d
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation=%[3]s/state
SlurmdSpoolDir=%[3]s/spool
SlurmctldPidFile=%[3]s/slurmctld.pid
SlurmdPidFile=%[3]s/slurmd.pid
SlurmctldLogFile=%[3]s/slurmctld.log
SlurmdLogFile=%[3]s/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
SchedulerParameters=sched_interval=1,sched_min_interval=10000,batch_sched_delay=0,bf_interval=1
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=%[6]d State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

// startSlurm starts a Slurm of one node for the test and its child processes.
// However the test ends, its daemons end with it.
func startSlurm(t *testing.T) {
	t.Helper()
	tier.Slow(t)
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin")
	for _, program := range []string{"munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scancel", "scontrol"} {
		if _, err := exec.LookPath(program); err != nil {
			schedtest.Missing(t, "%v: internal/prepare.sh test installs Debian's slurm-wlm", err)
		}
	}
	dir, err := os.MkdirTemp("", "slurm") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	startJanitor(t, dir)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	conf, key := filepath.Join(dir, "slurm.conf"), make([]byte, 128)
	rand.Read(key)
	ports := freePorts(t, 2)
	for _, err := range []error{
		os.Chmod(dir, 0o755), // munged insists
		os.Mkdir(filepath.Join(dir, "state"), 0o755),
		os.Mkdir(filepath.Join(dir, "spool"), 0o755),
		os.WriteFile(filepath.Join(dir, "munge.key"), key, 0o600),
		os.WriteFile(conf, fmt.Appendf(nil, slurmConf, host, me.Username, dir, ports[0], ports[1], max(runtime.NumCPU(), 2)), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("SLURM_CONF", conf)
	startDaemon(t, dir, "munged", "--foreground", "--key-file="+dir+"/munge.key", "--socket="+dir+"/munge.sock",
		"--pid-file="+dir+"/munge.pid", "--log-file="+dir+"/munge.log", "--seed-file="+dir+"/munge.seed")
	startDaemon(t, dir, "slurmctld", "-D")
	startDaemon(t, dir, "slurmd", "-D", "-N", host)
	t.Cleanup(func() { _ = exec.Command("scancel", "--user="+me.Username).Run() }) // there may be no controller any more
	for start := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		state, err := exec.Command("sinfo", "--noheader", "--format=%T").CombinedOutput()
		if err == nil && strings.HasPrefix(string(state), "idle") {
			return
		}
		if time.Since(start) > 10*time.Minute {
			schedtest.Missing(t, "Slurm does not start: sinfo says %q, %v; %s", state, err, logsIn(dir))
		}
	}
}

// startDaemon starts a program in the foreground, on a thread that lives as long
// as it: it is killed when the thread ends, and thus with the test's process.
func startDaemon(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	c := exec.Command(program, args...)
	out, err := os.Create(filepath.Join(dir, program+".out"))
	if err != nil {
		t.Fatal(err)
	}
	c.Dir, c.Stdout, c.Stderr, c.SysProcAttr = dir, out, out, isolate.DieWithParent()
	started, ended := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		started <- c.Start()
		_ = c.Wait()
		out.Close()
		close(ended)
	}()
	if err := <-started; err != nil {
		schedtest.Missing(t, "%s does not start: %v", program, err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = c.Process.Kill()
			<-ended
		}
	})
}

// janitor waits for the end of its input, kills the processes of the Slurm in
// folder $0, such as those that slurmd leaves with a job, and removes the folder.
const janitor = `cat >/dev/null
for p in /proc/[0-9]*; do
	if [ "$(readlink "$p/cwd")" = "$0" ] || tr '\0' '\n' <"$p/environ" | grep -qxF "SLURM_CONF=$0/slurm.conf"; then
		kill -9 "${p#/proc/}"
	fi
done 2>/dev/null
rm -rf "$0"`

// startJanitor has the folder cleaned up after the test, even if its process is
// killed: that closes the pipe too.
func startJanitor(t *testing.T, dir string) {
	t.Helper()
	c := exec.Command("sh", "-c", janitor, dir)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt at the terminal is not for it
	pipe, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		pipe.Close()
		if err := c.Wait(); err != nil {
			t.Errorf("cleaning up %s: %v", dir, err)
		}
	})
}

func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// logsIn returns the last lines of the logs in a folder.
func logsIn(dir string) string {
	var b strings.Builder
	for _, glob := range []string{"*.log", "*.out"} {
		names, _ := filepath.Glob(filepath.Join(dir, glob))
		for _, name := range names {
			data, _ := os.ReadFile(name)
			fmt.Fprintf(&b, "\n%s: %s", filepath.Base(name), data[max(0, len(data)-1000):])
		}
	}
	return b.String()
}

var submitted = regexp.MustCompile(`(?m)^(array|merge) +job (\d+)`)

// submit submits and returns what was said and the two jobs.
func submit(t *testing.T, args ...string) (out, array, merge string) {
	t.Helper()
	code, out, errOut := benchCommand(t, append([]string{"submit", "slurm"}, args...)...)
	jobs := submitted.FindAllStringSubmatch(out, -1)
	if code != exitOK || len(jobs) != 2 {
		t.Fatalf("bench submit slurm %v: exit code %d: %s%s", args, code, out, errOut)
	}
	return out + errOut, jobs[0][2], jobs[1][2]
}

// await waits until no job is left.
func await(t *testing.T, out string) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(300 * time.Millisecond) {
		left, err := exec.Command("squeue", "--noheader", "--format=%i %T %r").CombinedOutput()
		if err == nil && strings.TrimSpace(string(left)) == "" {
			return
		}
		if time.Since(start) > 4*time.Minute {
			t.Fatalf("jobs are left: %s, %v%s", left, err, logsIn(filepath.Join(out, "logs")))
		}
	}
}

// The tables of a Slurm array are those of a run on one machine, whether its
// tasks ran through or one was told to end and the array was submitted again.
func TestSlurmArray(t *testing.T) {
	startSlurm(t)
	folder := filepath.Join(t.TempDir(), "a folder")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	suite := strings.Replace(longSuite(12), "instances:", "instances:\n  - {name: filed, file: in.json}", 1) // relative to the folder
	for name, text := range map[string]string{"suite.yaml": suite, "in.json": tinyInstance} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, "run", "suite.yaml", "-q", "-o", "whole")
	want := digestOf(t, "whole")
	t.Setenv(asCommand, "1") // this binary is the command within the jobs, which inherit the environment

	t.Run("through", func(t *testing.T) {
		submit(t, "suite.yaml", "-o", "night", "--shards", "3", "--time", "10m", "--sbatch", "--comment=of a test")
		await(t, "night")
		if got := digestOf(t, "night"); got != want {
			t.Errorf("digest %s, want %s%s", got, want, logsIn("night/logs"))
		}
	})
	t.Run("told to end", func(t *testing.T) {
		_, array, _ := submit(t, "suite.yaml", "-o", "broken", "--shards", "2", "--concurrent", "1")
		for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
			if names, _ := filepath.Glob("broken/cells/*.journal"); len(names) > 0 {
				break
			}
			if time.Since(start) > 4*time.Minute {
				t.Fatalf("no cell was finished%s", logsIn("broken/logs"))
			}
		}
		// What --signal=B:TERM does before the time is up.
		if out, err := exec.Command("scancel", "--signal=TERM", "--batch", array+"_0").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		await(t, "broken")
		state, err := exec.Command("scontrol", "show", "job", array+"_0").CombinedOutput()
		if err != nil || !strings.Contains(string(state), fmt.Sprintf("ExitCode=%d:0", exitInterrupted)) {
			t.Errorf("%v: %s%s", err, state, logsIn("broken/logs"))
		}
		if got := digestOf(t, "broken"); got == want { // the merge came nevertheless
			t.Fatal("the task was told too late")
		}
		out, _, _ := submit(t, "broken")
		if !strings.Contains(out, "finished cells") || !strings.Contains(out, "1 tasks") {
			t.Errorf("submitted again: %s", out)
		}
		await(t, "broken")
		if got := digestOf(t, "broken"); got != want {
			t.Errorf("digest %s, want %s%s", got, want, logsIn("broken/logs"))
		}
	})
}
