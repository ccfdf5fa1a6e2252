"""Every public way to ask for BLEU gives sacrebleu's number with its own defaults: of text, of tokens and of ids."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import pytest
import torch
from sacrebleu.metrics import BLEU
from systems import output, references

from ngram_metrics import Bleu, evaluate, ignite, pair
from ngram_metrics.columns import StatisticsColumns
from ngram_metrics.columns.metric_columns import MetricColumns
from ngram_metrics.functional import bleu_score
from ngram_metrics.hugging_face import Reward

Corpus: TypeAlias = tuple[Sequence[Any], Sequence[Sequence[Any]]]
Api: TypeAlias = Callable[..., Any]

#: Hypotheses with two references: the first is longer than all orders, the next three are shorter than order 4.
ROWS = [
    ("The cat sat on the mat.", "The cat sat on a mat.", "The cats sat on mats."),
    ("It rains.", "It rains.", "It snows."),
    ("Yes", "Yes", "Oh, yes"),
    ("so it goes", "so it goes on", "so be it"),
    ("No, never!", "Always?", "Sometimes."),
    ("We were there all day", "We are there every day", "They were there"),
]
SHORT, SHORT_FIRST, SHORT_SECOND = zip(*ROWS, strict=True)
LONG = references(40)
HYPOTHESES = [*output(LONG, 0.3, seed=10), *SHORT]
FIRST, SECOND = [*LONG, *SHORT_FIRST], [*output(LONG, 0.4, seed=3), *SHORT_SECOND]
WORDS = {word: number for number, word in enumerate(dict.fromkeys(" ".join([*FIRST, *SECOND, *HYPOTHESES]).split()), 1)}


def _as_ids(text: str) -> list[int]:
    return [WORDS[word] for word in text.split()]


def _corpus(read: Callable[[str], Any]) -> Corpus:
    targets = [[read(first), read(second)] for first, second in zip(FIRST, SECOND, strict=True)]
    return [read(text) for text in HYPOTHESES], targets


TEXT = _corpus(str)
#: All segments; three without a match of order 4, which smoothing scores; and three that are too short for that order.
PARTS = {"whole": slice(None), "unmatched": slice(43, 46), "short": slice(41, 44)}
#: The words between spaces, which 13a would split further, and their numbers.
CORPORA: dict[str, Corpus] = {"text": TEXT, "tokens": _corpus(str.split), "ids": _corpus(_as_ids)}


def _peer(kind: str, **options: Any) -> BLEU:
    """sacrebleu with its defaults; tokens and ids are words between spaces, which it leaves as they are."""
    return BLEU(**options) if kind == "text" else BLEU(**options, tokenize="none", force=True)


def _of_corpus(kind: str, part: slice) -> float:
    return _peer(kind).corpus_score(HYPOTHESES[part], [FIRST[part], SECOND[part]]).score / 100


def _of_segments(kind: str, **options: Any) -> list[float]:
    peer = _peer(kind, **{"effective_order": True, **options})
    rows = zip(HYPOTHESES, FIRST, SECOND, strict=True)
    return [peer.sentence_score(hypothesis, [first, second]).score / 100 for hypothesis, first, second in rows]


def _updated(metric: Any, preds: Sequence[Any], target: Sequence[Any]) -> Any:
    """What a metric computes of two batches."""
    is_ignite = type(metric).__module__.startswith(ignite.__name__)
    middle = len(preds) // 2
    for part in (slice(None, middle), slice(middle, None)):
        metric.update((preds[part], target[part])) if is_ignite else metric.update(preds[part], target[part])
    return metric.compute()


def _padded(documents: Sequence[list[int]]) -> torch.Tensor:
    return torch.nn.utils.rnn.pad_sequence(list(map(torch.tensor, documents)), batch_first=True)


def _of_padded_ids(preds: Sequence[Any], target: Sequence[Any]) -> Any:
    both = _padded([reference for references in target for reference in references])
    return _updated(Bleu(pad_id=0), _padded(preds), both.view(len(preds), 2, -1))


def _summed_columns(preds: Sequence[Any], target: Sequence[Any]) -> Any:
    columns = StatisticsColumns({"bleu": Bleu()}, "mt", "ref")
    return columns.scores(columns.sums({"mt": preds, "ref": target}))["bleu"][0]


ALL_KINDS = tuple(CORPORA)
#: For each API that gives a score of a corpus, how it is called and what it takes.
CORPUS_APIS: dict[str, tuple[Api, Sequence[str]]] = {
    "class": (lambda *sides: _updated(Bleu(), *sides), ALL_KINDS),
    "class, padded ids": (_of_padded_ids, ["ids"]),
    "class with an interval": (lambda *sides: _updated(Bleu(confidence=0.9), *sides)["bleu"], ALL_KINDS),
    "functional": (bleu_score, ALL_KINDS),
    "ignite": (lambda *sides: _updated(ignite.Bleu(average="micro", smooth="exp", tokenizer="13a"), *sides), ALL_KINDS),
    "evaluate": (lambda *sides: evaluate(*sides, "bleu", confidence=None).results["system"]["bleu"].score, ["text"]),
    "evaluate with the class": (
        lambda *sides: evaluate(*sides, {"bleu": Bleu()}, confidence=None).results["system"]["bleu"].score,
        ["text"],
    ),
    "columns": (_summed_columns, ["text"]),
}
#: For each API that scores segments by themselves.
SEGMENT_APIS: dict[str, tuple[Api, Sequence[str]]] = {
    "class": (lambda *sides: _updated(Bleu(average="none"), *sides), ALL_KINDS),
    "functional": (lambda *sides: bleu_score(*sides, average="none"), ALL_KINDS),
    "pair": (lambda *sides: [pair.bleu(*segment) for segment in zip(*sides, strict=True)], ALL_KINDS),
    "ignite": (
        lambda *sides: _updated(
            ignite.Bleu(average="none", smooth="exp", tokenizer="13a", effective_order=True), *sides
        ),
        ALL_KINDS,
    ),
    "reward": (lambda preds, target: Reward(Bleu())(completions=preds, reference=target), ["text"]),
    "reward of ids": (
        lambda preds, target: Reward(Bleu(), from_ids=True)(completion_ids=preds, reference=target),
        ["ids"],
    ),
}


def _cases(apis: dict[str, tuple[Api, Sequence[str]]]) -> list[Any]:
    return [pytest.param(api, kind, id=f"{name}-{kind}") for name, (api, kinds) in apis.items() for kind in kinds]


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize(("api", "kind"), _cases(CORPUS_APIS))
def test_a_corpus_has_sacrebleus_corpus_score(api: Api, kind: str, part: slice):
    preds, target = CORPORA[kind]
    assert float(api(preds[part], target[part])) == pytest.approx(_of_corpus(kind, part), abs=1e-14)


@pytest.mark.parametrize(("api", "kind"), _cases(SEGMENT_APIS))
def test_each_segment_has_sacrebleus_sentence_score(api: Api, kind: str):
    assert list(map(float, api(*CORPORA[kind]))) == pytest.approx(_of_segments(kind), abs=1e-14)


@pytest.mark.parametrize(("average", "means"), [("micro", False), ("macro", True), ("none", True)])
def test_an_effective_order_of_none_is_the_setting_that_it_means(average: Any, means: bool):
    default, same, other = (Bleu(average=average, effective_order=order) for order in (None, means, not means))
    assert default.settings.equal(same.settings)
    assert default.signature == same.signature
    assert not default.settings.equal(other.settings)
    assert default.signature != other.signature
    same.update(["a b"], ["a b c"])
    same.persistent(True)
    default.load_state_dict(same.state_dict())
    assert default.compute().equal(same.compute())
    if average != "none":
        digests = [MetricColumns("bleu", metric.scorer).digest for metric in (default, same, other)]
        assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("kind", ["tokens", "ids"])
@pytest.mark.parametrize("name", ["13a", "intl", "zh", "char"])
def test_a_tokenizer_with_a_name_leaves_tokens_and_ids_as_they_are(name: Any, kind: str):
    preds, target = CORPORA[kind]
    named, unnamed = Bleu(tokenizer=name), Bleu(tokenizer=None)
    assert f"|tok:{name}|" in str(named.signature)
    assert _updated(named, preds, target).equal(_updated(unnamed, preds, target))
    assert "|tok:" not in str(named.signature)
    assert bleu_score(preds, target, tokenizer=name).equal(unnamed.compute())
    assert pair.bleu(preds[0], target[0], tokenizer=name) == pair.bleu(preds[0], target[0], tokenizer=None)
    named.reset()
    assert not _updated(named, *TEXT).equal(unnamed.compute())
    assert f"|tok:{name}|" in str(named.signature)
