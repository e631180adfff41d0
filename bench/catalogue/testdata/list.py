"""First come first served or shortest job first, strict or skipping: python3 list.py fifo|sjf strict|skip."""

import json
import sys
from heapq import heappop, heappush

by_length, skip = sys.argv[1] == "sjf", sys.argv[2] == "skip"


def say(message):
    sys.stdout.write(json.dumps(message, separators=(",", ":")) + "\n")
    sys.stdout.flush()


for line in sys.stdin:
    question = json.loads(line)
    if "now" in question:
        for server, gpus in question["free"]:
            total += gpus - free[server]
            free[server] = gpus
        for job in question["arrived"]:
            # Strict: one queue. Skipping: one per gang, of which the first job alone counts.
            queue = queues.setdefault(job["gpus"] if skip else 0, [])
            heappush(queue, (job["duration"] if by_length else job["release"], job["job"], job["gpus"]))
        start, left = [], total
        while heads := [queue for queue in queues.values() if queue and queue[0][2] <= left]:
            _, job, gpus = heappop(min(heads))
            start.append([job])
            left -= gpus
        say({"start": start})
    elif "hello" in question:
        free = [0] * len(question["hello"]["servers"])
        total, queues = 0, {}
        say({"hello": {"name": " ".join(sys.argv[1:]), "class": "N", "again": True}})
