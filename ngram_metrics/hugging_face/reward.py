"""The metrics as rewards for TRL's GRPOTrainer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ngram_metrics._core.basics.keywords import named_arguments
from ngram_metrics._core.basics.option_checks import checked_bool
from ngram_metrics._core.scoring.items import Item
from ngram_metrics._core.scoring.scorer import scorer_of
from ngram_metrics._core.text.foreign_values import list_column, refuse_missing
from ngram_metrics._core.text.messages import pluralize, shortened
from ngram_metrics._torchmetrics.accumulator import Accumulator

__all__ = ["Reward"]


class Reward:
    """The score of each completion for TRL's ``GRPOTrainer``, see the page "Rewards".

    Texts and lists of ids are counted on the CPU, whatever the device of the metric.

    Args:
        metric: the metric that scores a completion, or one value of ROUGE, ``rouge["rougeL_fmeasure"]``. Its
            ``average`` has no effect, and its states are neither read nor changed.
        references: the name of the column of the data set with the reference of each prompt, or a list of its
            references. These are texts or conversations, or with ``from_ids`` lists of ids. A completion whose
            reference is None gets no reward.
        from_ids: whether the ids of the completions are scored instead of their text.

    Raises:
        TypeError: an object that is not a metric of this package.
        ValueError: a metric with several values.

    Example:
        >>> from ngram_metrics import ChrF
        >>> from ngram_metrics.hugging_face import Reward
        >>> reward = Reward(ChrF())
        >>> reward.__name__
        'chrf'
        >>> reward(completions=["the cat sat", "a dog"], reference=["the cat sat", "the cat sat"])
        [1.0, 0.03125]
    """

    @named_arguments
    def __init__(
        self,
        metric: Accumulator[Any] | Item,
        references: str = "reference",
        from_ids: bool = False,
    ) -> None:
        scorer = scorer_of(metric, "metric")
        value, *others = scorer.values
        if others:
            example = next(iter(scorer.titles.values()))
            raise ValueError(
                f"metric computes several values, {list(scorer.values)}: expected one, such as metric[{example!r}]"
            )
        self.metric = metric
        self.references = references
        self.from_ids = checked_bool(from_ids, "from_ids")
        #: The name under which the trainer logs the reward.
        self.__name__ = value

    def __call__(
        self, completions: Sequence[object] = (), completion_ids: Sequence[Sequence[int]] = (), **columns: object
    ) -> list[float | None]:
        """Score completions from the arguments that the trainer passes by name.

        Args:
            completions: texts or conversations. In a conversation, also in one of a reference, only the assistant's
                last message is read. If its content has several parts, the parts of the type text are read. A
                completion without text, such as a tool call, counts as an empty text.
            completion_ids: the ids of the completions.
            columns: the columns of the data set, each with one item per completion.

        Returns:
            The score of each completion, from 0 to 1, or None if its reference is None.

        Raises:
            ValueError: the data set has no column with the name in ``references``; different numbers of completions and
                references.
            TypeError: a completion or a reference without text.
        """
        if self.references not in columns:
            cure = f"call reward(completions=[...], {self.references}=[...])"
            if columns:
                cure = f"pass the column of the references, one of {sorted(columns)}, to Reward as references="
            raise ValueError(f"the data set has no column {self.references!r}: {cure}")
        name = "completion_ids" if self.from_ids else "completions"
        preds = list(list_column(completion_ids if self.from_ids else completions, name))
        target = list_column(columns[self.references], self.references)
        if len(preds) != len(target):
            raise ValueError(
                f"{name} has {pluralize(len(preds), 'item')} and {self.references} has {len(target)}: expected as many "
                f"references as completions (from_ids is {self.from_ids})"
            )
        if not self.from_ids:
            preds = [_read_text(completion, f"completion {row}", "") for row, completion in enumerate(preds)]
            target = [
                _read_texts(reference, f"the reference of completion {row}") for row, reference in enumerate(target)
            ]
        rewards: list[float | None] = [None] * len(preds)
        rows = [row for row, reference in enumerate(target) if reference is not None]
        if rows:
            scorer = self.metric.scorer.segment_scorer()
            if len(rows) < len(target):
                preds = [preds[row] for row in rows]
                target = [target[row] for row in rows]
            (scores,) = scorer.name_values(scorer.score_batch(preds, target)).values()
            for row, score in zip(rows, scores.tolist(), strict=True):
                rewards[row] = score
        return rewards


def _read_texts(reference: object, name: str) -> str | list[str] | None:
    """Return a reference or several as text, and None unchanged."""
    if reference is None:
        return None
    if isinstance(reference, (list, tuple)) and reference and not isinstance(reference[-1], Mapping):
        return [_read_text(item, name) for item in reference]
    return _read_text(reference, name)


def _read_text(source: object, name: str, without_content: str | None = None) -> str:
    """Return text, or the text of a conversation, see ``_find_answer``. ``name`` is for errors."""
    refuse_missing(source, name)
    text = source
    if isinstance(source, (list, tuple)) and source and all(isinstance(message, Mapping) for message in source):
        text = _find_answer(source)
        text = without_content if text is None else text
    if not isinstance(text, str):
        raise TypeError(
            f"{name} is {shortened(source)}: expected text, or messages whose last one from the assistant has text"
        )
    return text


def _find_answer(messages: Sequence[Mapping[str, Any]]) -> object:
    """Return the text of the assistant's last message, None if it has none, or the content if it is no text.

    A message without a role is the assistant's. The parts of a content that have the type text are joined.
    """
    contents = [message.get("content") for message in messages if message.get("role", "assistant") == "assistant"]
    content = contents[-1] if contents else None
    if not isinstance(content, (list, tuple)) or not all(isinstance(part, Mapping) for part in content):
        return content
    texts = [part.get("text") for part in content if part.get("type") == "text"]
    if not texts:
        return None
    return "".join(texts) if all(isinstance(text, str) for text in texts) else content
