"""Several systems on the same segments: their counts, all results, and tables in every format.

This module does not import torch, because the command checks its arguments by these names.
"""

#: The default metrics: chrF, and BLEU as papers report it.
DEFAULT_METRICS = ("chrf", "bleu")
#: The formats of tables.
FORMATS = ("table", "json", "markdown", "latex")
