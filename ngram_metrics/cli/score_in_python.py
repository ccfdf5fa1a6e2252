"""``ngram-metrics score`` for one system in plain Python, which counts thousands of lines before torch is imported.

What is written is what ``score_command`` writes, to the last byte. Rules for words, counts and formulas are those by
which ``pair`` and small batches are scored, which the tests hold equal to those of arrays; here they are only chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from typing import Any, TypeAlias

from ngram_metrics.cli.command_arguments import ScoreOptions
from ngram_metrics.cli.files import FileSegments, InputError, warn_of_unicode_forms
from ngram_metrics.evaluation.results import ComparisonPlan, Result, Summary
from ngram_metrics.metric.registry import REGISTRY
from ngram_metrics.metric.signature import format_references, format_signature
from ngram_metrics.scores import python_scores
from ngram_metrics.text.input_warnings import (
    warn_of_another_tokenizer,
    warn_of_no_words,
    warn_of_split_references,
    warn_of_transposed_references,
)
from ngram_metrics.text.single_texts import read_summaries, split_characters
from ngram_metrics.text.tokenizer_option import tokenizer_signature
from ngram_metrics.text.word_rules import SPLITTERS, has_splitter

#: The nanoseconds that a character takes more in plain Python than in arrays, by the names of metrics.
COSTS = {name: row.python_cost for name, row in REGISTRY.items() if row.python_cost is not None}
#: The nanoseconds that importing torch takes, at least.
COST_OF_TORCH = 1_000_000_000
#: Lines of so many characters take twice as long for each: common subsequences take the square of the words.
_LONG_LINE = 20_000
#: Shorter lines take as long as those of so many characters.
_SHORT_LINE = 30
#: What a metric counts in a text: its words, its characters, or those of its sentences too.
Document: TypeAlias = Any
#: Counts a hypothesis with its references: a row of counts, or of scores for a macro average.
Count: TypeAlias = Callable[[Document, Sequence[Document]], Sequence[float]]
#: Returns results by title, of sums of counts or means of scores, and the number of segments.
Score: TypeAlias = Callable[[Sequence[float], int], dict[str, Result]]
#: The keys of ROUGE and what each counts.
_ROUGE_KEYS: dict[str, int | str] = {"rouge1": 1, "rouge2": 2, "rougeL": "L", "rougeLsum": "Lsum"}


@dataclass(frozen=True)
class Metric:
    """A metric in plain Python.

    Attributes:
        read: reads texts; metrics with the same function share what it returns.
        warn: warns of texts that ``read`` does not suit, from hypotheses, all references, and what was read of both.
        count: counts a segment.
        score: scores the corpus.
        signature_fields: the fields of the signature.
    """

    read: Callable[[Sequence[str]], Sequence[Document]]
    warn: Callable[[Sequence[str], Sequence[str], Sequence[Document]], None]
    count: Count
    score: Score
    signature_fields: dict[str, str]

    @property
    def is_macro(self) -> bool:
        """Whether scores are counted, and not what they follow from."""
        return self.signature_fields["avg"] == "macro"


def can_score(options: ScoreOptions) -> bool:
    """Return whether plain Python has everything that the options ask for."""
    needs_rows = options.confidence is not None or options.report or options.segments or options.columns
    is_alone = len(options.systems) == 1 and options.device == "cpu"
    is_rule = not options.spm_model and has_splitter(options.tokenizer)
    return is_alone and not needs_rows and is_rule and {*options.metrics} <= {*COSTS}


def read_ahead(chunks: Iterator[FileSegments], options: ScoreOptions) -> tuple[bool, Iterator[FileSegments]]:
    """Return whether all segments are counted sooner in plain Python than torch is imported, and the segments.

    An error of a file comes after the segments before it, as if they were counted one after another.
    """
    cost_of_character = sum(COSTS[name] for name in options.metrics)
    cost = 0.0
    ahead = []
    try:
        for segments in chunks:
            ahead.append(segments)
            texts = chain(segments.hypotheses[0], *segments.references)
            lengths = [max(len(text), _SHORT_LINE) for text in texts]
            cost += cost_of_character * sum(lengths) * (1 + max(lengths) / _LONG_LINE)
            if cost > COST_OF_TORCH:
                return False, chain(ahead, chunks)
    except InputError as error:
        return True, chain(ahead, _raise(error))
    return True, iter(ahead)


def _raise(error: InputError) -> Iterator[FileSegments]:
    raise error
    yield


def score(options: ScoreOptions, chunks: Iterator[FileSegments]) -> Summary:
    """Return the results of the system."""
    metrics = {name: _make_metric(name, options) for name in options.metrics}
    sums: dict[str, list[float]] = {}
    score_sums: dict[str, list[python_scores.ExactSum]] = {}
    total = 0
    for segments in warn_of_unicode_forms(chunks, options.systems):
        (hypotheses,) = segments.hypotheses
        total += len(hypotheses)
        for name, rows in _count(metrics, hypotheses, segments.references).items():
            if metrics[name].is_macro:
                metric_sums = score_sums.setdefault(name, [python_scores.ExactSum() for _ in rows[0]])
                for exact_sum, column in zip(metric_sums, zip(*rows, strict=True), strict=True):
                    exact_sum.add(column)
            else:
                counted = [sums[name]] if name in sums else []
                sums[name] = list(map(sum, zip(*counted, *rows, strict=True)))
    results: dict[str, Result] = {}
    is_higher_better: dict[str, bool] = {}
    signatures = {}
    written = format_references(len(options.references), len(options.references))
    for name, metric in metrics.items():
        if metric.is_macro:
            sums[name] = [exact_sum.total() / total for exact_sum in score_sums[name]]
        metric_results = metric.score(sums[name], total)
        results |= metric_results
        is_higher_better |= dict.fromkeys(metric_results, REGISTRY[name].higher_is_better)
        references = written if REGISTRY[name].needs_references else None
        signatures[name] = format_signature({"unit": "text", **metric.signature_fields}, references)
    plan = ComparisonPlan(None, options.test, None, 0)
    return Summary({options.systems[0]: results}, {}, {}, signatures, options.references, is_higher_better, plan)


def _count(
    metrics: Mapping[str, Metric], hypotheses: Sequence[str], references: Sequence[Sequence[str]]
) -> dict[str, list[Sequence[float]]]:
    """Return the rows of all metrics, which share what is read if they read it the same way."""
    all_references = list(chain(*references))
    counts = list(map(len, references))
    if all_references:
        warn_of_split_references(hypotheses, all_references, counts)
        warn_of_transposed_references(hypotheses, all_references, counts)
    documents: dict[object, tuple[Sequence[Document], list[list[Document]]]] = {}
    rows = {}
    for name, metric in metrics.items():
        if metric.read not in documents:
            read = metric.read([*hypotheses, *all_references])
            metric.warn(hypotheses, all_references, read)
            rest = iter(read[len(hypotheses) :])
            documents[metric.read] = read[: len(hypotheses)], [list(islice(rest, count)) for count in counts]
        rows[name] = list(map(metric.count, *documents[metric.read]))
    return rows


@cache
def _word_reader(tokenizer: str, lowercase: bool) -> Callable[[Sequence[str]], list[Document]]:
    """Return the function that finds the words of texts, which is the same for the same rule."""
    split = SPLITTERS[tokenizer]

    def read(texts: Sequence[str]) -> list[Document]:
        return [split(text.lower() if lowercase else text) for text in texts]

    return read


def _make_word_metric(
    options: ScoreOptions, lowercase: bool, count: Count, score: Score, signature_fields: dict[str, str]
) -> Metric:
    """Return a metric of words, which reads text as BLEU does."""
    tokenizer = options.tokenizer or "13a"

    def warn(hypotheses: Sequence[str], references: Sequence[str], _: Sequence[Document]) -> None:
        warn_of_another_tokenizer(tokenizer, hypotheses, references)

    signature_fields |= {"case": "lc" if lowercase else "mixed", **tokenizer_signature(tokenizer)}
    return Metric(_word_reader(tokenizer, lowercase), warn, count, score, signature_fields)


def _make_bleu(_: str, options: ScoreOptions) -> Metric:
    def count(hypothesis: Document, references: Sequence[Document]) -> list[int]:
        matches, totals, hypothesis_length, reference_length = python_scores.bleu_counts(hypothesis, references, 4)
        return [*matches, *totals, hypothesis_length, reference_length]

    def score(sums: Sequence[float], segments: int) -> dict[str, Result]:
        counts = list(map(int, sums))
        matches, totals, lengths = counts[:4], counts[4:8], (counts[8], counts[9])
        result = Result(
            python_scores.bleu_score((matches, totals, *lengths), "exp"),
            segments,
            precisions=tuple(python_scores.bleu_precisions(matches, totals, "exp")),
            brevity_penalty=python_scores.brevity_penalty(*lengths),
            ratio=python_scores.length_ratio(*lengths),
            hypothesis_length=lengths[0],
            reference_length=lengths[1],
        )
        return {"bleu": result}

    signature_fields = {"avg": "micro", "eff": "no", "smooth": "exp", "order": "4"}
    return _make_word_metric(options, options.lowercase, count, score, signature_fields)


def _make_ngram_metric(name: str, options: ScoreOptions) -> Metric:
    """Return a metric whose functions in ``python_scores`` have its name, and whose only setting is the order."""
    row = REGISTRY[name]
    count_ngrams = getattr(python_scores, f"{name}_counts")
    score_counts = getattr(python_scores, f"{name}_score")
    is_macro = row.options["average"] == "macro"

    def count(hypothesis: Document, references: Sequence[Document]) -> Sequence[float]:
        documents = (hypothesis, references) if row.needs_references else (hypothesis,)
        counts: Sequence[float] = count_ngrams(*documents, row.options["ngram"])
        return [score_counts(counts)] if is_macro else counts

    def score(sums: Sequence[float], segments: int) -> dict[str, Result]:
        return {name: Result(sums[0] if is_macro else score_counts(sums), segments)}

    signature_fields = {"avg": str(row.options["average"]), "order": str(row.options["ngram"])}
    return _make_word_metric(options, False, count, score, signature_fields)


def _make_chrf(name: str, options: ScoreOptions) -> Metric:
    orders = (6, 2) if "word_order" in REGISTRY[name].options else (6,)

    def read(texts: Sequence[str]) -> list[list[Sequence[str]]]:
        cased = map(str.lower, texts) if options.chrf_lowercase else texts
        return [split_characters(text, False, len(orders) > 1) for text in cased]

    def count(hypothesis: Document, references: Sequence[Document]) -> list[int]:
        return list(chain(*python_scores.chrf_counts(hypothesis, references, orders)))

    def score(sums: Sequence[float], segments: int) -> dict[str, Result]:
        counts = list(map(int, sums))
        width = len(counts) // 3
        sides = (counts[:width], counts[width : 2 * width], counts[2 * width :])
        return {name: Result(python_scores.chrf_score(sides), segments)}

    signature_fields = {"avg": "micro", "case": "lc" if options.chrf_lowercase else "mixed", "eff": "yes", "nc": "6"}
    signature_fields |= {"nw": str(sum(orders) - 6), "beta": "2", "space": "no"}
    return Metric(read, lambda *_: None, count, score, signature_fields)


def _make_rouge(_: str, options: ScoreOptions) -> Metric:
    def read(texts: Sequence[str]) -> list[Document]:
        return read_summaries(texts, True, options.stem, None, None, None, str)

    def warn(hypotheses: Sequence[str], references: Sequence[str], summaries: Sequence[Document]) -> None:
        warn_of_no_words([*hypotheses, *references], [len(summary.words) for summary in summaries])

    def count(hypothesis: Document, references: Sequence[Document]) -> list[float]:
        counts = python_scores.rouge_counts(hypothesis, references, list(_ROUGE_KEYS.values()))
        return list(chain(*map(python_scores.rouge_score, counts)))

    def score(means: Sequence[float], segments: int) -> dict[str, Result]:
        parts = zip(means[::3], means[1::3], means[2::3], strict=True)
        return {
            key: Result(fmeasure, segments, precision=precision, recall=recall)
            for key, (precision, recall, fmeasure) in zip(_ROUGE_KEYS, parts, strict=True)
        }

    signature_fields = {"avg": "macro", "tok": "rule", "keys": "1,2,L,Lsum", "multiref": "best", "norm": "rule"}
    signature_fields |= {"stem": "porter-nltk" if options.stem else "no", "split": "lines"}
    return Metric(read, warn, count, score, signature_fields)


def _make_metric(name: str, options: ScoreOptions) -> Metric:
    makers = {"bleu": _make_bleu, "chrf": _make_chrf, "rouge": _make_rouge}
    return makers.get(REGISTRY[name].function, _make_ngram_metric)(name, options)
