"""The signature: every setting that affects the number, in one line, and how many references there were."""

import copy
import inspect
import pickle
import re
import unicodedata
from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from itertools import chain
from typing import Any

import pytest
import torch
from metrics.apis import COMPLETE, FUNCTIONS, Api
from metrics.cases import Batch, Case, assert_same, each_kind_of_state, named_pairs
from sacrebleu.metrics import BLEU, CHRF

from ngram_metrics import Bleu, ChrF, ROUGEScore, __version__
from ngram_metrics._core.scoring.settings import format_signature

pytest.importorskip("ignite", reason="the classes for ignite are tested")

from metrics.ignite_cases import IgniteCase, each_ignite_case

from ngram_metrics import ignite as for_ignite
from ngram_metrics.ignite import drop_in

#: For options that affect the number, by their names, settings that all give different numbers. A value is one of its
#: parameter, a dict holds several parameters.
SETTINGS: dict[str, list[Any]] = {
    "tokenizer": [None, "13a", "intl", "char", "unicode", str.split, str.splitlines],
    "pad_id": [0, 1, (0, 1)],
    "ngram": [2, 3, 4, 5],
    "average": ["micro", "macro", "none"],
    "smooth": ["no_smooth", "smooth1", "nltk_smooth2", "smooth2", "floor", "nltk_smooth3"],
    "smooth_value": [
        *({"smooth": "floor", "smooth_value": value} for value in (0.2, 0.001, 0.002)),
        *({"smooth": "add-k", "smooth_value": value} for value in (2, 2.0000000001)),
    ],
    "weights": [(0.4, 0.3, 0.2, 0.1), (0.4, 0.3, 0.2, 0.1000000001)],
    "char_order": [5],
    "word_order": [1, 2],
    "beta": [1.0, 2.0000000001, 0.5],
    "normalizer": [str.lower, str.upper],
    "accumulate": ["avg"],
    "rouge_keys": ["rouge1", ("rouge1", "rougeL"), "rougeLsum"],
    "sentence_splitter": [str.splitlines],
    "sentence_separator_id": [7, 8],
}


def _affecting(api: Api) -> dict[str, list[dict[str, Any]]]:
    """For each option of a metric settings other than its default; of True and False the other one."""
    options: dict[str, list[dict[str, Any]]] = {"confidence": [{"confidence": 0.95}]}
    for name, default in api.options.items():
        values = SETTINGS.get(name, [not default] if name in api.flags else [])
        options[name] = [value if isinstance(value, dict) else {name: value} for value in values if value != default]
    return options


AFFECTING = {api.metric: _affecting(api) for api in COMPLETE}
#: Where it is computed, and what torchmetrics and ignite do with it.
NOT_AFFECTING = {"device", "kwargs", "output_transform", "metrics_result_mode"}
each_class = pytest.mark.parametrize("metric", AFFECTING, ids=lambda one: one.__name__)


@each_class
def test_every_setting_that_affects_the_number_and_no_other_changes_the_signature(metric: type):
    """That of ignite's class as well, which is the same for the same settings."""
    missing = [name for name, settings in AFFECTING[metric].items() if not settings]
    assert not missing, "add the options to SETTINGS in tests/_core/scoring/test_signature.py"
    of_ignite, settings = getattr(for_ignite, metric.__name__), [{}, *chain(*AFFECTING[metric].values())]
    for of_either in (metric, of_ignite):
        assert set(inspect.signature(of_either.__init__).parameters) - {"self"} - NOT_AFFECTING == {*AFFECTING[metric]}
    signatures = [metric(**options).signature for options in settings]
    assert len(set(signatures)) == len(settings)
    for options, expected in zip(settings, signatures, strict=True):
        same = metric(**options), of_ignite(**options)
        assert [one.signature for one in same] == [expected] * 2
    for options in ({"device": "cpu"}, {"compute_on_cpu": True}, {"sync_on_compute": False}):
        assert metric(**options).signature == signatures[0]
    assert metric(confidence=0.95).signature == metric(confidence=0.5).signature


#: What every setting for text, and every setting for ids, scores differently from the default.
TEXTS: Batch = (
    [
        "The Cats sat, on the mat!\nThey were running; don't ask.",
        "It\u2019s 5,000 caf\u00e9s: 世界 ...",
        "a cat ran",
        "no, no, no, no, no, no\u2028a, no, no, b",
    ],
    [
        ["The cat sat on the mat .\nthey were Running ; Do not ask", "On the Mat the cats sat , running"],
        ["it\u2019s 5 caf\u00e9s : 世 ! ...", "It\u2019s 5,000 Caf\u00e9s"],
        ["a dog ran away"],
        ["b a no, no, no"],
    ],
)
IDS: Batch = (
    [[2, 3, 0, 7, 4, 5, 1, 8, 6], [2, 3, 4, 5], [2, 3, 4, 5, 0, 2, 3, 0, 4, 5, 1]],
    [[[4, 5, 6, 7, 0, 2, 3, 8, 1]], [[2, 0, 3, 1, 4, 7, 5]], [[2, 3, 4, 1]]],
)
OF_IDS = {"pad_id", "sentence_separator_id"}


