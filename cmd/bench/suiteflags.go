package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"yardstick/bench/suite"
)

// suiteFlags are those of the commands that read a suite: what differs from its file.
type suiteFlags struct{ sets, only, methods []string }

func (f *suiteFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.sets, "set", nil, "change or sweep a key of the suite: key=value or key=value,value; FAMILY.key=value for one family")
	c.Flags().StringArrayVar(&f.only, "only", nil, "run these families of the suite alone: FAMILY,FAMILY")
	c.Flags().StringArrayVar(&f.methods, "methods", nil, "run these of the suite's methods alone, by name with or without parameters; references stay")
}

// settings lists what differs as the reader of suites takes it.
func (f *suiteFlags) settings() []string {
	list := slices.Clone(f.sets)
	if len(f.only) > 0 {
		list = append(list, "only="+strings.Join(f.only, ","))
	}
	if len(f.methods) > 0 {
		list = append(list, "only.methods="+strings.Join(f.methods, ","))
	}
	return list
}

// words are the flags again, for a command line.
func (f *suiteFlags) words() (list []string) {
	add := func(flag string, values []string) {
		for _, v := range values {
			list = append(list, flag, v)
		}
	}
	add("--set", f.sets)
	add("--only", f.only)
	add("--methods", f.methods)
	return list
}

// suiteNames completes a list of what the suite on the command line has: families or
// methods.
func suiteNames(of func(*suite.Suite) []string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		text := quickSuite
		if len(args) > 0 {
			data, err := os.ReadFile(args[0])
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			text = data
		}
		s, err := suite.Parse("suite", text)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := of(s)
		slices.Sort(names)
		return commaList(func() []string { return slices.Compact(names) })(c, args, typed)
	}
}

func familiesOf(s *suite.Suite) (names []string) {
	for i := range s.Instances {
		names = append(names, s.Instances[i].Name)
	}
	return names
}

func methodsOfSuite(s *suite.Suite) (names []string) {
	for i := range s.Instances {
		for _, m := range s.Instances[i].Methods {
			names = append(names, m.String())
		}
	}
	return names
}
