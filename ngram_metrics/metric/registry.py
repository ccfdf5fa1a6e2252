"""A row for each metric that ``evaluate``, the command and the lists of metrics know by name, without torch.

``ngram_metrics.metric.definitions.make_metric`` makes a metric from its row.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

_NONE: Mapping[str, str] = MappingProxyType({})


class MetricRow(NamedTuple):
    """What is known of a metric before it is made.

    Attributes:
        title: its name as papers write it; in lower case, the name by which it is known here.
        function: the function of ``ngram_metrics.metric.definitions`` that makes it.
        text_options: the options for text that it takes, as the command names them, and their names in that function.
        options: its other options; defaults of its function only where plain Python reads them too.
        pair_names: the names under which it scores pairs, for MBR decoding; of ROUGE those of its keys.
        needs_references: whether hypotheses are compared with references.
        higher_is_better: whether a higher score is better.
        python_cost: the nanoseconds that the command takes more for a character in plain Python than in arrays,
            measured beside the import of torch; None if only arrays count it.
    """

    title: str
    function: str
    text_options: Mapping[str, str] = _NONE
    options: Mapping[str, object] = _NONE
    pair_names: tuple[str, ...] = ()
    needs_references: bool = True
    higher_is_better: bool = True
    python_cost: int | None = None


_TOKENIZER = {"tokenizer": "tokenizer"}
_CHRF_LOWERCASE = {"chrf_lowercase": "lowercase"}
_ROUGE_PAIRS = ("rouge1", "rouge2", "rougeL")
#: The metrics by their names.
REGISTRY = {
    row.title.lower(): row
    for row in (
        MetricRow(
            "BLEU",
            "bleu",
            {**_TOKENIZER, "lowercase": "lowercase"},
            pair_names=("bleu",),
            python_cost=120,
        ),
        MetricRow("chrF", "chrf", _CHRF_LOWERCASE, {}, ("chrf",), python_cost=370),
        MetricRow("chrF++", "chrf", _CHRF_LOWERCASE, {"word_order": 2}, ("chrf++",), python_cost=440),
        MetricRow("ROUGE", "rouge", {"stem": "use_stemmer"}, {}, _ROUGE_PAIRS, python_cost=120),
        MetricRow("overlap", "overlap", _TOKENIZER, {"average": "macro", "ngram": 1}, ("overlap",), python_cost=105),
        MetricRow("GLEU", "gleu", _TOKENIZER, {"average": "micro", "ngram": 4}, ("gleu",), python_cost=120),
        MetricRow("TER", "ter", higher_is_better=False),
        MetricRow("repetition", "repetition", _TOKENIZER, {"average": "macro", "ngram": 4}, (), False, False, 80),
    )
}


def takers_of(text_option: str) -> tuple[str, ...]:
    """Return the names of the metrics that take an option for text."""
    return tuple(name for name, row in REGISTRY.items() if text_option in row.text_options)
