"""Train a policy on chrF and BLEU as rewards: it never sees a target, only the scores of its samples.

    pip install -e .
    python examples/reward.py

    source   5 2 9 9 3 END
    target   6 3 10 10 4 END      every id moved up by one, the last one to the first

The score of a sample has no gradient, so the policy learns by REINFORCE (Williams, 1992): samples that score better
than others for the same source become likelier, the others less likely. Each source is sampled several times. A sample
is compared with the mean reward of the other samples for its source (Kool, van Hoof and Welling, 2019): without that
baseline nearly every sample would count as good.

The reward is the mean of two scores. chrF averages over the orders of n-grams, so single right ids already count. BLEU
multiplies the orders, so it asks for all of them at once. With "add-k" both are above 0 as soon as one id is right.

The samples are ids in a tensor, and are scored on their device without being decoded. A step waits for the device only
to print numbers now and then. The script takes about ten seconds on one CPU core.
"""

from __future__ import annotations

import argparse
import sys
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ngram_metrics.functional import bleu_score, chrf_score

PAD, END, FIRST, IDS = 0, 1, 2, 16  # sources consist of the IDS numbers from FIRST on
LONGEST = 9


class Rewards(NamedTuple):
    """The scores of each sample, each (samples,)."""

    chrf: Tensor
    bleu: Tensor

    def mixed(self) -> Tensor:
        """Give both scores the same weight."""
        return (self.chrf + self.bleu) / 2


class Policy(nn.Module):
    """Writes one id in each step, from the id of the source at this place and all ids that it has written so far."""

    def __init__(self, size: int = 64) -> None:
        super().__init__()
        self.read = nn.Embedding(FIRST + IDS, size)
        self.written = nn.Embedding(FIRST + IDS, size)
        self.step = nn.GRUCell(size, size)
        self.scores = nn.Linear(2 * size, FIRST + IDS)

    def sample(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Sample a row for each row of `source`, (rows, width).

        Returns ids, (rows, width), padded after the first END, and the log-probability of each row, (rows,).
        """
        state = self.read.weight.new_zeros(len(source), self.read.embedding_dim)
        last = torch.full_like(source[:, 0], END)
        writing = torch.ones_like(last, dtype=torch.bool)
        ids, log_probability = [], state.new_zeros(len(source))
        # As many steps as the source is wide. To stop when all rows have ended, it would have to wait for the device.
        for place in range(source.shape[1]):
            read = self.read(source[:, place])
            state = self.step(read + self.written(last), state)
            choice = torch.distributions.Categorical(
                logits=self.scores(torch.cat([state, read], 1)),
                validate_args=False,  # which would wait for the device as well
            )
            last = choice.sample()
            ids.append(last.where(writing, PAD))
            log_probability = log_probability + choice.log_prob(last).where(writing, 0)
            writing = writing & (last != END)
        return torch.stack(ids, 1), log_probability


def draw(rows: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Draw sources of 4 to LONGEST ids and their targets, both (rows, LONGEST + 2), padded after END."""
    ids = torch.randint(IDS, (rows, LONGEST + 2), device=device)
    lengths = torch.randint(4, LONGEST + 1, (rows, 1), device=device)
    place = torch.arange(LONGEST + 2, device=device)

    def ended(row: Tensor) -> Tensor:
        return (row + FIRST).masked_fill(place == lengths, END).masked_fill(place > lengths, PAD)

    return ended(ids), ended((ids + 1) % IDS)


def reward(sampled: Tensor, target: Tensor) -> Rewards:
    """Score each row of padded ids against the same row of `target`."""
    # END is not a word: a row that ends too early or too late is already shorter or longer than its target.
    dropped = (PAD, END)
    return Rewards(
        # beta 1: with the usual 2, recall outweighs precision, and a policy is rewarded for writing on and on.
        chrf_score(sampled, target, beta=1.0, pad_id=dropped, average="none"),
        bleu_score(sampled, target, smooth="add-k", pad_id=dropped, average="none"),
    )


def advantage(rewards: Tensor, samples: int) -> Tensor:
    """Subtract from each reward the mean of the other `samples` - 1 for its source; all are (sources * samples,)."""
    by_source = rewards.view(-1, samples)
    others = (by_source.sum(1, keepdim=True) - by_source) / (samples - 1)
    return (by_source - others).flatten()


def train(arguments: argparse.Namespace) -> list[float]:
    """Train, and return the mean reward of each step that is printed."""
    torch.manual_seed(arguments.seed)
    device = torch.device(arguments.device)
    policy = Policy().to(device)
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    means = []
    for step in range(arguments.steps + 1):
        sources, targets = (side.repeat_interleave(arguments.samples, 0) for side in draw(arguments.sources, device))
        sampled, log_probability = policy.sample(sources)
        rewards = reward(sampled, targets)
        if step % arguments.every == 0 or step == arguments.steps:
            means.append(rewards.mixed().mean().item())
            print(f"step {step:4d}   chrF {rewards.chrf.mean().item():.3f}   BLEU {rewards.bleu.mean().item():.3f}")
        loss = -(advantage(rewards.mixed(), arguments.samples) * log_probability).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return means


def main() -> None:
    """Train, and end with an error if the policy has not learned from its rewards."""
    arguments = parse_arguments()
    # The network is so small that threads would wait for each other longer than they compute.
    torch.set_num_threads(1)
    first, *_, last = train(arguments)
    if last < first + 0.1:
        sys.exit(f"The mean reward went from {first:.3f} to {last:.3f}: expected at least 0.1 more")


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description="Train a policy on chrF and BLEU as rewards.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    default_device = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--steps", type=int, default=200, help="updates of the policy, at least 1")
    parser.add_argument("--every", type=int, default=20, help="steps from one printed line to the next")
    parser.add_argument("--sources", type=int, default=32, help="different sources in a step")
    parser.add_argument("--samples", type=int, default=8, help="samples for each source, at least 2")
    parser.add_argument("--device", default=default_device, help="where to train")
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random")
    arguments = parser.parse_args()
    # One sample alone has no others to be compared with.
    for name, least in {"steps": 1, "every": 1, "sources": 1, "samples": 2}.items():
        if getattr(arguments, name) < least:
            parser.error(f"--{name} is {getattr(arguments, name)}: expected at least {least}")
    return arguments


if __name__ == "__main__":
    main()
