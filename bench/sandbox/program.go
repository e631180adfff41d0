package sandbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"yardstick/internal/input"
)

// Program is a command with all that its behaviour depends on.
type Program struct {
	Spec
	Interpreter string   // absolute path of what runs it; "" if it is one of its files
	Version     string   // of the interpreter
	Sources     []string // where its files were read

	home, homeCopy string // folder of the program's own file, and that of its copy
}

// maxFile is the size beyond which a file is not copied.
const maxFile = 16 << 20

// ErrCommand means that a text is no command at all, whatever there is on the machine.
var ErrCommand = errors.New("no command")

// Read reads a command line as people write it, such as python3 mine.py: words at
// spaces, within quotes as they are; no shell reads it. Files that words name are copied for the program, by
// whatever path they are named, and so are a module after -m, the further files and the contents of further
// folders. Folders to see are not copied but read in place.
//
// A copy lies under the path that it is named by or, if that leads out of the folder we are
// in, under its own name; arguments are changed accordingly. What is in the folder of the program's own file lies
// where it lies from the program besides, however it is named.
//
// Errors: ErrCommand; there is no such interpreter or file; a file is too large; two files
// would be one.
func Read(ctx context.Context, command string, files, visible []string) (*Program, error) {
	words, err := split(command)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCommand, err)
	}
	p := &Program{}
	for _, v := range visible {
		abs, err := filepath.Abs(v)
		if err == nil {
			_, err = os.Stat(abs)
		}
		if err != nil {
			return nil, missing(v, err)
		}
		p.Visible = append(p.Visible, abs)
	}
	for _, f := range files {
		if err := p.add(f, within(f)); err != nil {
			return nil, err
		}
	}
	if err := p.arguments(words); err != nil {
		return nil, err
	}
	if p.home != "" { // beside the program, where they are named by other paths than it
		for i, source := range p.Sources {
			if rel, err := filepath.Rel(p.home, absolute(source)); err == nil && filepath.IsLocal(rel) {
				if beside := filepath.Join(p.homeCopy, rel); !p.has(beside) {
					p.Files = append(p.Files, File{Path: beside, Content: p.Files[i].Content, Execute: p.Files[i].Execute})
				}
			}
		}
	}
	if isInterpreter(words[0]) {
		return p, p.interpreter(ctx, words[0])
	}
	copied := strings.TrimPrefix(p.Args[0], "./")
	if by := p.script(copied); by != nil {
		p.Args = append(by, p.Args...)
		return p, p.interpreter(ctx, by[0])
	}
	if i := slices.IndexFunc(p.Files, func(f File) bool { return f.Path == copied }); !p.Files[i].Execute {
		return nil, fmt.Errorf("%s is not executable: name what runs it, such as python3 %[1]s, or make it so with chmod +x", words[0])
	}
	return p, nil
}

// arguments copies the files that the words name, and makes the program's arguments of the words.
func (p *Program) arguments(words []string) error {
	p.Args = slices.Clone(words)
	module := moduleWord(words)
	for i, w := range words {
		if i == 0 && isInterpreter(w) {
			continue // it is looked up, whatever lies here under its name
		}
		if i == module {
			if err := p.module(w); err != nil {
				return err
			}
			continue
		}
		option, path := "", w
		if name, value, ok := strings.Cut(w, "="); ok && strings.HasPrefix(w, "-") {
			option, path = name+"=", value
		}
		to := within(path)
		info, err := os.Stat(path)
		switch {
		case p.has(to) && to == filepath.Clean(path), i > 0 && p.inPlace(path):
			// One of the further files, or there anyway.
		case err == nil && info.Mode().IsRegular(), err == nil && info.IsDir() && runs(path):
			if err := p.add(path, to); err != nil {
				return err
			}
			if to != filepath.Clean(path) {
				p.Args[i] = option + to
			}
			if p.home == "" && option == "" {
				p.home, p.homeCopy = filepath.Dir(absolute(path)), filepath.Dir(to)
				if info.IsDir() {
					p.home, p.homeCopy = absolute(path), to
				}
			}
		case i == 0 || errors.Is(err, fs.ErrNotExist) && looksLikeFile(w):
			if strings.HasPrefix(w, "~") {
				return fmt.Errorf("there is no file %s: no shell reads the command, so write the folder in place of ~", w)
			}
			return missing(w, fs.ErrNotExist)
		}
		if i == 0 {
			p.Args[0] = "./" + to
		}
	}
	return nil
}

// moduleWord returns which word names the module that Python is to run, or -1.
func moduleWord(words []string) int {
	if !strings.HasPrefix(filepath.Base(words[0]), "py") {
		return -1
	}
	for i := 1; i+1 < len(words) && strings.HasPrefix(words[i], "-"); i++ {
		switch words[i] {
		case "-m":
			return i + 1
		case "-c", "-":
			return -1
		case "-W", "-X":
			i++
		}
	}
	return -1
}

