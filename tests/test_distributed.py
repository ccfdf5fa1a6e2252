"""The sampler that gives each process its share of the segments, and the loops of trainers with it and without it."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
import torch
from documentation import DOCS, blocks
from programs import OFFLINE
from ranks import on_ranks
from systems import output, references
from torch.utils.data import DataLoader, DistributedSampler

from ngram_metrics import Bleu
from ngram_metrics.distributed import UnrepeatedSampler
from ngram_metrics.hugging_face import ComputeMetrics

pytest.importorskip("ignite", reason="the classes for ignite are tested")
pytest.importorskip("lightning", reason="its Trainer runs")

import ignite.distributed as idist
from ignite.engine import Engine
from metrics.trainers import Counting, Segments, trainer

from ngram_metrics import ignite as for_ignite


@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
@pytest.mark.parametrize("length", [0, 1, 7, 8])
def test_each_segment_is_on_one_rank(length: int, ranks: int):
    segments = [f"segment {index}" for index in range(length)]
    samplers = [UnrepeatedSampler(segments, ranks, rank) for rank in range(ranks)]
    shares = [
        [segment for batch in DataLoader(segments, 2, sampler=sampler) for segment in batch] for sampler in samplers
    ]
    assert shares == [segments[rank::ranks] for rank in range(ranks)]
    assert [len(sampler) for sampler in samplers] == [len(share) for share in shares]


def test_without_a_process_group_one_process_has_all_segments():
    sampler = UnrepeatedSampler(range(7))
    assert list(sampler) == list(range(7))
    assert len(sampler) == 7


def test_frameworks_that_would_add_a_sampler_keep_it():
    assert isinstance(UnrepeatedSampler([]), DistributedSampler)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": 1}, "num_replicas is None and rank is 1: expected both numbers or neither"),
        ({"num_replicas": 2}, "num_replicas is 2 and rank is None: expected both"),
        ({"num_replicas": 2, "rank": 2}, r"rank 2, rank should be in the interval \[0, 1\]"),
    ],
)
def test_a_wrong_rank_raises(options: dict[str, int], message: str):
    with pytest.raises(ValueError, match=message):
        UnrepeatedSampler([], **options)


# Loops of two processes

REFERENCES = references(7)
HYPOTHESES = output(REFERENCES, 0.3, seed=2)
PAIRS = list(zip(HYPOTHESES, REFERENCES, strict=True))
BATCH = 2
Values = dict[str, float]


def expected() -> Values:
    return {"bleu": sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES]).score / 100, "segments": 7}


def loader(sampler: Any = None, **options: Any) -> DataLoader[Any]:
    """Batches are a pair of hypotheses and references."""
    return DataLoader(PAIRS, BATCH, sampler=sampler, **options)


def count(batches: Iterable[Any], **options: Any) -> Values:
    """What metrics compute that count batches."""
    metrics = Counting(**options).metrics
    for batch in batches:
        metrics.update(*batch)
    return {name: float(value) for name, value in metrics.compute().items()}


def validate(sampler: Any = None, strategy: str = "ddp") -> Values:
    """What a Trainer of Lightning on two processes reports."""
    (values,) = trainer(".", devices=2, strategy=strategy).validate(Counting(), loader(sampler), verbose=False)
    return dict(values)


def run_engine(**options: Any) -> Values:
    evaluator = Engine(lambda engine, batch: batch)
    for_ignite.Bleu(average="micro", smooth="exp", tokenizer="13a").attach(evaluator, "bleu")
    batches = idist.auto_dataloader(PAIRS, batch_size=2 * BATCH, **options)
    values = evaluator.run(batches).metrics
    return {**values, "segments": float(idist.all_reduce(sum(len(preds) for preds, _ in batches)))}


def accelerate(even_batches: bool = True, gathers: bool = False) -> Values:
    from accelerate import Accelerator, DataLoaderConfiguration

    accelerator = Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(even_batches=even_batches))
    if not gathers:
        return count(accelerator.prepare(loader()))
    batches = accelerator.prepare(loader(collate_fn=list))
    gathered = (accelerator.gather_for_metrics(batch, use_gather_object=True) for batch in batches)
    return count((zip(*pairs, strict=True) for pairs in gathered), sync_on_compute=False)


def evaluate_copies(trainer_class: str, folder: Path, batch_eval_metrics: bool = False) -> Values:
    """What a trainer of transformers reports whose model "generates" its input."""
    import transformers

    tokenizer = transformers.ByT5Tokenizer()

    class Copying(getattr(transformers, trainer_class)):  # type: ignore[misc]
        def prediction_step(self, model: Any, inputs: Any, *options: Any, **keywords: Any) -> Any:
            return None, inputs["input_ids"], inputs["labels"]

    copying = Copying(
        model=torch.nn.Linear(1, 1),
        args=transformers.Seq2SeqTrainingArguments(
            str(folder),
            per_device_eval_batch_size=BATCH,
            batch_eval_metrics=batch_eval_metrics,
            remove_unused_columns=False,
            report_to="none",
            use_cpu=True,
        ),
        data_collator=transformers.DataCollatorForSeq2Seq(tokenizer),
        compute_metrics=ComputeMetrics({"bleu": Bleu(), "segments": Segments()}, tokenizer),
    )
    ids = [[tokenizer(text).input_ids for text in pair] for pair in PAIRS]
    values = copying.evaluate([{"input_ids": preds, "labels": target} for preds, target in ids])
    return {name: values[f"eval_{name}"] for name in ("bleu", "segments")}


PAGE = DOCS / "guides" / "distributed.md"


def validate_sharded() -> Values:
    """By the block of the page, with a model whose forward waits for the other process."""
    from torch.distributed.fsdp import fully_shard

    model = fully_shard(torch.nn.Linear(4, 4))
    metrics = Counting().metrics
    names = {}

    def generate(hypotheses: list[str]) -> list[str]:
        model(torch.zeros(1, 4))
        return hypotheses

    (block,) = (block for block in blocks(PAGE, "python") if "def validate(" in block)
    exec(block, names)
    names["validate"](metrics, generate, PAIRS)
    return {name: float(value) for name, value in metrics.compute().items()}


def count_in_each_loop(folder: Path) -> dict[str, Values]:
    """By the rows of the table."""
    os.environ.update(OFFLINE)
    sampler = UnrepeatedSampler(PAIRS)
    return {
        "Lightning, with the sampler that it adds": validate(),
        "Lightning, `UnrepeatedSampler`": validate(sampler),
        "ignite, `auto_dataloader`": run_engine(shuffle=False),
        "ignite, `auto_dataloader` with `UnrepeatedSampler`": run_engine(sampler=sampler),
        "a loop of your own, `DistributedSampler`": count(loader(DistributedSampler(PAIRS, shuffle=False))),
        "a loop of your own, `UnrepeatedSampler`": count(loader(sampler)),
        "accelerate, a prepared loader": accelerate(),
        "accelerate, a prepared loader, `even_batches=False`": accelerate(even_batches=False),
        "accelerate, `gather_for_metrics` and `sync_on_compute=False`": accelerate(gathers=True),
        "accelerate, `UnrepeatedSampler` and a loader that is not prepared": count(loader(sampler)),
        "Hugging Face `Trainer`": evaluate_copies("Trainer", folder),
        "`Seq2SeqTrainer`": evaluate_copies("Seq2SeqTrainer", folder),
        "`Seq2SeqTrainer`, `batch_eval_metrics=True`": evaluate_copies("Seq2SeqTrainer", folder, True),
        "a model that synchronizes in `forward`, if repeats are cut off as shown below": validate_sharded(),
    }


@pytest.mark.slow
def test_each_loop_of_the_page_counts_the_segments_as_its_table_says(tmp_path: Path):
    """Where each segment counts once, the score is that of sacrebleu."""
    pytest.importorskip("accelerate", reason="the Trainer needs it")
    pytest.importorskip("transformers", reason="its Trainer runs")
    table = PAGE.read_text(encoding="utf-8").partition("| is each segment counted once? |\n|---|---|\n")[2]
    answers = re.findall(r"^\| (.*) \| (yes|no)\b.* \|$", table.partition("\n\n")[0], re.MULTILINE)
    for loops in on_ranks(count_in_each_loop, tmp_path, size=2):
        assert [loop for loop, _ in answers] == list(loops)
        for loop, answer in answers:
            assert loops[loop]["segments"] == (7 if answer == "yes" else 8), loop
            is_right = loops[loop]["bleu"] == pytest.approx(expected()["bleu"], abs=1e-6)
            assert is_right == (answer == "yes"), loop


@pytest.mark.slow
def test_processes_that_lightning_spawns_count_each_segment_once():
    """The loader is made in the parent, whose rank is 0 and which knows of no other process."""
    assert validate(UnrepeatedSampler(PAIRS), "ddp_spawn") == pytest.approx(expected(), abs=1e-6)


def validate_one_segment(allowed: bool) -> str:
    """The error of a rank."""
    model = Counting()
    model.allow_zero_length_dataloader_with_multiple_devices = allowed
    batches = DataLoader(PAIRS[:1], sampler=UnrepeatedSampler(PAIRS[:1]))
    try:
        trainer(".", devices=2, strategy="ddp").validate(model, batches, verbose=False)
    except RuntimeError as error:
        return str(error)
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("allowed", [False, True])
def test_lightning_takes_no_share_without_a_segment(allowed: bool):
    """It refuses one, or if told not to, the other rank waits for it as long as it lives."""
    first, second = on_ranks(validate_one_segment, allowed, size=2)
    assert "Connection closed by peer" in first or "reset by peer" in first
    assert ("within local rank has zero length" in second) == (not allowed)
