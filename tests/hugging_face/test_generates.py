"""A Trainer that generates scores what a causal model writes after each prompt, however its batches are made."""

import os
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import torch
from programs import OFFLINE
from ranks import on_ranks

from ngram_metrics import Bleu, ChrF
from ngram_metrics.functional import bleu_score, chrf_score
from ngram_metrics.hugging_face import ComputeMetrics, Generates

transformers = pytest.importorskip("transformers", reason="the trainers need transformers")
pytest.importorskip("accelerate", reason="transformers' Trainer does not start without it")

PROMPTS = ["the cat says: ", "a dog: ", "what does the brown cow say? ", "it ", "the old owl says: "]
END = 1  # of ByT5, the tokenizer of bytes, which needs no file
NEW_TOKENS = 12
#: Options of a trainer that reports nothing.
CALM = {"report_to": "none", "use_cpu": True, "disable_tqdm": True}
SEED = 24  # with it one text ends early


def make_model() -> Any:
    """A model that has learned nothing: it writes bytes of ASCII that depend on the whole prompt."""
    torch.manual_seed(SEED)
    sizes = {"vocab_size": 128, "n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 64, "initializer_range": 0.5}
    config = transformers.GPT2Config(**sizes, bos_token_id=None, eos_token_id=END, tie_word_embeddings=False)
    return transformers.GPT2LMHeadModel(config).eval()


def write_alone(model: Any, prompt: list[int]) -> list[int]:
    """What the model writes after one prompt, without any padding."""
    ids = torch.tensor([prompt])
    with torch.no_grad():
        for _ in range(NEW_TOKENS):
            following = model(ids).logits[0, -1].argmax()
            if following == END:
                break
            ids = torch.cat([ids, following[None, None]], 1)
    return ids[0, len(prompt) :].tolist()


def make_rows(model: Any, tokenizer: Any) -> tuple[list[dict[str, Any]], list[str], list[str]]:
    """The segments with labels, the texts that the model writes, and references that resemble them."""
    rows = []
    texts = []
    references = []
    for prompt in PROMPTS:
        prompt_ids = tokenizer(prompt, add_special_tokens=False).input_ids
        written = write_alone(model, prompt_ids)
        texts.append(tokenizer.decode(written, skip_special_tokens=True))
        references.append(texts[-1][:-2] + prompt[:3])
        answer = tokenizer(references[-1]).input_ids
        rows.append({"input_ids": prompt_ids + answer, "labels": [-100] * len(prompt_ids) + answer})
    return rows, texts, references


class GeneratingTrainer(Generates, transformers.Trainer):
    generation_kwargs = MappingProxyType({"max_new_tokens": NEW_TOKENS})


def make_trainer(
    folder: Path, model: Any, tokenizer: Any, trainer_class: type = GeneratingTrainer, **options: Any
) -> Any:
    options = CALM | {"per_device_eval_batch_size": 2} | options
    return trainer_class(
        model=model,
        args=transformers.TrainingArguments(str(folder), **options),
        data_collator=transformers.DataCollatorForSeq2Seq(tokenizer),
        compute_metrics=make_scores(tokenizer),
    )


def make_scores(tokenizer: Any) -> ComputeMetrics:
    return ComputeMetrics({"bleu": Bleu(tokenizer="char"), "chrf": ChrF()}, tokenizer)


def expected_scores(texts: list[str], references: list[str]) -> dict[str, float]:
    bleu = bleu_score(texts, references, tokenizer="char").item()
    return {"bleu": bleu, "chrf": chrf_score(texts, references).item()}


def scores_of(values: dict[str, float], prefix: str = "eval") -> dict[str, float]:
    return {name: values[f"{prefix}_{name}"] for name in ("bleu", "chrf")}


@pytest.mark.parametrize(
    ("padding_side", "by_batch"),
    [
        ("left", True),
        pytest.param("left", False, marks=pytest.mark.slow),
        pytest.param("right", True, marks=pytest.mark.slow),
        pytest.param("right", False, marks=pytest.mark.slow),
    ],
)
def test_what_the_model_writes_is_scored(padding_side: str, by_batch: bool, tmp_path: Path):
    tokenizer = transformers.ByT5Tokenizer(padding_side=padding_side)
    model = make_model()
    rows, texts, references = make_rows(model, tokenizer)
    assert len(set(map(len, texts))) > 1
    trainer = make_trainer(tmp_path, model, tokenizer, batch_eval_metrics=by_batch)
    values = trainer.evaluate(rows)
    assert 0 < values["eval_bleu"] < 1
    assert scores_of(values) == pytest.approx(expected_scores(texts, references))
    plain = make_trainer(tmp_path, model, tokenizer, transformers.Trainer)
    plain.compute_metrics = None
    assert values["eval_loss"] == pytest.approx(plain.evaluate(rows)["eval_loss"])

    predicted = trainer.predict(rows)
    written = [row[row >= 0].tolist() for row in predicted.predictions]
    assert tokenizer.batch_decode(written, skip_special_tokens=True) == texts
    assert scores_of(predicted.metrics, "test") == scores_of(values)


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return transformers.ByT5Tokenizer()


@pytest.fixture
def trainer(tmp_path: Path, tokenizer: Any) -> Any:
    return make_trainer(tmp_path, make_model(), tokenizer)


def make_batch(trainer: Any, tokenizer: Any) -> dict[str, torch.Tensor]:
    rows, _, _ = make_rows(trainer.model, tokenizer)
    return trainer.data_collator(rows)


def test_the_search_is_greedy_whatever_the_model_says(trainer: Any, tokenizer: Any):
    rows, texts, references = make_rows(trainer.model, tokenizer)
    trainer.model.generation_config.update(do_sample=True, temperature=5.0, num_beams=3, return_dict_in_generate=True)
    assert scores_of(trainer.evaluate(rows)) == pytest.approx(expected_scores(texts, references))


def test_generation_kwargs_reach_generate(trainer: Any, tokenizer: Any):
    batch = make_batch(trainer, tokenizer)
    trainer.generation_kwargs = {"max_new_tokens": 7, "num_beams": 3}
    _, ids, _ = trainer.prediction_step(trainer.model, batch, False)
    expected = [
        trainer.model.generate(
            torch.tensor([tokenizer(prompt, add_special_tokens=False).input_ids]), **trainer.generation_kwargs
        )[0].tolist()
        for prompt in PROMPTS
    ]
    for row, prompt, whole in zip(ids.tolist(), PROMPTS, expected, strict=True):
        assert row == whole[len(prompt) :] + [END] * (7 - len(whole) + len(prompt))


def test_the_number_of_new_tokens_may_stand_in_the_generation_config(trainer: Any, tokenizer: Any):
    batch = make_batch(trainer, tokenizer)
    _, expected, _ = trainer.prediction_step(trainer.model, batch, False)
    trainer.generation_kwargs = {}
    with pytest.raises(ValueError, match=r'no max_new_tokens: set .*generation_kwargs = \{"max_new_tokens": 64\}'):
        trainer.prediction_step(trainer.model, batch, False)
    trainer.model.generation_config.max_new_tokens = NEW_TOKENS
    _, ids, _ = trainer.prediction_step(trainer.model, batch, False)
    assert torch.equal(ids, expected)


@pytest.mark.parametrize("padding_side", ["left", pytest.param("right", marks=pytest.mark.slow)])
def test_a_penalty_of_repetitions_sees_the_prompt_alone(padding_side: str, tmp_path: Path):
    """``generate`` looks for repetitions in what is padding, too."""
    tokenizer = transformers.ByT5Tokenizer(padding_side=padding_side)
    trainer = make_trainer(tmp_path, make_model(), tokenizer)
    given = {}
    generate = trainer.model.generate

    def recording_generate(**inputs: Any) -> torch.Tensor:
        given.update(inputs)
        return generate(**inputs)

    trainer.model.generate = recording_generate
    batch = make_batch(trainer, tokenizer)
    trainer.generation_kwargs = {"max_new_tokens": NEW_TOKENS, "repetition_penalty": 5.0}
    _, together, _ = trainer.prediction_step(trainer.model, batch, False)
    for prompt, row in zip(PROMPTS, given["input_ids"].tolist(), strict=True):
        assert set(row) == set(tokenizer(prompt, add_special_tokens=False).input_ids)
    for row in range(len(PROMPTS)):
        segment = {name: values[row : row + 1] for name, values in batch.items()}
        _, alone, _ = trainer.prediction_step(trainer.model, segment, False)
        assert together[row].tolist()[: alone.shape[1]] == alone[0].tolist()


def test_without_labels_or_with_the_loss_alone_the_trainer_does_what_it_did(trainer: Any, tokenizer: Any):
    batch = make_batch(trainer, tokenizer)
    plain = transformers.Trainer.prediction_step
    assert trainer.prediction_step(trainer.model, batch, True) == plain(trainer, trainer.model, batch, True)
    del batch["labels"]
    loss, logits, labels = trainer.prediction_step(trainer.model, batch, False)
    assert loss is labels is None
    assert torch.equal(logits, plain(trainer, trainer.model, batch, False)[1])


def test_a_segment_without_an_answer_is_a_prompt(trainer: Any, tokenizer: Any):
    batch = make_batch(trainer, tokenizer)
    prompts = tokenizer(PROMPTS, add_special_tokens=False, padding=True, return_tensors="pt")
    unanswered = {**prompts, "labels": torch.full_like(prompts.input_ids, -100)}
    _, ids, labels = trainer.prediction_step(trainer.model, unanswered, False)
    assert torch.equal(ids, trainer.prediction_step(trainer.model, batch, False)[1])
    assert (labels == -100).all()


def change(name: str, row: int, column: int, value: int) -> Any:
    def changed(batch: dict[str, torch.Tensor]) -> None:
        batch[name][row, column] = value

    return changed


def pack(batch: dict[str, torch.Tensor]) -> None:
    positions = torch.arange(batch["input_ids"].shape[1]).repeat(len(PROMPTS), 1)
    positions[2, 9:] -= 9
    batch["position_ids"] = positions


def shift(batch: dict[str, torch.Tensor]) -> None:
    batch["labels"] = batch["labels"].roll(-1, 1)


def label_prompts(batch: dict[str, torch.Tensor]) -> None:
    batch["labels"] = torch.where(batch["attention_mask"] == 1, batch["input_ids"], -100)


def shorten_labels(batch: dict[str, torch.Tensor]) -> None:
    batch["labels"] = batch["labels"][:, :-1]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (
            lambda batch: batch.pop("attention_mask"),
            r"^the batch has no attention_mask.*packing=False and padding_free=",
        ),
        (
            pack,
            "^the position_ids of row 2 start again, so several segments are packed into it: expected one",
        ),
        (
            change("labels", 1, 9, -100),
            "^row 1 of the batch has a label of -100 between its answers.*a row for each turn",
        ),
        (label_prompts, "^row 0 of the batch has no prompt.*name the columns of the data set prompt and completion$"),
        (
            shift,
            "^row 0 of the batch has a label that is neither -100 nor the id at its position.*Do not shift them",
        ),
        (
            shorten_labels,
            r"^labels has shape \(5, \d+\) and input_ids has shape .*for an encoder-decoder model use Seq2SeqTrainer$",
        ),
    ],
    ids=["no mask", "packed", "turns", "no prompt", "shifted", "another shape"],
)
def test_a_batch_without_one_prompt_and_one_answer_in_each_row_is_refused(
    trainer: Any, tokenizer: Any, spoil: Any, words: str
):
    batch = make_batch(trainer, tokenizer)
    spoil(batch)
    with pytest.raises(ValueError, match=words):
        trainer.prediction_step(trainer.model, batch, False)


