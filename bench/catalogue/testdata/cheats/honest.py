"""First come first served, with a place for a cheat. What a cheat gets away with, it gives up with, so that its run fails."""

import json
import sys


def write(line):
    sys.stdout.write(line if isinstance(line, str) else json.dumps(line) + "\n")
    sys.stdout.flush()


def caught(text):
    """Says that the cheat works."""
    write({"error": "IT WORKS: " + text})
    sys.exit(1)


def denied(what, do):
    """Does what must not be possible."""
    try:
        got = do()
    except Exception:
        return
    caught(f"{what}: {got!r}"[:200])


def play(cheat=lambda question, honest: honest, hello=None, greet=None, before=None):
    """Plays: cheat(question, honest answer) returns what is said in its place, an object or a line as it is."""
    for line in sys.stdin:
        question = json.loads(line)
        if "hello" in question:
            free, waiting, running = {}, [], []
            write(greet if greet is not None else {"hello": {"name": "cheat", "class": "N", **(hello or {})}})
        elif "now" in question:
            for server, gpus in question["free"]:
                free[server] = gpus
            waiting += question["arrived"]
            left, start = sum(n for n in free.values() if not isinstance(n, list)), []
            while waiting and waiting[0]["gpus"] <= left:
                left -= waiting[0]["gpus"]
                start.append([waiting.pop(0)["job"]])
            if before:
                before, run = None, before
                run()
            write(cheat(question, {"start": start}))
