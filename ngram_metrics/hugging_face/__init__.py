"""The metrics for Hugging Face's Trainer, what makes it generate, and rewards for TRL's GRPOTrainer."""

from ngram_metrics.hugging_face.compute_metrics import ComputeMetrics
from ngram_metrics.hugging_face.generates import Generates
from ngram_metrics.hugging_face.reward import Reward

__all__ = ["ComputeMetrics", "Generates", "Reward"]
