"""How far the score of a metric may be off by the choice of sentences: one number, where an interval does not fit."""

from __future__ import annotations

from ngram_metrics.scores.options import named_arguments, whole_number
from ngram_metrics.scores.resampling import RESAMPLES, SEED, bootstrap_weights, checked_seed
from ngram_metrics.significance.clusters import Labels
from ngram_metrics.significance.paired_systems import System, paired

_NAME = "the metric"


@named_arguments
def standard_error(
    metric: System, resamples: int = RESAMPLES, seed: int = SEED, clusters: Labels | None = None
) -> dict[str, float]:
    """Return the bootstrap's estimate of the standard error of each value (Efron 1979).

    It is the standard deviation of the scores of resampled corpora, the same corpora that give the interval of
    ``confidence=``. That interval is the better answer where there is room for it: it need not be symmetric.

    Args:
        metric: a metric of this package, constructed with ``confidence=...``. In a distributed run, call this function
            on every process.
        resamples: the number of corpora to draw, at least 2.
        seed: the seed of the draws, which give the same result on any device, for any order of sentences.
        clusters: the document of each sentence, as for ``ngram_metrics.significance.paired_bootstrap``.

    Returns:
        The standard error of each value by its name, in the unit of the score: at most 0.5 for scores from 0 to 1.

    Raises:
        TypeError: an object that is not a metric of this package; a seed that is not an integer; clusters that are not
            a sequence of hashable labels, or None as a label.
        ValueError: a metric without ``confidence``, or without sentences; a number of resamples or a seed out of its
            range; another number of labels than of sentences, or one label for all.

    Example:
        >>> from ngram_metrics import ChrF, significance
        >>> metric = ChrF(confidence=0.95)
        >>> metric.update(["the cat on mat", "a dog", "it rains"], ["the cat sat on the mat", "a dog ran", "it rains"])
        >>> significance.standard_error(metric)
        {'chrf': 0.153}
    """
    if (whole_number(resamples) or 0) < 2:
        raise ValueError(f"resamples must be an integer of at least 2 (got: {resamples!r})")
    seed = checked_seed(seed)
    tested = paired({_NAME: metric}, _NAME, clusters)
    scores = tested.resampled(bootstrap_weights(len(tested.values), resamples, seed))  # (resamples, 1, *score_shape)
    return {name: spread.item() for name, spread in tested.scorer.named(scores[:, 0].std(0)).items()}
