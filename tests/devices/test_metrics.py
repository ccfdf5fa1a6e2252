"""On an accelerator every metric counts and scores as on the CPU, and asks for few copies, waits and launches."""

import functools
import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from metrics.apis import COMPLETE
from metrics.cases import CASES, Batch, Case, each_kind_of_state, scores_of
from pretend.comparing import assert_equal, there
from pretend.device import DEVICE, accelerator
from pretend.log import LAUNCH, TO_DEVICE, TO_HOST, WAIT
from torch import Tensor

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore, ignite
from ngram_metrics.functional import bleu_score


def filled(case: Case, average: str, device: Any, **options: Any) -> Any:
    metric = case.make(average, device=device, **options)
    for batch in case.batches:
        metric.update(*map(there, batch) if device == DEVICE else batch)
    return metric


# What is asked of the device.


def test_values_of_an_ignite_metric_come_in_one_copy():
    (case,) = (case for case in CASES if case.name == "ROUGEScore-ids")
    with accelerator() as log:
        metric = ignite.ROUGEScore(average="micro", device=DEVICE, **case.options)
        metric.update(tuple(map(there, case.batches[0])))
        log.clear()
        assert len(metric.compute()) == 6
        # The other is the number of sentences.
        assert log.count(TO_HOST) + log.count(WAIT) == 2, log.lines(TO_HOST, WAIT)


each_of_ids = pytest.mark.parametrize("metric", [api.metric for api in COMPLETE])


def padded_batch(sentences: int, width: int, references: int) -> Batch:
    draw = torch.Generator().manual_seed(0)
    shapes = (sentences, width), (sentences, references, width)
    return tuple(torch.randint(1, 50, shape, generator=draw).to(DEVICE) for shape in shapes)


def lengths_of(text: str) -> list[int]:
    """A list of ids."""
    return list(map(len, text.split()))


#: Metrics, and what they read of a text.
OF_TEXTS: dict[str, tuple[Callable[..., Any], Callable[[str], Any]]] = {
    "BLEU": (Bleu, str),
    "BLEU of a callable": (functools.partial(Bleu, tokenizer=str.split), str),
    "BLEU of tokens": (Bleu, str.split),
    "BLEU of ids": (functools.partial(Bleu, pad_id=2), lengths_of),
    "ROUGE-1 and ROUGE-2": (functools.partial(ROUGEScore, rouge_keys=("rouge1", "rouge2")), str),
    "ROUGE-L": (functools.partial(ROUGEScore, rouge_keys="rougeL"), str),
    "ROUGE-Lsum": (functools.partial(ROUGEScore, rouge_keys="rougeLsum"), str),
    "ROUGE of split texts": (functools.partial(ROUGEScore, sentence_splitter=str.splitlines), str),
    "ROUGE of separated ids": (functools.partial(ROUGEScore, sentence_separator_id=3), lengths_of),
    "mean ROUGE": (functools.partial(ROUGEScore, accumulate="avg", use_stemmer=True), str),
    "chrF": (ChrF, str),
    "chrF++": (functools.partial(ChrF, word_order=2), str),
    "overlap": (functools.partial(NgramOverlap, ngram=2), str),
}
WORDS = ["the", "a", "cat", "mat,", "sat", "12.5", "\n", "né"]


def texts_of(seed: int, segments: int, references: int | None = None) -> tuple[list[str], list[list[str]]]:
    """Texts of 0 to 12 words, with so many references each, or with 1 to 4."""
    draw = random.Random(seed)
    counts = [references or draw.randint(1, 4) for _ in range(segments)]
    texts = [" ".join(draw.choices(WORDS, k=draw.randrange(13))) for _ in range(segments + sum(counts))]
    others = iter(texts[segments:])
    return texts[:segments], [[next(others) for _ in range(count)] for count in counts]


@pytest.mark.covering
@pytest.mark.parametrize("references", [1, 3, None])
@pytest.mark.parametrize("average", ["micro", "macro", "none"])
@pytest.mark.parametrize("name", OF_TEXTS)
def test_texts_are_counted_on_the_cpu_and_what_is_added_goes_to_the_device_in_one_copy(
    name: str, average: str, references: int | None
):
    metric, read = OF_TEXTS[name]
    if (name, average) == ("mean ROUGE", "micro"):
        average = "macro"
    with accelerator() as log:
        on_device, on_host = metric(average=average, device=DEVICE), metric(average=average)
        for texts in (texts_of(4, 4, references), (["", ""], [["a\ncat"], ["b"]]), texts_of(40, 40, references)):
            batch = list(map(read, texts[0])), [list(map(read, several)) for several in texts[1]]
            log.clear()
            on_device.update(*batch)
            assert log.counts[:3] == (1, 0, 0), log.lines(TO_DEVICE, TO_HOST, WAIT)
            assert log.count(LAUNCH) <= 12, log.lines(LAUNCH)
            on_host.update(*batch)
        assert {state.device for state in (on_device.row, on_device.segments, on_device.reference_range)} == {DEVICE}
        for rows in on_device.metric_state.get("rows", []):  # a view would be saved with all that was sent
            assert rows.held.untyped_storage().nbytes() == rows.held.nbytes
        assert_equal(on_device.compute(), on_host.compute(), 1e-15)


