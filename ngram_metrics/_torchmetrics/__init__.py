"""The metrics as torchmetrics modules: accumulators over batches, one short class per metric."""

import re

import torchmetrics

from ngram_metrics._core.basics.lazy import load_arrays
from ngram_metrics._core.text.messages import warn_user

load_arrays()

#: The newest torchmetrics whose private methods, which the accumulator extends, were tested.
_NEWEST_TESTED = (1, 9)

if (found := re.match(r"(\d+)\.(\d+)", torchmetrics.__version__)) and tuple(map(int, found.groups())) > _NEWEST_TESTED:
    warn_user(
        f"ngram_metrics was tested with torchmetrics up to {'.'.join(map(str, _NEWEST_TESTED))}, and "
        f"{torchmetrics.__version__} is installed: gathering, saving and resetting of states may differ. If a metric "
        "fails, install the tested version, and report it"
    )
