"""The arguments of ``ngram_metrics.evaluate``, checked."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from ngram_metrics._core.basics.option_checks import (
    check_choice,
    checked_confidence,
    refuse_average_none,
    refuse_equal_names,
)
from ngram_metrics._core.metrics.registry import METRIC_NAMES, make_metric, unknown_metric
from ngram_metrics._core.scoring.paired import CORRECTIONS, Correction, Test
from ngram_metrics._core.scoring.resampling import checked_seed
from ngram_metrics._core.scoring.scorer import Scorer, scorer_of
from ngram_metrics._core.text.foreign_values import frame_package, is_sequence_like, refuse_missing, sequence_advice
from ngram_metrics._core.text.labels import Labels, checked_labels, cluster_numbers, list_sequence
from ngram_metrics._core.text.messages import pluralize, shortened, type_name, visible
from ngram_metrics._evaluation import DEFAULT_METRICS
from ngram_metrics._evaluation.files import read_outputs
from ngram_metrics._evaluation.result_tables import cell_text, label_text
from ngram_metrics._evaluation.results import ComparisonPlan, Groupings

#: The columns of ``Evaluation.segments`` before the values.
_SEGMENT_COLUMNS = ("segment", "system")
_TEXTS = "a sequence of texts"


class Texts(NamedTuple):
    """The texts of systems and references."""

    #: The segments of each system.
    systems: dict[str, list[str]]
    #: The names of the references.
    names: list[str]
    #: The references of each segment, at least one.
    references: list[list[str]]
    #: The names of the systems in the caller's order. ``systems`` has the baseline first.
    given: list[str]
    #: The source of each segment, which files of outputs may have.
    sources: list[str] | None = None

    @property
    def first_system(self) -> str:
        """The name of the first system in an error message."""
        return f"system {next(iter(self.systems))!r}"


def checked_texts(systems: object, references: object, baseline: str | None) -> Texts:
    """Return the texts, with the baseline first, or raise what ``ngram_metrics.evaluate`` raises."""
    sources = None
    if references is None:
        systems, references, sources = read_outputs(systems)
        references = {"1": references}  # a list for each segment alone could be read in two ways
    systems = _frame_columns("systems", systems)
    references = _frame_columns("references", references)
    if isinstance(references, Mapping) and not isinstance(systems, Mapping):
        raise ValueError(
            f"references has names but systems is {type_name(systems)} without names, so the two look swapped: "
            "expected evaluate({name: texts}, references). If references have names, the system needs one too"
        )
    if isinstance(systems, Mapping):
        named = _check_names("systems", systems, cell_text)
        texts = {name: _texts(f"system {name!r}", segments) for name, segments in named.items()}
    else:
        texts = {"system": _texts("systems", systems)}
    first, segments = next(iter(texts.items()))
    if not segments:
        raise ValueError(f"system {first!r} has no segment: expected at least one")
    for name, lines in texts.items():
        _check_length(f"system {name!r}", lines, f"system {first!r}", len(segments))
    in_given_order = list(texts)
    if baseline is not None:
        check_choice("baseline", baseline, texts)
        texts = {baseline: texts[baseline], **texts}
    return Texts(texts, *_references(references, f"system {first!r}", len(segments)), in_given_order, sources)


def checked_scorers(metrics: object) -> dict[str, Scorer]:
    """Return metrics by name, each with the name of its value, or raise what ``ngram_metrics.evaluate`` raises."""
    if metrics is None:
        metrics = DEFAULT_METRICS
    if isinstance(metrics, str):
        metrics = metrics.split(",")
    if isinstance(metrics, (list, tuple)) and metrics and all(isinstance(name, str) for name in metrics):
        metrics = {name.strip(): name for name in metrics}
    if not isinstance(metrics, Mapping) or not metrics:
        raise TypeError(
            f"metrics is {shortened(metrics)}: expected names, such as 'bleu,chrf', or a mapping of names to metric "
            "objects, such as {'bleu': Bleu()}"
        )
    scorers: dict[str, Scorer] = {}
    for name, metric in _check_names("metrics", metrics).items():
        if isinstance(metric, str):
            metric = metric.strip()
            if metric not in METRIC_NAMES:
                raise ValueError(unknown_metric(metric))
            scorer = make_metric(metric)
        else:
            scorer = metric if isinstance(metric, Scorer) else scorer_of(metric, f"metric {name!r}")
        refuse_average_none(name, scorer)
        cell = visible(name)
        scorers[cell] = scorer.rename(cell)
    columns: dict[str, list[str]] = {}
    for name, scorer in scorers.items():
        titles = {value: title for title, value in scorer.titles.items()}
        columns[name] = [titles.get(value, value) for value in scorer.values]
        if taken := [column for column in columns[name] if column in _SEGMENT_COLUMNS]:
            raise ValueError(
                f"metric {name!r} would have the same name as the column {taken[0]!r} of segments(): "
                "expected another name"
            )
    refuse_equal_names(columns.items())
    return scorers


def checked_plan(
    confidence: float | None,
    test: Test,
    correction: Correction,
    seed: int,
    clusters: Labels | None,
    texts: Texts,
) -> ComparisonPlan:
    """Return how systems are compared, or raise what ``ngram_metrics.evaluate`` raises."""
    level = checked_confidence(confidence, "micro")
    check_choice("test", test, get_args(Test))
    check_choice("correction", correction, CORRECTIONS)
    numbers = None if clusters is None else cluster_numbers(clusters, texts.first_system, len(texts.references))
    return ComparisonPlan(level, test, correction, checked_seed(seed), numbers)


def checked_groupings(groups: object, texts: Texts) -> Groupings:
    """Return the label of each segment by the name of a grouping. Labels without a name have None.

    Two labels that look the same when written also raise ValueError: JSON would lose one of them.
    """
    if groups is None:
        return {}
    if not isinstance(groups, Mapping):
        return {None: _labels("groups", groups, texts)}
    named = _check_names("groups", groups)
    return {name: _labels(f"groups {name!r}", labels, texts) for name, labels in named.items()}


def checked_sources(sources: object, texts: Texts) -> list[str] | None:
    """Return the source of each segment, or raise TypeError or ValueError. None means the sources in the files."""
    if sources is None:
        return texts.sources
    source_texts = _texts("sources", sources)
    _check_length("sources", source_texts, texts.first_system, len(texts.references))
    return source_texts


def _labels(name: str, labels: object, texts: Texts) -> list[Hashable]:
    listed = checked_labels(name, labels, texts.first_system, len(texts.references))
    _check_names(name, dict.fromkeys(listed), lambda label: visible(label_text(label)))
    return listed


def _frame_columns(argument: str, value: Any) -> object:
    """Return a data frame of pandas or polars as a mapping of its columns, and other objects unchanged."""
    if frame_package(value) not in ("pandas", "polars") or not hasattr(value, "shape"):  # a lazy frame has no columns
        return value
    names = list(value.columns)
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"{argument} has several columns named {repeated[0]!r}: expected different names")
    return {name: value[name] for name in names}


def _check_names(argument: str, mapping: Mapping[Any, Any], write: Callable[[str], str] = visible) -> dict[str, Any]:
    """Return a mapping with str names, or raise ValueError if ``write`` writes two of them alike."""
    if not mapping:
        raise ValueError(f"{argument} is empty: expected at least one name with its segments")
    named = {str(name): item for name, item in mapping.items()}
    if len(set(map(write, named))) < len(mapping):
        raise ValueError(f"{argument} has two names that look the same when written: {list(mapping)}")
    return named


def _references(references: object, system: str, segments: int) -> tuple[list[str], list[list[str]]]:
    """Return the names of the references, and the references of each segment."""
    if isinstance(references, Mapping):
        return _named_references(_check_names("references", references), system, segments)
    items = list_sequence(
        "references", references, "a list of texts, several such lists, or a mapping of names to lists"
    )
    if all(isinstance(item, str) for item in items):
        return _streams({"1": items}, system, segments)
    for index, item in enumerate(items):
        refuse_missing(item, f"segment {index} of references")
    lists = [
        item if isinstance(item, str) else list_sequence(f"references[{index}]", item, _TEXTS)
        for index, item in enumerate(items)
    ]
    as_streams = all(not isinstance(item, str) and len(item) == segments for item in lists)
    as_segments = len(lists) == segments
    if as_streams and as_segments and segments > 1:
        raise ValueError(
            f"references has {segments} lists of {segments} texts, which may be {segments} lists of references or the "
            'references of each segment: expected a mapping of names to lists, such as {"1": first, "2": second}'
        )
    if not as_segments:
        return _streams({str(index + 1): lines for index, lines in enumerate(lists)}, system, segments)
    return _segment_references([[item] if isinstance(item, str) else item for item in lists])


def _named_references(lists: Mapping[str, object], system: str, segments: int) -> tuple[list[str], list[list[str]]]:
    """Return what ``_streams`` returns. Items of these lists may also be lists of references."""
    streams = {name: list_sequence(f"reference list {name!r}", items, _TEXTS) for name, items in lists.items()}
    if not any(isinstance(item, (list, tuple)) for items in streams.values() for item in items):
        return _streams(streams, system, segments)
    for name, items in streams.items():
        _check_length(f"reference list {name!r}", items, system, segments)
    joined: list[list[str]] = [[] for _ in range(segments)]
    for items in streams.values():
        for references, item in zip(joined, items, strict=True):
            references += item if isinstance(item, (list, tuple)) else [item]
    return _segment_references(joined)


def _segment_references(items: Sequence[object]) -> tuple[list[str], list[list[str]]]:
    """Return the names "1", "2" and so on for the references, and the references of each segment."""
    references = [_texts(f"references[{index}]", item) for index, item in enumerate(items)]
    if [] in references:
        raise ValueError(f"segment {references.index([])} has no reference: its item of references is empty")
    return [str(index + 1) for index in range(max(map(len, references)))], references


def _streams(lists: Mapping[str, object], system: str, segments: int) -> tuple[list[str], list[list[str]]]:
    """Turn lists with one reference for each segment into their names and the references of each segment."""
    texts = {name: _texts(f"reference list {name!r}", lines) for name, lines in lists.items()}
    for name, lines in texts.items():
        _check_length(f"reference list {name!r}", lines, system, segments)
    return list(texts), list(map(list, zip(*texts.values(), strict=True)))


def _check_length(name: str, texts: Sequence[str], other: str, segments: int) -> None:
    if len(texts) != segments:
        raise ValueError(
            f"{name} has {pluralize(len(texts), 'segment')} and {other} has {segments}: expected the same number"
        )


def _texts(name: str, texts: object) -> list[str]:
    listed = list_sequence(name, texts, _TEXTS)
    for index, text in enumerate(listed):
        if not isinstance(text, str):
            refuse_missing(text, f"segment {index} of {name}")
            advice = ""
            if name == "systems":
                advice = "; pass several systems as a mapping of names to segments"
            elif isinstance(text, bytes):
                advice = sequence_advice(text)
            elif is_sequence_like(text):
                advice = "; join words with ' '.join(words), or decode ids"
            raise TypeError(f"segment {index} of {name} is {type_name(text)}: expected a text{advice}")
    return listed
