"""Calls as people write them, read by mypy and not run; ``# wrong`` ends the lines that it must refuse."""

from collections.abc import Callable

import torch
from ignite.engine import Engine
from torch import Tensor
from torchmetrics import MetricCollection

from ngram_metrics import Bleu, ChrF, GroupedMetric, NgramOverlap, ROUGEScore, evaluate, mbr
from ngram_metrics._torchmetrics.accumulator import Accumulator
from ngram_metrics.functional import bleu_score, chrf_score, ngram_overlap, rouge_score
from ngram_metrics.ignite import Bleu as IgniteBleu
from ngram_metrics.ignite.drop_in import RougeL


def text(preds: list[str], references: list[str], several: list[list[str]]) -> None:
    metric = Bleu(average="micro", smooth="exp", tokenizer="13a", confidence=0.95, device="cpu")
    metric.update(preds, references)
    metric.update(preds, several)
    metric.update(tuple(preds), [tuple(each) for each in several])
    name: str = metric.signature
    details: dict[str, Tensor] = metric.details()
    MetricCollection({"bleu": metric, "chrf": ChrF(word_order=2), "overlap": NgramOverlap()})
    print(name, details)


def computed(level: float | None) -> None:
    value: Tensor = Bleu(average="micro").compute()
    paper: Tensor = Bleu(lowercase=True).compute()
    interval: dict[str, Tensor] = ChrF(confidence=0.95).compute()
    of_paper: dict[str, Tensor] = Bleu(confidence=0.95).compute()
    print(of_paper, evaluate(["a"], ["b"], metrics={"f": ROUGEScore()["rougeL_fmeasure"], "c": ChrF()}))
    either: Tensor | dict[str, Tensor] = ChrF(confidence=level).compute()
    values: dict[str, Tensor] = ROUGEScore().compute()
    values_with_intervals: dict[str, Tensor] = ROUGEScore(confidence=level)(["a"], ["a"])
    rouge: Accumulator[float | None] = ROUGEScore()
    longest: Tensor = ROUGEScore()["rougeL_fmeasure"].compute()
    of_groups: dict[str, Tensor] = GroupedMetric(ROUGEScore()["rougeL_fmeasure"], ["de"])(["a"], ["b"], [0])
    score_of_batch: Tensor = Bleu()(["a"], ["a"])
    values_of_batch: dict[str, Tensor] = ChrF(confidence=0.9)(["a"], ["a"])
    another: ChrF[float] = ChrF(confidence=0.9).clone()
    number: float | Tensor | dict[str, float] | dict[str, Tensor] = IgniteBleu().compute()
    ngrams: dict[str, float] | float | Tensor | dict[str, Tensor] = RougeL().compute()
    alone = NgramOverlap(sync_on_compute=False, compute_on_cpu=True, dist_sync_on_step=False, compute_with_cache=True)
    print(longest, of_groups, score_of_batch, values_of_batch, another, number, ngrams, alone)
    print(value, paper, interval, either, values, values_with_intervals, rouge)


def tokens(preds: list[list[str]], references: list[list[str]], split: Callable[[str], list[str]]) -> None:
    Bleu(tokenizer=split).update(preds, references)
    Bleu(pad_id=(0, -100)).update([[1, 2], [3]], [[[1, 2], [1]], [[3]]])
    ROUGEScore(rouge_keys="rougeL", accumulate="avg", average="none").update(preds, references)
    ROUGEScore(rouge_keys=("rouge1", "rougeLsum"), sentence_splitter=split)


def rewards(preds: Tensor, references: Tensor) -> Tensor:
    scores: dict[str, Tensor] = rouge_score(preds, references, pad_id=0)
    print(scores, chrf_score(preds, references, pad_id=0), ngram_overlap(preds, references, pad_id=0))
    return bleu_score(preds, references, average="none", pad_id=0, smooth="add-k", device=torch.device("cpu"))


def engine(evaluator: Engine, rows: list[list[str]]) -> list[str]:
    IgniteBleu(average="macro", smooth="nltk_smooth2").attach(evaluator, "bleu")
    RougeL().attach(evaluator, "rouge")
    return list(mbr.decode(ChrF(), rows).hypotheses)


def wrong(preds: list[str], references: list[str]) -> None:
    Bleu(average="mirco")  # wrong
    Bleu(tokenizer="13A")  # wrong
    Bleu(ngram="4")  # wrong
    Bleu().update(preds)  # wrong
    GroupedMetric(ChrF(), ["de"]).update(preds, references)  # wrong
    ROUGEScore(rouge_keys="rouge10")  # wrong
    ROUGEScore(accumulate="mean")  # wrong
    ChrF(beta="2")  # wrong
    IgniteBleu(average="weighted")  # wrong
    Bleu().compute()["bleu"].bit_length()  # wrong
    ChrF(confidence=0.95).compute().item()  # wrong
    bleu_score(preds, references, average="corpus")  # wrong
    Bleu(confidnce=0.9)  # wrong
    Bleu(sync_on_compute="no")  # wrong
    ChrF(dist_sync_on_stp=True)  # wrong
    NgramOverlap(dist_sync_fn="gather")  # wrong
    Bleu()(preds)  # wrong
    Bleu()(preds, references)["bleu"].bit_length()  # wrong
    ChrF(confidence=0.9)(preds, references).item()  # wrong
    ROUGEScore()["rougeL_fmeasure"].compute().keys()  # wrong
    with_interval: Accumulator[float] = ROUGEScore()  # wrong
    Bleu().clone().compute().keys()  # wrong
    IgniteBleu().update(preds)  # wrong
    IgniteBleu(tokenzer="13a")  # wrong
    IgniteBleu(tokenizer=3)  # wrong
    score: float = bleu_score(preds, references)  # wrong
    print(score, with_interval)
