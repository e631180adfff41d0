package verify

import (
	"fmt"
	"slices"
	"strings"

	"yardstick/sched"
)

// Rule names one rule that schedules keep. The package comment defines them.
type Rule string

// The rules.
const (
	RuleClass            Rule = "class"
	RuleJob              Rule = "job"
	RuleSegment          Rule = "segment"
	RuleMissing          Rule = "missing"
	RuleRelease          Rule = "release"
	RuleOverlap          Rule = "overlap"
	RulePlacement        Rule = "placement"
	RuleGang             Rule = "gang"
	RuleDevice           Rule = "device"
	RuleConfig           Rule = "config"
	RulePlacementChange  Rule = "placement-change"
	RulePreemption       Rule = "preemption"
	RuleGrammar          Rule = "grammar"
	RuleSlot             Rule = "slot"
	RuleWorkers          Rule = "workers"
	RuleParameterServers Rule = "parameter-servers"
	RuleBandwidth        Rule = "bandwidth"
	RuleCapacity         Rule = "capacity"
	RuleShareLimit       Rule = "share-limit"
	RuleMemory           Rule = "memory"
	RuleProgress         Rule = "progress"
)

// Violation is one way in which a schedule breaks a rule.
type Violation struct {
	Rule   Rule
	Job    sched.JobID // zero for RuleClass, which is about the whole schedule
	At     sched.Time  // where it begins to be broken; zero for RuleClass and RuleMissing
	Detail string      // the predicate of a sentence about the job
}

// String returns the violation in one line.
func (v Violation) String() string {
	switch v.Rule {
	case RuleClass:
		return fmt.Sprintf("%s: %s", v.Rule, v.Detail)
	case RuleMissing:
		return fmt.Sprintf("%s: job %d %s", v.Rule, v.Job, v.Detail)
	}
	return fmt.Sprintf("%s: at %v job %d %s", v.Rule, v.At, v.Job, v.Detail)
}

// Error says why a schedule was rejected.
type Error struct {
	Violations []Violation // at least one for each rule found broken, at most perRule
	Omitted    int         // how many more there are
}

// perRule is how many violations of one rule an Error lists.
const perRule = 10

// Error returns the first violation and a count of the others by rule.
func (e *Error) Error() string {
	text := "verify: " + e.Violations[0].String()
	if more := len(e.Violations) - 1 + e.Omitted; more > 0 {
		names := make([]string, 0, len(e.Violations))
		for _, r := range e.Rules() {
			names = append(names, string(r))
		}
		text += fmt.Sprintf(" (and %d more; rules broken: %s)", more, strings.Join(names, ", "))
	}
	return text
}

// Rules returns the rules that are broken, each once, in the order found.
func (e *Error) Rules() []Rule {
	var rules []Rule
	for _, v := range e.Violations {
		if !slices.Contains(rules, v.Rule) {
			rules = append(rules, v.Rule)
		}
	}
	return rules
}

// add records a violation, or counts it if there are many of its rule.
func (e *Error) add(r Rule, j sched.JobID, at sched.Time, format string, args ...any) {
	seen := 0
	for i := range e.Violations {
		if e.Violations[i].Rule == r {
			seen++
		}
	}
	if seen == perRule {
		e.Omitted++
		return
	}
	e.Violations = append(e.Violations, Violation{Rule: r, Job: j, At: at, Detail: fmt.Sprintf(format, args...)})
}
