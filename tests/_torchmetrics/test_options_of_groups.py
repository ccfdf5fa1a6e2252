"""A metric whose groups have options for text of their own has the values of one metric for each group."""

import copy
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from crossings import crossings
from hypothesis import given
from hypothesis import strategies as st
from metrics.cases import assert_same, assert_same_states, states_of
from ranks import on_ranks
from sacrebleu.metrics import BLEU
from torchmetrics import Metric, MetricCollection

from ngram_metrics import Bleu, ChrF, GroupedMetric, NgramOverlap, ROUGEScore

TOKENIZERS = {"de": "13a", "zh": "zh", "ja": "char"}
#: A hypothesis, its references and its language.
SEGMENTS = [
    ("Das alte Haus, so sagt man, steht leer.", ["Das alte Haus, sagt man, ist leer."], "de"),
    ("房子是空的，没有人住。", ["这座房子是空的，没有人住。", "房子空着，没有人住。"], "zh"),
    ("家は空っぽです。", ["その家は空っぽでした。"], "ja"),
    ("Es regnet heute wieder sehr stark.", ["Heute regnet es wieder sehr stark.", "Es regnet heute stark."], "de"),
    ("今天又下大雨了。", ["今天又下了大雨。"], "zh"),
    ("今日もまた大雨です。", ["今日も大雨です。"], "ja"),
]


def columns(segments: Sequence[tuple[str, list[str], str]]) -> tuple[list[str], list[list[str]], list[str]]:
    hypotheses = [hypothesis for hypothesis, _, _ in segments]
    references = [texts for _, texts, _ in segments]
    labels = [label for _, _, label in segments]
    return hypotheses, references, labels


def bleu_of_each(**options: Any) -> dict[str, Bleu]:
    return {label: Bleu(tokenizer=name, **options) for label, name in TOKENIZERS.items()}


def filled(metric: Any, segments: Sequence[tuple[str, list[str], str]] = SEGMENTS) -> Any:
    metric.update(*columns(segments))
    return metric


def short_words(text: str) -> list[str]:
    return [word for word in text.split() if len(word) < 6]


def at_full_stops(text: str) -> list[str]:
    return text.split(". ")


METRICS: dict[str, Callable[[], dict[str, Any]]] = {
    "micro BLEU": bleu_of_each,
    "macro BLEU": lambda: bleu_of_each(average="macro", smooth="add-k"),
    "ROUGE": lambda: {
        "de": ROUGEScore(use_stemmer=True),
        "zh": ROUGEScore(tokenizer="unicode"),
        "ja": ROUGEScore(tokenizer=list, normalizer=str.upper, sentence_splitter=at_full_stops),
    },
    "a value of ROUGE": lambda: {
        "de": ROUGEScore()["rougeL_fmeasure"],
        "zh": ROUGEScore(tokenizer="unicode")["rougeL_fmeasure"],
        "ja": ROUGEScore(tokenizer="unicode", use_stemmer=True)["rougeL_fmeasure"],
    },
    "chrF++": lambda: {label: ChrF(word_order=2, lowercase=label == "de") for label in TOKENIZERS},
    "overlap": lambda: {
        "de": NgramOverlap(tokenizer=short_words),
        "zh": NgramOverlap(tokenizer="zh"),
        "ja": NgramOverlap(tokenizer="char"),
    },
}
each_kind = pytest.mark.parametrize("make", METRICS.values(), ids=METRICS.keys())


def values_of_metrics(metrics: dict[str, Any], segments: Sequence[tuple[str, list[str], str]]) -> dict[str, Any]:
    """Return the values of one metric for each group, and their means, by the names of a grouped metric."""
    values = {}
    for label, metric in metrics.items():
        hypotheses, references, _ = columns([segment for segment in segments if segment[2] == label])
        metric.update(hypotheses, references)
        computed = metric.compute()
        named = computed if isinstance(computed, dict) else dict.fromkeys(metric.scorer.values, computed)
        values |= {(name, label): value for name, value in named.items()}
    expected = {}
    for name in metrics["de"].scorer.values:
        of_groups = [values[name, label] for label in metrics]
        expected |= {f"{name}_{label}": value for label, value in zip(metrics, of_groups, strict=True)}
        expected[f"{name}_mean"] = torch.stack(of_groups).mean()
    return expected


@each_kind
def test_each_group_has_the_values_of_its_own_metric(make: Callable[[], dict[str, Any]]):
    segments = SEGMENTS
    if isinstance(make()["de"], NgramOverlap):  # which takes one reference
        segments = [(hypothesis, texts[:1], label) for hypothesis, texts, label in SEGMENTS]
    grouped = GroupedMetric(make())
    for batch in (segments[:1], segments[1:4], segments[4:]):
        grouped.update(*columns(batch))
    values = grouped.compute()
    expected = values_of_metrics(make(), segments)
    assert list(values) == list(expected)
    for name, value in values.items():
        assert_same(value, expected[name])