@each_of_ids
def test_ids_in_tensors_of_the_device_come_to_the_host_in_one_copy(metric: Callable[..., Any]):
    ids = [torch.randint(1, 9, (length,)) for length in (5, 9, 7, 1, 12)]
    with accelerator() as log:
        on_device, on_host = metric(pad_id=0, device=DEVICE), metric(pad_id=0)
        preds, target = [list(map(there, side)) for side in (ids, ids[::-1])]
        log.clear()
        on_device.update(preds, [[one] for one in target])
        assert log.count(TO_HOST) == 1, log.lines(TO_HOST)
        on_host.update(ids, [[one] for one in ids[::-1]])
        assert_equal(on_device.compute(), on_host.compute(), 1e-15)


@each_of_ids
@pytest.mark.parametrize("options", [{}, {"average": "none"}, {"confidence": 0.9}])
def test_what_padded_ids_of_a_device_add_comes_to_states_of_the_cpu_in_one_copy(
    metric: Callable[..., Any], options: dict[str, Any]
):
    with accelerator() as log:
        on_host = metric(pad_id=0, **options)
        for batch in (padded_batch(5, 9, 2), padded_batch(3, 30, 3)):
            log.clear()
            on_host.update(*batch)
            assert log.count(TO_HOST) == 1, log.lines(TO_HOST)
            assert log.count(WAIT) == 0, log.lines(WAIT)
        assert on_host.row.device.type == on_host.reference_range.device.type == "cpu"


def test_padded_ids_beside_lists_come_to_the_host_in_one_copy():
    hypotheses, lists = torch.randint(1, 9, (20, 7)), [[[1, 2, 3, 4]]] * 20
    expected = bleu_score(hypotheses, lists, average="none", pad_id=0)
    with accelerator() as log:
        on_device = hypotheses.to(DEVICE)
        log.clear()
        values = bleu_score(on_device, lists, average="none", pad_id=0)
        assert log.count(TO_HOST) <= 1, log.lines(TO_HOST)
        torch.testing.assert_close(values.cpu(), expected, rtol=0, atol=0)


def two_equal_ranks(patch: pytest.MonkeyPatch, backend: str) -> list[torch.device]:
    """Pretend a process group of two ranks that have the same states; return where each gather sends from."""
    devices: list[torch.device] = []

    def all_gather(gathered: list[Tensor], tensor: Tensor, group: Any = None) -> None:
        devices.append(tensor.device)
        for rank in gathered:
            assert rank.device == tensor.device
            rank.copy_(tensor)

    group = {"is_initialized": True, "get_backend": backend, "get_world_size": 2, "get_rank": 1}
    for name, value in group.items():
        patch.setattr(torch.distributed, name, lambda *_, value=value, **__: value)
    patch.setattr(torch.distributed, "all_gather", all_gather)
    patch.setattr(Tensor, "cuda", lambda tensor: tensor.to(DEVICE))
    return devices


@pytest.mark.covering
@pytest.mark.parametrize("backend", ["nccl", "gloo"])
@pytest.mark.parametrize("place", ["cpu", DEVICE], ids=["states on the CPU", "states on the device"])
@each_kind_of_state
def test_states_are_gathered_where_the_backend_can_and_come_back(
    case: Case, average: str, backend: str, place: Any, monkeypatch: pytest.MonkeyPatch
):
    with accelerator():
        metric, whole = filled(case, average, place), filled(case, average, place)
        whole.merge_state(filled(case, average, place))
        expected = whole.compute()
        devices = two_equal_ranks(monkeypatch, backend)
        value = metric.compute()
        for actual, wanted in zip(scores_of(value), scores_of(expected), strict=True):
            assert actual.device == wanted.device
            torch.testing.assert_close(actual.cpu(), wanted.cpu(), rtol=0, atol=1e-12)
        sent_from = torch.device("cpu") if backend == "gloo" else DEVICE
        assert devices == [sent_from] * 2  # the lengths and the states
