"""Several systems in one call: scored, compared with a baseline, and shown as a table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ngram_metrics._core.basics.keywords import named_arguments
from ngram_metrics._core.basics.option_checks import checked_bool, whole_number
from ngram_metrics._core.basics.output import show_progress, write_file
from ngram_metrics._core.scoring.paired import Correction, Test
from ngram_metrics._core.scoring.resampling import SEED
from ngram_metrics._core.scoring.scorer import Metric, Scorer
from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.input_warnings import OptionNames, name_options, warn_of_other_form
from ngram_metrics._core.text.labels import Labels
from ngram_metrics._core.text.messages import type_name
from ngram_metrics._core.text.tokenizer_option import check_tokenizer
from ngram_metrics._evaluation import result_tables
from ngram_metrics._evaluation.evaluate_arguments import (
    Texts,
    checked_groupings,
    checked_plan,
    checked_scorers,
    checked_sources,
    checked_texts,
)
from ngram_metrics._evaluation.plot import plot_systems
from ngram_metrics._evaluation.results import Outcome, ResultsByGroup, ResultsBySystem
from ngram_metrics._evaluation.system_counts import CountsBySystem, compute_outcome, count, segment_values

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_METRIC_OBJECT = "a metric object in metrics= with"
#: What a user of ``evaluate`` passes instead of an option.
_OPTION_NAMES = OptionNames(
    tokenizer=f"{_METRIC_OBJECT} tokenizer=",
    rouge_tokenizer=f"{_METRIC_OBJECT} tokenizer=",
    sentences=f"put each sentence on a line of its own, or pass {_METRIC_OBJECT} a sentence_splitter",
)
#: Columns of a table by their names.
ListColumns: TypeAlias = dict[str, list[Any]]


class Evaluation:
    """The results of systems on the same segments, as ``evaluate`` returns them.

    ``print`` and the interactive prompt show the same table as the command ``ngram-metrics``, and a notebook shows it
    as HTML. Scores are from 0 to 1 in ``results``, ``groups``, ``segments`` and ``to_pandas``, and from 0 to 100 in
    tables. See the page "Compare several systems".
    """

    def __init__(self, systems: CountsBySystem, outcome: Outcome, texts: Texts) -> None:
        self._systems = systems
        self._outcome = outcome
        self._texts = texts

    @property
    def results(self) -> ResultsBySystem:
        """The results by the names of systems and values, the baseline first: ``results[system][value].score``.

        A value has the name of its metric. ROUGE has a value for each of its keys, named after the key. Its score is
        F; precision and recall are other attributes. The page "API" lists all attributes of a result.
        """
        return self._outcome.results

    @property
    def groups(self) -> ResultsByGroup:
        """The results of each group as a corpus of its own: ``groups[label][system][value]``, without p-values.

        If ``evaluate`` was given a mapping of groupings, they are ``groups[name][label][system][value]``. Without
        ``groups=`` they are empty. A grouping with more than 50 labels, such as an id, is not scored: it only filters
        the segments of the report.
        """
        return self._outcome.groups

    @property
    def signatures(self) -> dict[str, str]:
        """Everything that affects the scores, in sacrebleu's format, by the names of metrics."""
        return self._outcome.signatures

    def segments(self) -> ListColumns:
        """Return the scores of all segments as columns: the index of the segment, the system, and values from 0 to 1.

        The rows of a segment, one for each system, are consecutive. BLEU leaves out orders that are longer than the
        segment, as sacrebleu does.
        """
        count = self._outcome.segments
        columns: ListColumns = {
            "segment": [segment for segment in range(count) for _ in self._systems],
            "system": list(self._systems) * count,
        }
        system_values = list(map(segment_values, self._systems.values()))
        for name in system_values[0]:
            rows = zip(*(values[name] for values in system_values), strict=True)
            columns[name] = [score for row in rows for score in row]
        return columns

    def to_pandas(self) -> pandas.DataFrame:
        """Return a ``pandas.DataFrame`` with a row for each system and value, with scores from 0 to 1.

        The columns are ``system``, ``value`` and the attributes that at least one result has. With groups the first
        column is ``group``: a label, ``"domain=news"`` for a mapping of groupings, or empty for all segments.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        try:
            import pandas
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError("to_pandas needs pandas: pip install pandas") from error
        rows = [
            {"group": group, "system": system, "value": value, **result.as_dict()}
            for group, system, value, result in result_tables.list_rows(self._outcome)
        ]
        frame = pandas.DataFrame(rows)
        return frame if self.groups else frame.drop(columns="group")

    def to_latex(
        self,
        digits: int = 2,
        intervals: bool = True,
        label: str | None = None,
        caption: str | None = None,
        details: bool = False,
    ) -> str:
        r"""Return a LaTeX table, which needs ``\usepackage{booktabs}``, with the signatures as comments below it.

        Args:
            digits: the digits of scores after the decimal point.
            intervals: whether the intervals are shown.
            label: the label of the table.
            caption: LaTeX for the caption. By default the caption describes the data. If you pass one, the description
                is written below the table.
            details: whether the differences, p-values and parts of scores are shown, in a table for each value.

        Raises:
            TypeError, ValueError: an argument of another type, or a number of digits below 0.
        """
        _check_text("label", label)
        _check_text("caption", caption)
        return self._format("latex", self._style(digits, intervals, details)._replace(label=label, caption=caption))

    def to_markdown(self, digits: int = 2, intervals: bool = True, details: bool = False) -> str:
        """Return a table in Markdown, see ``to_latex``."""
        return self._format("markdown", self._style(digits, intervals, details))

    def to_json(self) -> str:
        """Return all results as JSON, including groups."""
        return self._format("json")

    def plot(self, value: str | None = None, ax: Axes | None = None) -> tuple[Figure, Axes]:
        """Plot one value of all systems in the order given, with intervals, and mark the best system.

        Scores are from 0 to 100, as in tables. Each system is a row; the steps of a training, which have names such as
        ``step-500`` or ``epoch 2``, are a curve.

        Args:
            value: the name of the value; None for the first.
            ax: the matplotlib axis to draw on; None for a new figure.

        Returns:
            The figure and the axis.

        Raises:
            ValueError: no value has this name.
            ModuleNotFoundError: matplotlib is not installed (extra ``plot``).
        """
        names = self._outcome.values
        if value is None:
            value = names[0]
        elif value not in names:
            raise ValueError(f"unknown value {value!r}: expected one of {', '.join(names)}")
        return plot_systems(self.results, list(self._texts.given), value, ax)

    def write_report(
        self,
        path: str | os.PathLike[str],
        title: str | None = None,
        tokenizer: Tokenizer | None = "13a",
        sources: Sequence[str] | None = None,
    ) -> None:
        """Write all results and all texts as one HTML file. See the page "The report".

        The report filters segments by ``groups=``, makes no requests, and has intervals, by default of the level 0.95.

        Args:
            path: the path. An existing file keeps its mode and owner, and is replaced when the report is complete.
            title: the title; None for one that says which systems are compared.
            tokenizer: splits texts into words. The report shows which of these words match.
            sources: the source of each segment, shown next to it. An output that equals its source is flagged. None for
                the sources in the files of a training, if there are any.

        Raises:
            TypeError: a title or sources that are not text.
            ValueError: an unknown tokenizer; different numbers of sources and segments; more than 200,000 outputs and
                references.
            OSError: the file cannot be written, or the user may not write to it. An existing file does not change,
                unless it could only be overwritten in place, because it has another owner or its folder is
                write-protected.
            ModuleNotFoundError: Jinja2 is not installed (extra ``report``).
        """
        from ngram_metrics._evaluation.page import check_installed, check_size, page

        check_installed()
        check_size(self._texts.systems, self._texts.references)
        source_texts = checked_sources(sources, self._texts)
        _check_text("title", title)
        check_tokenizer(tokenizer)
        write_file(os.fsdecode(path), page(self._systems, self._outcome, self._texts, source_texts, tokenizer, title))

    @staticmethod
    def _style(digits: int, intervals: bool, details: bool) -> result_tables.Style:
        if (count := whole_number(digits)) is None or count < 0:
            raise ValueError(f"digits must be an integer of at least 0 (got: {digits!r})")
        return result_tables.Style(
            count, checked_bool(details, "details"), intervals=checked_bool(intervals, "intervals")
        )

    def _format(self, form: str, style: result_tables.Style = result_tables.PLAIN) -> str:
        return result_tables.format_outcome(self._outcome, form, style)

    def __repr__(self) -> str:
        """Show the table of the command ``ngram-metrics``."""
        return self._format("table", result_tables.PLAIN._replace(width=result_tables.terminal_width())).rstrip("\n")

    def _repr_html_(self) -> str:
        return result_tables.html_table(self._outcome)


def _check_text(name: str, text: object) -> None:
    if text is not None and not isinstance(text, str):
        raise TypeError(f"{name} is {type_name(text)}: expected a text")


@named_arguments
def evaluate(
    systems: Mapping[str, Sequence[str]] | Sequence[str] | Mapping[str, os.PathLike[str]] | os.PathLike[str],
    references: (
        Sequence[str] | Sequence[str | Sequence[str]] | Mapping[str, Sequence[str | Sequence[str]]] | None
    ) = None,
    metrics: str | Sequence[str] | Mapping[str, Metric | Scorer | str] | None = None,
    baseline: str | None = None,
    confidence: float | None = 0.95,
    test: Test = "randomization",
    correction: Correction = "holm",
    groups: Labels | Mapping[str, Labels] | None = None,
    clusters: Labels | None = None,
    seed: int = SEED,
) -> Evaluation:
    """Score systems, and test each against a baseline.

    The command ``ngram-metrics`` gives the same numbers. If tqdm is installed, a terminal shows a progress bar after 2
    seconds.

    Args:
        systems: the segments of each system by its name, or a data frame of pandas or polars with a column for each;
            or the segments of one system, which is then named ``"system"``. Without references, the folder with the
            outputs of a training, in which each file is a system and the steps give the order, or a mapping of names to
            such files.
        references: the reference of each segment; several such lists; or a list of references for each segment. If the
            systems have names, also a mapping of names to lists, whose items may be lists of references, or a data
            frame. A list of n lists of n texts, for n segments, is ambiguous: pass a mapping. None if the files of a
            training contain the references.
        metrics: names as for the command's ``-m``, such as ``"bleu,chrf,rouge"`` or ``["bleu", "rougeL"]``, with the
            defaults of their classes; or a mapping of names to such names or to metrics of this package. Only the
            settings of a metric are used, and its counts do not change. None for ``"chrf,bleu"``.
        baseline: the system that the others are compared with; None for the first.
        confidence: the level of the bootstrap intervals, at most 0.998; None for no intervals.
        test: ``"randomization"`` or ``"bootstrap"``, see ``ngram_metrics.significance``.
        correction: ``"holm"`` corrects the p-values of each value for the number of systems; None or ``"none"`` leaves
            them unchanged.
        groups: a label for each segment, or such lists by name. The segments of each label are scored as a corpus, and
            the report can filter by labels. A grouping with more than 50 labels, such as an id, is only for filtering.
        clusters: the document of each segment, a hashable label such as a name. Intervals and tests then draw whole
            documents, because the segments of a document are not independent. In a group, a document consists of
            its segments in that group; if a group has only one document, its interval has width 0. Wins, ties and
            losses still count segments. If None, segments are drawn.
        seed: the seed of the intervals and of the test.

    Returns:
        The results, with scores and p-values from 0 to 1.

    Raises:
        TypeError: an argument of another type; segments that are not text; a metric that is not of this package; None
            as the document of a segment.
        ValueError: no system or no segment; different numbers of segments, references or labels; references that are
            ambiguous, or that have names where the system has none; an unknown metric, baseline, test or
            correction; a metric with average none; two metrics with the same name for a value; a level out of its
            range; one document for all segments, or a blank one.

    Warns:
        UserWarning: a bootstrap test of fewer than 50 segments, or documents; a word in composed Unicode that is
            decomposed in a reference, or the other way round; a word that differs from a word of a reference only in an
            invisible character, such as a zero-width space.

    Example:
        >>> import ngram_metrics
        >>> references = ["The cat sat on the mat.", "There is a dog in the garden.", "It rains."]
        >>> base = ["The cat is on the mat.", "There is dog in garden.", "It rains."]
        >>> tuned = ["The cat sat on a mat.", "There is a dog in the garden.", "It rains."]
        >>> result = ngram_metrics.evaluate({"base": base, "tuned": tuned}, references, confidence=None)
        >>> print(str(result).splitlines()[2])
        tuned   87.36   79.98
        >>> bleu = result.results["tuned"]["bleu"]
        >>> bleu.wins, bleu.ties, bleu.losses
        (1, 2, 0)
    """
    scorers = checked_scorers(metrics)
    texts = checked_texts(systems, references, baseline)
    plan = checked_plan(confidence, test, correction, seed, clusters, texts)
    labels = checked_groupings(groups, texts)
    for name, segments in texts.systems.items():
        if warn_of_other_form(segments, texts.references, f"system {name!r}, segment"):
            break
    with show_progress("segments") as progress, name_options(_OPTION_NAMES):
        counts = {
            name: count(list(scorers.values()), segments, texts.references, progress)
            for name, segments in texts.systems.items()
        }
    return Evaluation(counts, compute_outcome(counts, list(scorers), texts, plan, labels), texts)
