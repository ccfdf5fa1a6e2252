"""COCO captions: BLEU-1 to 4 and ROUGE-L of pycocoevalcap, whose package carries 100 MB of Java."""

from collections.abc import Sequence
from math import exp, prod

import pytest
from documentation import run_recipe
from oracles import BleuCounts, bleu_counts, summed
from rouge_oracle import table
from systems import output, references

WORDS = [text.lower().replace(".", "") for text in references(31)]
#: Five references for most captions, and one or two for some.
REFERENCES = [[text, *output([text] * (1 + 3 * (i % 2)), 0.3, seed=i)] for i, text in enumerate(WORDS)]
CAPTIONS = [*output(WORDS[:-2], 0.2, seed=99), "bara", WORDS[-1]]


def bleu_of_pycocoevalcap(
    orders: int, captions: Sequence[str], references: Sequence[Sequence[str]], added: float = 1e-9
) -> float:
    """Return a value of BleuScorer.compute_score of bleu/bleu_scorer.py in pycocoevalcap 1.2.

    It adds ``tiny`` to each numerator, 1e-15, and ``small`` to each divisor, 1e-9.
    """
    tiny = 1e-6 * added
    pairs = zip(captions, references, strict=True)
    counts = [bleu_counts(caption.split(), [text.split() for text in texts], orders) for caption, texts in pairs]
    total = BleuCounts(*summed(counts))
    terms = zip(total.matches, total.totals, strict=True)
    precision = prod((matches + tiny) / (ngrams + added) for matches, ngrams in terms)
    ratio = (total.hypothesis_length + tiny) / (total.reference_length + added)
    return precision ** (1 / orders) * (exp(1 - 1 / ratio) if ratio < 1 else 1)


def rouge_of_pycocoevalcap(caption: Sequence[str], texts: Sequence[Sequence[str]], beta: float = 1.2) -> float:
    """Return a score of Rouge.calc_score of rouge/rouge.py in pycocoevalcap 1.2."""
    lengths = [table(text, caption)[-1][-1] for text in texts]
    precision = max(length / len(caption) for length in lengths)
    recall = max(length / len(text) for length, text in zip(lengths, texts, strict=True))
    if precision == 0 or recall == 0:
        return 0.0
    return (1 + beta**2) * precision * recall / (recall + beta**2 * precision)


def test_bleu_1_to_4_differ_by_the_constants_that_pycocoevalcap_adds():
    metrics = run_recipe("COCO captions")["caption_bleu"]
    for start in range(0, len(CAPTIONS), 7):
        metrics.update(CAPTIONS[start : start + 7], REFERENCES[start : start + 7])
    values = {name: value.item() for name, value in metrics.compute().items()}
    corpus = CAPTIONS, REFERENCES
    exact = {f"Bleu_{orders}": bleu_of_pycocoevalcap(orders, *corpus, added=0) for orders in range(1, 5)}
    theirs = {f"Bleu_{orders}": bleu_of_pycocoevalcap(orders, *corpus) for orders in range(1, 5)}
    assert values == pytest.approx(exact, rel=1e-12)
    assert values == pytest.approx(theirs, abs=1e-11)


def test_bleu_is_0_without_a_common_4_gram_where_pycocoevalcap_has_a_trace():
    corpus = ["a dog ran home fast"], [["a dog ran off", "the dog is home"]]
    metrics = run_recipe("COCO captions")["caption_bleu"]
    metrics.update(*corpus)
    assert metrics.compute()["Bleu_4"] == 0
    assert 0 < bleu_of_pycocoevalcap(4, *corpus) < 1e-3


def test_rouge_l_takes_the_best_precision_and_the_best_recall():
    score = run_recipe("COCO captions")["caption_rouge_l"]
    pairs = [(text.split(), [*map(str.split, texts)]) for text, texts in zip(CAPTIONS, REFERENCES, strict=True)]
    scores = [rouge_of_pycocoevalcap(*pair) for pair in pairs]
    assert score(CAPTIONS, REFERENCES) == pytest.approx(sum(scores) / len(scores), rel=1e-12)
    assert score(["a b", ""], [["c d", "e"], ["c"]]) == 0