def test_each_language_has_the_score_of_sacrebleu():
    values = filled(GroupedMetric(bleu_of_each())).compute()
    assert list(values) == ["bleu_de", "bleu_zh", "bleu_ja", "bleu_mean"]
    scores = []
    for label, name in TOKENIZERS.items():
        hypotheses, references, _ = columns([segment for segment in SEGMENTS if segment[2] == label])
        streams = [[texts[min(index, len(texts) - 1)] for texts in references] for index in range(2)]
        scores.append(BLEU(tokenize=name).corpus_score(hypotheses, streams).score / 100)
        assert values[f"bleu_{label}"].item() == pytest.approx(scores[-1], rel=1e-12)
    assert values["bleu_mean"].item() == pytest.approx(sum(scores) / 3, rel=1e-12)


@pytest.mark.engines
@pytest.mark.parametrize(("label", "tokenizer"), [("ja", "ja-mecab"), ("ko", "ko-mecab")])
def test_a_language_may_need_a_tokenizer_of_another_package(label: str, tokenizer: str):
    pytest.importorskip({"ja": "MeCab", "ko": "mecab_ko"}[label], reason="it splits the words")
    text = {"ja": "今日もまた大雨です。", "ko": "오늘도 비가 많이 온다."}[label]
    grouped = GroupedMetric({"de": Bleu(), label: Bleu(tokenizer=tokenizer)})
    grouped.update([text, "Es regnet."], [text, "Es regnet."], [label, "de"])
    assert grouped.compute()[f"bleu_{label}"] == 1


@given(labels=st.lists(st.sampled_from([*TOKENIZERS]), max_size=9), data=st.data())
def test_any_order_of_languages_is_counted(labels: list[str], data: Any):
    segments = []
    for label in labels:
        text = st.sampled_from([hypothesis for hypothesis, _, language in SEGMENTS if language == label])
        segments.append((data.draw(text), data.draw(st.lists(text, min_size=1, max_size=3)), label))
    grouped = GroupedMetric(bleu_of_each())
    grouped.update(*columns(segments))
    matches = grouped.details()
    for label, name in TOKENIZERS.items():
        metric = Bleu(tokenizer=name)
        metric.update(*columns([segment for segment in segments if segment[2] == label])[:2])
        assert matches[f"matches_{label}"].equal(metric.details()["matches"])
        assert matches[f"reference_length_{label}"].equal(metric.details()["reference_length"])


def test_a_group_without_segments_is_nan():
    values = filled(GroupedMetric(bleu_of_each()), SEGMENTS[:2]).compute()
    assert values["bleu_ja"].isnan()
    assert values["bleu_mean"] == (values["bleu_de"] + values["bleu_zh"]) / 2


def test_labels_may_be_indices_on_the_cpu():
    hypotheses, references, labels = columns(SEGMENTS)
    expected = filled(GroupedMetric(bleu_of_each())).compute()
    indices = [[*TOKENIZERS].index(label) for label in labels]
    for groups in (indices, torch.tensor(indices), torch.tensor(indices).numpy()):
        grouped = GroupedMetric(bleu_of_each())
        grouped.update(hypotheses, references, groups)
        assert_same(grouped.compute(), expected)
    grouped = GroupedMetric(bleu_of_each())
    with (
        crossings(),  # here indices are not read, as on a device
        pytest.raises(TypeError, match="groups is a tensor on cpu: expected labels, or indices on the CPU, because"),
    ):
        grouped.update(hypotheses, references, torch.tensor(indices))
    with pytest.raises(TypeError, match="groups is a tensor on meta: expected labels"):
        grouped.update(hypotheses, references, torch.tensor(indices, device="meta"))


def test_tokens_and_ids_are_read_alike():
    ids = torch.tensor([[1, 2, 3, 4, 5], [1, 2, 3, 9, 0]])
    other = torch.tensor([[1, 2, 3, 4, 6], [1, 2, 3, 9, 0]])
    for preds, target in (
        (ids, other),
        (ids.tolist(), other.tolist()),
        ([["a", "b", "c", "d"], ["e"]], [["a", "b", "c", "e"], ["e"]]),
    ):
        grouped = GroupedMetric({"de": Bleu(pad_id=0), "zh": Bleu(tokenizer="zh", pad_id=0)})
        grouped.update(preds, target, ["zh", "de"])
        alike = GroupedMetric(Bleu(pad_id=0), ["de", "zh"])
        alike.update(preds, target, ["zh", "de"])
        assert_same(grouped.compute()["bleu_zh"], alike.compute()["bleu_zh"])
        assert_same(grouped.row, alike.row)
    with pytest.raises(ValueError, match="lowercase is an option for text, but the segments are tokens"):
        GroupedMetric({"de": Bleu(), "fr": Bleu(lowercase=True)}).update([["a"]], [["a"]], ["de"])


