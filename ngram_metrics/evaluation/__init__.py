"""Several systems on the same segments: their counts, all results, and tables in every format.

This module imports no torch: the command checks its arguments by these names.
"""

#: The metrics by the names that ``evaluate`` and the command take.
METRICS = ("bleu", "chrf", "chrf++", "rouge", "overlap", "gleu", "ter", "repetition")
#: Those that need no references.
WITHOUT_REFERENCES = ("repetition",)
#: Names that are looked for here, and what there is instead.
INSTEAD = dict.fromkeys(("rouge1", "rouge2", "rougeL", "rougeLsum"), "expected rouge, which has all four")
#: The metrics without ``metrics=``: BLEU as papers report it, and chrF.
DEFAULT_METRICS = ("bleu", "chrf")
#: The formats of tables.
FORMATS = ("table", "json", "tsv", "markdown", "latex")
