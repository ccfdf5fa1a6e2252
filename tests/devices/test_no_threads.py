"""Metrics are counted and compared in the thread that calls: where the cores are busy, every other one is waited for.

OpenMP makes its threads at the first operation that needs them, BLAS when it is imported. So in a process of its own,
told to use two, no other thread runs during a call: Linux counts how often each thread has been put on a core.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

_PROBE = """
import json, os, random, sys, time, torch, tqdm
from pathlib import Path
import numpy
from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore, evaluate, mbr
from ngram_metrics.functional import aggregate_chrf, pairwise_chrf

torch.set_num_threads(2)
tqdm.tqdm.monitor_interval = 0  # or its own thread watches the bars of evaluate
chance, generator = random.Random(1), torch.Generator().manual_seed(1)
metrics = {
    "Bleu": (Bleu, {}), "smoothed": (Bleu, {"smooth": "exp", "average": "none"}), "ROUGEScore": (ROUGEScore, {}),
    "avg": (ROUGEScore, {"accumulate": "avg"}), "ChrF": (ChrF, {"average": "macro"}),
    "chrF++": (ChrF, {"word_order": 2}), "NgramOverlap": (NgramOverlap, {}),
}

def line():
    return " ".join(chance.choices("the cat sat on a mat".split(), k=14))

def texts(number):
    return [line() + "\\n" + line() for _ in range(number)]

def ids(*shape):
    return torch.randint(3000, shape, generator=generator)

def runs():
    others = [task for task in Path("/proc/self/task").iterdir() if task.name != str(os.getpid())]
    return {task.name: task.joinpath("schedstat").read_text().split()[2] for task in others}

found = {}
time.sleep(1)  # what the imports have started falls asleep
def watch(name, call, *arguments, **options):
    before = runs()
    call(*arguments, **options)
    found[name] = sum(before.get(task) != count for task, count in runs().items())

for segments, references in ((1, 1), (32, 3), (512, 1)):
    for name, (metric, options) in metrics.items():
        kinds = {"text": lambda: (texts(segments), [texts(references) for _ in range(segments)])}
        if "word_order" not in options:
            kinds["padded"] = lambda: (ids(segments, 28), ids(segments, references, 28))
            kinds["ids"] = lambda: (list(ids(segments, 28)), list(map(list, ids(segments, references, 28))))
        for kind, batch in kinds.items():
            update = metric(**options, pad_id=None if kind == "text" else (0, 7)).update
            preds, target = batch()
            watch(f"{name} of {segments} x {references} {kind}", update, preds, target)
many, others = texts(512), texts(512)
watch("pairwise_chrf", pairwise_chrf, [many], [others])
watch("aggregate_chrf", aggregate_chrf, [["a"] * 40_000], [others])
pools = [texts(8) for _ in range(64)]
for metric in (Bleu(), ChrF(word_order=2), ROUGEScore(rouge_keys="rougeL")["rougeL_fmeasure"]):
    watch(f"decode one row with {metric}", mbr.decode, metric, [many[:99]])
    watch(f"decode with {metric}", mbr.decode, metric, pools)
    watch(f"pairwise with {metric}", mbr.pairwise, metric, pools, pools)
watch("evaluate", evaluate, {"a": many, "b": others}, texts(512), "bleu,chrf,rouge1")
metric = ChrF(confidence=0.95)
metric.update(many, others)
watch("an interval", metric.compute)
watch("repeat_interleave", torch.repeat_interleave, torch.ones(2, dtype=torch.int64))
time.sleep(1)
table = numpy.ones((500, 500))
watch("a large product", table.__matmul__, table)
print(json.dumps(found))
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists() or "OpenMP" not in torch.__config__.parallel_info(),
    reason="counts the threads of OpenMP, as Linux does",
)
def test_nothing_is_computed_in_another_thread():
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    run = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, text=True, check=True, env=environment)
    others = {name: threads for name, threads in json.loads(run.stdout).items() if threads}
    # The last two are what the watch has to see.
    assert others == {"repeat_interleave": 1, "a large product": 1}
