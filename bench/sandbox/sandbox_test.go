//go:build linux

package sandbox_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"yardstick/bench/sandbox"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

const interpreter = "/usr/bin/python3"

// specOf is a program in Python.
func specOf(t *testing.T, source string, memory int64) sandbox.Spec {
	t.Helper()
	if _, err := os.Stat(interpreter); err != nil {
		schedtest.Missing(t, "no %s: install python3", interpreter)
	}
	return sandbox.Spec{Args: []string{interpreter, "-I", "main.py"}, Memory: memory,
		Files: []sandbox.File{{Path: "main.py", Content: []byte(source)}, {Path: "data/one.txt", Content: []byte("1")}}}
}

// python starts a program in Python, kept in the strongest way that there is here.
func python(t *testing.T, ctx context.Context, source string, memory int64) *sandbox.Process {
	t.Helper()
	p, err := sandbox.Start(ctx, specOf(t, source, memory))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// everyWay tries something in every way to keep a program that holds what it is about: says runs a
// program in Python to its end and returns what it wrote.
func everyWay(t *testing.T, what string, try func(t *testing.T, says func(source string) string)) {
	t.Helper()
	for way := range sandbox.Ways {
		t.Run(way, func(t *testing.T) {
			if p, err := startWith(t, specOf(t, "input()", 0), way); err != nil || !slices.Contains(p.Held, what) {
				schedtest.Forbidden(t, "hold %s: %v", what, err)
			}
			try(t, func(source string) string {
				t.Helper()
				p, err := startWith(t, specOf(t, source, 0), way)
				if err != nil {
					t.Fatal(err)
				}
				p.CloseIn()
				out, err := io.ReadAll(p.Out)
				if err != nil {
					t.Fatal(err)
				}
				if len(out) == 0 {
					t.Errorf("it said nothing: %v", p.Why())
				}
				return string(out)
			})
		})
	}
}

// startWith starts a program in one of the ways, in a folder that other users may enter.
func startWith(t *testing.T, spec sandbox.Spec, way string) (*sandbox.Process, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	p, err := sandbox.StartWith(context.Background(), spec, way)
	if err == nil {
		t.Cleanup(p.Stop)
	}
	return p, err
}

// What the kernel here can hold is held. Where it cannot, tests of what depends on it
// skip.
func held(t *testing.T, what string) {
	t.Helper()
	if p := python(t, context.Background(), "input()", 0); !slices.Contains(p.Held, what) {
		schedtest.Forbidden(t, "hold %s, only %v", what, p.Held)
	}
}

func TestDialogue(t *testing.T) {
	p := python(t, context.Background(), "import sys\nfor line in sys.stdin: print(line.strip() * 2, flush=True)", 0)
	answers := bufio.NewScanner(p.Out)
	for _, word := range []string{"ho", "ja"} {
		fmt.Fprintln(p.In, word)
		if !answers.Scan() || answers.Text() != word+word {
			t.Errorf("%s is answered by %q", word, answers.Text())
		}
	}
	t.Logf("held: %v", p.Held)
}

// The program has its files, a folder to write in, and nothing else of its own.
func TestScratch(t *testing.T) { everyWay(t, "user", scratch) }

func scratch(t *testing.T, says func(source string) string) {
	got := says(`
import os
print(sorted(os.listdir(".")), open("data/one.txt").read())
open("new.txt", "w").write("mine")
for name in "main.py", "data/one.txt":
    for change in "open(name, 'w')", "os.remove(name)", "os.chmod(name, 0o777)":
        try: eval(change)
        except OSError: continue
        print(change, name, "was possible")
print(sorted(os.environ), sorted(os.listdir("/proc/self/fd")))
`)
	want := "['data', 'main.py'] 1\n['HOME', 'LANG', 'LC_CTYPE', 'OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'PYTHONHASHSEED', 'TMPDIR'] ['0', '1', '2', '3']\n"
	if got = strings.Replace(got, "'LC_CTYPE', ", "", 1); got != strings.Replace(want, "'LC_CTYPE', ", "", 1) {
		t.Errorf("it says\n%s, want\n%s", got, want) // 3 is the folder being listed
	}
}

// It cannot see this process, its files or its environment.
func TestSeesNothing(t *testing.T) { everyWay(t, "mount", seesNothing) }

func seesNothing(t *testing.T, says func(source string) string) {
	secret := filepath.Join(t.TempDir(), "instance.json")
	if err := os.WriteFile(secret, []byte("the future"), 0o644); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	got := says(fmt.Sprintf(`
import os
print(sorted(os.listdir("/")), [os.path.exists(p) for p in (%q, %q, "/home", "/root", "/etc/shadow", "/sys")])
seen = sorted(int(p) for p in os.listdir("/proc") if p.isdigit())
print(seen)
for path in "/proc/1/environ", "/proc/1/mem", "/proc/1/fd/3", "/proc/1/fd/4", "/proc/1/root", "/proc/1/cwd":
    try: os.listdir(path) if path.endswith(("root", "cwd")) else open(path, "rb").read(1)
    except OSError: continue
    print(path, "can be read")
`, secret, here))
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if strings.Contains(lines[0], "tmp") || !strings.HasSuffix(lines[0], "[False, False, False, False, False, False]") || lines[1] != "[1, 2]" && len(lines) > 2 {
		t.Errorf("it sees %s", got)
	}
	if len(lines) != 2 {
		t.Errorf("it reads %v of its warden", lines[2:])
	}
}

// What the filter of system calls refuses fails, and the program goes on.
func TestFilter(t *testing.T) { everyWay(t, "seccomp", filter) }

func filter(t *testing.T, says func(source string) string) {
	if got := says(`
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
for what in "socket.socket()", "socket.socket(socket.AF_UNIX)", "os.memfd_create('x')", "os.unshare(0x10000000)":
    try: eval(what)
    except (OSError, AttributeError): continue
    print(what, "was possible")
print(libc.ptrace(0, 0, 0, 0), libc.mount(b"none", b"/scratch", b"tmpfs", 0, None), libc.unshare(0x10000000))
print("done")
`); got != "-1 -1 -1\ndone\n" {
		t.Errorf("it says %s", got)
	}
}

// It ends with everything that it has started, and the error says how it ended.
func TestEnds(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"exits":        {"import sys; sys.exit(3)", "it ended with exit status 3"},
		"raises":       {"import numpie", "it ended with exit status 1: Traceback (most recent call last): / "},
		"is killed":    {"import os; os.kill(os.getpid(), 9)", "it was ended by the signal killed"},
		"goes on":      {"import os, time; os.close(1); time.sleep(1000)", "it closed a pipe and went on"},
		"many lines":   {"import sys; sys.stderr.write('x\\n' * 10**6 + 'the\\nlast\\x07\\nlines\\n'); sys.exit(1)", "exit status 1: the / last / lines"},
		"eats memory":  {"x = bytearray(10**9)\nfor i in range(0, 10**9, 4096): x[i] = 1\ninput()", "MemoryError"},
		"eats it all":  {"import os\nfor i in range(5): os.fork()\nx = bytearray(3 * 10**7)\nfor i in range(0, len(x), 4096): x[i] = 1\ninput()", "of memory, and the limit is 190 MiB"},
		"fills a file": {"[open(str(i), 'wb').write(bytes(20 * 2**20)) for i in range(4)]", "No space left on device"},
	} {
		t.Run(name, func(t *testing.T) {
			p := python(t, context.Background(), c.source, 200_000_000)
			if n, err := p.Out.Read(make([]byte, 1)); n > 0 || err == nil {
				t.Errorf("it said something: %v", err)
			}
			if err := p.Why(); err == nil || !strings.Contains(err.Error(), c.want) && !(name == "raises" && strings.Contains(err.Error(), "No module named 'numpie'")) {
				t.Errorf("the error is %v, want %q", err, c.want)
			} else if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %q", err)
			}
		})
	}
}

