"""Self-BLEU against fast-bleu and nltk.

Goal, on one thread: self-BLEU of 2,000 texts at least 25 times as fast as fast-bleu (C++), and of 16,000 texts in less
than a second.

How to run: ``python tests/benchmarks/diversity.py FOLDER --clock cpu --threads 1``; fast-bleu is a contestant if it is
installed (``pip install fast-bleu``), nltk always, on 200 texts. The texts are the outputs of the systems, one system
after another.

What it does: from strings, split at whitespace, to the score of each text. Each repeat and contestant reads lines that
nobody has seen.

What it checks: the scores of all texts are equal within 1e-12, nltk's within 1e-15. fast-bleu smooths a text whose
longest orders do not match, as nltk's ``method1`` does with 0.1, so its scores are compared with ours under
``smooth="smooth1"``.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any

from harness import Contestant, Corpus, parser, read_corpus, run_pinned, time_each, unseen
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from ngram_metrics.functional import self_bleu

Texts = Sequence[str]


def fresh_texts(corpus: Corpus, texts: int) -> Callable[[int, int], list[str]]:
    """Return the function that makes a contestant's texts of a repeat."""
    lines = list(chain.from_iterable(corpus.systems))[:texts]
    return lambda repeat, contestant: unseen(lines, repeat, contestant)


def on_texts(function: Callable[[Texts], Any]) -> Callable[[Texts], Callable[[], Any]]:
    """Time a function of texts."""
    return lambda texts: partial(function, texts)


def _each_self_bleu(texts: Texts) -> list[float]:
    return self_bleu(texts, smooth="smooth1", average="none").tolist()


def _fast_bleu(texts: Texts) -> list[float]:
    from fast_bleu import SelfBLEU

    return SelfBLEU([text.split() for text in texts], {"4gram": (0.25,) * 4}).get_score()["4gram"]


def _nltk(texts: Texts) -> list[float]:
    split = [text.split() for text in texts]
    smoothing = SmoothingFunction().method1
    return [
        sentence_bleu(split[:number] + split[number + 1 :], text, smoothing_function=smoothing)
        for number, text in enumerate(split)
    ]


def main(options: Any) -> None:
    corpus = read_corpus(options.folder)
    ours = Contestant("ngram_metrics", on_texts(_each_self_bleu))
    peers = [Contestant("nltk", on_texts(_nltk), 1e-15)]
    time_each("self-BLEU of 200 texts", [ours, *peers], fresh_texts(corpus, 200), options)
    if importlib.util.find_spec("fast_bleu") is not None:
        peers = [Contestant("fast-bleu (C++)", on_texts(_fast_bleu), options.fast_bleu_tolerance, 25)]
        time_each("self-BLEU of 2,000 texts", [ours, *peers], fresh_texts(corpus, 2_000), options)
    time_each("self-BLEU of 16,000 texts", [ours], fresh_texts(corpus, 16_000), options)


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--fast-bleu-tolerance", type=float, default=1e-12, help="%(default)s")
    run_pinned(main, arguments, "nltk fast-bleu")
