"""The base class of all measures: named counts, which are summed and averaged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

from ngram_metrics._core.basics.lazy import torch
from ngram_metrics._core.counting.documents import Batch, DocumentGroups
from ngram_metrics._core.text.word_rules import has_splitter

if TYPE_CHECKING:
    from torch import Tensor

    from ngram_metrics._core.counting.all_pairs import MatchBlock

#: So many tokens, and characters by their tokenizer, take the same time in plain Python and in arrays. The measure
#: matters less. The limit of ``zh`` is in bytes of UTF-8: a Chinese character, which is a word, has three.
TOKEN_LIMIT = 1650
_TEXT_LIMIT, _LIMITS_OF_RULES = 12_600, {"13a": 6400, "intl": 900, "unicode": 2000, "zh": 4800}

#: A NamedTuple of tensors with any leading dimensions: one row per segment, a sum, or a matrix of pairs.
Statistics = TypeVar("Statistics", bound="tuple[Tensor, ...]")


@dataclass(frozen=True)
class Layout(Generic[Statistics]):
    """The columns of statistics in a row.

    Attributes:
        make: the type of the statistics.
        widths: for each field its width in a row, or None for a number without a dimension.
        columns: the columns of each field in a row, or its only one.
        row_width: the number of columns.
    """

    make: Callable[..., Statistics]
    widths: tuple[int | None, ...]
    columns: Sequence[int | slice] = field(init=False, compare=False)
    row_width: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        columns: list[int | slice] = []
        row_width = 0
        for width in self.widths:
            columns.append(row_width if width is None else slice(row_width, row_width + width))
            row_width += 1 if width is None else width
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "row_width", row_width)


class MatchStatistics(NamedTuple):
    """The counts of metrics that compare matches with all n-grams of both sides, int64 of one shape.

    Attributes:
        matches: the n-grams or tokens that hypothesis and reference share.
        hypothesis_totals: all n-grams or tokens of the hypothesis.
        reference_totals: all n-grams or tokens of the reference.
    """

    matches: Tensor
    hypothesis_totals: Tensor
    reference_totals: Tensor


class PairCounts(NamedTuple):
    """The counts of pairs of a hypothesis and a reference, whose leading dimensions broadcast.

    Attributes:
        matches: ``(..., orders)`` int64, for each order the sum over n-grams of the smaller of the two counts.
        hypothesis_lengths: ``(...)`` int64, tokens of the hypothesis.
        reference_lengths: ``(...)`` int64, tokens of the reference.
    """

    matches: Tensor
    hypothesis_lengths: Tensor
    reference_lengths: Tensor


def limit_of(tokenizer: object, orders: int = 0) -> int:
    """Return the limit of texts with a tokenizer, 0 for an external one; of characters it depends on the orders."""
    if tokenizer == "char" and orders:
        return 660 + 4620 // orders  # plain Python looks at almost all characters in each order
    return _LIMITS_OF_RULES.get(str(tokenizer), _TEXT_LIMIT) if has_splitter(tokenizer) else 0


class Measure(ABC, Generic[Statistics]):
    """The settings of a metric, and two pure functions, with the layout of the counts between them.

    ``statistics`` counts a batch, and ``score`` applies the formula. ``count_in_python`` and ``score_in_python`` do
    both once more for one segment: the counts have the fields of the statistics, and the operations are in the same
    order, so that the same one of several references is chosen.
    """

    #: The columns of the statistics in a row.
    layout: Layout[Statistics]

    @abstractmethod
    def signature(self) -> dict[str, str]:
        """Return the settings that affect the score, by name, as strings."""

    @property
    def row_dtype(self) -> torch.dtype:
        """The dtype of a row: int64 for counts."""
        return torch.int64

    @property
    def score_shape(self) -> tuple[int, ...]:
        """The shape of the score of one row, ``()`` for a number."""
        return ()

    @abstractmethod
    def statistics(self, batch: Batch) -> Statistics:
        """Count a batch: one row per segment."""

    def python_limit(self, tokenizer: object) -> int:
        """Return the size of texts, see ``limit_of``, below which plain Python counts them; 0 if only arrays count."""
        return 0

    def count_in_python(self, hypothesis: Any, references: Sequence[Any]) -> tuple[Any, ...]:
        """Count one segment in plain Python: the fields of the statistics, numbers and lists of them.

        The documents are those that the metric's reader reads in plain Python.
        """
        raise NotImplementedError

    @abstractmethod
    def score(self, statistics: Statistics) -> Tensor:
        """Apply the formula: from statistics of any leading shape to scores ``(..., *score_shape)`` from 0 to 1."""

    def score_in_python(self, counts: Any) -> Any:
        """Score one row in plain Python: a number, or lists of them of ``score_shape``.

        The counts are what ``count_in_python`` returns, or sums of it.
        """
        raise NotImplementedError

    def select_key(self, key: int) -> Measure[Statistics]:
        """Return the measure of a key of ROUGE by its index, or this measure if it is not ROUGE."""
        return self

    def parts(self, statistics: Statistics) -> dict[str, Tensor]:
        """Return the parts of the score by name: the counts, each ``(..., width)``."""
        return dict(zip(type(statistics).__annotations__, statistics, strict=True))

    def reference_counts(self, statistics: Statistics) -> dict[str, Tensor]:
        """Return the fields that begin with ``reference_``, by name.

        With one reference per segment they do not depend on the hypothesis.
        """
        fields = Measure.parts(self, statistics)
        return {name: field for name, field in fields.items() if name.startswith("reference_")}

    @property
    def pair_orders(self) -> tuple[int, ...]:
        """The longest order to count in pairs for each kind of token: words, or characters and words.

        A measure raises ValueError if the score of a pair is not one number, or not a function of such counts.
        """
        raise ValueError("this metric does not score pairs by n-gram matches: expected one that does, such as ChrF()")

    def pair_blocks(
        self, hypotheses: DocumentGroups, references: DocumentGroups, device: torch.device
    ) -> Iterator[MatchBlock]:
        """Count every hypothesis with every reference of its group in the first kind of token, block by block."""
        from ngram_metrics._core.counting.all_pairs import all_pairs_matches  # a command that scores needs no pairs

        # chrF of words alone has the order 0 of characters, and order 1 sets the limits of its blocks.
        return all_pairs_matches(hypotheses, references, max(1, self.pair_orders[0]), device)

    def pair_statistics(self, *counts: PairCounts) -> Statistics:
        """Return the statistics of pairs, of any leading shape, from the counts of each kind of token."""
        raise NotImplementedError

    def score_pairs(self, *counts: PairCounts) -> Tensor:
        """Return the scores of pairs from the counts of each kind of token."""
        return self.score(self.pair_statistics(*counts))


#: A measure with any type of statistics, for code that does not look into them.
AnyMeasure: TypeAlias = Measure[Any]
