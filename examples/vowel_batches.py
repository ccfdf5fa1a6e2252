"""The task of the training examples as batches: sentences without their vowels, and what they should become."""

from __future__ import annotations

import random
from typing import NamedTuple

from character_model import Characters
from python_topics import pieces, sentences, split_sentences, without_vowels
from torch import Tensor

Batch = tuple[Tensor, Tensor, list[str]]  # source ids, target ids, the targets as text


class Task(NamedTuple):
    """All that a run needs to know of the text."""

    characters: Characters
    training: list[str]  # sentences to learn from
    validation: list[str]  # others
    training_batches: list[Batch]  # of those sentences, and of short pieces of them
    validation_batches: list[Batch]


def prepare(most: int | None = None) -> Task:
    """Split the sentences, and make batches of them, or of `most` sentences only.

    Where the pieces are cut is drawn with `random`: seed it first.
    """
    training, validation = split_sentences(sentences(), most)
    characters = Characters(training)
    # Whole sentences and short pieces of them: on short text the network soon finds out where in
    # the source to look, on whole sentences alone it takes many more epochs.
    examples = training + [piece for sentence in training for piece in pieces(sentence)]
    random.shuffle(examples)
    return Task(
        characters,
        training,
        validation,
        make_batches(examples, characters, batch_size=32),
        make_batches(validation, characters, batch_size=64),
    )


def make_batches(targets: list[str], characters: Characters, batch_size: int) -> list[Batch]:
    """Sentences of like length together, so that little padding is computed."""
    targets = sorted(targets, key=len)
    batches = []
    for start in range(0, len(targets), batch_size):
        texts = targets[start : start + batch_size]
        source = characters.encode([without_vowels(text) for text in texts])
        batches.append((source, characters.encode(texts), texts))
    return batches
