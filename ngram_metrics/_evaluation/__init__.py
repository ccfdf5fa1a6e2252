"""Several systems on the same segments: their counts, all results, and tables in every format.

This module imports no torch: the command checks its arguments by these names.
"""

#: The metrics without ``metrics=``: BLEU as papers report it, and chrF.
DEFAULT_METRICS = ("chrf", "bleu")
#: The formats of tables.
FORMATS = ("table", "json", "markdown", "latex")
