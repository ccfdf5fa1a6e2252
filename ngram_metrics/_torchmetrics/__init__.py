"""The metrics as torchmetrics modules: accumulators over batches, one short class per metric."""

from ngram_metrics._core.basics.lazy import load_arrays

load_arrays()
