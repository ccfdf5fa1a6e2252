"""Metrics as ``compute_metrics`` of a Trainer, on what it hands over and on tiny models."""

import json
import sys
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
import sacrebleu
import torch
from torchmetrics import MetricCollection
from torchmetrics.text import BLEUScore
from torchmetrics.text import ROUGEScore as OtherROUGEScore

from ngram_metrics import Bleu, ChrF, GroupedMetric, NgramOverlap, ROUGEScore
from ngram_metrics.functional import bleu_score, chrf_score, rouge_score
from ngram_metrics.hugging_face import ComputeMetrics

pytest.importorskip("tensorboard", reason="its files are written")

from torch.utils.tensorboard import SummaryWriter

transformers = pytest.importorskip("transformers", reason="the trainers need transformers")
TEXTS = ["the cat sat on the mat", "it was asleep", "a dog ran off"]
REFERENCES = ["the cat is on the mat", "it was fast asleep", "a dog ran"]


@pytest.fixture(scope="module")
def tokenizer():
    return transformers.ByT5Tokenizer()  # bytes: needs no file


def ids_of(tokenizer, texts, padding):
    rows = [tokenizer(text).input_ids for text in texts]
    width = max(map(len, rows))
    return np.array([row + [padding] * (width - len(row)) for row in rows])


@pytest.fixture
def prediction(tokenizer):
    """As generated: the decoder's start token first, both sides filled up with -100, of two widths."""
    generated = np.pad(ids_of(tokenizer, TEXTS, -100), ((0, 0), (1, 2)), constant_values=((0, 0), (0, -100)))
    return transformers.EvalPrediction(generated, ids_of(tokenizer, REFERENCES, -100))


def test_ids_are_decoded(tokenizer, prediction):
    metrics = MetricCollection({"bleu": Bleu(), "chrf": ChrF(), "rouge": ROUGEScore(rouge_keys="rougeL")})
    values = ComputeMetrics(metrics, tokenizer)(prediction)
    rouge = rouge_score(TEXTS, REFERENCES, rouge_keys="rougeL")
    expected = {
        "bleu": bleu_score(TEXTS, REFERENCES).item(),
        "chrf": chrf_score(TEXTS, REFERENCES, average="micro").item(),
        **{f"rouge_{name}": value.item() for name, value in rouge.items()},
    }
    assert values == pytest.approx(expected, abs=1e-12)
    assert all(type(value) is float for value in values.values())


@pytest.mark.parametrize("as_torch", [False, True])
def test_batches_are_counted_one_by_one(tokenizer, prediction, as_torch):
    compute_metrics = ComputeMetrics(ChrF(), tokenizer)
    expected = compute_metrics(prediction)
    for _ in range(2):  # two evaluations: the second begins at nothing
        for row in range(len(TEXTS)):
            sides = [side[row : row + 1] for side in (prediction.predictions, prediction.label_ids)]
            batch = transformers.EvalPrediction(*(map(torch.from_numpy, sides) if as_torch else sides))
            values = compute_metrics(batch, compute_result=row == len(TEXTS) - 1)
            assert values == ({} if row < len(TEXTS) - 1 else pytest.approx(expected, abs=1e-12))


@pytest.mark.parametrize("compute_result", [True, False])
def test_an_evaluation_that_breaks_off_leaves_no_counts(tokenizer, prediction, compute_result):
    compute_metrics = ComputeMetrics(ChrF(), tokenizer)
    expected = ComputeMetrics(ChrF(), tokenizer)(prediction)
    swapped = transformers.EvalPrediction(prediction.predictions[[2, 1, 0]], prediction.label_ids)
    compute_metrics(swapped, compute_result=False)
    compute_metrics.reset()  # after an error between two calls
    assert compute_metrics(prediction) == expected
    for wrong, error in (
        ((np.zeros((2, 3)), prediction.label_ids), TypeError),
        ((prediction.predictions, prediction.label_ids[:2]), ValueError),
        ("ids", TypeError),
    ):
        compute_metrics(swapped, compute_result=False)
        with pytest.raises(error):
            compute_metrics(wrong, compute_result=compute_result)
        assert compute_metrics(prediction) == expected


def test_batches_before_all_predictions_at_once_are_those_of_an_aborted_evaluation(tokenizer, prediction):
    compute_metrics = ComputeMetrics(ChrF(), tokenizer)
    swapped = transformers.EvalPrediction(prediction.predictions[[2, 1, 0]], prediction.label_ids)
    compute_metrics(swapped, compute_result=False)
    assert compute_metrics(prediction) == ComputeMetrics(ChrF(), tokenizer)(prediction)


