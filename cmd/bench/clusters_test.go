package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"yardstick/internal/python"
	"yardstick/internal/schedtest"
)

// asBench puts the command on PATH, as this test's binary.
func asBench(t *testing.T) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(program, filepath.Join(dir, "bench")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv(asCommand, "1")
}

// shellExample returns the example of a section of docs/clusters.md.
func shellExample(t *testing.T, section string) string {
	t.Helper()
	data, err := os.ReadFile("../../docs/clusters.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(data), "\n## "+section+"\n")
	_, rest, ok2 := strings.Cut(rest, "```sh\n")
	text, _, ok3 := strings.Cut(rest, "```")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("docs/clusters.md has no example in %q", section)
	}
	return text
}

// The documented commands of one machine with many cores work as written.
func TestDocumentedParallel(t *testing.T) {
	if _, err := exec.LookPath("parallel"); err != nil {
		schedtest.Missing(t, "%v: internal/prepare.sh test installs GNU parallel", err)
	}
	example := shellExample(t, "GNU parallel")
	suite := write(t, "suite.yaml", shardSuite)
	dir := filepath.Dir(suite)
	mustRun(t, "run", suite, "-q", "-o", dir+"/whole")
	asBench(t)
	c := exec.Command("bash", "-ec", example)
	c.Dir = dir
	c.Env = append(os.Environ(), "HOME="+dir) // where parallel keeps its files
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", example, err, out)
	}
	if got, want := digestOf(t, dir+"/results/night"), digestOf(t, dir+"/whole"); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// kubernetesJob is what the test reads of a Job of Kubernetes.
type kubernetesJob struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Spec       struct {
		CompletionMode   string `yaml:"completionMode"`
		Completions      int
		PodFailurePolicy struct {
			Rules []struct {
				Action      string
				OnExitCodes *struct {
					ContainerName, Operator string
					Values                  []int
				} `yaml:"onExitCodes"`
			}
		} `yaml:"podFailurePolicy"`
		Template struct {
			Spec struct {
				RestartPolicy string `yaml:"restartPolicy"`
				Containers    []struct {
					Name, Image string
					Command     []string
					WorkingDir  string `yaml:"workingDir"`
					Env         []struct{ Name, Value string }
				}
			}
		}
	}
}

func readJob(t *testing.T, name string) (j kubernetesJob) {
	t.Helper()
	data, err := os.ReadFile("../../docs/examples/" + name)
	if err == nil {
		err = yaml.Unmarshal(data, &j)
	}
	if err != nil || j.APIVersion != "batch/v1" || j.Kind != "Job" || len(j.Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("%s: %v: %+v", name, err, j)
	}
	return j
}

// The pods of the documented Jobs, run one after the other, make the tables of a
// run on one machine.
func TestDocumentedKubernetes(t *testing.T) {
	shards, merge := readJob(t, "kubernetes.yaml"), readJob(t, "kubernetes-merge.yaml")
	pod := shards.Spec.Template.Spec.Containers[0]
	if shards.Spec.CompletionMode != "Indexed" || shards.Spec.Template.Spec.RestartPolicy != "Never" || !slices.Contains(pod.Command, "auto") {
		t.Fatalf("%+v", shards)
	}
	var env []string
	for _, e := range pod.Env {
		if e.Name == "BENCH_SHARDS" && e.Value != strconv.Itoa(shards.Spec.Completions) {
			t.Errorf("BENCH_SHARDS is %s, and there are %d completions", e.Value, shards.Spec.Completions)
		}
		env = append(env, e.Name+"="+e.Value)
	}
	suite := write(t, "suite.yaml", shardSuite)
	dir := filepath.Dir(suite)
	mustRun(t, "run", suite, "-q", "-o", dir+"/whole")
	asBench(t)
	run := func(words []string, env ...string) {
		t.Helper()
		for i, w := range words {
			words[i] = strings.Replace(w, "/data", dir, 1)
		}
		c := exec.Command(words[0], words[1:]...)
		var out bytes.Buffer
		c.Dir, c.Env, c.Stdout, c.Stderr = dir, append(os.Environ(), env...), &out, &out
		if err := c.Run(); err != nil {
			t.Fatalf("%v: %v: %s", words, err, &out)
		}
	}
	for i := range shards.Spec.Completions {
		run(slices.Clone(pod.Command), append(env, fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i))...)
	}
	run(slices.Clone(merge.Spec.Template.Spec.Containers[0].Command))
	if got, want := digestOf(t, dir+"/results/night"), digestOf(t, dir+"/whole"); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// The documented Jobs give up for good where the exit code says that the same would
// happen again, and nowhere else.
func TestKubernetesTriesAgain(t *testing.T) {
	var forGood []int
	for _, c := range exitCodes {
		if !c.again && c.code != exitOK {
			forGood = append(forGood, c.code)
		}
	}
	for name, action := range map[string]string{"kubernetes.yaml": "FailIndex", "kubernetes-merge.yaml": "FailJob"} {
		var got []int
		for _, r := range readJob(t, name).Spec.PodFailurePolicy.Rules {
			if r.OnExitCodes != nil && r.Action == action && r.OnExitCodes.Operator == "In" {
				got = append(got, r.OnExitCodes.Values...)
			}
		}
		if !slices.Equal(got, forGood) {
			t.Errorf("%s gives up on %v, want %v", name, got, forGood)
		}
	}
}

// The documented Jobs are valid in the sense of Kubernetes' own schemas, every key known:
// of the version that they ask for, and of the newest known.
func TestKubernetesManifestsAreValid(t *testing.T) {
	check := `
import sys, yaml, kubernetes_validate as k
for name in sys.argv[1:]:
    for version in ("1.33", k.latest_version()):
        k.validate(yaml.safe_load(open(name)), version, strict=True)
`
	files := []string{"../../docs/examples/kubernetes.yaml", "../../docs/examples/kubernetes-merge.yaml"}
	py := python.Interpreter(t, "kubernetes_validate")
	if out, err := exec.Command(py, append([]string{"-c", check}, files...)...).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, slip := range [][2]string{{`, status: "True"`, ""}, {"parallelism:", "paralelism:"}, {"values: [2", "values: [two"}} {
		bad := write(t, "bad.yaml", strings.Replace(string(text), slip[0], slip[1], 1))
		if out, err := exec.Command(py, "-c", check, bad).CombinedOutput(); err == nil || !strings.Contains(string(out), "ValidationError") {
			t.Errorf("%q: %v: %s", slip, err, out)
		}
	}
}
