"""What LLaMA-Factory and ms-swift compute: the recipe of docs/guides/hosts.md gives the four values."""

from statistics import fmean

import numpy as np
import pytest
from documentation import run_recipe
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from ngram_metrics import Bleu

pytest.importorskip("transformers", reason="what it predicts is passed")

from transformers import EvalPrediction

jieba = pytest.importorskip("jieba", reason="it finds the words")
rouge_chinese = pytest.importorskip("rouge_chinese", reason="it is compared with")

TEXTS = [
    ("正确。", "正确。"),
    ("", "我们昨天在河边看见了三只白鹭。"),
    ("我们昨天在河边看见了白鹭，它们在等鱼，在等鱼。", "我们昨天在河边看见了三只白鹭，它们在等鱼！"),
    ("第一段。\n\n第二段......\n\n好的？是的", "第一段。\n第二段.......\n\n\n好的？不是"),
    ("今天天气很好，GPT-4 答对了 3.14。", "今天天气不好…… GPT-4 没有答对。"),
]


class Characters:
    """A tokenizer whose ids are the numbers of characters, and 0 the padding."""

    pad_token_id = 0

    def batch_decode(self, rows, skip_special_tokens: bool) -> list[str]:
        return ["".join(chr(token) for token in row if token) for row in rows]


def padded(texts: list[str], padding: int) -> np.ndarray:
    rows = [[*map(ord, text)] for text in texts]
    return np.array([row + [padding] * (max(map(len, rows)) - len(row)) for row in rows])


def scores_of_llama_factory(written: str, reference: str) -> dict[str, float]:
    """Return what it computes of a pair, in percent."""
    words = [" ".join(jieba.cut(text)) for text in (written, reference)]
    scores = dict.fromkeys(("rouge-1", "rouge-2", "rouge-l"), 0.0)
    if all(map(str.split, words)):
        scores = {key: parts["f"] for key, parts in rouge_chinese.Rouge().get_scores(*words)[0].items()}
    smoothing = SmoothingFunction().method3
    scores["bleu-4"] = sentence_bleu([[*reference]], [*written], smoothing_function=smoothing)
    return {name: 100 * score for name, score in scores.items()}


def test_the_four_values_are_equal_in_its_protocol():
    compute_metrics = run_recipe("LLaMA-Factory and ms-swift")["similarity"](Characters())
    for start in range(len(TEXTS)):
        written, references = zip(*TEXTS[start : start + 1], strict=True)
        batch = EvalPrediction(padded(written, Characters.pad_token_id), padded(references, -100))
        values = compute_metrics(batch, compute_result=start + 1 == len(TEXTS))
    expected = [scores_of_llama_factory(*pair) for pair in TEXTS]
    assert values == pytest.approx({name: fmean(score[name] for score in expected) for name in expected[0]}, abs=1e-6)


def test_bleu_of_ms_swift_is_of_words_without_segments_that_have_none():
    """It passes texts, and no ids."""
    split = [[[word for word in jieba.cut(text) if word.strip(" ")] for text in pair] for pair in TEXTS]
    split = [pair for pair in split if all(pair)]
    smoothing = SmoothingFunction().method3
    expected = fmean(sentence_bleu([reference], written, smoothing_function=smoothing) for written, reference in split)
    metric = Bleu(smooth="nltk_smooth3", average="macro", effective_order=False)
    metric.update([written for written, _ in split], [[reference] for _, reference in split])
    assert metric.compute() == pytest.approx(expected)
