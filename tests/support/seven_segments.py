"""Seven segments on two processes, in each loop of the table of docs/guides/distributed.md; run by torchrun.

It prints as JSON for each row of the table the BLEU that was computed, and how many segments were counted.
"""

import json
import re
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import ignite.distributed as idist
import sacrebleu
import torch
from accelerate import Accelerator, DataLoaderConfiguration
from ignite.engine import Engine
from lightning.pytorch import LightningModule, Trainer
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, DistributedSampler
from torchmetrics import Metric, MetricCollection
from transformers import ByT5Tokenizer, DataCollatorForSeq2Seq, Seq2SeqTrainer, Seq2SeqTrainingArguments
from transformers import Trainer as TransformersTrainer

from ngram_metrics import Bleu
from ngram_metrics import ignite as for_ignite
from ngram_metrics.distributed import UnrepeatedSampler
from ngram_metrics.hugging_face import ComputeMetrics

REFERENCES = [
    *("the cat sat on the mat", "a dog ran all the way home", "there is a bird in the tree", "it was fast asleep"),
    *("birds sing in an old tree", "the cat sleeps on the mat", "we saw an old dog run by"),
]
HYPOTHESES = [
    *("the cat sat on a mat", "a dog ran home", "a bird sings in the tree", "it was asleep"),
    *("birds sing in the old tree", "the cat sleeps", "we see the old dog"),
]
PAIRS = list(zip(HYPOTHESES, REFERENCES, strict=True))
BATCH = 2
Values = dict[str, float]


class Segments(Metric):
    """The number of segments that were given."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.add_state("count", torch.tensor(0), "sum")

    def update(self, preds: list[str], target: list[str]) -> None:
        self.count = self.count + len(preds)

    def compute(self) -> torch.Tensor:
        return self.count


def make_metrics(**options: Any) -> MetricCollection:
    return MetricCollection({"bleu": Bleu(**options), "segments": Segments(**options)}, compute_groups=False)


def values_of(metrics: MetricCollection) -> Values:
    return {name: float(value) for name, value in metrics.compute().items()}


def loader(sampler: Any = None) -> DataLoader[Any]:
    return DataLoader(PAIRS, BATCH, sampler=sampler, collate_fn=list)


def count(batches: Any, **options: Any) -> Values:
    """What metrics compute that count batches of pairs."""
    metrics = make_metrics(**options)
    for batch in batches:
        metrics.update(*map(list, zip(*batch, strict=True)))
    return values_of(metrics)


class Model(LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        self.metrics = make_metrics()

    def validation_step(self, batch: Any, index: int) -> None:
        self.metrics.update(*map(list, zip(*batch, strict=True)))
        self.log_dict(self.metrics, batch_size=len(batch))


def of_lightning(sampler: Any = None) -> Values:
    options: dict[str, Any] = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = Trainer(accelerator="cpu", devices=2, strategy="ddp", barebones=False, **options)
    (values,) = trainer.validate(Model(), loader(sampler), verbose=False)
    return dict(values)


def of_ignite(**options: Any) -> Values:
    evaluator = Engine(lambda engine, batch: tuple(map(list, zip(*batch, strict=True))))
    for_ignite.Bleu(average="micro", smooth="exp", tokenizer="13a").attach(evaluator, "bleu")
    batches = idist.auto_dataloader(PAIRS, batch_size=2 * BATCH, collate_fn=list, **options)
    values = evaluator.run(batches).metrics
    segments = idist.all_reduce(sum(map(len, batches)))
    return {"bleu": values["bleu"], "segments": float(segments)}


def of_accelerate(even_batches: bool = True, gathers: bool = False) -> Values:
    accelerator = Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(even_batches=even_batches))
    batches = accelerator.prepare(loader())
    if gathers:
        gathered = (accelerator.gather_for_metrics(batch, use_gather_object=True) for batch in batches)
        return count(gathered, sync_on_compute=False)
    return count(batches)


def of_transformers(kind: type[TransformersTrainer], batch_eval_metrics: bool) -> Values:
    """A trainer whose model "generates" its input."""
    tokenizer = ByT5Tokenizer()

    class Copying(kind):  # type: ignore[misc, valid-type]
        def prediction_step(self, model: Any, inputs: Any, *options: Any, **keywords: Any) -> Any:
            return None, inputs["input_ids"], inputs["labels"]

    with tempfile.TemporaryDirectory() as folder:
        arguments = Seq2SeqTrainingArguments(
            folder,
            per_device_eval_batch_size=BATCH,
            batch_eval_metrics=batch_eval_metrics,
            remove_unused_columns=False,
            report_to="none",
            use_cpu=True,
        )
        trainer = Copying(
            model=torch.nn.Linear(1, 1),
            args=arguments,
            data_collator=DataCollatorForSeq2Seq(tokenizer),
            compute_metrics=ComputeMetrics({"bleu": Bleu(), "segments": Segments()}, tokenizer),
        )
        ids = [
            {"input_ids": tokenizer(preds).input_ids, "labels": tokenizer(target).input_ids} for preds, target in PAIRS
        ]
        values = trainer.evaluate(ids)
    return {"bleu": values["eval_bleu"], "segments": values["eval_segments"]}


def of_a_sharded_model(page: Path) -> Values:
    """By the block of the page, with a model whose forward waits for the other process."""
    model = fully_shard(torch.nn.Linear(4, 4))

    def generate(hypotheses: list[str]) -> list[str]:
        model(torch.zeros(1, 4))
        return hypotheses

    (block,) = re.findall(r"^```python\n([^`]*^def validate.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(block, str(page), "exec"), names)
    metrics = make_metrics()
    names["validate"](metrics, generate, PAIRS)
    return values_of(metrics)


def main(page: Path) -> None:
    idist.initialize("gloo")
    sampler = UnrepeatedSampler(PAIRS)
    rows = {
        "Lightning, with the sampler that it adds": of_lightning(),
        "Lightning, `UnrepeatedSampler`": of_lightning(sampler),
        "ignite, `auto_dataloader`": of_ignite(shuffle=False),
        "ignite, `auto_dataloader` with `UnrepeatedSampler`": of_ignite(sampler=sampler),
        "a loop of your own, `DistributedSampler`": count(loader(DistributedSampler(PAIRS, shuffle=False))),
        "a loop of your own, `UnrepeatedSampler`": count(loader(sampler)),
        "accelerate, a prepared loader": of_accelerate(),
        "accelerate, a prepared loader, `even_batches=False`": of_accelerate(even_batches=False),
        "accelerate, `gather_for_metrics` and `sync_on_compute=False`": of_accelerate(gathers=True),
        "accelerate, `UnrepeatedSampler` and a loader that is not prepared": count(loader(sampler)),
        "Hugging Face `Trainer`": of_transformers(TransformersTrainer, False),
        "`Seq2SeqTrainer`": of_transformers(Seq2SeqTrainer, False),
        "`Seq2SeqTrainer`, `batch_eval_metrics=True`": of_transformers(Seq2SeqTrainer, True),
        "a model that synchronizes in `forward`, cut as below": of_a_sharded_model(page),
    }
    expected = sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES]).score / 100
    if idist.get_rank() == 0:
        print(json.dumps({**rows, "sacrebleu": expected}))
    idist.finalize()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]))
