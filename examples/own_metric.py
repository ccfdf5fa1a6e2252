"""A metric of your own on the counting module: run it with ``python`` or with ``torchrun --nproc-per-node 2``."""

from torch import Generator, Tensor, distributed, int64, randint, zeros
from torchmetrics import Metric, MetricCollection

from ngram_metrics import Bleu
from ngram_metrics.counting import clipped_matches


class NgramRecall(Metric):
    """The share of the references' n-grams that the hypotheses have."""

    full_state_update, higher_is_better = False, True

    def __init__(self, ngram: int = 2, pad_id: int = 0) -> None:
        super().__init__()
        self.ngram, self.pad_id = ngram, pad_id
        for name in ("matches", "totals"):
            self.add_state(name, zeros(ngram, dtype=int64), dist_reduce_fx="sum")

    def update(self, preds: Tensor, target: Tensor) -> None:
        counts = clipped_matches(preds, target, self.ngram, self.pad_id)
        self.matches += counts.matches.sum(0)
        self.totals += counts.reference_ngrams.sum(0)

    def compute(self) -> Tensor:
        return self.matches[-1].double() / self.totals[-1]


if __name__ == "__main__":
    rank, world = 0, 1
    if distributed.is_torchelastic_launched():
        distributed.init_process_group("gloo")
        rank, world = distributed.get_rank(), distributed.get_world_size()
    ids = randint(5, (2, 8, 20), generator=Generator().manual_seed(0))  # 0 is padding
    metrics = MetricCollection({"recall": NgramRecall(), "bleu": Bleu(pad_id=0)})
    metrics.update(ids[0, rank::world], ids[1, rank::world])
    print({name: round(float(value), 4) for name, value in metrics.compute().items()})
    if world > 1:
        distributed.destroy_process_group()
