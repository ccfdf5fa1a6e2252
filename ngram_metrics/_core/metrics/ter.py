r"""TER, the translation edit rate (Snover et al. 2006): counted by sacrebleu, whose scores these are.

Definition. The edits of a hypothesis are the insertions, deletions and substitutions of words, and shifts of several
words at once, that turn it into a reference. With several references the fewest edits count, and the mean of the
reference lengths:

.. math:: \text{TER} = \frac{\text{edits}}{\text{words of the reference}}

Conventions. A lower score is better; 0 is a perfect one, and a hypothesis that is much longer than its reference scores
above 1. With a reference without words the score is 1, or 0 if the hypothesis has none either. A corpus (micro) sums
edits and lengths.

Counting. The best shifts are a search that sacrebleu cuts short as the first program, Tercom, does. So the counts are
the attributes of sacrebleu's ``TER().sentence_score``, at about 3 ms for each pair of a hypothesis and a reference.

Exactness. Scores of segments are sacrebleu's to the last bit. So are scores of a corpus, up to 2^29 words, if each
segment has 1, 2, 4, 8 or 16 references. With another number the mean length is a fraction that binary numbers do not
hold: sacrebleu's sum of them depends on the order of segments in its last digits. Here it is exact for up to 22
references, because fractions are counted in units of 1 / 232,792,560, the least common multiple of 1 to 22.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from ngram_metrics._core.basics.lazy import torch
from ngram_metrics._core.basics.option_checks import Average, check_booleans
from ngram_metrics._core.counting.documents import Batch, RaggedSides, RaggedTokens, float_dtype, host_counts
from ngram_metrics._core.scoring.measure import Layout, Measure
from ngram_metrics._core.scoring.scorer import MetricRow, Scorer
from ngram_metrics._core.text.input_forms import PaddedSegments, Segments
from ngram_metrics._core.text.input_warnings import warn_of_unsplit_texts
from ngram_metrics._core.text.reader import Reader, batch_of
from ngram_metrics._core.text.tokenizer_option import installed_version

if TYPE_CHECKING:
    from sacrebleu.metrics.ter import TER
    from torch import Tensor

#: The most references whose mean length is always exact.
_REFERENCES = 22
#: The parts of a word in which fractions are counted.
PARTS = math.lcm(*range(1, _REFERENCES + 1))


@dataclass(frozen=True)
class TextReader(Reader):
    """Reads a text as one token on the CPU, whose id is the index of the text in ``Batch.texts``.

    ``splits`` says whether the measure splits Chinese and Japanese, which have no spaces, into characters.
    """

    splits: bool = False
    pad_id: None = field(default=None, init=False)

    def encode(self, segments: Segments | PaddedSegments) -> Batch:
        """Number checked texts, or raise TypeError for tokens or ids."""
        if segments.kind != "text":
            raise TypeError(
                f"the segments are {segments.kind}, and this metric takes text only: expected each as a str, such as "
                "tokens joined by spaces, or decoded ids"
            )
        return super().encode(segments)

    def signature(self, kind: str) -> dict[str, str]:
        """Return no settings: there are none."""
        return {}

    def _text_options(self) -> dict[str, object]:
        return {}

    def _encode_text(self, segments: Segments) -> Batch:
        texts = segments.documents
        if not self.splits:
            advice = "normalized=True and asian_support=True, which split Chinese and Japanese into characters"
            warn_of_unsplit_texts(segments.hypotheses, segments.references, advice)
        indices = RaggedTokens(torch.arange(len(texts), device="cpu"), host_counts([1] * len(texts)), len(texts))
        return batch_of(segments, indices)._replace(texts=texts)


class TerStatistics(NamedTuple):
    """The counts of TER, each ``(...)`` int64.

    Attributes:
        edits: the edits of the hypothesis.
        reference_length: the words of the reference; of several, the whole part of their mean.
        reference_fraction: the fraction of this mean in units of 1 / 232,792,560; 0 for one reference.
    """

    edits: Tensor
    reference_length: Tensor
    reference_fraction: Tensor


@dataclass(frozen=True)
class TerMeasure(Measure[TerStatistics]):
    """TER with the options of ``ngram_metrics.Ter``; without sacrebleu it raises ModuleNotFoundError."""

    normalized: bool = False
    no_punct: bool = False
    asian_support: bool = False
    case_sensitive: bool = False

    layout = Layout(TerStatistics, (None, None, None))
    higher_is_better = False
    texts_at_once = 64

    def __post_init__(self) -> None:
        check_booleans(self)
        try:
            import sacrebleu  # noqa: F401
        except ImportError as error:
            raise ModuleNotFoundError("TER is counted by sacrebleu: pip install sacrebleu") from error

    def statistics(self, batch: Batch) -> TerStatistics:
        """Count texts, or raise ValueError for more references than those whose mean length is exact."""
        assert isinstance(batch.sides, RaggedSides)
        assert batch.texts is not None
        ter = _sacrebleu_ter(self)
        hypotheses, references = batch.sides
        others = iter(references.tokens.ids.tolist())
        rows: list[list[int]] = []
        for text_index, count in zip(hypotheses.ids.tolist(), references.counts.tolist(), strict=True):
            counts = ter.sentence_score(
                batch.texts[text_index], [batch.texts[other] for other in islice(others, count)]
            )
            whole, rest = divmod(round(counts.ref_length * count), count)
            fraction, inexact = divmod(rest * PARTS, count)
            if inexact:
                raise ValueError(f"segment {len(rows)} has {count} references: TER takes up to {_REFERENCES}")
            rows.append([counts.num_edits, whole, fraction])
        columns = torch.tensor(rows, dtype=torch.int64, device="cpu").reshape(-1, 3)
        return TerStatistics(*columns.unbind(-1))

    def score(self, statistics: TerStatistics) -> Tensor:
        """Return TER, at least 0, for statistics of any leading shape."""
        dtype = float_dtype(statistics.edits.device)
        edits, whole, fraction = (field.to(dtype) for field in statistics)
        # In a segment the sum is an exact integer: the division alone rounds, as in sacrebleu's mean.
        length = (whole * PARTS + fraction) / PARTS
        rate = edits / torch.where(length > 0, length, 1)
        return torch.where(length > 0, rate, (edits > 0).to(dtype))

    def signature(self) -> dict[str, str]:
        """Return the options by sacrebleu's names, and its version."""
        on = {True: "yes", False: "no"}
        return {
            "case": "mixed" if self.case_sensitive else "lc",
            "tok": "tercom",
            "norm": on[self.normalized],
            "punct": on[not self.no_punct],
            "asian": on[self.asian_support],
            "sacrebleu": installed_version("sacrebleu"),
        }


@cache
def _sacrebleu_ter(measure: TerMeasure) -> TER:
    """Return the TER of sacrebleu with these options, which is made once and keeps its words and its tokenizer."""
    # Its tokenizer caches 65,536 texts on a method, which keeps every tokenizer alive that has read one.
    from sacrebleu.metrics.ter import TER

    return TER(**asdict(measure))


def make_ter(
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
    average: Average = "micro",
) -> Scorer:
    """Return TER with the options of ``ngram_metrics.Ter``."""
    measure = TerMeasure(normalized, no_punct, asian_support, case_sensitive)
    return Scorer(TextReader(splits=measure.normalized and measure.asian_support), measure, average, {"ter": ()})


ROWS = (MetricRow("TER", make_ter),)