def _numbers(value: Any) -> dict[str, float]:
    """The scores of a metric by their names and segments."""
    values = value if isinstance(value, Mapping) else {"score": value}
    return {
        f"{name} {index}": number
        for name, scores in values.items()
        for index, number in enumerate(torch.as_tensor(scores).reshape(-1).tolist())
    }


@pytest.mark.filterwarnings("ignore::UserWarning")
@each_class
def test_every_setting_that_affects_the_number_is_passed_on(metric: type):
    """The class and its function agree, and each option has a setting that changes the scores."""
    function = FUNCTIONS[metric]
    for name in AFFECTING[metric].keys() - {"confidence"}:  # no function has an interval
        batch = IDS if name in OF_IDS else TEXTS
        fixed: dict[str, Any] = {} if name == "average" else {"average": "none"}
        effects, changes = [], AFFECTING[metric][name]
        for change in [*changes, {name: False}] if changes == [{name: True}] else changes:
            without = {other: value for other, value in change.items() if other != name}
            counted = metric(**fixed, **change)
            counted.update(*batch)
            expected = pytest.approx(_numbers(counted.compute()), rel=1e-14)
            found = _numbers(function(*batch, **fixed, **change))
            assert found == expected, f"{function.__name__} does not pass on {change}"
            effects.append(_numbers(function(*batch, **fixed, **without)) != expected)
        assert any(effects), f"no setting of {name} changes the scores: change TEXTS or IDS"


@pytest.mark.parametrize("metric", [drop_in.Rouge, drop_in.RougeN, drop_in.RougeL])
def test_ignites_own_rouge_has_a_signature_of_every_setting(metric: type):
    settings: list[dict[str, Any]] = [
        {},
        {"multiref": "best"},
        {"alpha": 0.5},
        {"alpha": 0.50000000001},
        {"pad_id": 0},
        {"tokenizer": "13a"},
    ]
    settings += {drop_in.Rouge: [{"variants": ["L"]}], drop_in.RougeN: [{"ngram": 2}]}.get(metric, [])
    parameters = set(inspect.signature(metric.__init__).parameters) - {"self"} - NOT_AFFECTING
    assert parameters == {name for options in settings for name in options}
    assert len({metric(**one).signature for one in settings}) == len(settings)


def test_versions_stand_where_they_affect_the_number():
    own = f"|version:ngram_metrics-{__version__}"
    assert Bleu().signature.endswith(own)
    for name in ("sacrebleu", "unidata"):
        assert name not in Bleu().signature + ROUGEScore().signature
    assert f"|unidata:{unicodedata.unidata_version}" in Bleu(tokenizer="intl").signature
    assert "|stem:porter-nltk|" in ROUGEScore(use_stemmer=True).signature  # our own code, whatever nltk is installed
    assert f"|unidata:{unicodedata.unidata_version}" in ROUGEScore(tokenizer="unicode").signature
    splits = [("|split:lines" in ROUGEScore(rouge_keys=key).signature) for key in ("rougeL", "rougeLsum")]
    assert splits == [False, True]  # ROUGE-L reads no segments


@pytest.mark.parametrize("metric", [api.metric for api in COMPLETE if "tokenizer" in api.options])
def test_a_tokenizer_stands_where_it_reads_text_and_leaves_tokens_and_ids_as_they_are(metric: type):
    named, unnamed = metric(tokenizer="intl", pad_id=0), metric(pad_id=0, tokenizer=None)
    assert "|tok:intl|" in named.signature
    for segments, has_tokenizer in ((["a-b c"], True), ([["a-b", "c"]], False), (torch.tensor([[1, 2]]), False)):
        score = named(segments, segments)
        assert ("tok" in _fields(named.signature), "unidata" in _fields(named.signature)) == (has_tokenizer,) * 2
        if not has_tokenizer:
            assert_same(score, unnamed(segments, segments))
        named.reset()
        unnamed.reset()


def _fields(signature: str) -> dict[str, str]:
    return dict(field.split(":", 1) for field in signature.split("|"))


