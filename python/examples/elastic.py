"""Elastic jobs in order of release: each on the fastest configuration that one server has room for."""

import yardstick


class OneServer(yardstick.Policy):
    execution_class = "E"
    wants = ("profiles",)  # so that jobs say how long they take on what

    def begin(self, hello):
        self.elastic = hello.message["elastic"]

    def takes(self, job, worker, server, workers):
        """What a configuration on one server takes of each resource."""
        extra = self.elastic["servers"][server] if not job.elastic["ring"] else [0] * len(self.elastic["resources"])
        return [workers * w + s for w, s in zip(self.elastic["workers"][worker], extra)]

    def decide(self, view):
        start, free = [], [list(amounts) for amounts in view.amounts]
        for job in view.waiting:
            # sorted by slots: the first that fits is the fastest
            options = sorted((c for c in job.elastic["configurations"] if c[2]), key=lambda c: (c[4], c[3]))
            fitting = ((h, c) for c in options for h in range(len(free)) if all(n <= f for n, f in zip(self.takes(job, c[0], c[1], c[3]), free[h])))
            h, (worker, server, _, workers, _) = next(fitting, (None, [None] * 5))
            if h is None:
                break
            free[h] = [f - n for n, f in zip(self.takes(job, worker, server, workers), free[h])]
            start.append(yardstick.Start(job, [[h, [workers, 0 if job.elastic["ring"] else 1]]], types=(worker, server)))
        return yardstick.Decision(start)


if __name__ == "__main__":
    yardstick.serve(OneServer)
