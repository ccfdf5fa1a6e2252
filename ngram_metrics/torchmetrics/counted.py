"""What a metric has counted since its last reset: one kind of input and, for average none, one number of samples.

A sum of the counts of text and of ids would be the score of neither, and rows of scores can only be joined if all
sentences have the same number of samples. So two small integers are a state of the accumulator, and every batch, merge,
load and rank must agree with them. The integer 0 means 'nothing yet' and agrees with every other.
"""

from __future__ import annotations

from typing import get_args

import torch
from torch import Tensor

from ngram_metrics.counting.batch import Kind

#: The code of a kind is its index here plus 1.
KINDS: tuple[Kind, ...] = get_args(Kind)
#: The code of one hypothesis per sentence; n samples per sentence have the code n + 1 + this one.
_NO_SAMPLES = 1


def counted(kind: Kind | None, samples: int | None) -> tuple[int, int]:
    """Return the codes of a batch: of its kind of input, and of its number of samples.

    Args:
        kind: None for a batch without sentences.
        samples: hypotheses per sentence, if the batch has a dimension of samples; None for one hypothesis per sentence.
    """
    kind_code = 0 if kind is None else KINDS.index(kind) + 1
    if samples is None:
        return kind_code, 0 if kind is None else _NO_SAMPLES
    return kind_code, samples + _NO_SAMPLES + 1


def with_batch(known: Tensor, codes: tuple[int, int]) -> Tensor:
    """Join the codes of a batch to the known codes; raises ValueError as :func:`agreed` does."""
    before = known.tolist()
    # The usual case, equal codes, runs no tensor operation.
    if all(code in (0, old) for code, old in zip(codes, before, strict=True)):
        return known
    return agreed(torch.tensor([before, codes], dtype=torch.int64, device="cpu"))


def agreed(gathered: Tensor) -> Tensor:
    """Join the codes of batches, metrics or ranks, ``(number, 2)`` int64, to ``(2,)``.

    Raises:
        ValueError: the codes differ; the message says what is expected.
    """
    kinds, samples = (sorted(set(codes) - {0}) for codes in gathered.T.tolist())
    if len(kinds) > 1:
        raise ValueError(
            f"one metric was given {' and '.join(KINDS[code - 1] for code in kinds)}: expected one kind from reset to "
            "compute, on all processes"
        )
    if len(samples) > 1:
        raise ValueError(
            f"batches of {' and of '.join(map(_in_words, samples))} hypotheses per sentence: average 'none' expects "
            "the same number in all batches"
        )
    return gathered.amax(0)


def has_counted(counts: Tensor) -> bool:
    """Return whether a sentence was counted; the codes are on the CPU, where reading them waits for nothing."""
    return bool(counts[0])


def kind_name(counts: Tensor) -> str:
    """Return the kind for a signature; ``?`` before any data."""
    code = counts.tolist()[0]
    return KINDS[code - 1] if code else "?"


def sample_number(counts: Tensor) -> int | None:
    """Return how many samples a sentence has; None for one hypothesis without a dimension of samples."""
    code = counts.tolist()[1]
    return code - _NO_SAMPLES - 1 if code > _NO_SAMPLES else None


def _in_words(code: int) -> str:
    samples = code - _NO_SAMPLES - 1
    return "1" if samples < 0 else "1 (in three dimensions)" if samples == 1 else str(samples)