// alive lists the processes of this machine that have the word in their command line.
func alive(t *testing.T, word string) (pids []string) {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range list {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), word) {
			pids = append(pids, path)
		}
	}
	return pids
}

// A child in a session of its own, forked twice, does not outlive the program, whichever
// way it is kept, and however it comes to its end.
func TestNothingOutlives(t *testing.T) {
	for way := range sandbox.Ways {
		for name, end := range map[string]string{"stopped": "time.sleep(1000)", "ended": "", "killed": "os.kill(os.getpid(), 9)"} {
			t.Run(way+"/"+name, func(t *testing.T) {
				word := fmt.Sprintf("outlives-%d-%s-%s", os.Getpid(), way, name)
				p, err := startWith(t, sandbox.Spec{Args: []string{interpreter, "-I", "-c", fmt.Sprintf(`
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-c", "import os, time; os.write(1, b'x'); os.close(0); os.close(1); time.sleep(1000)", %q])
    os._exit(0)
os.wait()
sys.stdin.readline()
%s
`, word, end)}}, way)
				if err != nil {
					schedtest.Forbidden(t, "start it by way of %s: %v", way, err)
				}
				if _, err := p.Out.Read(make([]byte, 1)); err != nil {
					t.Fatal(err, p.Why())
				}
				running := alive(t, "time.sleep(1000)\x00"+word)
				if len(running) != 1 {
					t.Fatalf("%d of them are alive", len(running))
				}
				// Started as root, it is another user's, in whatever namespace.
				info, err := os.Stat(running[0])
				if err != nil {
					t.Fatal(err)
				}
				if info.Sys().(*syscall.Stat_t).Uid == 0 {
					t.Error("it runs as root")
				}
				if name == "stopped" {
					p.Stop()
				} else {
					fmt.Fprintln(p.In, "end")
					t.Logf("%v: %v", p.Held, p.Why())
				}
				if left := alive(t, "time.sleep(1000)\x00"+word); len(left) > 0 {
					t.Errorf("it has left %v", left)
				}
				if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "yardstick-*")); len(left) > 0 {
					t.Errorf("it has left %v", left)
				}
			})
		}
	}
}

