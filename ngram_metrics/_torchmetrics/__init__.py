"""The metrics as torchmetrics modules: accumulators over batches, one short class per metric."""
