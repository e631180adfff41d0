package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every command has a page that names all of its flags.
func TestManualPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	mustRun(t, "man", dir)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		data, err := os.ReadFile(filepath.Join(dir, name+".1"))
		if err != nil {
			t.Error(err)
			return
		}
		page := strings.ReplaceAll(string(data), `\-`, "-")
		if !strings.Contains(page, ".SH NAME\n"+name+" - ") {
			t.Errorf("%s: no name: %.200s", name, page)
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Deprecated == "" && !f.Hidden && !strings.Contains(page, "--"+f.Name) {
				t.Errorf("%s: no --%s", name, f.Name)
			}
		})
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk((&app{}).command())
}

// bench version -o json says the same as the manifest of a result.
func TestVersionIsTheManifests(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	mustRun(t, "run", write(t, "s.yaml", tinySuite), "-q", "-o", dir)
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest, version struct {
		Versions, Machine map[string]any
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(mustRun(t, "version", "-o", "json")), &version); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"bench", "go", "lp_solve", "build"} {
		if version.Versions[key] == nil {
			t.Errorf("versions lack %s: %v", key, version.Versions)
		}
	}
	for _, key := range []string{"os", "arch", "cores", "gomaxprocs"} {
		if version.Machine[key] == nil {
			t.Errorf("the machine lacks %s: %v", key, version.Machine)
		}
	}
	delete(manifest.Machine, "load_average") // of that moment
	delete(version.Machine, "load_average")
	if !reflect.DeepEqual(manifest, version) {
		t.Errorf("manifest %v\nversion %v", manifest, version)
	}
	if text := mustRun(t, "version"); !strings.HasPrefix(text, "bench ") {
		t.Error(text)
	}
	if code, _, errOut := benchCommand(t, "version", "-o", "xml"); code != exitUsage || !strings.Contains(errOut, "xml") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
}