def test_padded_ids_stay_on_their_device():
    ids = torch.ones(4, 5, dtype=torch.int64, device="meta")
    grouped = GroupedMetric(
        {label: Bleu(tokenizer=name, pad_id=0, device="meta") for label, name in TOKENIZERS.items()}
    )
    grouped.update(ids, ids, ["de", "zh", "ja", "de"])
    assert {value.device.type for value in grouped.compute().values()} == {"meta"}


class OwnMetric(Metric):
    """A metric of another package."""

    def update(self, preds: list[str], target: list[str]) -> None:
        raise NotImplementedError

    def compute(self) -> torch.Tensor:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("metrics", "groups", "error", "message"),
    [
        (
            {"de": Bleu(), "zh": Bleu(ngram=3)},
            None,
            ValueError,
            "ngram is 4 for 'de' and 3 for 'zh': expected metrics ",
        ),
        ({"de": Bleu(), "zh": Bleu(smooth="floor")}, None, ValueError, "smooth is 'exp' for 'de' and 'floor' for 'zh'"),
        ({"de": Bleu(), "zh": Bleu(pad_id=0)}, None, ValueError, "pad_id is .* for 'de' and .* for 'zh'"),
        ({"de": Bleu(), "zh": Bleu(average="macro")}, None, ValueError, "average is 'micro' for 'de' and 'macro' for"),
        ({"de": Bleu(), "zh": ChrF()}, None, ValueError, "class is 'Bleu' for 'de' and 'ChrF' for 'zh'"),
        (
            {"de": ChrF(), "zh": ChrF(whitespace=True)},
            None,
            ValueError,
            "whitespace is False for 'de' and True for 'zh'",
        ),
        (
            {"de": Bleu(), "zh": Bleu(device="meta")},
            None,
            ValueError,
            "device is .*cpu.* for 'de' and .*meta.* for 'zh'",
        ),
        ({"de": Bleu(), "zh": Bleu(sync_on_compute=False)}, None, ValueError, "sync_on_compute is True for 'de' and "),
        (
            {"de": ROUGEScore()["rouge1_fmeasure"], "zh": ROUGEScore()["rouge1_recall"]},
            *(None, ValueError, r"values is \('rouge1_fmeasure',\) for 'de' and \('rouge1_recall',\)"),
        ),
        ({"de": Bleu(), "zh": Bleu(confidence=0.9)}, None, ValueError, "no confidence, because groups keep only sums"),
        (
            {"de": Bleu(average="none")},
            None,
            ValueError,
            "the metric of 'de' is .*: expected average 'micro' or 'macro'",
        ),
        ({"de": GroupedMetric(Bleu(), ["a"])}, None, ValueError, "the metric of 'de' is .*, which has groups"),
        (
            {"de": Bleu(), "zh": OwnMetric},
            None,
            TypeError,
            "the metric of 'zh' is the class OwnMetric: expected a metric",
        ),
        (
            {"de": OwnMetric()},
            None,
            TypeError,
            "the metric of 'de' is .*OwnMetric.*whose counts can be added up by groups",
        ),
        ({}, None, ValueError, "expected at least one label"),
        ({"all": Bleu()}, None, ValueError, "groups has the label 'all'"),
        ({1: Bleu()}, None, TypeError, "groups has the label 1: expected a str"),
        ({"de": Bleu()}, ["de"], TypeError, "but metric is a mapping whose keys are the labels: leave out groups"),
        (Bleu(), None, TypeError, "groups is missing: expected the labels of the groups, or a mapping of labels"),
    ],
)
def test_metrics_that_differ_in_more_than_options_for_text_are_refused(
    metrics: Any, groups: Any, error: type, message: str
):
    with pytest.raises(error, match=message):
        GroupedMetric(metrics, groups)


def refuse_water(text: str) -> Any:
    return 0 if "water" in text else text.split()


