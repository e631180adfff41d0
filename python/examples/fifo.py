"""First in, first out: the first waiting job that does not fit holds up all others.

    bench simulate jobs.csv --gpus 64 --policy-command "python3 fifo.py"
"""

import yardstick


class Fifo(yardstick.Policy):
    def decide(self, view):
        start = []
        for job in view.waiting:  # in order of release
            if not view.take(job):  # holds free GPUs for it
                break
            start.append(job)
        return yardstick.Decision(start)


if __name__ == "__main__":
    yardstick.serve(Fifo)
