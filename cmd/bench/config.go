package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"yardstick/bench/catalogue"
	"yardstick/bench/suite"
	"yardstick/internal/input"
)

// settings holds the flags that a configuration file gives, by command and
// flag:
//
//	run:
//	  jobs: 2
//	  time-limit: 30s
type settings struct {
	file   string
	values map[string]map[string]any
}

// here is the file of the current folder.
const here = "bench.yaml"

// configFiles are the files that may hold settings, the strongest first.
func configFiles() []string {
	files := []string{here}
	if dir, err := os.UserConfigDir(); err == nil {
		files = append(files, filepath.Join(dir, "yardstick", "bench.yaml"))
	}
	return files
}

// readSettings reads the configuration files that exist and checks that every
// key is a command with such a flag. Notes say which could not be read.
func readSettings(root *cobra.Command, notes io.Writer) ([]settings, error) {
	var all []settings
	for _, name := range configFiles() {
		values, err := readConfig(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if name != here && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)) {
			fmt.Fprintf(notes, "bench: %v: settings there do not count\n", err)
			continue // the folder of another user, or none: no reason not to run
		}
		if err != nil {
			return nil, usageError("%s: %w", name, err)
		}
		s := settings{name, values}
		for command, flags := range s.values {
			c, _, err := root.Find(strings.Fields(command))
			if err != nil || c == root {
				return nil, usageError("%s: %q is not a command: keys are commands, such as run: {jobs: 2}", name, command)
			}
			for flag := range flags {
				if c.Flags().Lookup(flag) == nil {
					return nil, usageError("%s: bench %s has no flag --%s; see bench %s --help", name, command, flag, command)
				}
			}
		}
		all = append(all, s)
	}
	return all, nil
}

// readConfig reads a configuration file: values of flags by command and flag.
func readConfig(name string) (map[string]map[string]any, error) {
	data, err := input.Read(name)
	if err != nil {
		return nil, err
	}
	var values map[string]map[string]any
	err = suite.DecodeYAML(data, &values)
	return values, err
}

// variableOf is the environment variable of a command's flag: BENCH_RUN_TIME_LIMIT.
func variableOf(c *cobra.Command, flag string) string {
	return "BENCH_" + strings.ToUpper(strings.NewReplacer(" ", "_", "-", "_").Replace(nameOf(c)+" "+flag))
}

// nameOf is a command's name without that of the program: "dataset import".
func nameOf(c *cobra.Command) string {
	_, name, _ := strings.Cut(c.CommandPath(), " ")
	return name
}

// origin says where the value of a flag comes from.
type origin struct {
	flag  *pflag.Flag
	value string
	from  string // command line, $VARIABLE, a file or default
}

// configure sets the flags of a command that the command line leaves open: from
// the environment, then ./bench.yaml, then the user's file. It returns where
// every value came from.
func configure(c *cobra.Command, files []settings) ([]origin, error) {
	var all []origin
	var failure error
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			return
		}
		o := origin{flag: f, from: "default"}
		value, from, ok := lookup(c, f.Name, files)
		switch {
		case f.Changed:
			o.from = "command line"
		case ok:
			o.from = from
			if err := c.Flags().Set(f.Name, value); err != nil && failure == nil {
				failure = usageError("%s: --%s %s: %w", from, f.Name, value, err)
			}
		}
		o.value = f.Value.String()
		all = append(all, o)
	})
	return all, failure
}

func lookup(c *cobra.Command, flag string, files []settings) (value, from string, ok bool) {
	if v, set := os.LookupEnv(variableOf(c, flag)); set {
		return v, "$" + variableOf(c, flag), true
	}
	for _, s := range files {
		if v, set := s.values[nameOf(c)][flag]; set {
			return fmt.Sprint(v), s.file, true
		}
	}
	return "", "", false
}

// configured is run before every command.
func (a *app) configured(c *cobra.Command, _ []string) error {
	if c.Name() == cobra.ShellCompRequestCmd || c.Name() == cobra.ShellCompNoDescRequestCmd {
		return nil // completion must not depend on a file that is being written
	}
	files, err := readSettings(c.Root(), a.err)
	if err != nil {
		return err
	}
	if _, err := configure(c, files); err != nil {
		return err
	}
	if err := noneEmpty(c); err != nil {
		return err
	}
	for _, limit := range input.Limits() {
		if _, err := limit.Value(0); err != nil {
			return usageError("%w", err)
		}
	}
	return a.claimOutput(c)
}

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Show settings and where they come from, and the schema of suites",
		Long: `A flag that the command line leaves open is taken from the environment
(BENCH_RUN_JOBS for --jobs of bench run), then from bench.yaml in the current folder,
then from the user's bench.yaml, whose keys are commands and flags:

  run:
    jobs: 2
    time-limit: 30s`,
	}
	c.AddCommand(a.configShowCommand(), a.configSchemaCommand())
	return c
}

func (a *app) configShowCommand() *cobra.Command {
	var origins bool
	c := &cobra.Command{
		Use:   "show [COMMAND...]",
		Short: "Show the value of every flag of a command (default run) without running it",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"run"}
			}
			target, rest, err := c.Root().Find(args)
			if err != nil || target == c.Root() || len(rest) > 0 {
				return usageError("%q is not a command; see bench --help", strings.Join(args, " "))
			}
			files, err := readSettings(c.Root(), io.Discard) // told before
			if err != nil {
				return err
			}
			values, err := configure(target, files)
			if err != nil {
				return err
			}
			for _, o := range values {
				if origins {
					fmt.Fprintf(a.out, "%-14s %-12s %s\n", o.flag.Name, o.value, o.from)
				} else {
					fmt.Fprintf(a.out, "%-14s %s\n", o.flag.Name, o.value)
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&origins, "origin", false, "say where each value comes from")
	return c
}

func (a *app) configSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of suite files, for editors",
		Long: `Prints the JSON schema of suite files. Editors with a YAML language server check and
complete suites whose first line is

  # yaml-language-server: $schema=suite.schema.json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := json.MarshalIndent(suite.Schema(catalogue.Names()), "", "  ")
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.out, "%s\n", text)
			return err
		},
	}
}