def test_positions_of_padding_are_not_those_of_packed_segments(trainer: Any, tokenizer: Any):
    batch = make_batch(trainer, tokenizer)
    _, expected, _ = trainer.prediction_step(trainer.model, batch, False)
    positions = (batch["attention_mask"].cumsum(1) - 1).masked_fill(batch["attention_mask"] == 0, 1)
    _, ids, _ = trainer.prediction_step(trainer.model, {**batch, "position_ids": positions}, False)
    assert torch.equal(ids, expected)


def evaluate_on_a_rank(folder: Path, padding_side: str) -> dict[str, Any]:
    os.environ.update(OFFLINE)
    tokenizer = transformers.ByT5Tokenizer(padding_side=padding_side)
    model = make_model()
    rows, texts, references = make_rows(model, tokenizer)
    values = []
    for by_batch in (True, False):
        trainer = make_trainer(folder, model, tokenizer, batch_eval_metrics=by_batch, per_device_eval_batch_size=1)
        values.append(scores_of(trainer.evaluate(rows)))
        values.append(scores_of(trainer.predict(rows).metrics, "test"))
    return {"values": values, "expected": expected_scores(texts, references), "processes": trainer.args.world_size}


@pytest.mark.slow
@pytest.mark.parametrize("padding_side", ["left", "right"])
def test_two_processes_score_what_one_model_writes_alone(padding_side: str, tmp_path: Path):
    """Batches of one segment: the processes have prompts and answers of other widths, and one repeats a segment."""
    for result in on_ranks(evaluate_on_a_rank, tmp_path, padding_side, size=2):
        assert result["processes"] == 2
        for values in result["values"]:
            assert values == pytest.approx(result["expected"])


