package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"yardstick/bench/suite"
	"yardstick/sched"
)

// meant says which of the names a wrong one may stand for, and which there are.
func meant(name string, names []string) string {
	all := "one of " + strings.Join(names, ", ")
	if near := suite.Nearest(name, names); near != "" {
		return fmt.Sprintf("do you mean %s? It is %s", near, all)
	}
	return "it is " + all
}

// parseObjective reads the name of an objective that a flag gives.
func parseObjective(name string) (sched.Objective, error) {
	var o sched.Objective
	if err := o.UnmarshalText([]byte(name)); err != nil {
		return o, usageError("--objective: objective %q is unknown: %s", name, meant(name, objectives()))
	}
	return o, nil
}

// wrongFlag says in a line what is wrong with a flag, and which flag or value may be meant.
func wrongFlag(c *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			return usageError("bench %s has no flag -%s; see bench %[1]s --help", nameOf(c), name)
		}
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		hint := ""
		if near := suite.Nearest(name, names); near != "" {
			hint = ": do you mean --" + near + "?"
		}
		return usageError("%s has no flag --%s%s; see %[1]s --help", c.CommandPath(), name, hint)
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		why := errors.Unwrap(invalid)
		if _, number := errors.AsType[*strconv.NumError](err); number {
			why = errors.New("it must be a number")
		}
		if f := invalid.GetFlag(); f.Value.Type() == "duration" && strings.HasPrefix(why.Error(), "time:") {
			why = fmt.Errorf("it must be a time such as %v or %v", 30*time.Second, 5*time.Minute)
		}
		return usageError("--%s %q: %w", invalid.GetFlag().Name, invalid.GetValue(), why)
	}
	return err
}

// argumentsOf returns the names of a command's arguments as its usage has them, and how
// many it must be given. Flags of the usage and their values are none of them.
func argumentsOf(c *cobra.Command) (names []string, least int) {
	usage, _, _ := strings.Cut(c.Use, " | ")
	words := strings.Fields(usage)[1:]
	for i := 0; i < len(words); i++ {
		if strings.HasPrefix(words[i], "-") || strings.HasPrefix(words[i], "[-") {
			i++ // its value
			continue
		}
		if !strings.HasPrefix(words[i], "[") {
			least++
		}
		names = append(names, words[i])
	}
	return names, least
}

// nameArguments makes every command say which argument is missing or too many.
func nameArguments(c *cobra.Command) {
	for _, child := range c.Commands() {
		nameArguments(child)
	}
	check := c.Args
	if check == nil || !c.Runnable() {
		return
	}
	c.Args = func(c *cobra.Command, args []string) error {
		err := check(c, args)
		if _, told := errors.AsType[*exitError](err); told || err == nil {
			return err
		}
		names, least := argumentsOf(c)
		what := err.Error()
		switch {
		case len(args) < least:
			needed := slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "[") })
			what = strings.Join(needed[len(args):], " and ") + " is missing"
		case len(args) > len(names):
			what = fmt.Sprintf("%q is an argument too many", args[len(names)])
		}
		return usageError("%s: %s: usage: bench %s", c.CommandPath(), what, strings.TrimPrefix(c.CommandPath(), "bench ")+strings.TrimPrefix(c.Use, c.Name()))
	}
}
