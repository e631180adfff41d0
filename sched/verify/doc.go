// Package verify decides whether a schedule is one: it checks every rule of
// the schedule's execution class against the instance and recomputes what the
// schedule costs.
//
// It is written from the definition of the model, in integers and rationals,
// and shares no code with what makes schedules: of package sched it uses the
// types, and Instance.Validate for the assumptions on the data. Only [Check]
// makes a [Verified], so a cost taken from one is the cost of a schedule that
// exists.
//
// # Rules
//
// Intervals are half-open: a job may start on a GPU when another leaves it.
//
//	class             the class belongs to the model (table below); a slotted one needs a slot length
//	job               every segment is one of a job of the instance
//	segment           0 ≤ start < end ≤ sched.MaxTime, and the phase is load, train or pause
//	missing           every job is scheduled, unless the instance has a deadline
//	release           no segment starts before its job's release
//	overlap           a job's segments do not overlap
//	placement         servers exist, ascend and hold the GPUs; the GPUs of the stages' replicas, each whole on one
//	                  server, add up to them
//	gang              each stage has all its replicas; in class M the GPUs are one of the job's sizes
//	device            devices exist and ascend, one per GPU, and no two jobs of an exclusive class hold one
//	                  at a time; on each server all segments name their devices or none does; in class S all do
//	config            only what the model lets a scheduler choose is chosen, and from what the job offers
//	placement-change  within a bout everything stays where it is
//	preemption        in classes N, S and E a job has one bout
//	grammar           bout = load(l) train [pause(p)]; the pause of exactly p ends every bout but the last, which ends
//	                  in training; a load cut short (or not used) is a bout of its own, never the last
//	slot              in slotted classes bouts start, are preempted and complete at slot boundaries
//	workers           an elastic job has between 1 and D_j workers (2g)
//	parameter-servers an elastic job has at least one parameter server (2e), and none in a ring
//	bandwidth         the parameter servers on each server that has some take the gradients of all workers elsewhere (2i)
//	capacity          on each server the jobs of an exclusive class never hold more GPUs than there are, and the
//	                  containers of elastic jobs never take more of any resource than there is (2h)
//	share-limit       in class S at most two jobs hold a GPU
//	memory            the jobs that hold a GPU of the sharing model fit its memory together; in class M, the size does
//	progress          training performs all iterations or mini-batches (2f); nothing is rounded and no shortfall accepted
//
// A bout is a stretch in which a job holds one placement without a gap and
// without a new load. Loads and pauses of length zero are simply absent. A
// load segment always begins a bout; training may be split into any number of
// segments. A rule is checked where what it rests on holds: a job that is
// malformed is left out of the capacity of the servers, say.
//
//	model       legal classes, each with or without slots
//	gang        N
//	preemptive  N P
//	sharing     N P S M
//	elastic     E EP    with slots only
//
// The relaxations (P0, SP0, the fluid classes) have bounds but no schedules.
//
// # Malleable jobs
//
// In class M a bout holds exclusive GPUs, of any number that the job lists among
// its sizes, and makes train/iter iterations at that size's time. Bouts load and
// pause as in class P, whether a stop is a preemption or a change of size. The
// accumulation options play no part: each size has one time and one memory.
//
// # Elastic jobs
//
// The numbers (2b) to (2j) are those of the constraints of the primal-dual
// paper's problem (2). A bout is a window of slots in which the job keeps its
// containers. Every server with parameter servers has enough of them, by
// itself, for all workers elsewhere, and co-located containers take their
// bandwidth all the same: (2h) and (2i) as written. A job has one worker type
// and one parameter-server type (2b, 2c), and q_j is 1 iff exactly one server
// hosts any of its containers (2d); with neither a load nor a pause, class E is
// problem (2). In class EP a job may go on with other containers in another
// window, and the mini-batches of its windows add up. A first start never
// loads; every later one does, for Job.Load, and every stop pauses for
// Job.Pause. The paper has no such overheads.
//
// Share.GPUs is what the containers take of the resource named gpu.
//
// # Progress
//
// Without sharing, an iteration takes alpha seconds on a placement (see
// speed.go for the formula) and each bout makes train/alpha iterations, each
// at its own placement. In class S an iteration takes iter·xi seconds, where
// iter belongs to the job's accumulation option and xi is the largest
// interference of a job that holds one of its GPUs at that instant, in
// whatever phase, and at least 1. The interference table's float64s are taken
// as the exact dyadic rationals they are. Work beyond the iterations needed is
// legal, and completion is the end of the last training segment: a schedule
// may be slack, and then it costs more.
//
// # Slots
//
// Slot k is [k·slot, (k+1)·slot). A slotted schedule decides at boundaries, and
// a job leaves at the end of the slot in which its work is done. So a slotted
// schedule is one of the continuous class as it stands, and where jobs share,
// rates are constant during a slot.
package verify
