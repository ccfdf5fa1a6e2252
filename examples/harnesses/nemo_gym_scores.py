"""The scores of NeMo Gym's server for translations, equal to sacrebleu's, in a fraction of the time.

    pip install -e . nemo-gym

The server imports sacrebleu's functions. Those below take and return the same. Write a file beside its `app.py`, and
name it in the server's configuration:

    import app
    from nemo_gym_scores import replace_scores

    replace_scores(app)
    if __name__ == "__main__":
        app.WmtTranslationResourcesServer.run_webserver()

The reward of a rollout neither imports torch nor holds up the other rollouts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from ngram_metrics import pair


class Score(NamedTuple):
    """What the server reads of sacrebleu's result: a score from 0 to 100."""

    score: float


@cache
def tokenizer_named(name: str) -> Any:
    """Return a tokenizer for a name of sacrebleu's; flores200 is its own copy of the model."""
    if name != "flores200":
        return name
    from sacrebleu.tokenizers.tokenizer_spm import Flores200Tokenizer

    return Flores200Tokenizer().sp


def sentence_chrf(hypothesis: str, references: Sequence[str]) -> Score:
    """Return the chrF of one hypothesis."""
    return Score(100 * pair.chrf(hypothesis, references))


def sentence_bleu(hypothesis: str, references: Sequence[str], tokenize: str = "13a") -> Score:
    """Return the BLEU of one hypothesis, of the orders that it has, smoothed."""
    tokenizer = tokenizer_named(tokenize)
    return Score(100 * pair.bleu(hypothesis, references, tokenizer=tokenizer))


def corpus_chrf(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
    """Return the chrF of a corpus; each item of ``references`` has one reference of every hypothesis."""
    from ngram_metrics.functional import chrf_score

    return Score(100 * chrf_score(hypotheses, list(zip(*references, strict=True))).item())


def corpus_bleu(hypotheses: Sequence[str], references: Sequence[Sequence[str]], tokenize: str = "13a") -> Score:
    """Return the BLEU of a corpus; each item of ``references`` has one reference of every hypothesis."""
    from ngram_metrics.functional import bleu_score

    segments = list(zip(*references, strict=True))
    tokenizer = tokenizer_named(tokenize)
    return Score(100 * bleu_score(hypotheses, segments, tokenizer=tokenizer).item())


def replace_scores(server: ModuleType) -> list[str]:
    """Let the module of a server use these functions, under the names that it has them by; return the names."""
    functions = {
        "sentence_chrf": sentence_chrf,
        "sentence_bleu": sentence_bleu,
        "corpus_chrf": corpus_chrf,
        "corpus_bleu": corpus_bleu,
        "corpus_spbleu": corpus_bleu,
    }
    names = [name for name in functions if hasattr(server, name)]
    for name in names:
        setattr(server, name, functions[name])
    return names
