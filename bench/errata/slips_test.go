package errata

// Slip is a misprint whose meaning is clear.
type Slip struct {
	Passage
	Read string // how to read it
}

// Slips returns the misprints and omissions of the papers whose meaning is clear.
func Slips() []Slip {
	var list []Slip
	for _, s := range []struct{ paper, where, quote, read string }{
		{asrptPaper, "Algorithm 1, lines 24 and 25", "else t ← t + 1",
			"As printed this belongs to line 5, so that time stands still while the queue is empty; time goes on to the next event whenever nothing can start."},
		{asrptPaper, "Algorithm 1, line 8; Section IV-C", "If this ratio exceeds COMM_HEAVY (1.5 in our experiments), the job is communication-heavy",
			"Line 8 has ≥; so have we."},
		{asrptPaper, "Algorithm 1, line 16", "for t ∈ {t + 1, …",
			"The loop variable shadows the time. Other jobs complete on the virtual machine meanwhile, and queue."},
		{asrptPaper, "Appendix C, Eq. (14)", "as AUX[1] chooses i_aux rather than i_pred, we have",
			"SRPT compares remaining sizes and not whole ones. Eq. (15) follows without it: see theorems.md, Lemma 3."},
		{primalDualPaper, "Eq. (7b); Section 4.1", "Note that τ_0 = 1 implies the assumption that no job can complete within the first time slot.",
			"Slots count from 1 and jobs take at least one, so that the last of τ slots stays unused; we count slots from 0 and use all of them."},
		{primalDualPaper, "Section 5.1", "satisfying constraints (7b)(2b)(2c)(2f)(2i)(2k)(2n)",
			"Add (2d), (2e) and (2g), which problem (7) has."},
		{primalDualPaper, "Section 5.2, before Algorithm 4", "Note that constraint (13d) is satisfied naturally, since the RHS of (13d) is zero.",
			"For q = 1."},
		{primalDualPaper, "Theorem 6, Section 6.4", "Algorithm 6 and Algorithm 7 producess optimal solution of problem (16) in two cases",
			"Problem (21), the cost of one job's schedule; (16) is the batch."},
		{primalDualPaper, "Algorithm 7, line 11", "ω^r_k(t)", "ω^r_h(t)."},
		{sharingPaper, "Eq. (10)", "y_jg[τ] = y_gs[τ − 1]", "y_jg[τ] = y_jg[τ − 1]."},
		{sharingPaper, "Eq. (13)", "argmin_{τ ∈ 𝒯} Σ_{j ∈ 𝒥[τ]} 1/t_iter^j ≥ I_k",
			"The completion of a job is the first time by which it has made I iterations: the integral of its rate."},
		{sharingPaper, "Algorithm 1; Section V-B.1", "This size-based heuristic strategies determine the job priority according to their used GPU numbers.",
			"Line 1 sorts by the expected remaining time; so do we."},
		{sharingPaper, "Algorithm 1, input", "𝒢_OJ denotes the GPU set occupied by at least one job", "By exactly one job, as line 5 has it."},
		{sharingPaper, "Section V-B.1", "the batch size of the new job for gradient accumulation that not only exceeds the GPU memory size but also achieves the shortest JCT",
			"That does not exceed it."},
		{sharingPaper, "Algorithm 2, lines 8 and 13", "13: return", "Line 8 assigns t_share, and line 13 comes after the loop."},
	} {
		list = append(list, Slip{Passage: Passage{s.paper, s.where, s.quote}, Read: s.read})
	}
	return list
}
