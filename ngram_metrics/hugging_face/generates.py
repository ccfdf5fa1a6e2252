"""What a causal model writes after each prompt, as the predictions of a Trainer."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

if TYPE_CHECKING:
    from transformers import Trainer
else:
    Trainer = object

#: The label of an id that is not part of an answer.
IGNORED = -100
#: Greedy search, one text for each prompt, as a tensor, whatever the generation config of the model says.
GREEDY = MappingProxyType(
    {"do_sample": False, "num_beams": 1, "num_return_sequences": 1, "return_dict_in_generate": False}
)


class Generates(Trainer):
    """Lets a ``Trainer`` of transformers or an ``SFTTrainer`` of TRL generate while it evaluates a causal model.

    Put it before the trainer in the bases of a class. The predictions of ``evaluate`` and ``predict`` are then the ids
    that the model writes after each prompt, without the prompt, and ``ComputeMetrics`` scores them. The prompt of a
    segment is everything before its first label that is not -100. The batches may be padded on either side. The model
    reads only ``input_ids`` and ``attention_mask``, so it must be a model of text alone.

    The search is greedy, so the output does not depend on the number of processes. The trainer's own
    ``prediction_step`` computes the loss. If ``prediction_loss_only`` is set or a batch has no labels, it does all the
    work, and nothing is generated. If all labels of a segment are -100, its whole text is the prompt, and its reference
    is empty.

    Each process stops generating when its own segments are done. With DeepSpeed's ZeRO-3 and FSDP, which divide the
    weights among the processes, the processes would wait for each other: do not use this class with them.

    Raises:
        ValueError: in an evaluation, neither ``generation_kwargs`` nor the generation config of the model has
            ``max_new_tokens``; a batch has no ``attention_mask``, or its ``position_ids`` start again, because segments
            are packed; a segment has no prompt, or several answers; a label is neither -100 nor the id at its position.

    Example:
        >>> from ngram_metrics.hugging_face import Generates
        >>> from transformers import Trainer
        >>> class GeneratingTrainer(Generates, Trainer):
        ...     generation_kwargs = {"max_new_tokens": 64}
    """

    #: Arguments of the model's ``generate``: ``max_new_tokens``, and what else differs from greedy search. They may be
    #: set on the class or on a trainer.
    generation_kwargs: Mapping[str, Any] = MappingProxyType({})

    def prediction_step(
        self, model: Any, inputs: dict[str, Any], prediction_loss_only: bool, ignore_keys: list[str] | None = None
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """Return the loss, the ids that the model writes after each prompt, and the labels.

        Args:
            model: the model as the trainer has wrapped it.
            inputs: a batch, with ``input_ids``, ``attention_mask`` and ``labels``, each ``(segments, width)``.
            prediction_loss_only: whether to compute the loss only.
            ignore_keys: passed to the trainer.

        Returns:
            The loss, the generated ids ``(segments, at most max_new_tokens)`` and the labels ``(segments, width)``.
        """
        if prediction_loss_only or inputs.get("labels") is None:
            return super().prediction_step(model, inputs, prediction_loss_only, ignore_keys)
        writer: Any = self.model  # not wrapped, as ``model`` may be
        options = {**GREEDY, **self.generation_kwargs}
        if options.get("max_new_tokens", writer.generation_config.max_new_tokens) is None:
            raise ValueError(
                "the generation config has no max_new_tokens: set how many ids the model may write after a prompt, for "
                'example with generation_kwargs = {"max_new_tokens": 64} in the class of the trainer'
            )
        batch = self._prepare_inputs(inputs)
        _refuse_packed(batch)
        _refuse_wrong_labels(batch["labels"], batch["input_ids"])
        prompts = _pad_left(batch)
        loss, _, _ = super().prediction_step(model, inputs, True, ignore_keys)
        ids = writer.generate(**prompts, **options)
        width = prompts["input_ids"].shape[1]
        return loss, ids[:, width:].contiguous(), batch["labels"]


def _refuse_packed(batch: Mapping[str, Tensor]) -> None:
    """Raise ValueError if a row of the batch has several segments."""
    cure = (
        "expected one padded segment in each row. Pass packing=False and padding_free=False to SFTConfig, or another "
        "data_collator to Trainer"
    )
    attention_mask = batch.get("attention_mask")
    if attention_mask is None:
        raise ValueError(f"the batch has no attention_mask, as if several segments were packed into a row: {cure}")
    positions = batch.get("position_ids")
    if positions is None or positions.shape != attention_mask.shape:
        return
    is_token = attention_mask != 0
    are_neighbours = is_token[:, 1:] & is_token[:, :-1]
    starts_again = are_neighbours & (positions[:, 1:] <= positions[:, :-1])
    if starts_again.any():
        row = _first_row(starts_again)
        raise ValueError(f"the position_ids of row {row} start again, so several segments are packed into it: {cure}")


def _refuse_wrong_labels(labels: Tensor, ids: Tensor) -> None:
    """Raise ValueError if the labels do not say which ids are the one answer of each row."""
    if labels.shape != ids.shape:
        raise ValueError(
            f"labels has shape {tuple(labels.shape)} and input_ids has shape {tuple(ids.shape)}: expected a label for "
            "each id, either -100 or the id itself. Generates is for causal models; for an encoder-decoder model use "
            "Seq2SeqTrainer"
        )
    is_answer = labels != IGNORED
    differs = is_answer & (labels != ids)
    if differs.any():
        raise ValueError(
            f"row {_first_row(differs)} of the batch has a label that is neither -100 nor the id at its position: "
            "expected labels at the positions of their ids. Do not shift them, because the model does"
        )
    begins = is_answer.clone()
    begins[:, 1:] &= ~is_answer[:, :-1]
    has_turns = begins.sum(1, keepdim=True) > 1
    if has_turns.any():
        raise ValueError(
            f"row {_first_row(has_turns)} of the batch has a label of -100 between its answers, as in several turns: "
            "expected one answer, at the end. Make a row for each turn, with the turns before it as its prompt"
        )


def _pad_left(batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return ``input_ids`` and ``attention_mask`` of the prompts alone, padded on the left."""
    ids = batch["input_ids"]
    is_answered = (batch["labels"] != IGNORED).cumsum(1) > 0
    is_prompt = (batch["attention_mask"] != 0) & ~is_answered
    lengths = is_prompt.sum(1, keepdim=True)  # (segments, 1)
    if not lengths.all():
        raise ValueError(
            f"row {_first_row(lengths == 0)} of the batch has no prompt, because its first label is not -100: expected "
            "labels of -100 at the ids of the prompt. For SFTTrainer, name the columns of the data set prompt and "
            "completion"
        )
    width = int(lengths.max())
    first = is_prompt.to(torch.uint8).argmax(1, keepdim=True)
    places = torch.arange(width, device=ids.device) - (width - lengths)  # in the prompt, negative before it
    # The padding is an id of the prompt. The model does not read it, but a repetition penalty does.
    filled = ids.gather(1, first + places.clamp(min=0))
    return {"input_ids": filled, "attention_mask": (places >= 0).to(batch["attention_mask"].dtype)}


def _first_row(is_wrong: Tensor) -> int:
    """Return the index of the first row ``(segments, width)`` with a value that is true."""
    return int(is_wrong.any(1).to(torch.uint8).argmax())
