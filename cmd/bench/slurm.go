package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"yardstick/bench/suite"
)

// scripts are the batch scripts of a suite, with absolute paths throughout.
type scripts struct {
	out, logs            string
	arrayPath, mergePath string
	array, merge         string
	tasks                int
}

func newScripts(planned *suite.Suite, f submitFlags, b bundle) (*scripts, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding the running executable: %w", err)
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	out, err := filepath.Abs(f.out)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(program+folder+out, "\n\r") {
		return nil, usageError("sbatch reads no paths with line breaks: %q, %q, %q", program, folder, out)
	}
	s := &scripts{out: out, logs: filepath.Join(out, "logs"), arrayPath: filepath.Join(out, "array.sh"), mergePath: filepath.Join(out, "merge.sh"), tasks: len(b.tasks)}
	ranges := b.ranges()
	if f.concurrent > 0 {
		ranges += fmt.Sprintf("%%%d", f.concurrent)
	}
	var more string // of bench run
	if f.retryFailed {
		more += " --retry-failed"
	}
	if f.anyBuild {
		more += " --any-build"
	}
	var merge string // of bench merge
	if f.anyBuild {
		merge = " --any-build"
	}
	s.array = script(f.common(
		"--job-name=bench-"+planned.Name, "--array="+ranges, "--chdir="+folder, "--output="+pattern(filepath.Join(s.logs, "%A_%a.log")),
		"--requeue", fmt.Sprintf("--cpus-per-task=%d", f.cpus), fmt.Sprintf("--signal=B:TERM@%.0f", graceTime.Seconds())),
		fmt.Sprintf(`# Task i runs shard i+1 of %d. exec, so that Slurm's signals reach the program: on the
# first it keeps what is finished and ends. Run again, it goes on from there. The limits
# are those of the plan, whatever a bench.yaml says of bench run.
exec %s run %s --shard "$((SLURM_ARRAY_TASK_ID + 1))/%d" -o %s -j "${SLURM_CPUS_PER_TASK:-1}" --time-limit %v%s
`, b.shards, shellWord(program), shellWord(out), b.shards, shellWord(out), planned.Limits.Solve, more))
	s.merge = script(f.common(
		"--job-name=bench-merge-"+planned.Name, "--chdir="+folder, "--output="+pattern(filepath.Join(s.logs, "merge-%j.log"))),
		fmt.Sprintf(`# Runs after the array, whether or not all of its tasks finished: missing cells are
# listed, and the tables hold the others.
exec %s merge %s%s
`, shellWord(program), shellWord(out), merge))
	return s, nil
}

// common adds the options that both scripts have.
func (f *submitFlags) common(options ...string) []string {
	options = append(options, "--open-mode=append", "--time="+slurmTime(f.time))
	if f.memory != "" {
		options = append(options, "--mem="+f.memory)
	}
	if f.partition != "" {
		options = append(options, "--partition="+f.partition)
	}
	return append(options, f.sbatch...)
}

// script writes a batch script of options and commands.
func script(options []string, commands string) string {
	var b strings.Builder
	b.WriteString("#!/bin/bash\n")
	for _, o := range options {
		fmt.Fprintf(&b, "#SBATCH %s\n", shellWord(o))
	}
	return b.String() + commands
}

// byHand is how to submit the scripts without the program.
func (s *scripts) byHand() string {
	return fmt.Sprintf("id=$(sbatch --parsable %s) && sbatch --dependency=afterany:${id%%%%;*} %s", shellWord(s.arrayPath), shellWord(s.mergePath))
}

// pattern escapes a path but its last part for sbatch, which replaces %A and the
// like.
func pattern(path string) string {
	dir, name := filepath.Split(path)
	return strings.ReplaceAll(dir, "%", "%%") + name
}

// slurmTime writes a duration, rounded up to seconds, as days-hours:minutes:seconds.
func slurmTime(d time.Duration) string {
	s := int64((d + time.Second - 1) / time.Second)
	return fmt.Sprintf("%d-%02d:%02d:%02d", s/86400, s/3600%24, s/60%60, s%60)
}

// shellWord quotes what is not a plain word, for the shell and for sbatch.
func shellWord(text string) string {
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,.:/@%", r)
	}) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