// module copies a module of Python that lies here: a file, or a package with all that is in
// it. One that does not is the interpreter's.
func (p *Program) module(name string) error {
	top, _, nested := strings.Cut(name, ".")
	path := strings.ReplaceAll(name, ".", "/")
	switch {
	case !filepath.IsLocal(top):
		return nil
	case nested && holds(".", path+".py", path+"/__main__.py"), holds(top, "__main__.py"):
		path = top // the package
	case holds(".", top+".py") && !nested:
		path = top + ".py"
	default:
		return nil
	}
	p.home, p.homeCopy = absolute("."), "."
	if p.has(path) {
		return nil
	}
	return p.add(path, path)
}

// runs reports whether an interpreter can run a folder.
func runs(folder string) bool { return holds(folder, "__main__.py", "index.js", "package.json") }

// holds reports whether a folder has one of these files.
func holds(folder string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, err := os.Stat(filepath.Join(folder, name))
		return err == nil
	})
}

// within returns where a file or folder lies among the copies: under its path from here or, if
// that leads elsewhere, under its own name.
func within(path string) string {
	if path = filepath.Clean(path); filepath.IsLocal(path) {
		return path
	}
	return filepath.Base(absolute(path))
}

// absolute is a path from the root, links in it as they are.
func absolute(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path // where we are is gone: then no file of ours is there either
	}
	return abs
}

// inPlace reports whether the program sees a path of the machine where it is.
func (p *Program) inPlace(path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	return slices.ContainsFunc(append([]string{"/usr", "/bin", "/lib", "/dev"}, p.Visible...), func(seen string) bool {
		rel, err := filepath.Rel(seen, path)
		return err == nil && filepath.IsLocal(rel)
	})
}

// script returns what the first line of a program says it is run by, with arguments, if that is
// an interpreter that the machine's own folders do not have: one on PATH that env looks for, or one in an environment of
// the user's. Nil for any other program: the kernel reads that line.
func (p *Program) script(path string) []string {
	i := slices.IndexFunc(p.Files, func(f File) bool { return f.Path == path })
	line, _, _ := strings.Cut(string(p.Files[i].Content[:min(len(p.Files[i].Content), 256)]), "\n")
	line, ok := strings.CutPrefix(line, "#!")
	by := strings.Fields(line)
	if ok && len(by) > 1 && filepath.Base(by[0]) == "env" {
		if by = by[1:]; by[0] == "-S" {
			by = by[1:]
		}
	}
	if !ok || len(by) == 0 || !isInterpreter(by[0]) || strings.Contains(by[0], "/") && !filepath.IsAbs(by[0]) {
		return nil
	}
	if _, err := os.Stat(by[0]); err == nil && (strings.HasPrefix(by[0], "/usr/") || strings.HasPrefix(by[0], "/bin/")) {
		return nil
	}
	return by
}

// missing is the error of a file that is named and cannot be read.
func missing(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no file %s", name)
	}
	return err
}

// interpreters are the names of programs that run others, which may be given by a path.
var interpreters = regexp.MustCompile(`^(python|pypy|node|deno|bun|ruby|perl|lua|java|julia|Rscript|php|bash|sh)[0-9.]*$`)

// isInterpreter reports whether a command's first word is a program of the machine, and not one
// of the policy's own files, which nothing runs outside of the sandbox.
func isInterpreter(word string) bool {
	return !strings.Contains(word, "/") || interpreters.MatchString(filepath.Base(word))
}

// looksLikeFile reports whether a word of a command is meant to be a file of it.
func looksLikeFile(word string) bool {
	return slices.Contains([]string{".py", ".js", ".mjs", ".rb", ".pl", ".lua", ".jar", ".sh", ".r", ".jl"}, strings.ToLower(filepath.Ext(word)))
}

func (p *Program) has(path string) bool {
	return slices.ContainsFunc(p.Files, func(f File) bool { return f.Path == filepath.Clean(path) })
}

