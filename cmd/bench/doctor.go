package main

import (
	"cmp"
	"context"
	"errors"
	"os/exec"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"yardstick/bench/sandbox"
	"yardstick/bounds/proof/veripb"
	"yardstick/internal/strictjson"
	"yardstick/solvers/external"
	"yardstick/solvers/lpsolve"
)

func (a *app) doctorCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what is installed here, and which features lack what",
		Long: `Looks for everything that some feature uses and bench does not bring along: solvers,
the checker of proofs, Python and its packages, the kernel's protections against
programs, LaTeX and a browser. bench run needs none of them: exit code 0.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			l := &listing{columns: []string{"what", "here", "for", "to_have_it"}}
			for _, f := range findings(c.Context()) {
				l.rows = append(l.rows, []string{f.what, cmp.Or(f.here, "no"), f.use, f.install})
			}
			return l.write(a.out, format)
		},
	}
	c.Flags().StringVar(&format, "format", "table", listingFormats)
	return c
}

// finding is what a feature uses, and where it is; here is "" if it is not.
type finding struct{ what, here, use, install string }

func findings(ctx context.Context) []finding {
	list := []finding{{"lp_solve", lpsolve.Version(), "linear programs: bounds, time-indexed and other programs", ""}}
	for _, s := range []struct {
		name string
		find func() (*external.Solver, error)
	}{{"glpsol", external.GLPSOL}, {"cbc", external.CBC}, {"highs", external.HiGHS}} {
		list = append(list, located(s.name, "placements one-hot-alpha/"+s.name+", comparisons of solvers", "", func() (string, error) {
			if _, err := s.find(); err != nil {
				return "", err
			}
			return exec.LookPath(s.name)
		}))
	}
	list = append(list, located("veripb", "bench prove --format veripb, and bench verify of such proofs", "", veripb.Find))
	python, err := exec.LookPath("python3")
	list = append(list, finding{"python3", python, "policies in Python, proofs that Python alone checks", unless(err == nil, "Python 3.10 or later")})
	list = append(list, packages(ctx, python)...)
	list = append(list, protections(ctx)...)
	list = append(list,
		located("pdflatex", "bench report --format latex: to typeset what it writes", "TeX Live", look("pdflatex")),
		located("chromium", "tests of reports alone", "Chromium", look("chromium")))
	return list
}

func look(name string) func() (string, error) {
	return func() (string, error) { return exec.LookPath(name) }
}

// located looks for a program. Where it is not, the error says how to have it, unless that
// is given.
func located(name, use, install string, find func() (string, error)) finding {
	path, err := find()
	if err != nil {
		_, how, _ := strings.Cut(err.Error(), ": install ")
		return finding{name, "", use, cmp.Or(install, how, err.Error())}
	}
	return finding{name, path, use, ""}
}

func unless(condition bool, text string) string {
	if condition {
		return ""
	}
	return text
}

// pythonPackages are those that our Python package and our notebooks use.
var pythonPackages = []struct{ name, use string }{
	{"yardstick", "policies in Python, yardstick.evaluate"},
	{"polars", "results as tables, notebooks"},
	{"pyarrow", "results as tables, notebooks"},
	{"matplotlib", "figures of results, notebooks"},
	{"gymnasium", "environments for learning"},
	{"jupyter-core", "notebooks"},
}

// askVersions prints the versions of packages, without loading them.
const askVersions = `import importlib.metadata as m, json, sys
def version(name):
    try: return m.version(name)
    except m.PackageNotFoundError: return ""
print(json.dumps({name: version(name) for name in sys.argv[1:]}))`

func packages(ctx context.Context, python string) (list []finding) {
	args := []string{"-c", askVersions}
	for _, p := range pythonPackages {
		args = append(args, p.name)
	}
	versions := map[string]string{}
	if python != "" {
		if out, err := exec.CommandContext(ctx, python, args...).Output(); err == nil {
			_ = strictjson.Unmarshal(out, &versions) // what is not there is not installed, as far as we know
		}
	}
	for _, p := range pythonPackages {
		install := "python3 -m pip install " + p.name
		if p.name == "yardstick" {
			install = "python3 -m pip install ./python"
		}
		list = append(list, finding{"python3: " + p.name, versions[p.name], p.use, unless(versions[p.name] != "", install)})
	}
	return list
}

// protections says which of those against programs hold here.
func protections(ctx context.Context) []finding {
	const use = "policies that are programs: external, --policy-command"
	held, err := tryProgram(ctx)
	if err != nil {
		return []finding{{"sandbox", "", use, "programs cannot be started: " + err.Error()}}
	}
	list := []finding{{"sandbox", strings.Join(held, ", "), use, ""}}
	var lack []string
	for _, name := range []string{"mount", "net", "user", "seccomp"} {
		if !strings.Contains(" "+strings.Join(held, " ")+" ", " "+name+" ") {
			lack = append(lack, name)
		}
	}
	if len(lack) > 0 {
		list = append(list, finding{"sandbox: " + strings.Join(lack, ", "), "", "programs of strangers", "a kernel that allows namespaces of one's own and filters; docs/security.md says what each keeps off"})
	}
	return list
}

// tryProgram starts a program that does nothing, and returns what protects us from it.
func tryProgram(ctx context.Context) ([]string, error) {
	if runtime.GOOS != "linux" {
		return nil, errors.New("it takes Linux")
	}
	path, err := exec.LookPath("true")
	if err != nil {
		return nil, err
	}
	p, err := sandbox.Start(ctx, sandbox.Spec{Args: []string{path}})
	if err != nil {
		return nil, err
	}
	defer p.Stop()
	return p.Held, nil
}
