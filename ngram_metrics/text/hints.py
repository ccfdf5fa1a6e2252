"""Input that can be read but is almost surely meant otherwise, and the words that say so.

Each warning has one text, whatever the batch, so that Python's default filter shows it once.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import islice

import numpy as np
from torch import Tensor


def warn_of_split_references(hypotheses: Sequence[str], references: Sequence[str], counts: Sequence[int]) -> None:
    """Warn where the references of every sentence look like the words of one reference.

    They are several single words each, and two different ones stand in one hypothesis. Answers of one word, with their
    other spellings, are no such case: a hypothesis holds one of them.

    Args:
        hypotheses: texts, one a sentence.
        references: texts, those of the first sentence first.
        counts: how many references each sentence has.
    """
    if min(counts, default=0) < 2 or any(len(reference.split()) != 1 for reference in references):
        return
    each = iter(references)
    for hypothesis, count in zip(hypotheses, counts, strict=True):
        words = {reference.strip() for reference in islice(each, count)}
        if len(words.intersection(hypothesis.split())) > 1:
            warnings.warn(
                "the references of each sentence are single words beside a hypothesis of several: a list of str in "
                "target is a list of references, each a text; a reference is written 'the cat sat', and one that is "
                "tokenized needs hypotheses that are lists of tokens as well",
                UserWarning,
                stacklevel=2,
            )
            return


def warn_of_no_words(texts: Sequence[str], lengths: Tensor) -> None:
    """Warn where ROUGE's ASCII rule leaves no word of a text that has letters or digits.

    Args:
        texts: the texts.
        lengths: ``(texts,)`` int64 on the CPU, how many words each has.
    """
    if any(any(map(str.isalnum, texts[index])) for index in np.flatnonzero(lengths.numpy() == 0).tolist()):
        warnings.warn(
            "ROUGE's rule for words keeps a-z and 0-9 only and leaves no word of some text, which scores 0: "
            "tokenizer='unicode' keeps letters and digits of every script, and a tokenizer of your own reads the text "
            "as it is with normalizer=str",
            UserWarning,
            stacklevel=2,
        )


def transposition_hint(preds: Sequence[object], target: Sequence[object]) -> str:
    """Return what to add to an error about numbers where ``target`` is transposed, else nothing.

    Transposed as for sacrebleu: an item for each stream of references, which has a reference for each sentence.
    """
    if not preds or not target:
        return ""
    of_sentence = str if isinstance(preds[0], str) else (list, Tensor, np.ndarray)
    if not all(
        isinstance(stream, (list, tuple)) and len(stream) == len(preds) and isinstance(stream[0], of_sentence)
        for stream in target
    ):
        return ""
    return "; target looks like sacrebleu's list of reference streams: pass list(zip(*target))"
