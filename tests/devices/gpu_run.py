"""What is measured on a GPU. `gpu_run.sh` runs the phases, each in a process; DEVICE=cpu rehearses them in small.

Each result or error is a line of $OUT/results.jsonl as soon as it is known. Times are milliseconds.
"""

import functools
import importlib.util
import json
import os
import runpy
import sys
import time
from contextlib import nullcontext
from itertools import cycle, product
from pathlib import Path

import torch
from launches import PAD, TASKS, bleu, chrf, draw_ids, rouge_l
from real_devices import METRICS, assert_near, capture, move, no_waiting, ragged_ids
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.benchmark import Timer

from ngram_metrics import Bleu, ChrF, mbr
from ngram_metrics.counting import clipped_matches, common_subsequence_lengths

OUT = Path(os.environ["OUT"])
HERE = torch.empty(0, device=os.environ["DEVICE"]).device
REAL = HERE.type == "cuda"
END = time.monotonic() + float(os.environ["LIMIT"]) - 8
wait = torch.cuda.synchronize if REAL else lambda: None


def attempt(name, step, *arguments):
    """Do a step while there is time, and write down its result or its error."""
    line = {"phase": sys.argv[1], "name": name, "ok": None}
    begin = time.monotonic()
    if begin < END:
        try:
            line |= {"result": step(*arguments), "ok": True}
        except Exception as error:
            line |= {"ok": False, "error": f"{type(error).__name__}: {error}"[:1500]}
    text = json.dumps(line | {"s": round(time.monotonic() - begin, 3)}, default=str)
    print(text[:600], flush=True)
    with (OUT / "results.jsonl").open("a") as file:
        file.write(text + "\n")


def in_small(*sizes):
    """The sizes, on a CPU no more than a few of each."""
    return sizes if REAL else tuple(min(size, 9) for size in sizes)


def compare(call, *batch):
    expected = call(*batch)
    there = move(HERE, batch)
    with no_waiting(HERE):
        found = call(*there)
    assert_near(found, expected, HERE)


def compare_updates(name, dtype):
    """Compare the states and the score of a metric after two batches."""
    here, there = (METRICS[name](pad_id=0, average="macro", device=device) for device in ("cpu", HERE))
    for seed in range(2):
        batch = [ragged_ids(seed, 64, 31).to(dtype), ragged_ids(seed + 9, 64, 4, 40).to(dtype)]
        here.update(*batch)
        there.update(*move(HERE, batch))
    assert_near([there.row, there.compute()], [here.row, here.compute()], HERE, 1e-12)


def compare_pairs(name, precision, *sides):
    """Compare the scores of all pairs; counts are exact in TF32 too."""
    torch.set_float32_matmul_precision(precision)
    here, there = (METRICS[name](pad_id=0, device=device) for device in ("cpu", HERE))
    assert_near(mbr.pairwise(there, *move(HERE, sides)), mbr.pairwise(here, *sides), HERE, 1e-12)


def correct():
    """Compare with the CPU, which counts with other code: large batches, all types of ids, TF32, determinism."""
    sizes = [(1, 1, 4, 4096), (1, 4096, 1, 4096), (2, 4096, 4, 1000), (7, 5, 14, 3), (257, 65, 4, 64)]
    sizes += [(4096, 130, 1, 129), (512, 1024, 4, 1024), (65536, 24, 1, 25), (65536, 16, 4, 17)]
    for size, (order, words, shift) in product(sizes, ((4, 40, 0), (9, 3, 2**62), (1, 50_000, 0))):
        rows, width, count, other = in_small(*size)
        draw = functools.partial(ragged_ids, words=words, shift=shift)
        batch = draw(1, rows, width), draw(2, rows, count, other)
        attempt(f"matches {size}, {order}", compare, functools.partial(clipped_matches, ngram=order, pad_id=0), *batch)
        if count == 1:
            attempt(f"subsequences {size}", compare, functools.partial(common_subsequence_lengths, pad_id=0), *batch)
    for name in ("int8", "int16", "int32", "uint8", "uint16", "uint32"):
        attempt(f"ids of {name}", compare_updates, "Bleu", getattr(torch, name))
    one = ragged_ids(4, 3, *in_small(600, 24))
    other = ragged_ids(5, 3, *in_small(300, 30))
    for name, precision, sides in product(("Bleu", "ChrF"), ("medium", "highest"), ((one, other), (one, one))):
        attempt(f"pairs {name} {precision} {tuple(sides[1].shape)}", compare_pairs, name, precision, *sides)
    torch.use_deterministic_algorithms(True)
    for name in ("Bleu", "ChrF", "NgramOverlap"):
        attempt(f"deterministic {name}", compare_updates, name, torch.int64)
    attempt("deterministic pairs", compare_pairs, "ChrF", "highest", one, other)


def profile(call):
    """Return the kernels of a third call, their microseconds, and the slowest of them."""
    for context in (nullcontext, nullcontext, torch.profiler.profile):
        with context() as profiler:
            call()
            wait()
    times = {}
    for event in profiler.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            times.setdefault(event.name[:70], []).append(event.time_range.elapsed_us())
    slowest = sorted(((round(sum(each)), len(each), name) for name, each in times.items()), reverse=True)
    launched = sum(count for _, count, name in slowest if not name.startswith("Mem"))
    return {"kernels": launched, "us": sum(us for us, _, _ in slowest), "slowest": slowest[:5]}


