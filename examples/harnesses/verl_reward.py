"""A reward for verl, in plain Python: no process that scores imports torch for it.

    pip install -e . verl
    python -m verl.trainer.main_ppo ... \
        reward.custom_reward_function.path=examples/harnesses/verl_reward.py \
        reward.custom_reward_function.name=compute_score

verl calls it with one sample at a time, and logs every entry of what it returns; "score" is the reward.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ngram_metrics import pair


def compute_score(
    data_source: str, solution_str: str, ground_truth: str | Sequence[str], extra_info: Any = None, **options: Any
) -> dict[str, float]:
    """Return the mean of chrF and BLEU in 0..1, and both: the mean of two scores is harder to cheat than either."""
    references = ground_truth if isinstance(ground_truth, str) else list(ground_truth)  # Parquet gives arrays
    chrf = pair.chrf(solution_str, references, beta=1.0)
    bleu = pair.bleu(solution_str, references, smooth="add-k")
    return {"score": (chrf + bleu) / 2, "chrf": chrf, "bleu": bleu}