def test_a_trainer_leaves_no_counts_of_an_aborted_evaluation(tokenizer, tmp_path):
    """The error comes from the model, between two calls of the metrics."""
    pytest.importorskip("accelerate", reason="the trainers need accelerate")

    class Copying(transformers.Trainer):
        failing_at: int | None = None
        step = 0

        def prediction_step(self, model, inputs, *options, **keywords):
            self.step += 1
            if self.step == self.failing_at:
                raise MemoryError
            return None, inputs["input_ids"], inputs["labels"]

    copying = Copying(
        model=torch.nn.Linear(1, 1),
        args=transformers.TrainingArguments(
            str(tmp_path),
            per_device_eval_batch_size=1,
            batch_eval_metrics=True,
            remove_unused_columns=False,
            report_to="none",
            use_cpu=True,
        ),
        data_collator=transformers.DataCollatorForSeq2Seq(tokenizer),
        compute_metrics=ComputeMetrics(ChrF(), tokenizer),
    )
    right = [{"input_ids": tokenizer(text).input_ids, "labels": tokenizer(text).input_ids} for text in TEXTS]
    wrong = [{"input_ids": tokenizer("x").input_ids, "labels": tokenizer(text).input_ids} for text in TEXTS]
    for failing_at in (3, 2, 1):
        copying.step = 0
        copying.failing_at = failing_at
        with pytest.raises(MemoryError):
            copying.evaluate(wrong)
        copying.failing_at = None
        for _ in range(2):
            assert copying.evaluate(right)["eval_ChrF"] == 1


@pytest.mark.parametrize("tuples", [False, True])
def test_a_list_of_batches_is_read_as_batches(tokenizer, prediction, tuples):
    compute_metrics = ComputeMetrics(Bleu(), tokenizer)
    sides = [[side[:2], side[2:, :-2]] for side in (prediction.predictions, prediction.label_ids)]
    given = [(batch, "cache") for batch in sides[0]] if tuples else sides[0]
    expected = compute_metrics(prediction)
    assert compute_metrics(transformers.EvalPrediction(given, sides[1])) == expected
    assert compute_metrics((given, sides[1])) == expected
    assert compute_metrics(tuple(prediction)) == compute_metrics([*prediction]) == expected
    # One batch of the same segments as three rows of ids.
    assert compute_metrics((prediction.predictions.tolist(), prediction.label_ids.tolist())) == expected


class TensorBoardCallback:
    def __init__(self):
        self.tb_writer = mock.create_autospec(SummaryWriter, instance=True)


WandbCallback, MLflowCallback = (type(name, (), {}) for name in ("WandbCallback", "MLflowCallback"))


def trainer_of(*callbacks, **state):
    """A trainer with the attributes that are read, and the event of its callback."""
    trainer = mock.Mock(is_in_train=True)
    trainer.callback_handler.callbacks = list(callbacks)
    state = {"global_step": 500, "best_model_checkpoint": "runs/checkpoint-300", "is_world_process_zero": True, **state}

    def finish(prefix="eval", load_best_model_at_end=True):
        (callback,) = trainer.add_callback.call_args.args
        arguments = SimpleNamespace(load_best_model_at_end=load_best_model_at_end), SimpleNamespace(**state), None
        event = callback.on_predict if prefix == "test" else callback.on_evaluate
        event(*arguments, metrics={f"{prefix}_runtime": 1.0, f"{prefix}_loss": 1.0}, model=None)

    trainer.finish = finish
    return trainer


