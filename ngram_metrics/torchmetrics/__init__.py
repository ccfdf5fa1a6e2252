"""The metrics as torchmetrics modules: accumulators over batches, one short class per metric."""

import sys

from ngram_metrics.torchmetrics import agreement, states

# Metrics pickled by earlier versions name functions of these modules; __setstate__ refuses them in a sentence.
sys.modules |= {f"{__name__}.joining": states, f"{__name__}.counted": agreement}
