"""Several systems on the same segments: their counts, all results, and tables in every format.

This module imports no torch: the command checks its arguments by these names.
"""

from ngram_metrics._core.metrics.registry import REGISTRY

#: The metrics by the names that ``evaluate`` and the command take.
METRICS = tuple(REGISTRY)
#: Names that are looked for here, and what there is instead.
INSTEAD = dict.fromkeys(("rouge1", "rouge2", "rougeL", "rougeLsum"), "expected rouge, which has all four")
#: The metrics without ``metrics=``: BLEU as papers report it, and chrF.
DEFAULT_METRICS = ("bleu", "chrf")
#: The formats of tables.
FORMATS = ("table", "json", "tsv", "markdown", "latex")
