"""What each metric is: how it reads text, what it counts, how segments become one score, and the names of its values.

Every class and function of a metric is made from the function here that has its options.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from ngram_metrics.basics.option_checks import (
    DEFAULT_ROUGE_KEYS,
    ROUGE_KEYS,
    Accumulate,
    Average,
    RougeKey,
    Smoothing,
    checked_keys,
    resolve_effective_order,
    value_indices,
)
from ngram_metrics.document_frequency import DocumentFrequency
from ngram_metrics.metric.registry import row_of
from ngram_metrics.metric.scorer import Scorer
from ngram_metrics.scores.bleu import BleuMeasure
from ngram_metrics.scores.chrf import ChrfMeasure
from ngram_metrics.scores.cider import CiderMeasure, refuse_micro
from ngram_metrics.scores.gleu import GleuMeasure
from ngram_metrics.scores.overlap import OverlapMeasure
from ngram_metrics.scores.repetition import RepetitionMeasure
from ngram_metrics.scores.rouge import rouge_measure
from ngram_metrics.scores.ter import TerMeasure
from ngram_metrics.text.character_reader import CharacterReader
from ngram_metrics.text.input_types import Tokenizer
from ngram_metrics.text.rouge_reader import RougeReader
from ngram_metrics.text.word_reader import TextReader, VocabularyReader, WordReader


def bleu(
    ngram: int = 4,
    smooth: Smoothing = "exp",
    smooth_value: float | None = None,
    average: Average = "micro",
    weights: Sequence[float] | None = None,
    effective_order: bool | None = None,
    tokenizer: Tokenizer | None = "13a",
    lowercase: bool = False,
    pad_id: int | Sequence[int] | None = None,
) -> Scorer:
    """Return BLEU with the options of ``ngram_metrics.Bleu``."""
    measure = BleuMeasure(ngram, smooth, smooth_value, weights, resolve_effective_order(effective_order, average))
    segment_measure = replace(measure, effective_order=resolve_effective_order(effective_order, "none"))
    reader = WordReader(tokenizer, lowercase, pad_id)
    return Scorer(reader, measure, average, {"bleu": ()}, segment_measure=segment_measure)


def rouge(
    use_stemmer: bool = False,
    normalizer: Callable[[str], str] | None = None,
    tokenizer: Tokenizer | None = None,
    accumulate: Accumulate = "best",
    rouge_keys: RougeKey | Sequence[RougeKey] = DEFAULT_ROUGE_KEYS,
    average: Average = "macro",
    sentence_splitter: Callable[[str], Sequence[str]] | None = None,
    sentence_separator_id: int | None = None,
    pad_id: int | Sequence[int] | None = None,
) -> Scorer:
    """Return ROUGE with the options of ``ngram_metrics.ROUGEScore``, whose score is NaN without segments."""
    keys = checked_keys(rouge_keys)
    reader = RougeReader(
        use_stemmer, normalizer, tokenizer, sentence_splitter, sentence_separator_id, pad_id, "rougeLsum" in keys
    )
    measure = rouge_measure(keys, accumulate, average)
    titles: dict[str, str] = {key: f"{key}_fmeasure" for key in keys}
    return Scorer(reader, measure, average, value_indices(keys), titles, math.nan)


def chrf(
    char_order: int = 6,
    word_order: int = 0,
    beta: float = 2.0,
    lowercase: bool = False,
    whitespace: bool = False,
    eps_smoothing: bool = False,
    average: Average = "micro",
    pad_id: int | Sequence[int] | None = None,
) -> Scorer:
    """Return chrF with the options of ``ngram_metrics.ChrF``, which is called chrf++ with words up to order 2."""
    measure = ChrfMeasure(char_order, word_order, beta, eps_smoothing)
    name = "chrf++" if measure.word_order == 2 else "chrf"
    return Scorer(CharacterReader(lowercase, whitespace, word_order > 0, pad_id), measure, average, {name: ()})


def overlap(
    ngram: int = 1,
    average: Average = "macro",
    tokenizer: Tokenizer | None = None,
    pad_id: int | Sequence[int] | None = None,
) -> Scorer:
    """Return n-gram overlap with the options of ``ngram_metrics.NgramOverlap``."""
    reader = WordReader(tokenizer, pad_id=pad_id, samples=True)
    return Scorer(reader, OverlapMeasure(ngram), average, {"ngram_overlap": ()})


def gleu(
    ngram: int = 4,
    average: Average = "micro",
    tokenizer: Tokenizer | None = None,
    pad_id: int | Sequence[int] | None = None,
) -> Scorer:
    """Return Google-BLEU with the options of ``ngram_metrics.Gleu``."""
    return Scorer(WordReader(tokenizer, pad_id=pad_id), GleuMeasure(ngram), average, {"gleu": ()})


def ter(
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
    average: Average = "micro",
) -> Scorer:
    """Return TER with the options of ``ngram_metrics.Ter``."""
    measure = TerMeasure(normalized, no_punct, asian_support, case_sensitive)
    return Scorer(TextReader(splits=measure.normalized and measure.asian_support), measure, average, {"ter": ()})


def repetition(
    ngram: int = 4,
    average: Average = "macro",
    tokenizer: Tokenizer | None = None,
    pad_id: int | Sequence[int] | None = None,
) -> Scorer:
    """Return repetition with the options of ``ngram_metrics.Repetition``."""
    return Scorer(WordReader(tokenizer, pad_id=pad_id), RepetitionMeasure(ngram), average, {"repetition": ()})


def cider(
    document_frequency: DocumentFrequency | None,
    ngram: int = 4,
    sigma: float = 6.0,
    average: Average = "macro",
    tokenizer: Tokenizer | None = None,
    pad_id: int | Sequence[int] | None = None,
) -> Scorer:
    """Return CIDEr-D with the options of ``ngram_metrics.CiderD``, where None means the references of each batch."""
    measure = CiderMeasure(document_frequency, ngram, sigma)
    refuse_micro(average)
    reader = VocabularyReader(tokenizer, pad_id=pad_id, document_frequency=document_frequency)
    return Scorer(reader, measure, average, {"cider_d": ()})


def make_metric(name: str, **text_options: Tokenizer | bool | None) -> Scorer:
    """Return a metric with this name, one of ``ngram_metrics.metric.registry.METRIC_NAMES``.

    A metric takes the options for text that its row names, and leaves out the others. It has its own default for an
    option that is missing or None.

    Raises:
        KeyError: an unknown name.
        ModuleNotFoundError: TER, and sacrebleu is not installed.
    """
    row = row_of(name)
    options = {**row.options, **row.text_parameters(text_options)}
    if name in ROUGE_KEYS:
        options["rouge_keys"] = name
    make: Callable[..., Scorer] = globals()[row.function]
    return make(**options).rename(name)
