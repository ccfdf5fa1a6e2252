"""From texts to the ids of their words, by each rule, against what finds the same words a text at a time.

Goal: of 32 sentences at least as fast as a Python step for each, with 13a at least 4 times; of one sentence at most
0.15 ms slower.

How to run: ``python tests/benchmarks/text.py FOLDER``, with the group ``bench`` installed, on an idle machine. FOLDER
holds ``reference.txt`` and ``systems/*.txt``. ``--sizes`` are the numbers of sentences, ``--rules`` the rules.

The texts are lines of the folder, in every repeat others: as they are; without what is not ASCII; the same with Chinese
characters in place of letters; and these three mixed. The other side finds the words a text at a time, by sacrebleu's
tokenizers, ``rouge_score``, or ``str.split``, and numbers them in a dict: what this package did before.

What it checks: the words are as many, text by text, and equal where the ids are.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from harness import layout, parser, read_corpus, run_pinned, unseen
from rouge_score import tokenize
from sacrebleu.metrics import BLEU, CHRF

from ngram_metrics._core.text.word_bounds import CHRF_WORDS, NAMED, ROUGE
from ngram_metrics._core.text.words import number_words

SIZES = "1,32,1000,100000"


def of_sacrebleu(name: str) -> Callable[[str], list[str]]:
    scorer = BLEU(tokenize=name)
    return lambda text: scorer._preprocess_segment(text).split()


RULES: dict[str, tuple[Any, Callable[[str], list[str]]]] = {
    "whitespace": (NAMED["none"], str.split),
    "13a": (NAMED["13a"], of_sacrebleu("13a")),
    "intl": (NAMED["intl"], of_sacrebleu("intl")),
    "zh": (NAMED["zh"], of_sacrebleu("zh")),
    "char": (NAMED["char"], of_sacrebleu("char")),
    "rouge": (ROUGE, lambda text: tokenize.tokenize(text, None)),
    "chrf++": (CHRF_WORDS, CHRF()._remove_punctuation),
}


def numbered(words_of: Callable[[str], list[str]], texts: Sequence[str]) -> tuple[np.ndarray, list[int]]:
    """Find the words a text at a time, and number them in a dict."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    documents = list(map(words_of, texts))
    lengths = list(map(len, documents))
    return np.fromiter(map(numbers.__getitem__, chain.from_iterable(documents)), np.int64, sum(lengths)), lengths


def alphabets(lines: list[str]) -> dict[str, list[str]]:
    chinese = str.maketrans({chr(code): chr(0x4E00 + code * 37) for code in range(ord("a"), ord("z") + 1)})
    found = {
        "as they are": lines,
        "ASCII": [line.encode("ascii", "ignore").decode() for line in lines],
        "Chinese": [line.translate(chinese).replace(" ", "") for line in lines],
    }
    # Other lines than those of the first three, whose words a peer may have kept.
    half = len(lines) // 2
    turned = [texts[half:] + texts[:half] for texts in found.values()]
    return {**found, "mixed": list(chain.from_iterable(zip(*turned, strict=True)))}


def main(options: Any) -> None:
    corpus = read_corpus(options.folder)
    lines = list(chain.from_iterable(corpus.systems))
    rows = [["rule", "sentences", *alphabets([])]]
    for name in options.rules.split(","):
        rule, words_of = RULES[name]
        for size in map(int, options.sizes.split(",")):
            cells = []
            for texts in alphabets(lines).values():
                texts = (texts * (1 + size // len(texts)))[:size]
                seconds = [float("inf"), float("inf")]
                for repeat in range(max(options.repeats, min(200, 2000 // size))):
                    ours, theirs = (unseen(texts, repeat, contestant) for contestant in range(2))
                    start = time.perf_counter()
                    read = number_words(rule, ours, [np.ones(len(ours), np.int64)])
                    middle = time.perf_counter()
                    numbered(words_of, theirs)
                    seconds = [min(seconds[0], middle - start), min(seconds[1], time.perf_counter() - middle)]
                    if repeat == 0:
                        ids, lengths = numbered(words_of, ours)
                        assert read.lengths.tolist() == lengths
                        read = number_words(rule, ours, [np.array([len(ours)])])
                        pairs = np.unique(np.stack((read.ids.numpy(), ids)), axis=1)
                        assert pairs.shape[1] == len(np.unique(ids)) == len(np.unique(read.ids))
                cells.append(f"{seconds[1] / seconds[0]:.2f}x {1e3 * seconds[0]:.2f} ms")
            rows.append([name, str(size), *cells])
    print(layout(rows))


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--sizes", default=SIZES, help="numbers of segments, apart by commas (%(default)s)")
    arguments.add_argument("--rules", default=",".join(RULES), help="which, apart by commas (%(default)s)")
    run_pinned(main, arguments, "sacrebleu rouge-score")