def evaluate_with_trl(folder: Path) -> dict[str, Any]:
    os.environ.update(OFFLINE)
    import datasets
    import trl

    class GeneratingSFTTrainer(Generates, trl.SFTTrainer):
        generation_kwargs = MappingProxyType({"max_new_tokens": NEW_TOKENS})

    tokenizer = transformers.ByT5Tokenizer()
    model = make_model()
    _, texts, references = make_rows(model, tokenizer)
    data = datasets.Dataset.from_dict({"prompt": PROMPTS, "completion": references})
    options = CALM | {"bf16": False, "per_device_eval_batch_size": 1}

    def evaluate(data: datasets.Dataset, **others: Any) -> dict[str, float]:
        trainer = GeneratingSFTTrainer(
            model=model,
            args=trl.SFTConfig(str(folder), **options, **others),
            train_dataset=data,
            eval_dataset=data,
            processing_class=tokenizer,
            compute_metrics=make_scores(tokenizer),
        )
        return scores_of(trainer.evaluate())

    values = [evaluate(data, batch_eval_metrics=by_batch) for by_batch in (True, False)]
    messages = []
    without_prompts = datasets.Dataset.from_dict({"text": references})
    for wrong, others in ((data, {"padding_free": True, "max_length": None}), (without_prompts, {})):
        try:
            evaluate(wrong, **others)
        except ValueError as error:
            messages.append(str(error))
    return {"values": values, "expected": expected_scores(texts, references), "messages": messages}


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_the_trainer_of_trl_scores_what_the_model_writes(processes: int, tmp_path: Path):
    pytest.importorskip("trl", reason="its trainer is TRL's")
    for result in on_ranks(evaluate_with_trl, tmp_path, size=processes):
        for values in result["values"]:
            assert values == pytest.approx(result["expected"])
        packed, unlabelled = result["messages"]
        assert packed.startswith("the batch has no attention_mask")
        assert "has no prompt" in unlabelled
