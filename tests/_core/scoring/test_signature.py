"""The signature: every setting that affects the number, in one line, and how many references there were."""

import copy
import inspect
import pickle
import re
import unicodedata
from collections.abc import Mapping
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

from metrics.ignite_cases import IgniteCase, each_ignite_case, each_of_both_frameworks

from ngram_metrics import ignite as for_ignite
from ngram_metrics.ignite import drop_in

#: For each option that affects the score, values that all give different signatures. A dict sets other options too.
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
    """For each option of a metric, settings other than its default. A flag has one, the opposite of its default."""
    options: dict[str, list[dict[str, Any]]] = {"confidence": [{"confidence": 0.95}]}
    for name, default in api.options.items():
        opposite = [not default] if name in api.flags else []
        values = SETTINGS.get(name, opposite)
        options[name] = [value if isinstance(value, dict) else {name: value} for value in values if value != default]
    return options


AFFECTING = {api.metric: _affecting(api) for api in COMPLETE}
#: Options that say where a score is computed, and what torchmetrics and ignite do with it.
NOT_AFFECTING = {"device", "kwargs", "output_transform", "metrics_result_mode"}
each_class = pytest.mark.parametrize("metric", AFFECTING, ids=lambda one: one.__name__)


def _parameters(metric: type) -> set[str]:
    """The parameters of a class that affect the number."""
    return set(inspect.signature(metric.__init__).parameters) - {"self"} - NOT_AFFECTING


def _of_ignite(metric: type) -> Any:
    return getattr(for_ignite, metric.__name__)


def _all_settings(metric: type) -> list[dict[str, Any]]:
    """The defaults, and every setting that affects the number."""
    return [{}, *chain.from_iterable(AFFECTING[metric].values())]


@each_class
def test_every_option_that_affects_the_number_has_settings_here(metric: type):
    assert _parameters(metric) == set(AFFECTING[metric])
    missing = [name for name, settings in AFFECTING[metric].items() if not settings]
    assert not missing, "add the options to SETTINGS in tests/_core/scoring/test_signature.py"


@each_class
def test_a_class_of_ignite_has_the_same_options(metric: type):
    assert _parameters(_of_ignite(metric)) == _parameters(metric)


@each_class
def test_every_setting_that_affects_the_number_changes_the_signature(metric: type):
    signatures = [metric(**options).signature for options in _all_settings(metric)]
    assert len(set(signatures)) == len(signatures)


@each_class
def test_metrics_of_the_same_settings_have_the_same_signature(metric: type):
    for options in _all_settings(metric):
        assert metric(**options).signature == metric(**options).signature


@each_class
def test_a_class_of_ignite_has_the_signature_of_the_same_settings(metric: type):
    for options in _all_settings(metric):
        assert _of_ignite(metric)(**options).signature == metric(**options).signature


@each_class
@pytest.mark.parametrize("options", [{"device": "cpu"}, {"compute_on_cpu": True}, {"sync_on_compute": False}], ids=str)
def test_where_a_metric_is_computed_does_not_change_the_signature(metric: type, options: dict[str, Any]):
    assert metric(**options).signature == metric().signature


@each_class
def test_the_width_of_an_interval_does_not_change_the_signature(metric: type):
    assert metric(confidence=0.95).signature == metric(confidence=0.5).signature