// The context's end ends the program.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := python(t, ctx, "import time; print('up', flush=True); time.sleep(1000)", 0)
	if _, err := p.Out.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := p.Out.Read(make([]byte, 10)); err == nil {
		t.Error("it goes on")
	}
	if err := p.Why(); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// What cannot be started is refused in one line.
func TestStartErrors(t *testing.T) {
	_, err := sandbox.Start(context.Background(), sandbox.Spec{Args: []string{"./mine"}})
	if err == nil || !strings.Contains(err.Error(), "./mine cannot be started: no such file") {
		t.Errorf("the error is %v", err)
	}
}

// Where there are no namespaces the program is another user's than root: if that one may not enter the
// folder for it, or its interpreter's, the error says which folder that is and what to do.
func TestClosedFolders(t *testing.T) {
	if os.Geteuid() != 0 {
		schedtest.Forbidden(t, "start programs as another user: only root may")
	}
	closed, open := filepath.Join(t.TempDir(), "closed"), t.TempDir()
	write(t, map[string]string{closed + "/mine": "#!/bin/sh\n"})
	if err := errors.Join(os.Chmod(filepath.Dir(open), 0o755), os.Chmod(closed, 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ tmp, program, want string }{
		{closed, interpreter, "set TMPDIR to a folder that all may enter"},
		{open, closed + "/mine", "take an interpreter that all may run"},
	} {
		t.Setenv("TMPDIR", c.tmp)
		_, err := sandbox.StartWith(context.Background(), sandbox.Spec{Args: []string{c.program, "-c", ""}}, "reaper")
		if err == nil || !strings.Contains(err.Error(), "cannot be started: permission denied: ") || !strings.Contains(err.Error(), "who may not enter "+closed+": "+c.want) {
			t.Errorf("the error is %v, want %q", err, c.want)
		}
	}
}

// What a program misses because it sees nothing else is said with what to do.
func TestNotSeen(t *testing.T) {
	for source, want := range map[string]string{
		"import numpie.core":       "No module named 'numpie': name numpie with --policy-files (files in a suite)",
		"from . import x":          "no known parent package",
		"open('weights.txt')":      "name its files with --policy-files (files in a suite)",
		"import sys; sys.exit(3)":  "it ended with exit status 3",
		"raise SystemExit('gone')": "it ended with exit status 1: gone",
	} {
		p := python(t, context.Background(), source, 0)
		if err := p.Why(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "policy-files") != strings.Contains(want, "policy-files") {
			t.Errorf("%s: the error is %v, want %q", source, err, want)
		}
	}
}

func TestRead(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"mine.py": "print(1)", "lib/a.py": "a", "lib/b.py": "b", "tool": "#!/bin/sh"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p, err := sandbox.Read(context.Background(), `/bin/sh -x 'mine.py' "two words"`, []string{"lib"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range p.Files {
		paths = append(paths, f.Path)
	}
	slices.Sort(paths)
	if want := []string{"lib/a.py", "lib/b.py", "mine.py"}; !slices.Equal(paths, want) || p.Args[3] != "two words" {
		t.Errorf("files %v, want %v; arguments %q", paths, want, p.Args)
	}
	before := p.Hash()
	if err := os.WriteFile("lib/b.py", []byte("c"), 0o644); err != nil {
		t.Fatal(err)
	}
	if p, err = sandbox.Read(context.Background(), `/bin/sh -x mine.py "two words"`, []string{"lib"}, nil); err != nil || p.Hash() == before {
		t.Errorf("a changed file leaves the hash as it was: %v", err)
	}
	if p, err = sandbox.Read(context.Background(), "./tool", nil, nil); err != nil || p.Args[0] != "./tool" || p.Interpreter != "" {
		t.Errorf("a program of one's own is %v: %v", p, err)
	}
	// A program of the policy's own is copied wherever it is, and not run to ask for its
	// version.
	folder := t.TempDir()
	if err := os.WriteFile(folder+"/tool", []byte("#!/bin/sh\ntouch "+folder+"/ran"), 0o755); err != nil {
		t.Fatal(err)
	}
	if p, err = sandbox.Read(context.Background(), folder+"/tool", nil, nil); err != nil || p.Args[0] != "./tool" || len(p.Files) != 1 || p.Interpreter != "" {
		t.Errorf("a program elsewhere is %v: %v", p, err)
	}
	if _, err := os.Stat(folder + "/ran"); err == nil {
		t.Error("it was run outside of the sandbox")
	}
	for command, want := range map[string]string{"./absent": "there is no file ./absent", "": "the command is empty", "nosuchprogram x": "there is no program nosuchprogram", "/bin/sh absent.py": "there is no file absent.py",
		"/bin/sh 'mine.py": "a quote that does not end"} {
		if _, err := sandbox.Read(context.Background(), command, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want %q", command, err, want)
		}
	}
}

// write writes files of a test, folders made.
func write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// However somebody names a program, its interpreter and its further files, the program runs and finds
// them: its modules, and its data by their paths from its own file.
func TestNamings(t *testing.T) {
	if _, err := os.Stat(interpreter); err != nil {
		schedtest.Missing(t, "no %s: install python3", interpreter)
	}
	top, away := t.TempDir(), t.TempDir()
	here := filepath.Join(top, "here")
	source := "#!" + interpreter + `
import os, sys
here = os.path.dirname(os.path.abspath(__file__))
if "alone" in sys.argv:
    print("ran")
else:
    import helper, lib.deep
    print("ran", helper.x, lib.deep.x, open(os.path.join(here, "weights.txt")).read(), *[open(a.split("=")[-1]).read() for a in sys.argv[1:]])
`
	files := map[string]string{}
	for _, folder := range []string{here, filepath.Join(here, "sub"), filepath.Join(here, "with space"), filepath.Join(top, "beside"), away} {
		for name, text := range map[string]string{"mine.py": source, "mine": source, "my policy.py": source, "helper.py": "x = 1", "lib/deep.py": "x = 2", "lib/__pycache__/deep.pyc": "no code", "weights.txt": "3"} {
			files[filepath.Join(folder, name)] = text
		}
	}
	packed := strings.Replace(strings.Replace(source, "import helper, lib.deep", "from packed import helper; from packed.lib import deep; import types; lib = types.SimpleNamespace(deep=deep)", 1), "#!"+interpreter, "", 1)
	for name, text := range map[string]string{"__init__.py": "", "__main__.py": packed, "policy.py": packed, "helper.py": "x = 1", "lib/deep.py": "x = 2", "weights.txt": "3"} {
		files[filepath.Join(here, "packed", name)] = text
	}
	for name, text := range map[string]string{"__main__.py": source, "helper.py": "x = 1", "lib/deep.py": "x = 2", "weights.txt": "3"} {
		files[filepath.Join(away, "folder", name)] = text
	}
	files[filepath.Join(here, "one.txt")], files[filepath.Join(away, "two.txt")] = "4", "5"
	write(t, files)
	t.Chdir(here)
	for name, target := range map[string]string{"link.py": filepath.Join(away, "mine.py"), "linked": filepath.Join(away, "lib"), filepath.Join(away, "link.py"): "mine.py"} {
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	environment := filepath.Join(away, "an env")
	if out, err := exec.Command(interpreter, "-m", "venv", "--without-pip", environment).CombinedOutput(); err != nil {
		t.Logf("no virtual environments: %v: %s", err, out)
		environment = ""
	}
	beside := func(folder string) []string {
		return []string{filepath.Join(folder, "helper.py"), filepath.Join(folder, "lib"), filepath.Join(folder, "weights.txt")}
	}
	for _, c := range []struct {
		command string
		files   []string
		want    string
	}{
		{"python3 mine.py", beside("."), "ran 1 2 3"},
		{"python3 ./mine.py", beside(here), "ran 1 2 3"},
		{"python3 -u mine.py", []string{"helper.py", "./lib", "../here/weights.txt"}, "ran 1 2 3"},
		{"python3 sub/mine.py", beside("sub"), "ran 1 2 3"},
		{"python3 ./sub/../sub/mine.py", beside(filepath.Join(here, "sub")), "ran 1 2 3"},
		{"python3 " + here + "/sub/mine.py", beside("./sub"), "ran 1 2 3"},
		{"python3 " + here + "/mine.py", beside(here), "ran 1 2 3"},
		{"python3 ../beside/mine.py", beside("../beside"), "ran 1 2 3"},
		{"python3 ../beside/mine.py", beside(filepath.Join(top, "beside")), "ran 1 2 3"},
		{"python3 " + away + "/mine.py", beside(away), "ran 1 2 3"},
		{"python3 " + away + "/mine.py alone", nil, "ran"},
		{"python3 " + away + "/link.py", beside(away), "ran 1 2 3"},
		{"python3 link.py", beside(away), "ran 1 2 3"},
		{"python3 'my policy.py'", beside("."), "ran 1 2 3"},
		{`python3 "with space/my policy.py"`, beside("with space"), "ran 1 2 3"},
		{"python3 '" + here + "/with space/my policy.py'", beside(here + "/with space"), "ran 1 2 3"},
		{"python3 -m mine", beside("."), "ran 1 2 3"},
		{"python3 -X dev -m mine", beside(here), "ran 1 2 3"},
		{"python3 -m packed", nil, "ran 1 2 3"},
		{"python3 -m packed.policy", nil, "ran 1 2 3"},
		{"python3 " + away + "/folder", nil, "ran 1 2 3"},
		{"./mine", beside("."), "ran 1 2 3"},
		{"sub/mine", beside("sub"), "ran 1 2 3"},
		{"../beside/mine", beside("../beside"), "ran 1 2 3"},
		{away + "/mine", beside(away), "ran 1 2 3"},
		{"./mine.py", beside("."), "ran 1 2 3"},
		{"python3 mine.py one.txt " + away + "/two.txt --file=../here/one.txt --file=" + away + "/two.txt", beside("."), "ran 1 2 3 4 5 4 5"},
		{"python3 mine.py", []string{"helper.py", "linked", "lib", "weights.txt"}, "ran 1 2 3"},
		{"python3 mine.py", append(beside(away), away+"/mine.py"), "ran 1 2 3"}, // as evaluate names it, whatever lies here
		{environment + "/bin/python mine.py", beside("."), "ran 1 2 3"},
		{environment + "/bin/python " + away + "/mine.py", beside(away), "ran 1 2 3"},
	} {
		if program, args, ok := strings.Cut(c.command, "/bin/python "); ok && environment != "" {
			c.command = "'" + program + "/bin/python' " + args
		} else if ok {
			continue
		}
		t.Setenv("PATH", filepath.Dir(interpreter))
		p, err := sandbox.Read(context.Background(), c.command, c.files, nil)
		if err != nil {
			t.Errorf("%s: %v", c.command, err)
			continue
		}
		ran := false
		for way := range sandbox.Ways {
			if ran && !tier.All() {
				break
			}
			q, err := startWith(t, p.Spec, way)
			if err != nil {
				continue
			}
			ran = true
			q.CloseIn()
			out, err := io.ReadAll(q.Out)
			if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
				t.Errorf("%s with %v, %s: %q, want %q (%v, %v)", c.command, c.files, way, got, c.want, err, q.Why())
			}
			q.Stop()
		}
		if !ran {
			t.Errorf("%s: no way starts it", c.command)
		}
		if slices.ContainsFunc(p.Files, func(f sandbox.File) bool { return strings.Contains(f.Path, "__pycache__") }) {
			t.Errorf("%s: what Python has written is copied", c.command)
		}
	}
	for command, c := range map[string]struct {
		files []string
		want  string
	}{
		"python3 mine.py ~/x.py":     {nil, "no shell reads the command"},
		"python3 " + away + "/no.py": {nil, "there is no file " + away + "/no.py"},
		"mine alone":                 {nil, "write ./mine for the file here"},
		"./one.txt":                  {nil, "chmod +x"},
		"python3 ../beside/mine.py " + away + "/helper.py ../beside/helper.py": {nil, "would both be helper.py in the program's folder"},
		"python3 -u mine.py": {[]string{"../beside/lib", away + "/lib"}, "would both be lib/deep.py"},
	} {
		if err := os.Chmod("one.txt", 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := sandbox.Read(context.Background(), command, c.files, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q", command, err, c.want)
		}
	}
}

// An interpreter is found by any path, and has the packages of its environment: by one
// from here, an absolute one, and one that the program's first line names. What else is
// in the environment's folder is not seen, even where the environment is made in the
// folder that we are in.
func TestEnvironments(t *testing.T) {
	held(t, "mount")
	here := t.TempDir()
	t.Chdir(here)
	for _, env := range []string{"env", "."} {
		if out, err := exec.Command(interpreter, "-m", "venv", "--without-pip", env).CombinedOutput(); err != nil {
			schedtest.Missing(t, "no virtual environments: %v: %s: install python3-venv", err, out)
		}
		site, err := filepath.Glob(env + "/lib/python3*/site-packages")
		if err != nil || len(site) != 1 {
			t.Fatalf("packages in %v: %v", site, err)
		}
		edited := filepath.Join(here, "edited"+strings.Trim(env, ".")) // as pip install --editable has them
		source := "import os, only_here, only_edited\nprint(only_here.where, only_edited.where, os.path.exists(" + strconv.Quote(here+"/secret") + "))\n"
		for name, text := range map[string]string{site[0] + "/only_here.py": "where = " + strconv.Quote(env), site[0] + "/edited.pth": edited, edited + "/only_edited.py": "where = 1",
			"secret": "", "mine.py": source, "script": "#!" + filepath.Join(here, env, "bin/python") + "\n" + source, env + "/bin/mine": "#!/usr/bin/env -S python\n" + source} {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", filepath.Join(here, env, "bin"))
		for _, command := range []string{filepath.Join(env, "bin/python") + " mine.py", filepath.Join(here, env, "bin/python") + " mine.py", "python mine.py", "./script", filepath.Join(env, "bin/mine")} {
			program, err := sandbox.Read(context.Background(), command, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			p, err := sandbox.Start(context.Background(), program.Spec)
			if err != nil {
				t.Fatal(err)
			}
			p.CloseIn()
			out, err := io.ReadAll(p.Out)
			if want := env + " 1 False\n"; err != nil || string(out) != want {
				t.Errorf("%s in %s says %q, want %q (%v, %v)", command, env, out, want, err, p.Why())
			}
			p.Stop()
			if program.Version == "" || !strings.Contains(program.Interpreter, "python") {
				t.Errorf("%s: interpreter %q, version %q", command, program.Interpreter, program.Version)
			}
		}
	}
}