def test_each_evaluation_writes_samples_and_outputs(tokenizer, prediction, tmp_path, monkeypatch):
    metrics = {"chrf": 100 * ChrF(), "bleu": Bleu()}
    sources = ["le chat", "il dormait", "un chien"]
    scores = ComputeMetrics(metrics, tokenizer, samples=1, outputs=tmp_path, sources=sources, details=True)
    board = TensorBoardCallback()
    trainer = trainer_of(board, WandbCallback(), MLflowCallback())
    scores.attach(trainer)
    wandb = mock.Mock()
    mlflow = mock.Mock()
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    swapped = transformers.EvalPrediction(prediction.predictions[[1, 2, 0]], prediction.label_ids)
    for whole in (swapped, prediction):  # two evaluations, batch by batch
        for rows in (slice(0, 2), slice(2, 3)):
            batch = whole.predictions[rows], whole.label_ids[rows]
            values = scores(batch, compute_result=rows.stop == 3)
        trainer.finish()
    expected = sacrebleu.corpus_bleu(TEXTS, [REFERENCES])
    assert values["bleu_brevity_penalty"] == pytest.approx(expected.bp)
    assert values["bleu_length_ratio"] == pytest.approx(expected.sys_len / expected.ref_len)
    lines = [json.loads(line) for line in (tmp_path / "step-500.jsonl").read_text().splitlines()]
    assert [(line["source"], line["hypothesis"]) for line in lines] == list(zip(sources, TEXTS, strict=True))
    of_segments = chrf_score(TEXTS, REFERENCES, average="none").tolist()
    assert [line["chrf"] for line in lines] == pytest.approx([100 * score for score in of_segments])
    assert [line["references"] for line in lines] == [[reference] for reference in REFERENCES]
    # The first segment, and the worst of the others.
    assert of_segments[2] > of_segments[1]
    name, text, step = board.tb_writer.add_text.call_args.args
    assert (name, step) == ("eval/samples", 500)
    assert [row.split(" | ")[2] for row in text.splitlines()[2:4]] == [TEXTS[0], TEXTS[1]]
    assert "- bleu: `nrefs:1|" in text
    assert mlflow.log_text.call_args == mock.call(text, "eval/samples/500.md")
    table = wandb.Table.call_args.kwargs
    assert table["columns"] == ["line", "source", "hypothesis", "references", "chrf", "bleu"]
    assert [row[:3] for row in table["data"]] == [[1, sources[0], TEXTS[0]], [2, sources[1], TEXTS[1]]]
    assert wandb.log.call_args == mock.call({"eval/samples": wandb.Table.return_value, "train/global_step": 500})


def test_outputs_have_the_step_of_the_weights_and_the_name_of_the_data(tokenizer, prediction, tmp_path):
    scores = ComputeMetrics(ChrF(), tokenizer, outputs=tmp_path)
    trainer = trainer_of()
    scores.attach(trainer)

    def files():
        return {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.jsonl")}

    trainer.finish()  # of an evaluation without predictions
    assert files() == set()
    scores(prediction)
    trainer.finish()
    scores(prediction)
    trainer.finish("eval_de")
    assert files() == {"step-500.jsonl", "de/step-500.jsonl"}
    trainer.is_in_train = False  # the best weights are loaded
    scores(prediction)
    trainer.finish()
    scores(prediction)
    trainer.finish("test")
    scores(prediction)
    trainer.finish("final", load_best_model_at_end=False)
    written = {"step-300.jsonl", "test/step-300.jsonl", "final/step-500.jsonl"}
    assert files() == {"step-500.jsonl", "de/step-500.jsonl"} | written
    other = trainer_of(is_world_process_zero=False, global_step=900)
    scores.attach(other)
    scores(prediction)
    other.finish()
    assert "step-900.jsonl" not in files()


def test_groups_are_those_of_the_data_set_batch_by_batch(tokenizer, prediction):
    languages = ["de", "fr", "de"]
    scores = ComputeMetrics({"chrf": GroupedMetric(ChrF(), ["de", "fr"]), "bleu": Bleu()}, tokenizer, groups=languages)
    of_german = chrf_score(TEXTS[::2], REFERENCES[::2], average="micro").item()
    for _ in range(2):
        for row in range(3):
            batch = prediction.predictions[row : row + 1], prediction.label_ids[row : row + 1]
            values = scores(batch, compute_result=row == 2)
        assert values["chrf_de"] == pytest.approx(of_german)
        assert values["chrf_fr"] == pytest.approx(chrf_score(TEXTS[1:2], REFERENCES[1:2]).item())
        assert values["bleu"] == pytest.approx(bleu_score(TEXTS, REFERENCES).item())


def test_each_group_of_the_data_set_is_read_by_its_own_options(tokenizer, prediction, tmp_path):
    languages = ["de", "fr", "de"]
    metric = GroupedMetric({"de": ChrF(), "fr": ChrF(lowercase=True)})
    scores = ComputeMetrics({"chrf": metric}, tokenizer, groups=languages, outputs=tmp_path)
    trainer = trainer_of()
    scores.attach(trainer)
    values = scores(prediction)
    of_french = chrf_score(TEXTS[1:2], REFERENCES[1:2], lowercase=True, average="none").item()
    assert values["chrf_de"] == pytest.approx(chrf_score(TEXTS[::2], REFERENCES[::2]).item())
    assert values["chrf_fr"] == pytest.approx(of_french)
    trainer.finish()
    lines = next(tmp_path.rglob("*.jsonl")).read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[1])["chrf"] == pytest.approx(of_french)