@pytest.mark.parametrize(
    ("ours", "peer"),
    [
        (Bleu(), BLEU()),
        (Bleu(average="none"), BLEU(effective_order=True)),
        (Bleu(lowercase=True), BLEU(lowercase=True)),
        (Bleu(smooth="floor", tokenizer="intl"), BLEU(smooth_method="floor", tokenize="intl")),
        (Bleu(smooth="add-k", tokenizer="char"), BLEU(smooth_method="add-k", tokenize="char")),
        (
            Bleu(smooth="floor", smooth_value=0.5, tokenizer="zh", effective_order=True),
            BLEU(smooth_method="floor", smooth_value=0.5, tokenize="zh", effective_order=True),
        ),
        (ChrF(), CHRF()),
        (ChrF(word_order=2, lowercase=True, whitespace=True), CHRF(word_order=2, lowercase=True, whitespace=True)),
        (ChrF(char_order=4, eps_smoothing=True), CHRF(char_order=4, eps_smoothing=True)),
        (ChrF(confidence=0.95), CHRF()),
    ],
    ids=lambda one: type(one).__name__,
)
def test_fields_that_sacrebleu_has_are_sacrebleus(ours: Any, peer: Any):
    hypotheses, targets = ["the cat sat"], [["the cat sat down"], ["a cat sat"]]
    ours.update(hypotheses, list(map(list, zip(*targets, strict=True))))
    peer.corpus_score(hypotheses, targets, n_bootstrap=1000 if ours.confidence else 1)
    expected = _fields(peer.get_signature().format())
    expected.pop("version")  # each has its own
    found = _fields(ours.signature)
    assert {name: found[name] for name in expected} == expected
    assert found["nrefs"] == "2"


def _nrefs(metric: Any) -> str | None:
    return _fields(metric.signature).get("nrefs")


#: TEXT, and IDS as well: 1 to 2, then 3, then 1 to 3 references.
SEEN = ("1-2", "1-3", "1-3")
each_case_and_average = pytest.mark.parametrize(("case", "average"), named_pairs())


@each_case_and_average
def test_nrefs_come_from_the_segments_seen(case: Case, average: str):
    assert [_nrefs(case.filled(average, [batch])) for batch in case.batches] == ["1-2", "3", "1-3"]
    metric = case.make(average)
    for count in (metric.update, metric):
        assert _nrefs(metric) == "?"
        for batch, expected in zip((*case.batches, case.nothing), (*SEEN, SEEN[-1]), strict=True):
            is_scored = len(batch[0]) == 0 and count is metric
            with pytest.warns(UserWarning, match="^no segments were counted") if is_scored else nullcontext():
                count(*batch)
            assert _nrefs(metric) == expected
        metric.reset()


@each_kind_of_state
def test_nrefs_after_merging_copying_and_saving(case: Case, average: str):
    saved, loaded = case.filled(average, case.batches[:1]), case.make(average)
    saved.persistent(True)
    loaded.load_state_dict(saved.state_dict())
    for metric in (loaded, pickle.loads(pickle.dumps(saved)), copy.deepcopy(saved)):
        assert metric.signature == saved.signature
        metric.update(*case.batches[1])
        assert _nrefs(metric) == "1-3"
    for incoming in (saved, saved.metric_state):
        merged, empty = case.filled(average, case.batches[1:2]), case.make(average)
        empty.merge_state(merged)
        merged.merge_state(case.make(average))
        assert _nrefs(empty) == _nrefs(merged) == "3"
        merged.merge_state(incoming)
        assert _nrefs(merged) == "1-3"


@each_ignite_case
def test_the_signature_of_ignite_is_that_of_the_torchmetrics_class(ignite_case: IgniteCase):
    metric = ignite_case.make()
    assert _nrefs(metric) == "?"
    for batch, expected in zip(ignite_case.batches, SEEN, strict=True):
        metric.update(batch)
        assert _nrefs(metric) == expected
    if ignite_case.case is not None:
        assert metric.signature == ignite_case.case.filled(ignite_case.average).signature
    metric.reset()
    assert _nrefs(metric) == "?"


def test_callables_are_told_apart_by_name_and_fixed_arguments():
    words = re.compile("a")
    tokenizers = [partial(re.split, " "), partial(re.split, "t"), partial(re.split, " ", maxsplit=2), words.findall]
    signatures = [Bleu(tokenizer=tokenizer).signature for tokenizer in (*tokenizers, words.split)]
    assert len({*signatures}) == 5
    assert Bleu(tokenizer=partial(re.split, " ")).signature == signatures[0]


def test_an_option_without_a_field_of_another_name_has_one_of_its_own():
    settings = {**Bleu().scorer.settings(), "skip_first_order": True}
    assert "|skip_first_order:True|version:" in format_signature(settings, "text", "1", {})
