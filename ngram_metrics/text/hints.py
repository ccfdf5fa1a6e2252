"""Warnings for input that can be read but is almost certainly a mistake.

The text of a warning does not depend on the batch, so that Python's default filter shows it once.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import islice

import numpy as np
from torch import Tensor


def warn_of_split_references(hypotheses: Sequence[str], references: Sequence[str], counts: Sequence[int]) -> None:
    """Warn if the references of every sentence look like the words of one reference.

    This is so if each sentence has several references of one word each, and a hypothesis contains two different ones.
    Answers of one word with alternative spellings give no warning: a hypothesis contains only one of them.

    Args:
        hypotheses: texts, one per sentence.
        references: texts, those of the first sentence first.
        counts: the number of references of each sentence.
    """
    if min(counts, default=0) < 2 or any(len(reference.split()) != 1 for reference in references):
        return
    each = iter(references)
    for hypothesis, count in zip(hypotheses, counts, strict=True):
        words = {reference.strip() for reference in islice(each, count)}
        if len(words.intersection(hypothesis.split())) > 1:
            warnings.warn(
                "the references of each sentence are single words, and a hypothesis has several of them: a list of "
                "str in target is a list of references. Pass a reference as one text, such as 'the cat sat', or pass "
                "references and hypotheses as lists of tokens",
                UserWarning,
                stacklevel=2,
            )
            return


def warn_of_no_words(texts: Sequence[str], lengths: Tensor) -> None:
    """Warn if ROUGE's ASCII rule finds no words in a text that has letters or digits.

    Args:
        texts: the texts.
        lengths: ``(texts,)`` int64 on the CPU, the number of words of each text.
    """
    if any(any(map(str.isalnum, texts[index])) for index in np.flatnonzero(lengths.numpy() == 0).tolist()):
        warnings.warn(
            "ROUGE's rule for words keeps only a-z and 0-9, and a text without words scores 0: tokenizer='unicode' "
            "keeps letters and digits of all scripts, and a tokenizer of your own gets the original text with "
            "normalizer=str",
            UserWarning,
            stacklevel=2,
        )


def transposition_hint(preds: Sequence[object], target: Sequence[object]) -> str:
    """Return a hint to add to an error about the numbers of sentences if ``target`` is transposed, else ``""``.

    sacrebleu takes this form: one item per stream of references, each with one reference per sentence.
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