def test_wrong_options_are_told(tokenizer, prediction):
    with pytest.warns(UserWarning, match=r"samples and outputs are not written: call attach\(trainer\) first"):
        ComputeMetrics(ChrF(), tokenizer, samples=1)(prediction)
    scores = ComputeMetrics(ChrF(), tokenizer, samples=1, sources=["a", "b"])
    with pytest.raises(ValueError, match=r"^the batch has 3 segments and 2 sources: expected one source for each"):
        scores(prediction)
    scores = ComputeMetrics(ChrF(), tokenizer, samples=1, sources=["a", "b", "c", "d"])
    with pytest.raises(
        ValueError, match=r"^sources has 4 items and the data set has 3 segments: expected one item for"
    ):
        scores(prediction)
    with pytest.raises(ValueError, match="the metric 'chrf' has average='none'"):
        ComputeMetrics({"chrf": ChrF(average="none")})
    with pytest.raises(TypeError, match="the metric x is a BLEUScore of torchmetrics"):
        ComputeMetrics({"x": BLEUScore()}, samples=1)
    clashing = {"bleu": Bleu(), "bleu_length_ratio": ChrF()}
    with pytest.raises(ValueError, match="both write 'bleu_length_ratio'"):
        ComputeMetrics(clashing, tokenizer, details=True)(prediction)


ROW = np.ones((1, 2), int)
LOGITS = np.ones((1, 2, 3), int)
NO_ROWS = ValueError, "^predictions or label_ids are not rows of integers of equal width"
NOT_DENSE = TypeError, "nested, quantized or sparse tensor: expected a dense"
NESTED = torch.nested.nested_tensor([torch.arange(2)], layout=torch.jagged)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        (
            ([ROW], ROW),
            ValueError,
            "^predictions is a list of batches, 1 in all: expected label_ids to be a list of as many",
        ),
        (
            ([ROW] * 2, [ROW]),
            ValueError,
            "^predictions is a list of batches, 2 in all: expected label_ids to be a list of as many",
        ),
        ((LOGITS, ROW), ValueError, r"the ids have shape \(1, 2, 3\): expected \(segments"),
        (
            (LOGITS / 2, ROW),
            TypeError,
            r"logits, torch.float64 of shape \(1, 2, 3\): expected ids.*predict_with_generate",
        ),
        (((ROW, ROW), ROW), ValueError, "^predictions or label_ids is a tuple of several arrays of ids: expected one"),
        # The second array is no ids: of a cache only the first array is read, and this one is of logits.
        (
            ((LOGITS, ROW), ROW),
            ValueError,
            "^predictions or label_ids is a tuple of several arrays of ids: expected one",
        ),
        ((ROW, None), TypeError, "^predictions or label_ids is None: expected ids for both$"),
        (([], []), ValueError, r"^the ids have shape \(0,\): expected"),
        ({"predictions": 1}, TypeError, "dict: expected an EvalPrediction, or"),
        ((1, 2, 3), TypeError, "tuple: expected an EvalPrediction, or"),
        *((sides, *NO_ROWS) for ids in ([[1, 2], [3]], [[1, None]]) for sides in ((ids, ROW), (ROW, ids))),
        ((np.array([[1, 2], [3]], object), ROW), *NO_ROWS),
        *((sides, *NOT_DENSE) for sides in ((torch.eye(2, dtype=int).to_sparse(), ROW), (ROW, NESTED))),
    ],
)
def test_what_is_no_evaluation_is_refused(tokenizer, wrong, error, words):
    with pytest.raises(error, match=words):
        ComputeMetrics(ChrF(), tokenizer)(wrong)


def test_ids_are_scored_as_they_are_and_caches_are_left_out(prediction):
    compute_metrics = ComputeMetrics(NgramOverlap(pad_id=[0, 1, -100]))
    for cache in ("cache", np.ones((2, 3, 4), int), np.ones((2, 3))):
        with_cache = transformers.EvalPrediction((prediction.predictions, cache), prediction.label_ids)
        assert compute_metrics(with_cache) == compute_metrics(prediction)
    assert 0 < compute_metrics(prediction)["NgramOverlap"] < 1


def test_a_table_is_no_evaluation():
    pandas = pytest.importorskip("pandas", reason="pandas is optional, and not in every environment of the tests")
    table = pandas.DataFrame({"text": ["a b"]})
    with pytest.raises(TypeError, match=r"^predictions or label_ids is a DataFrame of pandas: expected one of its"):
        ComputeMetrics(ChrF(pad_id=0))((table, table))


