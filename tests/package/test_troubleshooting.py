"""Troubleshooting: a title that quotes a message of this package has the words of the message."""

import re
import warnings
from collections.abc import Callable

import pytest
import torch
from documentation import DOCS
from torch.utils.data import DataLoader, DistributedSampler

from ngram_metrics import Bleu, ChrF
from ngram_metrics._torchmetrics.repeated_segments import warn_of_repeated_segments
from ngram_metrics.functional import bleu_score, chrf_score, rouge_score
from ngram_metrics.significance import paired_bootstrap

PAGE = (DOCS / "start" / "troubleshooting.md").read_text(encoding="utf-8")
#: The titles of the page up to the scores without a message.
TITLES = re.findall(r"^### (.+)$", PAGE.partition("\n## Odd scores")[0], re.MULTILINE)
SENTENCES = ["it rains in the north", "the dog ran home", "nobody saw it"]
GERMAN = ["die Größe der Straße überrascht die Gäste schön früh"] * 4


def update_in_the_way_of_torchmetrics() -> None:
    ignite = pytest.importorskip("ngram_metrics.ignite", reason="ignite is not installed", exc_type=ImportError)
    ignite.Bleu().update(["the cat"], ["the cat"])


def merge_other_settings() -> None:
    Bleu(ngram=2).merge_state(Bleu())


def share_three_segments_with_two_processes() -> None:
    sampler: DistributedSampler[str] = DistributedSampler(SENTENCES, num_replicas=2, rank=0)
    warn_of_repeated_segments([DataLoader(SENTENCES, sampler=sampler)])


#: Calls that raise an error or warn, by the title about it.
CALLS: dict[str, Callable[[], object]] = {
    "preds has 1 segment and target has 2 items": lambda: bleu_score(["the cat"], ["the cat", "a cat"]),
    "target looks like sacrebleu's format": lambda: bleu_score(SENTENCES, [SENTENCES]),
    "segment 1 has no reference": lambda: bleu_score(["the cat", "a dog"], [["the cat"], []]),
    "reference 1 of segment 0 is a missing value": lambda: bleu_score(["the cat"], [["the cat", None]]),
    "expected all text, or all tokens or ids": lambda: bleu_score(["the cat"], [[[5, 6]]]),
    "Warning: the references of each segment are single words": lambda: bleu_score(
        ["the cat sat"], [["the", "cat", "sat"]]
    ),
    "Warning: each text is one word": lambda: bleu_score(SENTENCES[0].split(), SENTENCES[0].split()),
    "Warning: at least a third of the texts contain '</s>'": lambda: bleu_score(["it rains </s>"], ["it rains </s>"]),
    "a padded tensor of ids was given without pad_id": lambda: bleu_score(torch.tensor([[5]]), torch.tensor([[5]])),
    "expected token ids of an integer dtype": lambda: bleu_score(torch.rand(1, 3), torch.tensor([[5]]), pad_id=0),
    "segment 0 has the id -100": lambda: bleu_score([[5, -100]], [[5, 6]], pad_id=0),
    "segment 0 is an int, 5": lambda: bleu_score([5, 6], [[5, 6], [6, 5]]),
    "tokenizer is an option for text": lambda: bleu_score([["the"]], [["the"]], tokenizer=str.split),
    "this metric counts characters": lambda: chrf_score([["the", "cat"]], [["the", "cat"]]),
    "unknown argument n_gram, did you mean ngram?": lambda: Bleu(n_gram=2),
    "tokenizer 'flores200' would download a model": lambda: Bleu(tokenizer="flores200"),
    "Warning: ROUGE's rule for words keeps only a-z and 0-9": lambda: rouge_score(GERMAN, GERMAN),
    "update takes one argument": update_in_the_way_of_torchmetrics,
    "Warning: the DistributedSampler of a data loader ... repeats segments": share_three_segments_with_two_processes,
    "this ChrF keeps only sums": lambda: paired_bootstrap({"a": ChrF(), "b": ChrF()}, baseline="a"),
    "these states come from a metric whose settings differ": merge_other_settings,
}
#: Titles that quote Lightning, torchmetrics and torch.
OF_OTHERS = [
    "The `.compute()` return of the metric logged as ... must be a tensor",
    "The metric `tensor(...)` does not contain a single element",
    "`max()` received an invalid combination of arguments - got (dict, int)",
    "`torch.Size()` takes an iterable of 'int' (item 0 is 'list')",
    "Could not find the `LightningModule` attribute",
    "Expected attribute `full_state_update` set to `False` but got `None`",
    "`merge_state` is not supported for metrics with `full_state_update=True`",
]


def test_each_title_is_about_a_message():
    assert sorted(TITLES) == sorted([*CALLS, *OF_OTHERS])


@pytest.mark.parametrize("title", CALLS)
def test_the_words_of_a_title_are_those_of_the_message(title: str):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            CALLS[title]()
            messages = [str(warning.message) for warning in caught]
            assert title.startswith("Warning: ")
        except (TypeError, ValueError) as error:
            messages = [str(error)]
            assert not title.startswith("Warning: ")
    parts = title.removeprefix("Warning: ").split(" ... ")
    assert [message for message in messages if all(part in message for part in parts)], messages
