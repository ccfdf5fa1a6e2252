"""Count n-grams and common subsequences of token ids, on any device: what the metrics of this package count with.

``clipped_matches``, ``ngram_counts`` and ``common_subsequence_lengths`` take token ids alone, and return int64 tensors
with one row for each segment, exact for all ids. They know no text, no formula and no framework.

Ids are read as the metrics read them, in two layouts:

* Padded: one integer tensor or array of ids in rows, hypotheses ``(segments, width)``, references ``(segments, width)``
  or ``(segments, references, width)``. ``pad_id`` names the id or ids that are not tokens; they and negative ids, such
  as -100, are dropped wherever they stand. The tensors are counted on their device.
* Lists: a sequence with one item for each segment, which is a sequence of integers or a 1-D integer tensor or array; an
  item of ``target`` may also be a sequence of several references. They are counted on the CPU.

On a CPU n-grams are counted in numpy, and common subsequences by RapidFuzz. On other devices, and in graphs that
``torch.compile`` or a trace records, a kernel in torch gives the same counts. To have it count padded ids on a CPU too,
for a comparison, set ``NGRAM_METRICS_COUNTING=torch`` in the environment.

``ngram_metrics.functional.matched_orders`` says where the matches are: for each token the longest order of a matched
n-gram that covers it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ngram_metrics.functional.token_counts import NgramCounts as NgramCounts
    from ngram_metrics.functional.token_counts import NgramMatches as NgramMatches
    from ngram_metrics.functional.token_counts import clipped_matches as clipped_matches
    from ngram_metrics.functional.token_counts import common_subsequence_lengths as common_subsequence_lengths
    from ngram_metrics.functional.token_counts import ngram_counts as ngram_counts

__all__ = ["clipped_matches", "NgramMatches", "ngram_counts", "NgramCounts", "common_subsequence_lengths"]


def __getattr__(name: str) -> object:
    # Imported when first used: ``ngram_metrics.pair`` takes one file of this folder, and neither torch nor numpy.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ngram_metrics.functional import token_counts

    value: object = getattr(token_counts, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