def test_a_value_has_the_name_of_its_metric_whatever_the_others(tokenizer, prediction):
    metrics = {"a": ChrF(confidence=0.9), "b": ChrF(word_order=2, confidence=0.9)}
    others = {"of_torchmetrics": BLEUScore(), "rouge_of_torchmetrics": OtherROUGEScore(rouge_keys="rougeL")}
    values = ComputeMetrics({**metrics, **others}, tokenizer)(prediction)
    of_rouge = {f"rouge_of_torchmetrics_rougeL_{part}" for part in ("fmeasure", "precision", "recall")}
    ends = {f"{name}{end}" for name in metrics for end in ("", "_low", "_high")}
    assert set(values) == ends | of_rouge | {"of_torchmetrics"}


class Letters:
    """A tokenizer of a causal model: the id 0 is a token as the others."""

    def batch_decode(self, rows, skip_special_tokens):
        return ["".join("abcd"[token] for token in row) for row in rows]


def test_the_id_0_is_text_where_it_is_no_special_token():
    values = ComputeMetrics(ChrF(), Letters())((np.array([[0, 1, 2, -100]]), np.array([[0, 1, 3, 0]])))
    assert values == {"ChrF": chrf_score(["abc"], ["abda"]).item()}


@pytest.mark.parametrize("dtype", [np.uint32, np.int16, np.int64])
def test_ids_of_every_integer_type_are_decoded_without_the_negative_ones(dtype):
    ids = np.array([[0, 1, 2, 3]], dtype)
    padding = [-100, -1] if np.issubdtype(dtype, np.signedinteger) else []
    padded = np.array([[0, 1, *padding, 2, 3, *padding]], dtype)
    assert ComputeMetrics(ChrF(), Letters())((padded, ids)) == {"ChrF": 1}


@pytest.mark.parametrize("metric", [Bleu(lowercase=True), ROUGEScore(use_stemmer=True), Bleu()])
def test_text_that_is_scored_without_a_tokenizer_is_told(metric):
    ids = np.array([[5, 6]])
    with pytest.raises(ValueError, match=r"to score their text, pass the tokenizer as the second argument\)$"):
        ComputeMetrics({"b": metric})((ids, ids))


class LastBatch:
    """A loader of accelerate at its last batch, of which two segments are no repeats."""

    end_of_dataloader, remainder, total_batch_size = True, 2, 4


@pytest.mark.parametrize(("processes", "size", "counted"), [(1, 4, 4), (2, 4, 2), (2, 3, 3)])
def test_repeats_are_left_out_of_the_full_last_batch_of_several_processes_alone(
    processes: int, size: int, counted: int, monkeypatch: pytest.MonkeyPatch
):
    from accelerate.state import GradientState

    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: processes)
    state = GradientState()
    loader = LastBatch()
    state._add_dataloader(loader)
    try:
        right = [[1, 2]] * 2
        wrong = [[3, 4]] * (size - 2)
        scores = ComputeMetrics(NgramOverlap(pad_id=0, distributed_available_fn=lambda: False))
        found = scores((torch.tensor(right + wrong), torch.tensor([[1, 2]] * size)), compute_result=True)
    finally:
        state._remove_dataloader(loader)
    assert found == {"NgramOverlap": 2 / counted}


def test_masked_ids_are_no_tokens():
    ids = np.array([[1, 2, 3, 4]])
    masked = np.ma.masked_equal(ids, 2)
    found = ComputeMetrics(NgramOverlap(pad_id=0))((masked, ids))
    assert list(found.values()) == pytest.approx([6 / 7])


class Decoder:
    """Has what ``ComputeMetrics`` needs of a tokenizer."""

    def batch_decode(self, rows: list[list[int]], skip_special_tokens: bool) -> list[str]:
        return [" ".join(map(str, row)) for row in rows]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            (Decoder(), {"bleu": Bleu()}),
            r"^metrics is a Decoder, a tokenizer: expected ComputeMetrics\(metrics, tokenizer\)$",
        ),
        (
            ({"bleu": Bleu()}, {"a": 1}),
            "^tokenizer is a dict: expected a tokenizer of transformers, or None to score ids$",
        ),
        (("bleu",), r"^metrics is 'bleu': expected metric objects, such as Bleu\(\) or \{'bleu': Bleu\(\)\}$"),
    ],
    ids=["swapped", "no tokenizer", "name"],
)
def test_arguments_that_are_no_metrics_or_no_tokenizer_are_refused(arguments, words):
    with pytest.raises(TypeError, match=words):
        ComputeMetrics(*arguments)
