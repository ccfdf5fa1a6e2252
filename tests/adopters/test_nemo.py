"""NeMo derives from the metric: each segment has a tokenizer of its own, and the parts of the score are logged."""

from collections.abc import Sequence

import pytest
import torch
from sacrebleu.metrics import BLEU

from ngram_metrics import Bleu

TEXTS = [
    ("13a", "The cat sat on a mat, and slept.", "The cat sat on the mat and slept."),
    ("zh", "我们昨天在河边看见白鹭。", "我们昨天在河边看见了白鹭。"),
]
READ = {name: BLEU(tokenize=name).tokenizer for name in ("13a", "zh")}


class SegmentTokenizers(Bleu):
    def update(self, hypotheses: Sequence[str], references: Sequence[str], tokenizers: Sequence[str]) -> None:
        read = [READ[name] for name in tokenizers]
        preds = [tokenize(text).split() for tokenize, text in zip(read, hypotheses, strict=True)]
        target = [[tokenize(text).split()] for tokenize, text in zip(read, references, strict=True)]
        super().update(preds, target)

    def compute(self) -> dict[str, torch.Tensor]:
        names = ("matches", "totals", "hypothesis_length", "reference_length")
        parts = self.details()
        return {"bleu": super().compute(), **{f"bleu_{name}": parts[name] for name in names}}


def test_each_segment_is_read_by_its_own_tokenizer():
    metric = SegmentTokenizers()
    for name, hypothesis, reference in TEXTS:
        metric.update([hypothesis], [reference], tokenizers=[name])
    values = {name: value.tolist() for name, value in metric.compute().items()}
    split = [[READ[name](text) for text in texts] for name, *texts in TEXTS]
    theirs = BLEU(tokenize="none").corpus_score([one for one, _ in split], [[other for _, other in split]])
    assert values.pop("bleu") == pytest.approx(theirs.score / 100, rel=1e-12)
    assert [*values.values()] == [theirs.counts, theirs.totals, theirs.sys_len, theirs.ref_len]