def kernels():
    """Profile what `launches.py` counts."""
    for task in TASKS:
        attempt(f"{task.name} {task.length} {task.references}", profile, task.prepare(256 if REAL else 2, HERE))


def milliseconds(call, batches, after=wait):
    """Return the median time of a call; batches take turns, so that no call sees the one before."""
    names = {"call": call, "turns": cycle(batches), "after": after}
    timer = Timer("call(*next(turns)); after()", globals=names, num_threads=torch.get_num_threads())
    return (timer.blocked_autorange(min_run_time=1) if REAL else timer.timeit(2)).median * 1e3


def measure(call, batches):
    """Return milliseconds, and on a GPU the peak of memory in bytes an id."""
    if not REAL:
        return {"ms": milliseconds(call, batches)}
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    took = milliseconds(call, batches)
    ids = sum(side.numel() for side in batches[0])
    return {"ms": took, "bytes an id": (torch.cuda.max_memory_allocated() - before) / ids}


def measure_way(make, call, batches):
    """Check the scores of a call that is made in another way, and time it."""
    made = make(call)
    for batch in batches:
        assert_near(made(*batch).clone(), call(*batch), HERE, 1e-12)
    return milliseconds(made, batches)


def graphs():
    """Time a call compiled, captured and both, beside the one sort that no exact count can do without."""
    batches = [draw_ids(seed, *in_small(256, 256), 1, HERE) for seed in range(3)]
    rows = [(torch.cat((preds, target.flatten(1)), 1),) for preds, target in batches]
    attempt("sort", milliseconds, lambda ids: torch.sort(ids, 1).values, rows)
    compiled = functools.partial(torch.compile, dynamic=False, backend="inductor" if REAL else "eager")
    ways = {
        "plain": lambda call: call,
        "compiled": functools.partial(compiled, fullgraph=True),
        # Where Dynamo cannot trace how input is read, as in torch 2.11.
        "traced, compiled": lambda call: compiled(make_fx(call)(*batches[0])),
    }
    if REAL:
        ways |= {
            f"{way}, captured": lambda call, make=make: capture(make(call), batches[0]) for way, make in ways.items()
        }
    for (name, call), way in product({"bleu": bleu, "rougeL": rouge_l, "chrf": chrf}.items(), ways):
        if name != "rougeL" or "compiled" not in way:  # each id is a step, and so many take minutes to compile
            torch._dynamo.reset()
            attempt(f"{name}, {way}", measure_way, ways[way], call, batches)


def tensorbleu():
    """Return TensorBLEU's score of each segment, from its file alone: the rest of rxlm needs much more than torch."""
    folder = importlib.util.find_spec("rxlm").submodule_search_locations[0]
    module = runpy.run_path(os.path.join(folder, "metrics", "tensorbleu.py"))
    return functools.partial(module["tensor_sentence_bleu"], pad_token_id=PAD, smoothing_method="floor")


def speed():
    """Time ours and TensorBLEU where the ids are, and BLEU on the CPU; the floor is a copy, of 16 bytes an id."""
    attempt(
        "copy of 1 GiB", measure, torch.clone, [(torch.ones(2**27 if REAL else 9, dtype=torch.int64, device=HERE),)]
    )
    calls = {"update": Bleu(pad_id=PAD, device=HERE).update, "bleu": bleu, "chrf": chrf, "rougeL": rouge_l}
    if importlib.util.find_spec("rxlm"):
        calls["TensorBLEU"] = tensorbleu()
    for (rows, width), count in product(((32, 64), (256, 256), (4096, 64), (65536, 64)), (1, 4)):
        batches = [draw_ids(seed, *in_small(rows, width), count, HERE) for seed in range(2)]
        for name, call in calls.items():
            if name != "TensorBLEU" or rows <= 4096:  # its memory grows with the square of the rows
                attempt(f"{name} {rows}x{width},{count}", measure, call, batches)
        attempt(f"CPU bleu {rows}x{width},{count}", milliseconds, bleu, move("cpu", batches[:1]))
    hypotheses, references = draw_ids(0, *in_small(1024, 256), 1, HERE)
    pairs = functools.partial(mbr.pairwise, ChrF(pad_id=PAD, device=HERE))
    attempt("all pairs of 1024", measure, pairs, [(hypotheses.unsqueeze(0), references.transpose(0, 1))])


def step_time(*metrics):
    """Return the time of a training step in a loop that does not wait for the device."""
    net = torch.nn.Sequential(torch.nn.Embedding(1000, 256), torch.nn.Linear(256, 1000)).to(HERE)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)

    def step(batch):
        logits = net(batch)
        for metric in metrics:
            metric.update(logits.argmax(-1), batch)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch.flatten()).backward()
        optimizer.step()

    batches = [(ragged_ids(seed, 32, 64, words=999).clamp(min=0).to(HERE),) for seed in range(8)]
    return milliseconds(step, batches, after=lambda: None)


def loops():
    """Time the steps of a small model, without metrics and with two."""
    for turn in range(3 if REAL else 1):
        attempt(f"no metrics, {turn}", step_time)
        attempt(f"two metrics, {turn}", step_time, *(metric(pad_id=0, device=HERE) for metric in (Bleu, ChrF)))


if __name__ == "__main__":
    phases = (correct, kernels, graphs, speed, loops)
    {phase.__name__: phase for phase in phases}[sys.argv[1]]()
