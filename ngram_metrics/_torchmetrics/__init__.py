"""The metrics as torchmetrics modules: an accumulator of batches, and one short class per metric."""