// add copies a file, or all that is in a folder, to a path among the copies.
func (p *Program) add(path, to string) error {
	root, err := filepath.EvalSymlinks(path)
	if err != nil {
		return missing(path, err)
	}
	return filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "__pycache__":
			return filepath.SkipDir // it changes with every run outside
		case entry.IsDir():
			return nil
		case info.IsDir():
			return fmt.Errorf("%s is a link to a folder: name that folder besides", name)
		case !info.Mode().IsRegular() || info.Size() > maxFile:
			return fmt.Errorf("%s is no regular file of at most %d MiB", name, maxFile>>20)
		}
		content, err := input.Read(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		source, to := filepath.Join(path, rel), filepath.Join(to, rel)
		if i := slices.IndexFunc(p.Files, func(f File) bool { return f.Path == to }); i >= 0 {
			if absolute(p.Sources[i]) == absolute(source) {
				return nil
			}
			return fmt.Errorf("%s and %s would both be %s in the program's folder: start from a folder that holds both, and name them by their paths from there", p.Sources[i], source, to)
		}
		p.Sources = append(p.Sources, source)
		p.Files = append(p.Files, File{Path: to, Content: content, Execute: info.Mode()&0o111 != 0})
		return nil
	})
}

// askPython has an interpreter of Python say what it is and where it and its packages are.
const askPython = "import sys\nfor x in sys.executable, sys.version.split()[0], sys.prefix, sys.base_prefix, *sys.path: print(x)"

// interpreter finds what runs the program, its version, and the folders that it needs.
func (p *Program) interpreter(ctx context.Context, name string) error {
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		err = fmt.Errorf("there is no program %s: %w", name, cmp.Or(errors.Unwrap(err), err))
		if holds(".", name) && !strings.Contains(name, "/") {
			err = fmt.Errorf("%w: write ./%s for the file here", err, name)
		}
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var folders []string // that it needs
	if strings.HasPrefix(filepath.Base(path), "python") {
		out, err := exec.CommandContext(ctx, path, "-I", "-c", askPython).Output()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if err != nil || len(lines) < 4 {
			return fmt.Errorf("%s does not run: %w", path, cmp.Or(err, errors.New("it does not say where it is")))
		}
		p.Interpreter, p.Version, folders = lines[0], lines[1], lines[2:]
	} else {
		p.Interpreter = path
		out, err := exec.CommandContext(ctx, path, "--version").Output()
		if p.Version, _, _ = strings.Cut(strings.TrimSpace(string(out)), "\n"); err != nil || p.Version == "" {
			p.Version = "unknown"
		}
	}
	p.Args[0] = p.Interpreter
	real, err := filepath.EvalSymlinks(p.Interpreter)
	if err != nil {
		return err
	}
	for _, exe := range []string{p.Interpreter, real} {
		home := filepath.Dir(exe)
		if filepath.Base(home) == "bin" {
			home = filepath.Dir(home)
		}
		folders = append(folders, home)
	}
	for _, f := range folders {
		if filepath.IsAbs(f) && private(f) {
			p.Visible = append(p.Visible, parts(f)...)
		} else if filepath.IsAbs(f) {
			p.Visible = append(p.Visible, f)
		}
	}
	p.Visible = append(p.Visible, p.Interpreter, real)
	slices.Sort(p.Visible)
	p.Visible = slices.DeleteFunc(slices.Compact(p.Visible), func(v string) bool { return v == "/usr" || strings.HasPrefix(v, "/usr/") })
	return nil
}

// private reports whether a folder holds more than a program's: somebody's home, or where
// we are.
func private(folder string) bool {
	home, _ := os.UserHomeDir()
	here, _ := os.Getwd()
	for _, inner := range []string{home, here} {
		if rel, err := filepath.Rel(folder, inner); inner != "" && err == nil && (rel == "." || filepath.IsLocal(rel)) {
			return true
		}
	}
	return folder == "/"
}

// parts are what an interpreter needs of a folder that holds more: a virtual environment made in
// somebody's home, or where we are.
func parts(folder string) (list []string) {
	if _, err := os.Stat(filepath.Join(folder, "pyvenv.cfg")); err != nil {
		return nil
	}
	for _, part := range []string{"bin", "lib", "lib64", "pyvenv.cfg"} {
		if path := filepath.Join(folder, part); folder != "/" {
			list = append(list, path)
		}
	}
	return list
}

// Hash is the sha256 of all that the program's behaviour depends on as far as it can be
// told: its arguments, its files, the folders that it sees, its interpreter's path and version.
func (p *Program) Hash() string {
	text, err := json.Marshal([]any{p.Args, p.Files, p.Visible, p.Interpreter, p.Version})
	if err != nil {
		panic("sandbox: " + err.Error()) // texts and bytes only
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// split cuts a command into words.
func split(command string) (words []string, err error) {
	var word strings.Builder
	quote, inside := rune(0), false
	for _, c := range command {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			quote, inside = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if inside {
				words = append(words, word.String())
				word.Reset()
				inside = false
			}
		default:
			word.WriteRune(c)
			inside = true
		}
	}
	if inside {
		words = append(words, word.String())
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("the command %q has a quote that does not end", command)
	case len(words) == 0:
		return nil, errors.New("the command is empty: give a program with its arguments, such as python3 mine.py")
	}
	return words, nil
}
