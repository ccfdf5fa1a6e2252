"""Instructions of ten calls, from one pair to 3,004 pairs, in this working tree and in another one.

Goal: a slower call is seen on a shared machine, where times differ by a half from run to run.

How to run: ``python tests/benchmarks/instructions.py OTHER``, where OTHER is the root of another checkout, for example
of the commit before. It needs valgrind with its headers and a C compiler, and takes about a minute for each tree. The
exit status is 1 if a call takes over 10 % more instructions here than there.

Callgrind counts the instructions of the second call, so that imports and caches are not counted. The count depends on
the versions of Python, numpy and torch, which are the same for both trees, and not on other processes: two runs differ
by less than one percent.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

#: A call may take this many times the instructions that it takes in the other tree.
LIMIT = 1.1
#: The requests to callgrind are macros of its header.
SOURCE = """
#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void end(const char *name) { CALLGRIND_DUMP_STATS_AT(name); CALLGRIND_STOP_INSTRUMENTATION; }
"""


def texts(seed: int, count: int = 3004) -> list[str]:
    """Return sentences of about 20 words, of which a few are frequent and most are rare."""
    chance = random.Random(seed)
    words = [f"{first}{second}" for first in ("ba", "ko", "le", "ma", "ni", "ru") for second in range(500)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    return [" ".join(chance.choices(words, weights, k=chance.randint(10, 30))).capitalize() + "." for _ in range(count)]


def calls() -> dict[str, Callable[[], object]]:
    """Return what is counted."""
    from ngram_metrics import Bleu, ROUGEScore
    from ngram_metrics.functional import bleu_score, chrf_score, pairwise_chrf, rouge_score

    preds, target = texts(1), texts(2)
    rouge_keys = ("rouge1", "rouge2", "rougeL")

    def updated(metric: Bleu | ROUGEScore, count: int) -> object:
        metric.update(preds[:count], target[:count])
        return metric.compute()

    return {
        "bleu_score, 1 pair": lambda: bleu_score(preds[:1], target[:1], tokenizer="13a"),
        "rouge_score, 1 pair": lambda: rouge_score(preds[:1], target[:1], rouge_keys=rouge_keys),
        "chrf_score, 1 pair": lambda: chrf_score(preds[:1], target[:1]),
        "Bleu, 1 pair": lambda: updated(Bleu(), 1),
        "Bleu, 32 pairs": lambda: updated(Bleu(), 32),
        "ROUGEScore, 32 pairs": lambda: updated(ROUGEScore(rouge_keys=rouge_keys), 32),
        "bleu_score, 3,004 pairs": lambda: bleu_score(preds, target, tokenizer="13a"),
        "rouge_score, 3,004 pairs": lambda: rouge_score(preds, target, rouge_keys=rouge_keys),
        "chrf_score, 3,004 pairs": lambda: chrf_score(preds, target),
        "pairwise_chrf, 16 x 16": lambda: pairwise_chrf([preds[:16]], [target[:16]]),
    }


def count(library: str) -> None:
    """Make each call twice, the second time under callgrind, in a process that callgrind has started."""
    requests = ctypes.CDLL(library)
    for name, call in calls().items():
        call()
        gc.collect()
        gc.disable()
        requests.begin()
        call()
        requests.end(name.encode())
        gc.enable()


def counted(tree: Path, folder: Path, library: str) -> dict[str, int]:
    """Return the instructions of each call with the package of a tree."""
    command = ["valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/out"]
    # One thread and one seed of hashes, so that each run does the same.
    settings = {"PYTHONPATH": str(tree), "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "PYTHONSAFEPATH": "1"}
    program = [sys.executable, __file__, "--count", library]
    subprocess.run([*command, *program], env={**os.environ, **settings}, check=True)
    found = {}
    for file in sorted(folder.glob("out.*"), key=lambda file: int(file.suffix[1:])):  # out.1 is the first call
        text = file.read_text()
        name, total = re.search(r"Client Request: (.*)", text), re.search(r"^totals: (\d+)", text, re.MULTILINE)
        if name and total:
            found[name[1]] = int(total[1])
        file.unlink()
    return found


def main() -> int:
    """Count both trees, print both, and return the exit status."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("other", type=Path, nargs="?", help="the root of the checkout to compare with")
    arguments.add_argument("--count", metavar="LIBRARY", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.count:
        count(options.count)
        return 0
    if options.other is None or not (options.other / "ngram_metrics").is_dir():
        arguments.error(f"expected the root of another checkout, which holds ngram_metrics: {options.other} does not")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = str(folder / "requests.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", library], input=SOURCE, text=True, check=True)
        before = counted(options.other.resolve(), folder, library)
        now = counted(Path(__file__).resolve().parents[2], folder, library)
    print(f"{'thousands of instructions':28s}{'other':>10s}{'here':>10s}{'ratio':>8s}")
    for name, instructions in now.items():
        print(f"{name:28s}{before[name] / 1e3:10,.0f}{instructions / 1e3:10,.0f}{instructions / before[name]:8.3f}")
    slower = [name for name, instructions in now.items() if instructions > LIMIT * before[name]]
    if slower:
        print(f"over {LIMIT - 1:.0%} more instructions: {', '.join(slower)}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
