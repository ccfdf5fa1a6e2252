"""The systems of the paired tests: made-up ones, counted by a metric each."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from systems import output, references

from ngram_metrics import Bleu, ChrF, ROUGEScore
from ngram_metrics.significance import paired_approximate_randomization, paired_bootstrap

REFERENCES = references(150)
#: Some close to the baseline, one far from it.
OUTPUTS = {
    "base": output(REFERENCES, 0.30, seed=10),
    "alike": output(REFERENCES, 0.30, seed=21),
    "close": output(REFERENCES, 0.29, seed=12),
    "far": output(REFERENCES, 0.2, seed=13),
}


TESTS: dict[str, Callable[..., Any]] = {
    "bootstrap": paired_bootstrap,
    "randomization": paired_approximate_randomization,
}
each_test = pytest.mark.parametrize("test", TESTS.values(), ids=TESTS)
each_average = pytest.mark.parametrize("average", ["micro", "macro"])
#: One value or several, over the sums of counts or over segments.
METRICS: list[Callable[..., Any]] = [
    Bleu,
    ChrF,
    lambda **options: ROUGEScore(rouge_keys=("rouge1", "rougeL"), **options),
]


def counted(
    make: Callable[..., Any],
    outputs: Mapping[str, Sequence[str]] = OUTPUTS,
    references: Sequence[Any] = REFERENCES,
    **options: Any,
) -> dict[str, Any]:
    systems = {name: make(**{"confidence": 0.95, **options}) for name in outputs}
    for name, metric in systems.items():
        metric.update(outputs[name], references[: len(outputs[name])])
    return systems
