"""The metrics for Hugging Face's Trainer, as ``compute_metrics``, and for TRL's GRPOTrainer, as a reward."""

from ngram_metrics.hugging_face.compute_metrics import ComputeMetrics, Reward

__all__ = ["ComputeMetrics", "Reward"]