@pytest.mark.parametrize(
    ("preds", "target", "labels", "message"),
    [
        (["a", "b", "water"], ["a", "b", "c"], ["fr", "de", "de"], "segment 2"),
        (["a", "b", "c"], ["a", ["b", "c"], ["c", "water"]], ["fr", "fr", "de"], "reference 1 of segment 2"),
        (["a", "b", "c"], ["a", "b", "c"], ["fr", "de", "it"], "label 2 of groups is 'it'"),
    ],
)
def test_an_error_names_the_segment_in_the_batch_and_counts_nothing(
    preds: list[str], target: list[Any], labels: list[str], message: str
):
    grouped = GroupedMetric({"fr": Bleu(), "de": Bleu(tokenizer=refuse_water)})
    grouped.update(["a b c d", "e f g h"], ["a b c d", "e f g"], ["fr", "de"])
    states = states_of(grouped)
    for count in (grouped.update, grouped.forward):
        with pytest.raises((TypeError, ValueError), match=message):
            count(preds, target, labels)
        assert_same_states(grouped, states)


def test_warnings_are_those_of_the_tokenizer_of_the_group():
    with pytest.warns(UserWarning, match="the texts have no spaces between words"):
        filled(GroupedMetric({"de": Bleu(), "zh": Bleu(), "ja": Bleu(tokenizer="char")}))
    filled(GroupedMetric(bleu_of_each()))


def share_of_this_rank() -> dict[str, float]:
    rank = torch.distributed.get_rank()
    grouped = GroupedMetric(bleu_of_each())
    grouped.update(*columns(SEGMENTS[rank::2]))
    return {name: value.item() for name, value in grouped.compute().items()}


def other_tokenizers_on_the_second_rank() -> str:
    rank = torch.distributed.get_rank()
    grouped = GroupedMetric({"de": Bleu(), "zh": Bleu(tokenizer="zh" if rank == 0 else "char")})
    grouped.update(["a b c d"], ["a b c d"], ["de"])
    with pytest.raises(ValueError, match="settings") as raised:
        grouped.compute()
    return str(raised.value)


def test_two_processes_have_the_values_of_all_segments():
    expected = {name: value.item() for name, value in filled(GroupedMetric(bleu_of_each())).compute().items()}
    assert on_ranks(share_of_this_rank, size=2) == [expected, expected]


def test_two_processes_with_other_tokenizers_of_a_group_are_refused():
    assert all("expected" in message for message in on_ranks(other_tokenizers_on_the_second_rank, size=2))


def test_in_a_collection_other_options_are_another_metric():
    """The first batch has no segment that the two read differently."""
    collection = MetricCollection(
        {
            "one": GroupedMetric({"de": Bleu(), "zh": Bleu(tokenizer="zh")}),
            "other": GroupedMetric({"de": Bleu(), "zh": Bleu(tokenizer="char")}),
            "same": GroupedMetric({"de": Bleu(), "zh": Bleu(tokenizer="zh")}),
        }
    )
    collection.update(["Es regnet heute stark"], ["Es regnet heute stark"], groups=["de"])
    assert sorted(map(len, collection.compute_groups.values())) == [1, 2]
    collection.update(["iPhone 手机"], ["iPhone 手機"], groups=["zh"])
    counts = {name: metric.row[1].tolist() for name, metric in collection.items()}
    assert counts["one"] == counts["same"] != counts["other"]


def test_a_metric_is_copied_saved_and_merged():
    grouped = filled(GroupedMetric(bleu_of_each()))
    expected = grouped.compute()
    for other in (copy.deepcopy(grouped), pickle.loads(pickle.dumps(grouped)), grouped.clone()):
        assert_same(other.compute(), expected)
    assert repr(GroupedMetric({"de": Bleu(), "zh": Bleu(tokenizer="zh")})) == (
        "GroupedMetric({'de': Bleu(), 'zh': Bleu(tokenizer='zh')})"
    )
    grouped.persistent(True)
    loaded = GroupedMetric(bleu_of_each())
    loaded.load_state_dict(grouped.state_dict())
    assert_same(loaded.compute(), expected)
    loaded.merge_state(grouped)
    assert loaded.segments.tolist() == [4, 4, 4, 0]
    others = GroupedMetric({**bleu_of_each(), "ja": Bleu(tokenizer="zh")})
    with pytest.raises(ValueError, match="tokenizer of ja was 'char', and is 'zh' here"):
        others.merge_state(grouped)
    with pytest.raises(RuntimeError, match="come from a metric whose settings differ"):
        others.load_state_dict(grouped.state_dict())


def test_the_signature_has_the_tokenizer_of_each_group():
    grouped = filled(GroupedMetric(bleu_of_each()))
    whole = filled(GroupedMetric(Bleu(), [*TOKENIZERS])).signature
    assert grouped.signature == whole.replace("tok:13a", "tok:de=13a,zh=zh,ja=char")
