"""A made-up table for the engines: 16 systems, each with an output for the same segments, in Parquet files.

Sentences are random words. A system repeats the reference, and changes a share of the words that is its own. With
16 systems and references of 6 groups of length there are 96 groups.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from ngram_metrics import Bleu, ChrF, ROUGEScore
from ngram_metrics.functional import bleu_score, chrf_score, rouge_score

SYSTEMS, FILES = 16, 8
BY = ["system", "length"]
METRICS = {"bleu": Bleu(), "chrf": ChrF(), "rougeL": ROUGEScore(rouge_keys="rougeL")["rougeL_fmeasure"]}
_WORDS = [first + rest for first in "bdfgklmnprst" for rest in ("a", "e", "o", "ara", "eni")]


def run(scores_with: Callable[[Path], Iterable[Mapping[str, Any]]]) -> None:
    """Write the table, score it with an engine, and compare each group with `ngram_metrics.functional`.

    Args:
        scores_with: from a folder of Parquet files to a row for each group.
    """
    parser = argparse.ArgumentParser(description="Score 16 systems by length of the reference.")
    parser.add_argument("--segments", type=int, default=2000, help="segments of each system (%(default)s)")
    rows = made_up(parser.parse_args().segments)
    with tempfile.TemporaryDirectory() as folder:
        size = -(-len(rows) // FILES)
        for number in range(FILES):
            part = pyarrow.Table.from_pylist(rows[number * size : (number + 1) * size])
            pyarrow.parquet.write_table(part, Path(folder) / f"{number}.parquet")
        start = time.perf_counter()
        found = {(row["system"], row["length"]): row for row in scores_with(Path(folder))}
        print(f"{len(rows)} rows from Parquet in {time.perf_counter() - start:.1f} s")
    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["system"], row["length"]), []).append(row)
    if found.keys() != groups.keys():
        sys.exit(f"{len(found)} groups were scored: expected {len(groups)}")
    for group, of_group in groups.items():
        compare(found[group], [row["mt"] for row in of_group], [row["ref"] for row in of_group])
    print("system  length  segments   BLEU   chrF  ROUGE-L")
    for (system, length), row in sorted(found.items())[:6]:
        shown = "".join(f"{100 * row[name]:7.2f}" for name in METRICS)
        print(f"{system}      {length}  {row['segments']:>12}{shown}")
    print(f"{len(rows)} rows in {len(groups)} groups have the scores of ngram_metrics.functional")


def made_up(segments: int) -> list[dict[str, Any]]:
    """Return the rows of the table, in random order."""
    chance = random.Random(1)
    weights = [1 / rank for rank in range(1, len(_WORDS) + 1)]
    references = [chance.choices(_WORDS, weights, k=chance.randint(3, 26)) for _ in range(segments)]
    rows = []
    for system in range(SYSTEMS):
        for words in references:
            output = [chance.choice(_WORDS) if chance.random() < (system + 1) / 40 else word for word in words]
            length = (len(words) - 3) // 4
            texts = {"mt": " ".join(output), "ref": " ".join(words)}
            rows.append({"system": f"{system:02}", "length": length, **texts})
    chance.shuffle(rows)
    return rows


def compare(row: Mapping[str, Any], hypotheses: list[str], references: list[str]) -> None:
    """End the program if a group has other scores than its segments."""
    bleu = bleu_score(hypotheses, references).item()
    chrf = chrf_score(hypotheses, references).item()
    rouge = rouge_score(hypotheses, references, rouge_keys="rougeL")["rougeL_fmeasure"].item()
    # Counts are added exactly. A mean of scores is rounded, by the function in another order.
    are_equal = row["segments"] == len(hypotheses) and (row["bleu"], row["chrf"]) == (bleu, chrf)
    if not are_equal or abs(row["rougeL"] - rouge) > 1e-15:
        sys.exit(f"{dict(row)}: expected BLEU {bleu}, chrF {chrf}, ROUGE-L {rouge} for {len(hypotheses)} segments")
