"""List scheduling without any package: FIFO or shortest job first, strict or skipping.

    python3 lists.py fifo|sjf strict|skip

lists.c, lists.js and lists.rs are the same program.
"""

import json
import sys

order, blocking = sys.argv[1:3]
free, waiting = [], []  # GPUs by server; (key, number, GPUs), in the order in which jobs are served

for line in sys.stdin:
    question = json.loads(line)
    if "hello" in question:
        free = [0] * len(question["hello"]["servers"])
        answer = {"hello": {"name": f"{order}-{blocking}", "class": "N", "place": "pool"}}
    elif "now" in question:
        for server, gpus in question["free"]:
            free[server] = gpus
        for job in question["arrived"]:
            waiting.append((job["duration"] if order == "sjf" else 0, job["job"], job["gpus"]))
        waiting.sort()
        idle, start, left = sum(free), [], []
        for key, number, gpus in waiting:
            if gpus <= idle and not (left and blocking == "strict"):
                idle -= gpus
                start.append([number])
            else:
                left.append((key, number, gpus))
        waiting = left
        answer = {"start": start}
    else:
        break  # the end
    print(json.dumps(answer), flush=True)
