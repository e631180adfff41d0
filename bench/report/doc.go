// Package report prints what a run found, from its records alone: a table per
// family of instances and objective with one row per method and denominator,
// the same per instance, and what failed, as terminal table, Markdown, LaTeX,
// CSV or JSON. All formats print one structure, [Report], computed once.
//
// Rules. A ratio names its denominator and the number of instances it was
// taken over. Ratios to a proven optimum and ratios to a lower bound are never
// mixed in one number; the latter are at least the true ratios and are printed
// with ≤. Without a proven denominator there is no ratio, only a cost. A
// method without a schedule counts as an instance not solved.
package report
