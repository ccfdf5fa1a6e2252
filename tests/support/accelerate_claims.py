"""What docs/guides/distributed.md says of the ways that go wrong, as JSON; run by torchrun."""

import json
from typing import Any

from accelerate import Accelerator
from programs import example
from torch.utils.data import DataLoader

from ngram_metrics import ChrF


def main() -> None:
    script = example("first_accelerate")
    accelerator = Accelerator(cpu=True)
    pairs = script.sentences(101)
    loader = accelerator.prepare(DataLoader(pairs, batch_size=8, collate_fn=list))
    batches = list(loader)
    synchronized: dict[str, Any] = {"chrf": ChrF(confidence=0.95)}
    for batch in loader:
        script.update(synchronized, accelerator.gather_for_metrics(batch, use_gather_object=True))
    alone = {"chrf": ChrF(confidence=0.95, sync_on_compute=False)}
    script.update(alone, pairs)
    error = ""
    try:
        accelerator.prepare(ChrF())
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    found = {
        "segments": accelerator.gather_for_metrics([sum(map(len, batches))], use_gather_object=True),
        "synchronized": {name: value.item() for name, value in synchronized["chrf"].compute().items()},
        "alone": {name: value.item() for name, value in alone["chrf"].compute().items()},
        "prepare": error,
    }
    accelerator.print(json.dumps(found))
    accelerator.end_training()


if __name__ == "__main__":
    main()
