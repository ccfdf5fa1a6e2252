"""States that commit 496fb0b saved load and are counted on, with its values, and its columns are of the same settings.

``states_496fb0b.pt`` was written by that commit, before readers and measures got other names: for each metric of
METRICS the state_dict and the value after the first batch, and the value after the second; for averages that have
columns the digest of their settings; and a model of sentencepiece, ``model``, since another version trains another.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from covering import grid
from faces.cases import assert_same

import ngram_metrics
from ngram_metrics import ignite
from ngram_metrics._core.scoring.settings_digest import digest
from ngram_metrics.columns.metric_columns import MetricColumns
from ngram_metrics.functional import document_frequency

SAVED: dict[str, Any] = torch.load(Path(__file__).with_name("states_496fb0b.pt"), weights_only=True)
TEXTS = (
    (
        ["The cats sat, on the mats!", "a dog ran home. it slept"],
        [["the cat sat on a mat.", "a cat is on the mat"], ["The dog's running home.\nIt sleeps"]],
    ),
    (["it rains 3.5 mm"], [["It rains today", "3.5 mm of rain"]]),
)
IDS = (
    (torch.tensor([[1, 2, 3, 9, 4, 0], [2, 2, 9, 5, 0, 0]]), torch.tensor([[1, 2, 4, 9, 3, 0], [2, 9, 2, 5, 6, 0]])),
    (torch.tensor([[7, 8, 9, 7, 8, 1]]), torch.tensor([[7, 8, 9, 1, 0, 0]])),
)
TABLES = (
    document_frequency([reference for _, target in TEXTS for reference in target]),
    document_frequency([[row] for _, target in IDS for row in target.tolist()], pad_id=0),
)


def _hugging_face() -> Any:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    words = re.findall(r"\w+|[^\w\s]+", " ".join(text for preds, _ in TEXTS for text in preds))
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys(["?", *words]))}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="?"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return tokenizer


def _sentencepiece() -> Any:
    sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    return sentencepiece.SentencePieceProcessor(model_proto=bytes(SAVED["model"].tolist()))


#: Options that need a package, made when a metric is.
TOKENIZERS: dict[str, Callable[[], Any]] = {"of Hugging Face": _hugging_face, "of sentencepiece": _sentencepiece}
#: BLEU's defaults at that commit.
OLD_BLEU: dict[str, Any] = {"smooth": "no_smooth", "effective_order": False, "tokenizer": None}
#: For each class its settings, beside its averages.
SETTINGS: dict[str, dict[str, dict[str, Any]]] = {
    "Bleu": {
        "defaults": OLD_BLEU,
        "weights": {
            **OLD_BLEU,
            "ngram": 2,
            "smooth": "floor",
            "smooth_value": 0.2,
            "weights": [1, 3],
            "effective_order": True,
        },
        "13a": {**OLD_BLEU, "tokenizer": "13a", "lowercase": True, "smooth": "exp"},
        "intl": {**OLD_BLEU, "tokenizer": "intl"},
        "callable": {**OLD_BLEU, "tokenizer": str.split},
        "partial": {**OLD_BLEU, "tokenizer": partial(re.split, r"\W+", flags=re.UNICODE)},
        "Hugging Face": {**OLD_BLEU, "tokenizer": "of Hugging Face"},
        "sentencepiece": {**OLD_BLEU, "tokenizer": "of sentencepiece"},
        "ids": {**OLD_BLEU, "pad_id": 0},
    },
    "ROUGEScore": {
        "defaults": {},
        "stemmer": {"use_stemmer": True, "rouge_keys": ("rouge1", "rougeL")},
        "callables": {"normalizer": str.lower, "tokenizer": str.split, "sentence_splitter": str.splitlines},
        "avg": {"accumulate": "avg", "rouge_keys": "rouge2"},
        "Hugging Face": {"tokenizer": "of Hugging Face", "rouge_keys": "rouge3"},
        "sentencepiece": {"tokenizer": "of sentencepiece"},
        "ids": {"pad_id": (0, -1), "sentence_separator_id": 9},
    },
    "ChrF": {
        "defaults": {},
        "words": {"word_order": 2, "lowercase": True},
        "whitespace": {"char_order": 3, "beta": 1, "whitespace": True, "eps_smoothing": True},
        "ids": {"pad_id": 0},
    },
    "NgramOverlap": {"defaults": {}, "13a": {"ngram": 2, "tokenizer": "13a"}, "ids": {"pad_id": 0}},
    "Gleu": {"defaults": {}, "13a": {"ngram": 2, "tokenizer": "13a"}, "ids": {"pad_id": 0}},
    "Ter": {"defaults": {}, "asian": {"normalized": True, "asian_support": True, "case_sensitive": True}},
    "Repetition": {"defaults": {"ngram": 1}, "13a": {"ngram": 1, "tokenizer": "13a"}, "ids": {"ngram": 1, "pad_id": 0}},
    "CiderD": {
        "words": {"document_frequency": TABLES[0]},
        "ids": {"document_frequency": TABLES[1], "ngram": 2, "sigma": 2.5, "pad_id": 0},
    },
}
#: Those that are ignite's alone.
OF_IGNITE: dict[str, dict[str, dict[str, Any]]] = {
    "Rouge": {"defaults": {}, "best": {"variants": [1, "L"], "multiref": "best", "alpha": 0.5, "tokenizer": "13a"}},
    "RougeN": {"defaults": {"ngram": 2}},
    "RougeL": {"defaults": {}, "ids": {"pad_id": 0}},
}


def _averages(name: str, settings: str) -> list[dict[str, Any]]:
    """The averages that a metric has, the first two with an interval too."""
    means = ["macro"] if name == "CiderD" or settings == "avg" else ["micro", "macro"]
    sums = [{"average": average, "confidence": confidence} for average in means for confidence in (None, 0.9)]
    return [*sums, {"average": "none", "confidence": None}]


METRICS: dict[str, tuple[Any, dict[str, Any]]] = {
    f"{module.__name__.rpartition('.')[2]} {name} {settings} {average['average']} {average['confidence']}": (
        getattr(module, name),
        {**options, **average},
    )
    for name, of_name in SETTINGS.items()
    for settings, options in of_name.items()
    for average in _averages(name, settings)
    for module in (ngram_metrics, ignite)
    if (module, name, average["average"]) != (ignite, "Bleu", "none")  # which ignite's Bleu did not have
} | {
    f"ignite {name} {settings}": (getattr(ignite, name), options)
    for name, of_name in OF_IGNITE.items()
    for settings, options in of_name.items()
}


def made(name: str) -> Any:
    metric, options = METRICS[name]
    tokenizer = options.get("tokenizer")
    return metric(**{**options, "tokenizer": TOKENIZERS[tokenizer]()} if tokenizer in TOKENIZERS else options)


def batches_of(name: str) -> Sequence[tuple[Any, Any]]:
    return IDS if " ids" in name else TEXTS


def update(metric: Any, batch: tuple[Any, Any]) -> None:
    metric.update(batch) if type(metric).__module__.startswith(ignite.__name__) else metric.update(*batch)


def compute(metric: Any) -> Any:
    """The value by the names of that commit, which called chrF++ chrf."""
    value = metric.compute()
    return {name.replace("chrf++", "chrf"): one for name, one in value.items()} if isinstance(value, dict) else value


def columns_digest(metric: Any) -> str:
    """The digest of the settings of a metric's columns; empty for one without columns."""
    return "" if metric.average == "none" else MetricColumns("m", metric.scorer).digest


