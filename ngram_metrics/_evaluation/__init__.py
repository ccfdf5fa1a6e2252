"""Several systems on the same segments: their counts, all results, and tables in every format.

This module imports no torch: the command checks its arguments by these names.
"""

from ngram_metrics._core.metrics.registry import REGISTRY

#: The metrics that need no references.
WITHOUT_REFERENCES = tuple(name for name, row in REGISTRY.items() if not row.needs_references)
#: The metrics without ``metrics=``: BLEU as papers report it, and chrF.
DEFAULT_METRICS = ("bleu", "chrf")
#: The formats of tables.
FORMATS = ("table", "json", "tsv", "markdown", "latex")
