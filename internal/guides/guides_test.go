package guides

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"yardstick/internal/built"
	"yardstick/internal/python"
	"yardstick/internal/tier"
)

// block is a fenced block of a guide. Its first line says what to do with it:
//
//	```go new=PATH            write the file
//	```go insert=PATH after=TEXT  add the lines after the first that has the text
//	```sh run                 run the commands
//	```text expect            each line's parts, separated by " +", stand in one line of the output
type block struct {
	verb, path, after string
	text              string
}

func blocks(t *testing.T, guide string) []block {
	t.Helper()
	data, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	var all []block
	var current *block
	for line := range strings.Lines(string(data)) {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && current == nil:
			current = &block{}
			_, info, _ = strings.Cut(strings.TrimSpace(info), " ")
			info, current.after, _ = strings.Cut(info, " after=")
			current.verb, current.path, _ = strings.Cut(info, "=")
		case fence:
			all = append(all, *current)
			current = nil
		case current != nil:
			current.text += line
		}
	}
	return all
}

// copyTree copies what belongs to the repository.
func copyTree(t *testing.T, to string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	skip := []string{".git", ".venv", ".cache", "bin", "dist", "site", "results", "notebooks", "python/build", "env"}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skip, name):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sameFolder is an empty folder which is the same each time: Go finds what it compiled
// for files that lay there before. Where another run has it, it is a new one.
func sameFolder(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return t.TempDir()
	}
	dir := filepath.Join(cache, "yardstick-guides", fmt.Sprintf("%x", sha256.Sum256([]byte(root)))[:8])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return t.TempDir()
	}
	lock, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Close() })
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return t.TempDir()
	}
	tree := filepath.Join(dir, "tree")
	clear := func() {
		if err := os.RemoveAll(tree); err != nil {
			t.Fatal(err)
		}
	}
	clear() // what a killed run left
	t.Cleanup(clear)
	return tree
}

// guides lists the guides by name.
func guides(t *testing.T) map[string][]block {
	t.Helper()
	files, err := filepath.Glob("../../docs/guides/*.md")
	if err != nil || len(files) < 4 {
		t.Fatalf("guides %v, %v", files, err)
	}
	all := map[string][]block{}
	for _, file := range files {
		all[strings.TrimSuffix(filepath.Base(file), ".md")] = blocks(t, file)
	}
	return all
}

// The guides are run as a reader would: the test copies the repository, writes and
// changes the files that they show, and tries the commands. In the end the tree is held
// against the house's rules. A brief run writes the files alone: each guide builds bench.
func TestGuides(t *testing.T) {
	dir := sameFolder(t)
	copyTree(t, dir)
	all := guides(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			if name == "policy-python" {
				offline(t)
				t.Setenv("PATH", strings.Join([]string{filepath.Join(dir, "bin"), filepath.Join(dir, "env", "bin"), os.Getenv("PATH")}, string(os.PathListSeparator)))
			}
			follow(t, dir, all[name])
		})
	}
	if tier.All() {
		shell(t, dir, "go vet ./... && go test -count=1 ./internal/lint")
	}
}

// offline lets pip install a package of ours without a network, with what .venv has.
func offline(t *testing.T) {
	t.Helper()
	where, err := exec.Command(python.Interpreter(t, "gymnasium"), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PYTHONPATH", strings.TrimSpace(string(where)))
	t.Setenv("PIP_NO_INDEX", "1")
	t.Setenv("PIP_NO_BUILD_ISOLATION", "0") // which is pip's way to say yes
	t.Setenv("PIP_DISABLE_PIP_VERSION_CHECK", "1")
}

// The tutorial is run in an empty folder, with bench on the path.
func TestTutorial(t *testing.T) {
	tier.Slow(t)
	dir := t.TempDir()
	t.Setenv("PATH", filepath.Dir(built.Bench(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
	follow(t, dir, blocks(t, "../../docs/tutorial.md"))
}

// The four entrances are run each in an empty folder. A brief run writes their files alone.
func TestStart(t *testing.T) {
	if tier.All() {
		t.Setenv("PATH", filepath.Dir(built.Bench(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	for _, name := range []string{"bounds", "schedulers", "cluster", "data"} {
		t.Run(name, func(t *testing.T) { follow(t, t.TempDir(), blocks(t, "../../docs/start/"+name+".md")) })
	}
}

// follow does what a guide says, tests the packages that it adds and how its files are
// formatted, and checks what its commands print.
func follow(t *testing.T, dir string, steps []block) {
	var packages, source []string
	output, ran := "", 0
	for _, b := range steps {
		path := filepath.Join(dir, b.path)
		if strings.HasSuffix(b.path, ".go") {
			source = append(source, b.path)
		}
		switch b.verb {
		case "new":
			put(t, path, b.text)
			if strings.HasSuffix(b.path, "_test.go") {
				packages = append(packages, "./"+filepath.Dir(b.path))
			}
		case "insert":
			insert(t, path, b)
		case "run":
			if ran++; !tier.All() {
				break
			}
			if packages != nil {
				shell(t, dir, "go test -count=1 "+strings.Join(packages, " "))
				packages = nil
			}
			output = shell(t, dir, b.text)
		case "expect":
			if !tier.All() {
				break
			}
			for line := range strings.Lines(b.text) {
				if parts := strings.Split(strings.TrimSpace(line), " +"); !stands(output, parts) {
					t.Errorf("no line with %q in\n%s", parts, output)
				}
			}
		}
	}
	if ran == 0 {
		t.Error("the guide runs nothing")
	}
	if source == nil {
		return // gofmt would read its input
	}
	if ill := shell(t, dir, "gofmt -l "+strings.Join(source, " ")); strings.TrimSpace(ill) != "" {
		t.Errorf("gofmt wants %s", ill)
	}
}

func stands(output string, parts []string) bool {
	for line := range strings.Lines(output) {
		if !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(line, p) }) {
			return true
		}
	}
	return false
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func insert(t *testing.T, path string, b block) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, b.after) })
	if at < 0 {
		t.Fatalf("%s has no line with %s, which the guide adds lines after", b.path, b.after)
	}
	put(t, path, strings.Join(slices.Insert(lines, at+1, b.text), ""))
}

func shell(t *testing.T, dir, commands string) string {
	t.Helper()
	c := exec.Command("sh", "-e", "-c", commands)
	c.Dir = dir
	// -w: linking takes half as long. The packages' own tests run in full elsewhere.
	c.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false -ldflags=-w -vet=off "+os.Getenv("GOFLAGS"), "YARDSTICK_TESTS=")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.TrimSpace(commands), err, out)
	}
	return fmt.Sprintf("%s\n", out)
}
