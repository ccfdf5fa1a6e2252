"""The metrics by their names on the command line: how each reads text, what it counts, and its values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor

from ngram_metrics.cli.options import Options
from ngram_metrics.cli.output import InputError
from ngram_metrics.scores.bleu import BleuMeasure
from ngram_metrics.scores.chrf import ChrfMeasure
from ngram_metrics.scores.gleu import GleuMeasure
from ngram_metrics.scores.measure import AnyMeasure
from ngram_metrics.scores.options import Average
from ngram_metrics.scores.overlap import OverlapMeasure
from ngram_metrics.scores.rouge import rouge_measure
from ngram_metrics.scores.rouge_keys import RougeKey
from ngram_metrics.text.character_reader import CharacterReader
from ngram_metrics.text.inputs import Tokenizer
from ngram_metrics.text.reader import Reader
from ngram_metrics.text.rouge_reader import RougeReader
from ngram_metrics.text.word_reader import WordReader

ROUGE: tuple[RougeKey, ...] = ("rouge1", "rouge2", "rougeL", "rougeLsum")


@dataclass(frozen=True)
class Metric:
    """A metric with its settings.

    Attributes:
        name: the name on the command line.
        reader: how text is read.
        measure: what is counted, and the score of a corpus.
        average: how sentences become the score of a corpus.
        device: where text is counted.
        keys: the keys of ROUGE; empty for other metrics.
    """

    name: str
    reader: Reader
    measure: AnyMeasure
    average: Average
    device: torch.device
    keys: tuple[str, ...] = ()

    @property
    def sentence_measure(self) -> AnyMeasure:
        """The score of a sentence, from the same counts."""
        return self.measure.sentence_measure(self.average)

    def named_scores(self, score: Tensor) -> dict[str, Tensor]:
        """Return scores ``(..., *score_shape)`` by name; for ROUGE, ``rouge1`` is F, with its precision and recall."""
        if not self.keys:
            return {self.name: score}
        columns = (("", 2), ("_precision", 0), ("_recall", 1))
        return {
            key + suffix: score[..., number, column]
            for number, key in enumerate(self.keys)
            for suffix, column in columns
        }

    @property
    def values(self) -> tuple[str, ...]:
        """The values that have a column in the table."""
        return self.keys or (self.name,)


def chosen(options: Options) -> list[Metric]:
    """Return the metrics that the options name.

    Raises:
        InputError: a model that cannot be loaded.
        ModuleNotFoundError: a package that an option needs is not installed.
    """
    device = torch.device(options.device)
    tokenizer = _model(options.spm_model) if options.spm_model else options.tokenizer or "13a"
    return [_metric(name, options, tokenizer, device) for name in options.metrics]


def for_pairs(metric: Metric) -> Metric:
    """Return a metric that scores pairs: its corpus score is replaced by its sentence score."""
    return replace(metric, measure=metric.sentence_measure)


def _metric(name: str, options: Options, tokenizer: Tokenizer, device: torch.device) -> Metric:
    words = WordReader(tokenizer)
    if name == "bleu":
        reader = WordReader(tokenizer, options.lowercase)
        return Metric(name, reader, BleuMeasure(smooth="exp"), "micro", device)
    if name in ("chrf", "chrf++"):
        order = 2 if name == "chrf++" else 0
        characters = CharacterReader(options.chrf_lowercase, words=order > 0)
        return Metric(name, characters, ChrfMeasure(word_order=order), "micro", device)
    if name == "overlap":
        return Metric(name, words, OverlapMeasure(1), "macro", device)
    if name == "gleu":
        return Metric(name, words, GleuMeasure(4), "micro", device)
    keys = ROUGE if name == "rouge" else (cast("RougeKey", name),)
    reading = RougeReader(options.stem, sentences="rougeLsum" in keys)
    return Metric(name, reading, rouge_measure(keys, "best", "macro"), "macro", device, keys)


def _model(path: str) -> Tokenizer:
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError as error:
        raise ModuleNotFoundError("--spm-model needs sentencepiece: pip install sentencepiece") from error
    try:
        with open(path, "rb") as file:
            model: Tokenizer = SentencePieceProcessor(model_proto=file.read())
            return model
    except OSError as error:
        raise InputError(f"--spm-model {path} cannot be read: {error.strerror}") from error
    except RuntimeError as error:
        raise InputError(f"--spm-model {path} is not a sentencepiece model") from error
