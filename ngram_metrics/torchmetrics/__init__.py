"""The metrics as torchmetrics modules: accumulators over batches, one short class per metric."""

import sys

from ngram_metrics.torchmetrics import agreement, metrics, states

# Metrics pickled by earlier versions name classes and functions of these modules; __setstate__ refuses them in a
# sentence.
sys.modules |= {f"{__name__}.joining": states, f"{__name__}.counted": agreement}
sys.modules |= {f"{__name__}.{name}": metrics for name in ("bleu", "rouge", "chrf", "overlap", "gleu")}