#: One batch of texts and one of ids, which some setting of every option scores differently from the default.
ONE_TEXT_BATCH: Batch = (
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
ONE_ID_BATCH: Batch = (
    [[2, 3, 0, 7, 4, 5, 1, 8, 6], [2, 3, 4, 5], [2, 3, 4, 5, 0, 2, 3, 0, 4, 5, 1]],
    [[[4, 5, 6, 7, 0, 2, 3, 8, 1]], [[2, 0, 3, 1, 4, 7, 5]], [[2, 3, 4, 1]]],
)
OF_IDS = {"pad_id", "sentence_separator_id"}


def _numbers(value: Any) -> dict[str, float]:
    """The scores of a metric by their names and segments, such as ``rouge1_fmeasure 0``."""
    values = value if isinstance(value, Mapping) else {"score": value}
    return {
        f"{name} {index}": number
        for name, scores in values.items()
        for index, number in enumerate(torch.as_tensor(scores).reshape(-1).tolist())
    }


#: Every option of every class but ``confidence``, which no function has.
each_option = pytest.mark.parametrize(
    ("metric", "name"),
    [
        pytest.param(metric, name, id=f"{metric.__name__}-{name}")
        for metric, settings in AFFECTING.items()
        for name in settings
        if name != "confidence"
    ],
)


def _changes(metric: type, name: str) -> list[dict[str, Any]]:
    """Settings of an option. A flag has True and False, because its default may be None."""
    changes = AFFECTING[metric][name]
    return [*changes, {name: False}] if changes == [{name: True}] else changes


def _batch_and_average(name: str) -> tuple[Batch, dict[str, str]]:
    """A batch and an average for which the option has an effect. Segments show more of it than their average."""
    batch = ONE_ID_BATCH if name in OF_IDS else ONE_TEXT_BATCH
    return batch, {} if name == "average" else {"average": "none"}


@pytest.mark.filterwarnings("ignore::UserWarning")
@each_option
def test_a_class_passes_an_option_on_as_its_function_does(metric: type, name: str):
    batch, average = _batch_and_average(name)
    for change in _changes(metric, name):
        of_class = metric(**average, **change)
        of_class.update(*batch)
        scores = FUNCTIONS[metric](*batch, **average, **change)
        assert _numbers(scores) == pytest.approx(_numbers(of_class.compute()), rel=1e-14), change


@pytest.mark.filterwarnings("ignore::UserWarning")
@each_option
def test_every_option_that_affects_the_number_changes_a_score(metric: type, name: str):
    batch, average = _batch_and_average(name)
    has_effect = []
    for change in _changes(metric, name):
        other_options = {other: value for other, value in change.items() if other != name}
        scores = _numbers(FUNCTIONS[metric](*batch, **average, **change))
        scores_at_default = _numbers(FUNCTIONS[metric](*batch, **average, **other_options))
        has_effect.append(scores != pytest.approx(scores_at_default, rel=1e-14))
    assert any(has_effect), f"no setting of {name} changes the scores: change ONE_TEXT_BATCH or ONE_ID_BATCH"


#: For each class that only ignite has, settings that all have different signatures.
_OF_EACH_ROUGE: list[dict[str, Any]] = [
    {},
    {"multiref": "best"},
    {"alpha": 0.5},
    {"alpha": 0.50000000001},
    {"pad_id": 0},
    {"tokenizer": "13a"},
]
IGNITES_ROUGE: dict[type, list[dict[str, Any]]] = {
    drop_in.Rouge: [*_OF_EACH_ROUGE, {"variants": ["L"]}],
    drop_in.RougeN: [*_OF_EACH_ROUGE, {"ngram": 2}],
    drop_in.RougeL: _OF_EACH_ROUGE,
}
each_rouge_of_ignite = pytest.mark.parametrize("metric", IGNITES_ROUGE, ids=lambda one: one.__name__)


@each_rouge_of_ignite
def test_every_option_of_ignites_own_rouge_has_settings_here(metric: type):
    assert _parameters(metric) == set(chain.from_iterable(IGNITES_ROUGE[metric]))


@each_rouge_of_ignite
def test_every_setting_of_ignites_own_rouge_changes_its_signature(metric: type):
    signatures = [metric(**options).signature for options in IGNITES_ROUGE[metric]]
    assert len(set(signatures)) == len(signatures)


def test_a_signature_ends_with_the_version_of_this_package():
    assert Bleu().signature.endswith(f"|version:ngram_metrics-{__version__}")


def test_a_version_that_does_not_affect_the_number_is_left_out():
    for metric in (Bleu(), ROUGEScore()):
        assert "sacrebleu" not in metric.signature
        assert "unidata" not in metric.signature


@pytest.mark.parametrize("metric", [Bleu(tokenizer="intl"), ROUGEScore(tokenizer="unicode")], ids=["intl", "unicode"])
def test_a_tokenizer_that_uses_categories_of_unicode_has_their_version(metric: Any):
    assert f"|unidata:{unicodedata.unidata_version}" in metric.signature


def test_the_stemmer_has_no_version():
    """It is our own code, whatever nltk is installed."""
    assert "|stem:porter-nltk|" in ROUGEScore(use_stemmer=True).signature


def test_the_way_to_split_sentences_is_named_where_they_are_split():
    assert "|split:lines" in ROUGEScore(rouge_keys="rougeLsum").signature
    assert "|split:lines" not in ROUGEScore(rouge_keys="rougeL").signature


each_with_tokenizer = pytest.mark.parametrize(
    "metric", [api.metric for api in COMPLETE if "tokenizer" in api.options], ids=lambda one: one.__name__
)
each_without_text = pytest.mark.parametrize("segments", [[["a-b", "c"]], torch.tensor([[1, 2]])], ids=["tokens", "ids"])


@each_with_tokenizer
def test_a_tokenizer_is_named_before_any_segment(metric: type):
    assert "|tok:intl|" in metric(tokenizer="intl").signature


@each_with_tokenizer
def test_a_tokenizer_is_named_with_its_version_where_it_read_text(metric: type):
    reads_text = metric(tokenizer="intl")
    reads_text.update(["a-b c"], ["a-b c"])
    assert _fields(reads_text.signature)["tok"] == "intl"
    assert "unidata" in _fields(reads_text.signature)


@each_with_tokenizer
@each_without_text
def test_a_tokenizer_is_not_named_where_it_read_no_text(metric: type, segments: Any):
    reads_no_text = metric(tokenizer="intl", pad_id=0)
    reads_no_text.update(segments, segments)
    assert not {"tok", "unidata"} & set(_fields(reads_no_text.signature))


@each_with_tokenizer
@each_without_text
def test_a_tokenizer_leaves_tokens_and_ids_as_they_are(metric: type, segments: Any):
    assert_same(metric(tokenizer="intl", pad_id=0)(segments, segments), metric(pad_id=0)(segments, segments))


def _fields(signature: str) -> dict[str, str]:
    return dict(field.split(":", 1) for field in signature.split("|"))


@pytest.mark.parametrize(
    ("ours", "peer"),
    [
        (Bleu(), BLEU()),
        (Bleu(average="none"), BLEU(effective_order=True)),  # as sacrebleu's sentence BLEU
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
def test_fields_shared_with_sacrebleu_have_its_values(ours: Any, peer: Any):
    ours.update(["the cat sat"], [["the cat sat down", "a cat sat"]])
    streams = [["the cat sat down"], ["a cat sat"]]
    peer.corpus_score(["the cat sat"], streams, n_bootstrap=1000 if ours.confidence else 1)
    expected = _fields(peer.get_signature().format())
    expected.pop("version")  # each has its own
    found = _fields(ours.signature)
    assert {name: found[name] for name in expected} == expected
    assert found["nrefs"] == "2"


def _nrefs(metric: Any) -> str | None:
    return _fields(metric.signature).get("nrefs")


#: The numbers of references in each of the three batches of a case, and in all batches up to it.
NREFS = ("1-2", "3", "1-3")
NREFS_SO_FAR = ("1-2", "1-3", "1-3")
each_case_and_average = pytest.mark.parametrize(("case", "average"), named_pairs())


@each_case_and_average
def test_nrefs_are_unknown_before_any_segment_and_after_a_reset(case: Case, average: str):
    metric = case.make(average)
    assert _nrefs(metric) == "?"
    metric.update(*case.batches[0])
    metric.reset()
    assert _nrefs(metric) == "?"


@each_case_and_average
def test_nrefs_are_those_of_a_batch(case: Case, average: str):
    for batch, expected in zip(case.batches, NREFS, strict=True):
        assert _nrefs(case.filled(average, [batch])) == expected


@each_case_and_average
def test_nrefs_are_those_of_all_batches_that_were_counted(case: Case, average: str):
    metric = case.make(average)
    for batch, expected in zip(case.batches, NREFS_SO_FAR, strict=True):
        metric.update(*batch)
        assert _nrefs(metric) == expected


@each_case_and_average
def test_nrefs_are_those_of_all_batches_that_forward_counted(case: Case, average: str):
    metric = case.make(average)
    for batch, expected in zip(case.batches, NREFS_SO_FAR, strict=True):
        metric(*batch)
        assert _nrefs(metric) == expected


@each_case_and_average
def test_a_batch_without_a_segment_does_not_change_nrefs(case: Case, average: str):
    metric = case.filled(average, case.batches[:1])
    metric.update(*case.nothing)
    assert _nrefs(metric) == "1-2"
    with pytest.warns(UserWarning, match="^no segments were counted"):
        metric(*case.nothing)
    assert _nrefs(metric) == "1-2"


def _save_and_load(saved: Any, case: Case, average: str) -> Any:
    saved.persistent(True)
    loaded = case.make(average)
    loaded.load_state_dict(saved.state_dict())
    return loaded


@each_kind_of_state
def test_a_loaded_metric_goes_on_with_the_nrefs_that_were_saved(case: Case, average: str):
    saved = case.filled(average, case.batches[:1])
    loaded = _save_and_load(saved, case, average)
    assert loaded.signature == saved.signature
    loaded.update(*case.batches[1])
    assert _nrefs(loaded) == "1-3"


@each_kind_of_state
@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda metric: pickle.loads(pickle.dumps(metric))], ids=["copy", "pickle"]
)
def test_a_copy_goes_on_with_the_nrefs_of_the_metric(case: Case, average: str, copied: Any):
    metric = case.filled(average, case.batches[:1])
    copy_of_metric = copied(metric)
    assert copy_of_metric.signature == metric.signature
    copy_of_metric.update(*case.batches[1])
    assert _nrefs(copy_of_metric) == "1-3"
    assert _nrefs(metric) == "1-2"


@each_kind_of_state
def test_nrefs_of_a_merged_metric_are_those_of_both(case: Case, average: str):
    metric = case.filled(average, case.batches[1:2])
    assert _nrefs(metric) == "3"
    metric.merge_state(case.filled(average, case.batches[:1]))
    assert _nrefs(metric) == "1-3"


@each_kind_of_state
def test_nrefs_of_merged_states_are_those_of_both(case: Case, average: str):
    metric = case.filled(average, case.batches[1:2])
    metric.merge_state(case.filled(average, case.batches[:1]).metric_state)
    assert _nrefs(metric) == "1-3"


@each_kind_of_state
def test_a_metric_without_a_segment_adds_no_nrefs_and_takes_those_of_another(case: Case, average: str):
    metric = case.filled(average, case.batches[1:2])
    metric.merge_state(case.make(average))
    assert _nrefs(metric) == "3"
    empty = case.make(average)
    empty.merge_state(metric)
    assert _nrefs(empty) == "3"


@each_ignite_case
def test_nrefs_of_ignite_are_those_of_all_batches_that_were_counted(ignite_case: IgniteCase):
    metric = ignite_case.make()
    assert _nrefs(metric) == "?"
    for batch, expected in zip(ignite_case.batches, NREFS_SO_FAR, strict=True):
        metric.update(batch)
        assert _nrefs(metric) == expected
    metric.reset()
    assert _nrefs(metric) == "?"


@each_of_both_frameworks
def test_the_signature_of_ignite_is_that_of_the_torchmetrics_class(ignite_case: IgniteCase):
    assert ignite_case.case is not None
    assert ignite_case.filled().signature == ignite_case.case.filled(ignite_case.average).signature


def test_callables_are_told_apart_by_name_and_fixed_arguments():
    pattern = re.compile("a")
    tokenizers = [
        partial(re.split, " "),
        partial(re.split, "t"),
        partial(re.split, " ", maxsplit=2),
        pattern.findall,
        pattern.split,
    ]
    signatures = {Bleu(tokenizer=tokenizer).signature for tokenizer in tokenizers}
    assert len(signatures) == len(tokenizers)


def test_equal_partial_functions_have_one_signature():
    first, second = Bleu(tokenizer=partial(re.split, " ")), Bleu(tokenizer=partial(re.split, " "))
    assert first.signature == second.signature


def test_an_option_that_no_field_shows_gets_a_field_of_its_own_name():
    invented = "skip_first_order"
    settings = {**Bleu().scorer.settings(), invented: True}
    assert "|skip_first_order:True|version:" in format_signature(settings, "text", "1", {})
