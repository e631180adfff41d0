"""Shortest remaining time first: a preemptive policy, told what is done of every job.

    bench simulate instance.json --policy-command "python3 srpt.py" -p predictor=perfect

Jobs are ranked by what is left of them; those that fit, in this order, are to run. A job
that is not among them is preempted if its GPUs are needed; those that it makes room for
start when it has left.
"""

import yardstick


class ShortestRemaining(yardstick.Policy):
    execution_class = "P"
    wants = ("progress",)

    def begin(self, hello):
        self.leaving = set()  # preempted jobs that still hold GPUs

    def decide(self, view):
        self.leaving &= view.running.keys()
        gpus = sum(view.hello.servers)
        chosen = set()
        for job in sorted([*view.running.values(), *view.waiting], key=lambda job: (self.left(view, job), job.job)):
            if job.gpus <= gpus and job.job not in self.leaving:
                gpus -= job.gpus
                chosen.add(job.job)
        start = [job for job in view.waiting if job.job in chosen and view.take(job)]
        if len(start) == len(chosen - view.running.keys()):
            return yardstick.Decision(start)  # there is room for all: preempt nobody
        preempt = [j for j in view.running if j not in chosen and j not in self.leaving]
        self.leaving.update(preempt)
        return yardstick.Decision(start, preempt=preempt)

    def left(self, view, job):
        """The time that the job still trains, in microseconds."""
        return job.duration * (1 - view.progress.get(job.job, 0) / job.predicted) if job.predicted else 0


if __name__ == "__main__":
    yardstick.serve(ShortestRemaining)
