"""A small network from characters to characters: one GRU reads, another with attention writes.

Attention is what makes the task learnable: to write the next character, the decoder looks at the
place in the source that it has come to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Characters:
    """The alphabet: turns sentences into rows of character ids, padded at the end, and back."""

    PADDING, START, END = 0, 1, 2

    def __init__(self, sentences: Iterable[str]) -> None:
        self.alphabet = sorted(set().union(*sentences))
        self.id_of = {character: 3 + i for i, character in enumerate(self.alphabet)}

    def __len__(self) -> int:
        return 3 + len(self.alphabet)

    def encode(self, sentences: Sequence[str]) -> Tensor:
        """(sentences, longest + 2) ids: START, the characters, END, then padding.

        A character that is not in the alphabet is left out.
        """
        rows = []
        for sentence in sentences:
            known = [self.id_of[character] for character in sentence if character in self.id_of]
            rows.append(torch.tensor([self.START, *known, self.END]))
        return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=self.PADDING)

    def decode(self, ids: Tensor) -> list[str]:
        """The text of each row up to its END, or to the row's end when there is none."""
        texts = []
        for row in ids.tolist():
            row = row[: row.index(self.END)] if self.END in row else row
            texts.append("".join(self.alphabet[i - 3] for i in row if i >= 3))
        return texts


class Restorer(nn.Module):
    """Encoder, decoder and dot-product attention (Luong, Pham and Manning, 2015)."""

    def __init__(self, characters: int, embedding_size: int = 64, hidden_size: int = 192) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, embedding_size, Characters.PADDING)
        self.encoder = nn.GRU(embedding_size, hidden_size // 2, batch_first=True, bidirectional=True)
        self.decoder = nn.GRU(embedding_size, hidden_size, batch_first=True)
        self.query = nn.Linear(hidden_size, hidden_size)
        self.combine = nn.Linear(2 * hidden_size, hidden_size)
        self.scores = nn.Linear(hidden_size, characters)
        self.dropout = nn.Dropout(0.1)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Score what comes after each character of `target`, all steps at once (teacher forcing).

        source (sentences, source length) and target (sentences, target length): character ids.
        Returns (sentences, target length, characters).
        """
        memory, hidden = self.encode(source)
        return self.step(target, hidden, memory, source)[0]

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Read `source`; return what the decoder looks at and the state that it starts from.

        The first is (sentences, source length, hidden size), the second (1, sentences, hidden size).
        """
        lengths = (source != Characters.PADDING).sum(dim=1)
        # Packed, so that the backward direction starts at the last character and not at padding.
        packed = pack_padded_sequence(
            self.dropout(self.embedding(source)),
            lengths.cpu(),
            batch_first=True,
            enforce_sorted=False,
        )
        packed_memory, both_directions = self.encoder(packed)
        memory, _ = pad_packed_sequence(packed_memory, batch_first=True)
        return memory, torch.cat([*both_directions], dim=1).unsqueeze(0)

    def step(self, target: Tensor, hidden: Tensor, memory: Tensor, source: Tensor) -> tuple[Tensor, Tensor]:
        """Go on from `hidden` by the characters of `target`, one step or many.

        target (sentences, steps). Returns the scores of the characters that may come next,
        (sentences, steps, characters), and the decoder's state after the last step.
        """
        states, hidden = self.decoder(self.dropout(self.embedding(target)), hidden)
        relevance = self.query(states) @ memory.transpose(1, 2) / memory.shape[2] ** 0.5
        is_padding = (source == Characters.PADDING).unsqueeze(1)
        attention = relevance.masked_fill(is_padding, float("-inf")).softmax(dim=2)
        combined = torch.tanh(self.combine(torch.cat([states, attention @ memory], dim=2)))
        return self.scores(self.dropout(combined)), hidden

    @torch.no_grad()
    def greedy(self, source: Tensor) -> Tensor:
        """Write the likeliest character at each step.

        source (sentences, source length). Returns ids (sentences, steps): what a row holds after
        its first END has no meaning.
        """
        memory, hidden = self.encode(source)
        written = [source.new_full((len(source), 1), Characters.START)]
        finished = torch.zeros_like(written[0], dtype=torch.bool)
        # A limit, because an untrained network may never write END. With its vowels, no sentence
        # is twice as long as without them.
        for _ in range(2 * source.shape[1]):
            scores, hidden = self.step(written[-1], hidden, memory, source)
            written.append(scores.argmax(dim=2))
            finished |= written[-1] == Characters.END
            if finished.all():
                break
        return torch.cat(written[1:], dim=1)
