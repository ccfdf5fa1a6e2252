"""The data and the model of examples/first_lightning.py on two spawned processes and 7 segments, beside sacrebleu."""

import json
import warnings

import sacrebleu
import torch
from lightning.pytorch import Trainer
from programs import example

from ngram_metrics import Bleu
from ngram_metrics.lightning import ScoresCallback

script = example("first_lightning")  # the spawned processes import this module for the classes


class Translator(script.Translator):  # type: ignore[name-defined, misc]
    """Counts the segments of all processes as well."""

    def validation_step(self, source: torch.Tensor, index: int) -> dict[str, list[str]]:
        self.log("segments", float(len(source)), reduce_fx="sum", sync_dist=True)
        return super().validation_step(source, index)  # type: ignore[no-any-return]


def main() -> None:
    torch.manual_seed(0)
    model = Translator()
    training, validation = torch.randint(len(script.WORDS), (327, 6)).split([320, 7])
    trainer = Trainer(
        strategy="ddp_spawn",
        devices=2,
        max_epochs=3,
        callbacks=[ScoresCallback({"bleu": Bleu()}, samples=0)],
        logger=False,
        enable_checkpointing=False,
        num_sanity_val_steps=0,
    )
    # The loaders as they are, so that they are made before there is another process.
    data = script.Sentences(training, validation)
    trainer.fit(model, data.train_dataloader(), data.val_dataloader())
    step = script.Translator.validation_step(model, validation, 0)
    expected = sacrebleu.corpus_bleu(step["preds"], [step["target"]]).score / 100
    values = {name: value.item() for name, value in trainer.callback_metrics.items()}
    print(json.dumps({**values, "sacrebleu": expected}))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
