"""Measurements on a device. Every function imports torch when it is called."""

import os
import queue
import statistics
import tempfile
import time

import models
import timing


class Clock:
    """Times parts of a run on a device: events on a GPU, the system's clock on a CPU."""

    def __init__(self, device):
        import torch

        self.cuda = torch.device(device).type == "cuda"
        self.torch = torch

    def mark(self):
        if not self.cuda:
            return time.perf_counter_ns()
        event = self.torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def between(self, a, b):
        """Return the nanoseconds from mark a to mark b, waiting for both."""
        if not self.cuda:
            return b - a
        b.synchronize()
        return a.elapsed_time(b) * 1e6

    def wait(self):
        if self.cuda:
            self.torch.cuda.synchronize()


def leaves(tensors):
    """Return the tensors cut off from what made them, ready to take gradients."""
    return tuple(t.detach().requires_grad_(t.is_floating_point()) for t in tensors)


def size(tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


def stored(module, inputs):
    """Return the bytes that a forward pass keeps for the backward pass, weights aside."""
    import torch

    owned = {t.untyped_storage().data_ptr() for t in [*module.parameters(), *module.buffers()]}
    kept = {}

    def pack(t):
        storage = t.untyped_storage()
        if storage.data_ptr() not in owned:
            kept[storage.data_ptr()] = storage.nbytes()
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        outputs = module(*inputs)
    total = sum(kept.values())
    del outputs
    return total


def measure_layer(module, inputs, clock, repeats):
    """Return the row of one layer and its outputs, as inputs of the next."""
    import torch

    def once():
        for t in [*module.parameters(), *inputs]:
            t.grad = None
        begin = clock.mark()
        outputs = module(*inputs)
        middle = clock.mark()
        through = [o for o in outputs if o.requires_grad]
        torch.autograd.backward(through, [torch.ones_like(o) for o in through])
        end = clock.mark()
        return clock.between(begin, middle), clock.between(middle, end)

    kept = stored(module, inputs)
    forward, backward = timing.repeat(once, **repeats)
    with torch.no_grad():
        outputs = module(*inputs)
    row = {
        "forward_ns": forward.median, "backward_ns": backward.median, "activation_bytes": size(outputs),
        "parameter_bytes": size(module.parameters()), "stored_bytes": kept,
    }
    return row, leaves(outputs)


def measure_model(model, limit, device, dtype, repeats, say=lambda text: None):
    """Return the rows of all layers of a model, in order.

    Layers are made, timed and dropped one at a time. limit: of each kind at most
    so many are timed, the others take the medians of their kind; 0 is no limit.
    """
    clock = Clock(device)
    measured, rows = {}, []
    inputs = leaves(model.inputs(device, dtype))
    for layer in model.layers:
        same = measured.setdefault(layer.kind, [])
        if limit and len(same) >= limit:
            rows.append(None)
            continue
        module = layer.build().to(device=device, dtype=dtype).train()
        row, inputs = measure_layer(module, inputs, clock, repeats)
        del module
        same.append(row)
        rows.append(row)
        say(f"{model.name} {layer.name}: forward {row['forward_ns'] / 1e6:.3f} ms, backward {row['backward_ns'] / 1e6:.3f} ms")
    out = []
    for layer, row in zip(model.layers, rows):
        if row is None:
            same = measured[layer.kind]
            row = {key: statistics.median(r[key] for r in same) for key in same[0]}
        out.append({"name": layer.name, **row})
    return out


class Training:
    """A training job on one device: the whole model, or three layers of each kind of a large one."""

    def __init__(self, name, batch, tiny, device, dtype):
        import torch

        model = models.build(name, batch, tiny)
        if name in models.LARGE:
            model = model.truncated(3)
        self.batch = model.batch
        self.chain = torch.nn.ModuleList(layer.build() for layer in model.layers).to(device=device, dtype=dtype).train()
        self.inputs = model.inputs(device, dtype)
        self.optimizer = torch.optim.Adam(self.chain.parameters(), lr=1e-6, eps=1e-3)
        self.clock = Clock(device)

    def step(self):
        """Run one iteration to its end and return when it began and ended."""
        begin = time.perf_counter_ns()
        x = self.inputs
        for module in self.chain:
            x = module(*x)
        x[0].float().mean().backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.clock.wait()
        return begin, time.perf_counter_ns()


LEAST = 5  # iterations that every job must do beside the others


def worker(job, seconds, shared, results, index):
    """Train in a process of its own beside others; put (index, batch, steps, error).

    shared: a barrier, how many jobs have begun, how many have done enough, and
    how many there are. A job has done enough after so many seconds and LEAST
    iterations with all others at work, and goes on until all have.
    """
    barrier, begun, enough, jobs = shared
    try:
        import torch

        name, batch, tiny, device, dtype = job
        training = Training(name, batch, tiny, device, getattr(torch, dtype))
        for _ in range(3):
            training.step()
        barrier.wait(timeout=300)
        count(begun)
        steps, together, counted = [], [], False
        while enough.value < jobs:
            all_at_work = begun.value == jobs
            steps.append(training.step())
            if all_at_work:
                together.append(steps[-1])
            if not counted and len(together) >= LEAST and together[-1][1] - together[0][0] >= seconds * 1e9:
                counted = True
                count(enough)
        results.put((index, training.batch, steps, None))
    except Exception as problem:  # out of memory, most of the time: the other worker must not wait
        barrier.abort()
        count(enough, jobs)
        results.put((index, 0, [], f"{type(problem).__name__}: {problem}"))


def count(shared, by=1):
    with shared.get_lock():
        shared.value += by


def train_together(jobs, seconds):
    """Train jobs on one device at the same time.

    Returns per job its batch and the times of the iterations that ran while all
    others ran too, at least LEAST. Raises RuntimeError if one fails.
    """
    import torch.multiprocessing as mp

    context = mp.get_context("spawn")
    shared = (context.Barrier(len(jobs)), context.Value("i", 0), context.Value("i", 0), len(jobs))
    results = context.Queue()
    processes = [context.Process(target=worker, args=(job, seconds, shared, results, i)) for i, job in enumerate(jobs)]
    for p in processes:
        p.start()
    try:
        answers = sorted(results.get(timeout=600 + 10 * seconds) for _ in processes)
    except queue.Empty:
        raise RuntimeError("a job did not answer in time: the system may have ended it") from None
    finally:
        for p in processes:
            p.join(timeout=60)
            if p.is_alive():
                p.terminate()
    for index, _, _, error in answers:
        if error and "BrokenBarrierError" not in error:
            raise RuntimeError(f"{jobs[index][0]}: {error}")
    if any(error for *_, error in answers):
        raise RuntimeError("the jobs did not start together")
    start = max(steps[0][0] for _, _, steps, _ in answers)
    end = min(steps[-1][1] for _, _, steps, _ in answers)
    out = [(batch, timing.overlapping(steps, start, end)) for _, batch, steps, _ in answers]
    if not all(times for _, times in out):
        raise RuntimeError("no iteration ran beside the other job")
    return out


def interference(pairs, job, seconds, say=lambda text: None):
    """Return the rows of the interference table for pairs of models.

    job(name) is the job of a model, as worker takes it. A pair that does not
    fit the GPU is left out, with a line that says so.
    """
    alone, rows = {}, []
    for a, b in pairs:
        try:
            for name in (a, b):
                if name not in alone:
                    alone[name] = timing.Summary(train_together([job(name)], seconds)[0][1]).median
            both = train_together([job(a), job(b)], seconds)
        except RuntimeError as problem:
            say(f"left out: {a} beside {b}: {problem}")
            continue
        for (name, other), (batch, times), (other_batch, _) in zip(((a, b), (b, a)), both, reversed(both)):
            shared = timing.Summary(times).median
            rows.append({
                "model": name, "batch": batch, "beside": other, "beside_batch": other_batch, "alone_ns": alone[name],
                "shared_ns": shared, "xi": timing.slowdown(alone[name], shared), "iterations": len(times)})
            say(f"{name} beside {other}: xi {rows[-1]['xi']:.3f}")
            if a == b:
                break  # one row says it
    return rows


def storage(name, tiny, device, dtype, folder, repeats):
    """Return the row of one model: how long a checkpoint takes to save and to load."""
    import torch

    training = Training(name, 0, tiny, device, dtype)
    training.step()
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        path = os.path.join(scratch, "checkpoint")

        def once():
            begin = time.perf_counter_ns()
            with open(path, "wb") as f:
                torch.save({"model": training.chain.state_dict(), "optimizer": training.optimizer.state_dict()}, f)
                f.flush()
                os.fsync(f.fileno())
            saved = time.perf_counter_ns()
            forget(path)
            middle = time.perf_counter_ns()
            state = torch.load(path, map_location=device, weights_only=True)
            training.chain.load_state_dict(state["model"])
            training.optimizer.load_state_dict(state["optimizer"])
            training.clock.wait()
            return saved - begin, time.perf_counter_ns() - middle

        save, load = timing.repeat(once, **repeats)
        checkpoint = os.path.getsize(path)
    return {"model": name, "checkpoint_bytes": checkpoint, "save_ns": save.median, "load_ns": load.median, "repeats": save.count}


def forget(path):
    """Ask the system to drop a file from its cache, so that loading reads the storage."""
    if not hasattr(os, "posix_fadvise"):
        return
    fd = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)
