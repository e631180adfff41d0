package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"yardstick/internal/output"
)

// checkedWriter keeps the first error of a writer that its callers do not look at.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	if err != nil && c.err == nil {
		c.err = err
		if system, ok := errors.AsType[*fs.PathError](err); ok {
			c.err = system.Err
		}
	}
	return n, err
}

// standardOutput is what the program was started with, which may be nothing (>&-).
func standardOutput() io.Writer {
	if standardOutputClosed() {
		return closedWriter{}
	}
	return os.Stdout
}

type closedWriter struct{}

func (closedWriter) Write([]byte) (int, error) { return 0, errors.New("it is closed") }

// fileFlags are the flags that name one file to write. Each may be "-".
var fileFlags = []string{"out", "output", "schedule", "gantt", "certificate"}

// folderCommands write a folder to --out, or a file that they go on with later.
var folderCommands = []string{"run", "bracket", "prove", "submit slurm", "reproduce", "place", "man", "hunt", "hunt evaluate", "dataset fetch", "library fetch", "gate"}

// claimOutput gives standard output to the file that a flag asks for there; what the
// command has to say goes to standard error then.
func (a *app) claimOutput(c *cobra.Command) error {
	var claimed []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && slices.Contains(fileFlags, f.Name) && f.Value.String() == output.Stdout {
			claimed = append(claimed, "--"+f.Name)
		}
	})
	switch {
	case len(claimed) == 0:
		return nil
	case len(claimed) > 1:
		return usageError("%s: standard output holds one file: give the others names", strings.Join(claimed, " and "))
	case slices.Contains(folderCommands, nameOf(c)):
		return usageError("%s -: bench %s writes more than standard output can hold: give a name", claimed[0], nameOf(c))
	}
	a.out = a.err
	return nil
}

// writeFile writes a file whole or not at all; "-" is standard output.
func (a *app) writeFile(path string, write func(io.Writer) error) error {
	if path == output.Stdout {
		return write(a.stdout)
	}
	if err := output.Write(path, write); err != nil {
		return usageError("%w", err)
	}
	return nil
}
