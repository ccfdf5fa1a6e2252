"""A scorer for inspect_ai whose value is the counts of a sample, and a metric that adds them to corpus scores.

The score of a corpus is not the mean of the samples' scores, and epochs would average counts. So the metric asks for
the counts of every epoch, and adds them. For the interval a sample is drawn with all its epochs. Scores are from 0 to
1. The log keeps the counts of each sample. The page is docs/guides/harnesses.md.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from ngram_metrics._torchmetrics.metric_classes import Bleu, ChrF
from ngram_metrics.columns import StatisticsColumns

COLUMNS = StatisticsColumns({"bleu": Bleu(), "chrf": ChrF()}, preds="output", target="references")


@metric(scores="unreduced")
def corpus_scores(confidence: float = 0.95) -> Metric:
    """Scores of all samples, each with the ends of its interval."""

    def compute(scores: list[SampleScore]) -> Mapping[str, float]:
        samples: dict[object, Counter[str]] = defaultdict(Counter)
        for score in scores:
            counts = score.score.value
            if not isinstance(counts, dict):
                raise ValueError(f"sample {score.sample_id!r} has no counts: its score is {counts!r}")
            # A score without its sample's name counts as a sample by itself.
            samples[object() if score.sample_id is None else score.sample_id].update(counts)
        sums = {name: [counts[name] for counts in samples.values()] for name in COLUMNS.names}
        return {name: float(values[0]) for name, values in COLUMNS.scores(sums, confidence=confidence).items()}

    return compute


@scorer(metrics=[corpus_scores()])
def corpus_counts() -> Scorer:
    """Counts of the output and of the target, which may be several references."""

    async def score(state: TaskState, target: Target) -> Score:
        output = state.output.completion
        counted = COLUMNS({"output": [output], "references": [list(target)]})
        return Score(value={name: counted[name][0].item() for name in COLUMNS.names}, answer=output)

    return score