def test_every_metric_was_saved():
    assert SAVED.keys() == {*METRICS, "model"}


@pytest.mark.parametrize("name", [name for name in METRICS if name.startswith("ngram_metrics Bleu defaults ")])
def test_bleu_with_the_defaults_of_now_refuses_states_of_its_old_defaults(name: str):
    """These hold a digest, which names no option; what is saved now names all that differ."""
    _, options = METRICS[name]
    metric = ngram_metrics.Bleu(average=options["average"], confidence=options["confidence"])
    before = {state: value.clone() for state, value in metric.metric_state.items() if state != "rows"}
    refused = "other settings than this Bleu: expected the same class, options and average"
    with pytest.raises(RuntimeError) as error:
        metric.load_state_dict(SAVED[name]["state_dict"])
    assert str(error.value).endswith(
        f"{refused}; the states do not name theirs: give this metric the options of the one that counted them"
    )
    old = made(name)
    old.load_state_dict(SAVED[name]["state_dict"])
    old.persistent(True)
    with pytest.raises(RuntimeError) as error:
        metric.load_state_dict(old.state_dict())
    orders = "" if options["average"] == "micro" else "; effective_order was False, and is True here"
    assert str(error.value).endswith(
        f"{refused} (tokenizer was None, and is '13a' here; smooth was 'no_smooth', and is 'exp' here{orders})"
    )
    assert_same({state: metric.metric_state[state] for state in before}, before)
    assert not metric.update_called


@grid("name", METRICS)
def test_states_load_and_go_on(name: str):
    saved = SAVED[name]
    metric, again = made(name), made(name)
    metric.load_state_dict(saved["state_dict"])
    assert_same(compute(metric), saved["first"])
    first, second = batches_of(name)
    update(metric, second)
    assert_same(compute(metric), saved["after"])
    for batch in (first, second):
        update(again, batch)
    assert_same(compute(again), saved["after"])
    assert columns_digest(metric) == saved["columns"]


def test_the_digest_of_settings_is_that_of_the_commit_and_holds_no_name_of_a_class():
    metrics = [made(name) for name in METRICS]
    assert [columns_digest(metric) for metric in metrics] == [SAVED[name]["columns"] for name in METRICS]
    scorers = [metric.scorer for metric in metrics]
    digests = [digest(scorer.reader, scorer.measure) for scorer in scorers]
    names = {part: part.__name__ for scorer in scorers for part in (type(scorer.reader), type(scorer.measure))}
    try:
        for part in names:
            part.__name__ = "Renamed"
        assert [digest(scorer.reader, scorer.measure) for scorer in scorers] == digests
    finally:
        for part, name in names.items():
            part.__name__ = name
