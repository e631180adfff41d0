"""A scheduler written for another simulator, Batsim, as a policy.

A scheduler of Batsim's Python binding is a class with event handlers that say which
resources each job gets, through `self.bs`. `BatsimPolicy` is a `bs`: it turns questions
into events and executed jobs into starts. Resources are the GPUs of all servers in a row.

`Filler` stands for a scheduler of yours: it knows nothing of this package. Give the class
that you have to `BatsimPolicy` in its place. What is not adapted: pausing and killing
jobs, job profiles, and energy.
"""

import types

import yardstick


class Filler:
    """A scheduler as Batsim's binding has them: starts every job that fits, in order of submission."""

    def onAfterBatsimInit(self):
        self.available = set(range(self.bs.nb_compute_resources))
        self.open = []

    def onJobSubmission(self, job):
        self.open.append(job)

    def onJobCompletion(self, job):
        self.available |= set(job.allocation)

    def onNoMoreEvents(self):
        starting = []
        for job in list(self.open):
            if job.requested_resources <= len(self.available):
                job.allocation = sorted(self.available)[: job.requested_resources]
                self.available -= set(job.allocation)
                self.open.remove(job)
                starting.append(job)
        self.bs.execute_jobs(starting)


class BatsimPolicy(yardstick.Policy):
    """A scheduler of Batsim's binding as a policy."""

    scheduler = Filler

    def begin(self, hello):
        self.server_of = [s for s, gpus in enumerate(hello.servers) for _ in range(gpus)]
        self.nb_compute_resources = len(self.server_of)
        self.jobs = {}
        self.view = None
        self.inner = self.scheduler()
        self.inner.bs = self
        self.tell("onAfterBatsimInit")
        self.tell("onSimulationBegins")

    def decide(self, view):
        self.view, self.starting, self.wake = view, [], None
        for job in view.completed:
            self.tell("onJobCompletion", self.jobs.pop(job.job))
        for job in view.arrived:
            self.jobs[job.job] = types.SimpleNamespace(
                id=f"w0!{job.job}", number=job.job, submit_time=job.release / 1e6, requested_resources=job.gpus,
                requested_time=None if job.duration is None else job.duration / 1e6, allocation=None,
            )  # fmt: skip
            self.tell("onJobSubmission", self.jobs[job.job])
        if view.wake:
            self.tell("onRequestedCall")
        self.tell("onNoMoreEvents")
        return yardstick.Decision(self.starting, wake=self.wake)

    def tell(self, event, *about):
        handler = getattr(self.inner, event, None)
        if handler:
            handler(*about)

    # What schedulers call.

    def time(self):
        return self.view.now / 1e6

    def consume_time(self, seconds):
        """Decisions take no time here."""

    def wake_me_up_at(self, seconds):
        self.wake = max(round(seconds * 1e6), self.view.now + 1)

    def execute_jobs(self, jobs):
        for job in jobs:
            on = [self.server_of[r] for r in job.allocation]
            parts = [[s, on.count(s)] for s in sorted(set(on))]
            self.starting.append(yardstick.Start(job.number, parts))


if __name__ == "__main__":
    yardstick.serve(BatsimPolicy)
