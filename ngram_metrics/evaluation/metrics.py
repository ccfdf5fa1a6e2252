"""The metrics by their names, with the settings that papers report."""

from __future__ import annotations

from typing import cast

from ngram_metrics import scorer
from ngram_metrics.scorer import Scorer
from ngram_metrics.scores.rouge_keys import RougeKey
from ngram_metrics.text.inputs import Tokenizer

_ROUGE: tuple[RougeKey, ...] = ("rouge1", "rouge2", "rougeL", "rougeLsum")


def named(
    name: str,
    tokenizer: Tokenizer = "13a",
    lowercase: bool = False,
    chrf_lowercase: bool = False,
    stem: bool = False,
) -> Scorer:
    """Return a metric whose single value has this name.

    Args:
        name: one of :data:`ngram_metrics.evaluation.METRICS`, or a key of ROUGE.
        tokenizer: for BLEU, overlap and GLEU.
        lowercase: for BLEU.
        chrf_lowercase: for chrF.
        stem: for ROUGE, whether words are stemmed.
    """
    if name == "bleu":
        made = scorer.bleu(average="micro", smooth="exp", tokenizer=tokenizer, lowercase=lowercase)
    elif name in ("chrf", "chrf++"):
        made = scorer.chrf(word_order=2 if name == "chrf++" else 0, lowercase=chrf_lowercase)
    elif name == "overlap":
        made = scorer.overlap(tokenizer=tokenizer)
    elif name == "gleu":
        made = scorer.gleu(tokenizer=tokenizer)
    else:
        made = scorer.rouge(use_stemmer=stem, rouge_keys=_ROUGE if name == "rouge" else cast("RougeKey", name))
    return made.called(name)
