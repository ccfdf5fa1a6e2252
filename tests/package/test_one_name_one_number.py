"""The name of a metric means one number wherever it is written: that of its class with the class's defaults."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from commands import folder as folder
from commands import printed, report, scores, write
from metrics.apis import APIS

from ngram_metrics import evaluate, mbr
from ngram_metrics._core.metrics.registry import METRIC_NAMES, entry_of, takers_of
from ngram_metrics._core.metrics.rouge import ROUGE_KEYS

#: Punctuation that 13a parts from words, capitals, hyphens, repetitions, words that ROUGE would stem, another order of
#: words, and a long match.
HYPOTHESES = [
    "The cats sat, here.",
    "It's a well-known fact; the fact, isn't it?",
    "No, no, no, no, no, no, no, no! (Never, ever.)",
    "She paid $1,000.50 for two tickets!",
    "On Monday the old ferry left the harbour, and nobody saw it come back; the crew slept.",
]
FIRST = [
    "The cats sat here, quietly.",
    "It's a well-known fact; isn't it?",
    "No, never. (Never, ever!)",
    "for two Tickets she paid $1,000.50",
    "On Monday the old ferry left the harbour, and nobody saw it come back.",
]
SECOND = [
    "the cat sat, here",
    "It is a well known fact, the fact.",
    "No, no; never, ever.",
    "Two tickets for 1,000 dollars, she paid.",
    "Nobody saw the ferry come back: on Monday it left the harbour.",
]
REFERENCES = list(map(list, zip(FIRST, SECOND, strict=True)))


def class_and_function(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """What a name stands for, with the options of the name."""
    entry = entry_of(name)
    options = {**entry.options, **({"rouge_keys": name} if name in ROUGE_KEYS else {})}
    (api,) = (api for api in APIS.values() if api.entry.make is entry.make)
    return partial(api.metric, **options), partial(api.function, **options)


each_name = pytest.mark.parametrize("name", METRIC_NAMES)
#: The metrics that have another number at whitespace than under 13a: all others read text by a rule of their own.
takes_tokenizer = pytest.mark.parametrize("name", takers_of("tokenizer"))


def numbers(name: str, values: Any, scale: int = 1) -> dict[str, list[float]]:
    """The numbers by the titles of tables, where a metric other than ROUGE has one value, and ROUGE F for each key."""
    if not isinstance(values, Mapping):
        values = {name: values}
    titles = {value.removesuffix("_fmeasure"): column for value, column in values.items()}
    return {
        title: [number / scale for number in torch.as_tensor(column, dtype=torch.float64).reshape(-1).tolist()]
        for title, column in titles.items()
        if not title.endswith(("_precision", "_recall"))
    }


def close(found: dict[str, list[float]]) -> dict[str, Any]:
    return {title: pytest.approx(column, abs=1e-12) for title, column in found.items()}


@pytest.fixture
def files(folder: Path) -> list[str]:
    """The texts as files, and the arguments of the command."""
    for name, lines in {"h.txt": HYPOTHESES, "r1.txt": FIRST, "r2.txt": SECOND}.items():
        write(folder / name, lines)
    return ["h.txt", "-r", "r1.txt", "r2.txt"]


@each_name
def test_a_corpus_has_one_number(name: str, files: list[str], capsys):
    make, function = class_and_function(name)
    expected = close(numbers(name, make()(HYPOTHESES, REFERENCES)))
    assert numbers(name, function(HYPOTHESES, REFERENCES)) == expected
    results = evaluate(HYPOTHESES, REFERENCES, name).results["system"]
    assert numbers(name, {value: result.score for value, result in results.items()}) == expected
    assert numbers(name, scores(capsys, *files, "-m", name), 100) == expected


@each_name
def test_a_segment_has_one_number(name: str, files: list[str], folder: Path, capsys):
    make, function = class_and_function(name)
    expected = close(numbers(name, make(average="none")(HYPOTHESES, REFERENCES)))
    assert numbers(name, function(HYPOTHESES, REFERENCES, average="none")) == expected
    table = evaluate(HYPOTHESES, REFERENCES, name).segments()
    assert numbers(name, {title: table[title] for title in expected}) == expected
    printed(capsys, *files, "-m", name, "--segments", "lines.jsonl")
    lines = [json.loads(line) for line in (folder / "lines.jsonl").read_text(encoding="utf-8").splitlines()]
    assert numbers(name, {title: [line[title] for line in lines] for title in expected}, 100) == expected


@pytest.mark.parametrize("name", ["bleu", "chrf", "chrf++", "overlap", "rouge1", "rouge2", "rougeL"])
def test_a_utility_is_the_number_of_a_segment(name: str):
    make, function = class_and_function(name)
    rows = [[text] for text in HYPOTHESES]
    expected = close(numbers(name, function(HYPOTHESES, FIRST, average="none")))
    assert numbers(name, mbr.pairwise(make(), rows, [[text] for text in FIRST])) == expected
    # The hypothesis is chosen, because it weighs most; its utility against itself is 1.
    chosen = mbr.decode(make(), list(zip(HYPOTHESES, FIRST, strict=True)), None, [[3, 1]] * len(HYPOTHESES))
    assert chosen.hypotheses == HYPOTHESES
    assert numbers(name, 4 * chosen.expected_utilities - 3) == expected


@takes_tokenizer
def test_a_tokenizer_that_is_named_holds_for_every_metric_that_takes_one(
    name: str, files: list[str], folder: Path, capsys
):
    _, function = class_and_function(name)
    for tokenizer in ("13a", "none", "intl", "char"):
        expected = close(numbers(name, function(HYPOTHESES, REFERENCES, tokenizer=tokenizer)))
        shown = report(capsys, *files, "-m", name, "--tokenizer", tokenizer)
        assert f"|tok:{tokenizer}|" in shown["signatures"][name]
        assert numbers(name, {name: shown["systems"]["h.txt"][name]["score"]}, 100) == expected
