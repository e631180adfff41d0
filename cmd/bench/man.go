package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages of all commands",
		Long: `Writes one manual page per command into DIR. Pages carry the date of the environment
variable SOURCE_DATE_EPOCH, if it is set, or today's.`,
		Example: `  bench man ~/.local/share/man/man1 && man bench-run`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return usageError("%w", err)
			}
			root := c.Root()
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Section: "1", Source: "bench " + currentVersions().Bench, Manual: "Yardstick"}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return usageError("%w", err)
			}
			pages, err := filepath.Glob(filepath.Join(args[0], "bench*.1"))
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%d pages in %s\n", len(pages), args[0])
			return nil
		},
	}
}
