"""The metrics by the names they have on the command line: how each reads, what it counts, and what its values are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor

from ngram_metrics.cli.errors import InputError
from ngram_metrics.cli.options import Options
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
    """A metric as it was chosen.

    Attributes:
        name: on the command line.
        reader: how text is read.
        measure: what is counted, and the score of a corpus.
        sentence_measure: the score of the same counts of one sentence.
        average: how sentences become the score of a corpus.
        device: where text is counted.
        keys: of ROUGE.
    """

    name: str
    reader: Reader
    measure: AnyMeasure
    sentence_measure: AnyMeasure
    average: Average
    device: torch.device
    keys: tuple[str, ...] = ()

    def named_scores(self, score: Tensor) -> dict[str, Tensor]:
        """Name scores ``(..., *score_shape)``; of ROUGE ``rouge1`` is F, beside its precision and recall."""
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
        """The values that have a column of the table."""
        return self.keys or (self.name,)


def chosen(options: Options) -> list[Metric]:
    """Return the metrics that were asked for.

    Raises:
        InputError: a model that cannot be loaded.
        ModuleNotFoundError: a package that an option needs.
    """
    device = torch.device(options.device)
    tokenizer = _model(options.spm_model) if options.spm_model else options.tokenizer or "13a"
    return [_metric(name, options, tokenizer, device) for name in options.metrics]


def for_pairs(metric: Metric) -> Metric:
    """Return a metric whose score of a corpus is that of a sentence, as pairs are scored."""
    return replace(metric, measure=metric.sentence_measure)


def _metric(name: str, options: Options, tokenizer: Tokenizer, device: torch.device) -> Metric:
    words = WordReader(tokenizer)
    if name == "bleu":
        reader = WordReader(tokenizer, options.lowercase)
        bleu = BleuMeasure(smooth="exp")
        return Metric(name, reader, bleu, bleu.sentence_measure, "micro", device)
    if name in ("chrf", "chrf++"):
        order = 2 if name == "chrf++" else 0
        chrf = ChrfMeasure(word_order=order)
        return Metric(name, CharacterReader(options.chrf_lowercase, words=order > 0), chrf, chrf, "micro", device)
    if name == "overlap":
        overlap = OverlapMeasure(1)
        return Metric(name, words, overlap, overlap, "macro", device)
    if name == "gleu":
        gleu = GleuMeasure(4)
        return Metric(name, words, gleu, gleu, "micro", device)
    keys = ROUGE if name == "rouge" else (cast("RougeKey", name),)
    rouge = rouge_measure(keys, "best", "macro")
    reading = RougeReader(options.stem, sentences="rougeLsum" in keys)
    return Metric(name, reading, rouge, rouge, "macro", device, keys)


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
        raise InputError(f"--spm-model {path} is no model of sentencepiece") from error
