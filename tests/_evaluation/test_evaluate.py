"""The results of systems: scores and their parts, groups, clusters, tests, wins and losses, and pandas."""

import json
import random
import re
import sys
import unicodedata
from typing import Any

import pytest
from sacrebleu.metrics import BLEU, CHRF
from systems import output, references

from ngram_metrics import Bleu, ChrF, ROUGEScore, evaluate, functional
from ngram_metrics.significance import paired_approximate_randomization, paired_bootstrap

pytest.importorskip("ignite", reason="the classes for ignite are tested")

from ngram_metrics.ignite import ChrF as IgniteChrF

REFERENCES = references(120)
SECOND = output(REFERENCES, 0.4, seed=3)
BASE, OTHER, ALIKE = (output(REFERENCES, changed, seed) for changed, seed in ((0.3, 10), (0.2, 11), (0.3, 12)))
SYSTEMS = {"base": BASE, "other": OTHER}
#: Of different lengths, and not side by side.
ARTICLES = [f"article {index % 70 % 52}" for index in range(120)]
LABELS = [("news", "talk", "rare")[index % 7 % 3 if index else 2] for index in range(120)]
HALVES = [index < 60 for index in range(120)]
TESTS: dict[str, Any] = {"bootstrap": paired_bootstrap, "randomization": paired_approximate_randomization}


def chosen(lines: list[Any], places: list[int]) -> list[Any]:
    return [lines[place] for place in places]


@pytest.mark.parametrize(
    "references",
    [
        [REFERENCES, SECOND],
        list(zip(REFERENCES, SECOND, strict=True)),
        {"first": REFERENCES, "second": SECOND},
        [[first, second] for first, second in zip(REFERENCES, SECOND, strict=True)],
    ],
    ids=["lists", "tuples of segments", "mapping", "lists of segments"],
)
def test_references_have_any_form(references):
    found = evaluate({"system": BASE}, references, "bleu", confidence=None).results["system"]["bleu"]
    expected = BLEU().corpus_score(BASE, [REFERENCES, SECOND])
    assert 100 * found.score == pytest.approx(expected.score, abs=1e-11)
    assert found.precisions == pytest.approx([value / 100 for value in expected.precisions])
    assert (found.hypothesis_length, found.reference_length) == (expected.sys_len, expected.ref_len)
    assert (found.brevity_penalty, found.ratio) == pytest.approx((expected.bp, expected.ratio))


def test_a_list_for_the_only_segment_is_not_ambiguous():
    found, plain = (evaluate(["a b"], references, "chrf").results for references in ([["a c"]], ["a c"]))
    assert found == plain


def test_without_a_word_in_the_references_no_length_is_compared():
    found = evaluate(["a b"], [""], "bleu", confidence=None).results["system"]["bleu"]
    assert (found.score, found.ratio, found.brevity_penalty) == (0, 0, 1)


def test_segments_may_have_different_numbers_of_references():
    pairs = list(map(list, zip(REFERENCES[:60], SECOND[:60], strict=True)))
    found = evaluate(SYSTEMS, [*pairs, *REFERENCES[60:]])
    metric = Bleu()
    metric.update(BASE, [*pairs, *([text] for text in REFERENCES[60:])])
    assert found.results["base"]["bleu"].score == metric.compute().item()
    assert found.signatures["bleu"].startswith("nrefs:1-2|")


@pytest.mark.parametrize("clusters", [None, ARTICLES], ids=["segments", "clusters"])
@pytest.mark.parametrize("metric", ["bleu", "chrf", "rouge"])
def test_groups_are_corpora_of_their_own_without_p_values(metric: str, clusters: list[str] | None):
    """A cluster has in a group the segments of the group."""
    found = evaluate(SYSTEMS, [REFERENCES, SECOND], metric, groups=LABELS, clusters=clusters)
    assert list(found.groups) == list(dict.fromkeys(LABELS))
    for label, results in found.groups.items():
        inside = [index for index, other in enumerate(LABELS) if other == label]
        systems = {system: chosen(lines, inside) for system, lines in SYSTEMS.items()}
        targets = [chosen(REFERENCES, inside), chosen(SECOND, inside)]
        alone = evaluate(systems, targets, metric, clusters=clusters and chosen(clusters, inside)).results
        assert results == {
            system: {value: result._replace(p_value=None) for value, result in values.items()}
            for system, values in alone.items()
        }


def test_segments_have_labels_of_several_groupings():
    found = evaluate(SYSTEMS, REFERENCES, "chrf", groups={"domain": LABELS, "half": HALVES})
    assert list(found.groups) == ["domain", "half"]
    for name, labels in (("domain", LABELS), ("half", HALVES)):
        assert found.groups[name] == evaluate(SYSTEMS, REFERENCES, "chrf", groups=labels).groups


def test_groups_are_in_json():
    found = evaluate(SYSTEMS, REFERENCES, "chrf", groups={"half": HALVES})
    entry = json.loads(found.to_json())["groups"]["half"]["True"]["other"]["chrf"]
    assert entry["score"] == 100 * found.groups["half"][True]["other"]["chrf"].score
    assert entry["segments"] == 60


@pytest.mark.parametrize("clusters", [None, ARTICLES], ids=["segments", "clusters"])
def test_no_number_depends_on_the_order_of_segments(clusters: list[str] | None):
    order = random.Random(3).sample(range(120), 120)
    shuffled = {name: chosen(lines, order) for name, lines in SYSTEMS.items()}
    found = evaluate(SYSTEMS, REFERENCES, "bleu,rouge", clusters=clusters)
    labels = clusters and chosen(clusters, order)
    assert evaluate(shuffled, chosen(REFERENCES, order), "bleu,rouge", clusters=labels).results == found.results


def test_wins_ties_and_losses_are_those_of_sacrebleus_segments():
    systems = {"base": BASE, "other": [*BASE[:40], *OTHER[40:]], "worse": output(REFERENCES, 0.6, 5)}
    found = evaluate(systems, REFERENCES)
    for value, peer in (("bleu", BLEU(effective_order=True)), ("chrf", CHRF())):
        of_systems = {
            name: [peer.sentence_score(one, [other]).score for one, other in zip(lines, REFERENCES, strict=True)]
            for name, lines in systems.items()
        }
        for name in ("other", "worse"):
            apart = [ours - base for ours, base in zip(of_systems[name], of_systems["base"], strict=True)]
            ties = sum(abs(each) < 1e-9 for each in apart)
            wins = sum(each >= 1e-9 for each in apart)
            result = found.results[name][value]
            assert (result.wins, result.ties, result.losses) == (wins, ties, 120 - wins - ties)
            assert result.difference == result.score - found.results["base"][value].score
        assert found.results["base"][value].wins is None


def test_metrics_of_both_frameworks_give_their_values_in_order():
    rouge = ROUGEScore(rouge_keys=("rouge1", "rougeL"))
    metrics = {"BLEU-2": Bleu(ngram=2), "ROUGE": rouge, "recall": rouge["rougeL_recall"], "chrF++": IgniteChrF()}
    found = evaluate(BASE, REFERENCES, metrics, confidence=None)
    assert list(found.results["system"]) == ["BLEU-2", "rouge1", "rougeL", "recall", "chrF++"]
    assert list(found.signatures) == list(metrics)


def test_a_metric_keeps_its_settings():
    found = evaluate(BASE, REFERENCES, {"BLEU-2": Bleu(ngram=2)}, confidence=None).results["system"]["BLEU-2"]
    assert found.score == pytest.approx(functional.bleu_score(BASE, REFERENCES, ngram=2).item(), abs=1e-15)


def test_rouge_has_the_parts_of_each_key():
    rouge = ROUGEScore(rouge_keys=("rouge1", "rougeL"), use_stemmer=True)
    results = evaluate(BASE, REFERENCES, {"ROUGE": rouge}, confidence=None).results["system"]
    expected = functional.rouge_score(BASE, REFERENCES, use_stemmer=True)
    for key in ("rouge1", "rougeL"):
        assert results[key].score == pytest.approx(expected[f"{key}_fmeasure"].item(), abs=1e-15)
        assert results[key].precision == pytest.approx(expected[f"{key}_precision"].item(), abs=1e-15)
        assert results[key].recall == pytest.approx(expected[f"{key}_recall"].item(), abs=1e-15)


def test_one_value_of_rouge_has_no_parts():
    rouge = ROUGEScore(rouge_keys="rougeL")
    results = evaluate(BASE, REFERENCES, {"ROUGE": rouge, "recall": rouge["rougeL_recall"]}, confidence=None).results
    assert results["system"]["recall"].score == results["system"]["rougeL"].recall
    assert results["system"]["recall"].precision is None


def test_the_metric_that_is_given_counts_nothing():
    metric = ChrF()
    evaluate(BASE, REFERENCES, {"chrf": metric}, confidence=None)
    assert metric.update_count == 0


def counted(make: Any, systems: dict[str, list[str]], **options: Any) -> dict[str, Any]:
    metrics = {name: make(confidence=0.9, **options) for name in systems}
    for name, metric in metrics.items():
        metric.update(systems[name], REFERENCES)
    return metrics


@pytest.mark.parametrize("correction", ["holm", None])
@pytest.mark.parametrize("test", TESTS)
def test_the_p_values_are_those_of_the_test_that_was_asked_for(test: str, correction: Any):
    systems = {**SYSTEMS, "alike": ALIKE}
    expected = TESTS[test](counted(ChrF, systems), "base", seed=7, correction=correction)
    options = {"test": test, "correction": correction, "seed": 7}
    found = evaluate(systems, REFERENCES, "chrf", confidence=None, **options).results
    assert found["other"]["chrf"].p_value == expected["other"]["chrf"].p_value
    assert found["alike"]["chrf"].p_value == expected["alike"]["chrf"].p_value


@pytest.mark.parametrize("correction", ["holm", None])
@pytest.mark.parametrize("test", TESTS)
def test_the_test_stands_in_the_signature_the_table_and_json(test: str, correction: Any):
    options = {"test": test, "correction": correction, "seed": 7}
    found = evaluate(SYSTEMS, REFERENCES, "chrf", confidence=None, **options)
    words = f"seed:7|test:{test}|alternative:two-sided|correction:{correction or 'none'}|"
    assert words in found.signatures["chrf"]
    assert f"paired {test} test{'' if correction else ', not corrected'}" in str(found)
    document = {"baseline": "base", "test": test, "correction": correction or "none"}
    assert document.items() <= json.loads(found.to_json()).items()


def test_json_of_one_system_names_no_test():
    document = json.loads(evaluate(ALIKE, REFERENCES, "chrf", confidence=None).to_json())
    assert not document.keys() & {"baseline", "test", "correction"}


def test_without_a_level_there_are_no_intervals():
    for values in evaluate(SYSTEMS, REFERENCES, "chrf", confidence=None).results.values():
        result = values["chrf"]
        assert (result.low, result.high, result.difference_low, result.difference_high) == (None,) * 4


#: Two systems, and how they are evaluated with documents and without.
OF_CLUSTERS = {"base": BASE, "alike": ALIKE}
CLUSTER_OPTIONS: dict[str, Any] = {"metrics": "bleu,rouge", "confidence": 0.9, "seed": 7}
#: Of two metrics the value of tables, the value of tests, and the class.
each_clustered_value = pytest.mark.parametrize(
    ("value", "of_test", "make"), [("bleu", "bleu", Bleu), ("rouge1", "rouge1_fmeasure", ROUGEScore)]
)


def test_clusters_change_no_score():
    found = evaluate(OF_CLUSTERS, REFERENCES, clusters=ARTICLES, **CLUSTER_OPTIONS)
    plain = evaluate(OF_CLUSTERS, REFERENCES, **CLUSTER_OPTIONS)
    drawn = dict.fromkeys(("low", "high", "standard_error", "difference_low", "difference_high", "p_value"))
    for system, values in plain.results.items():
        for value, result in values.items():
            assert found.results[system][value]._replace(**drawn) == result._replace(**drawn)
    assert found.segments() == plain.segments()


@pytest.mark.parametrize("test", TESTS)
@each_clustered_value
def test_p_values_are_those_of_clusters(value: str, of_test: str, make: Any, test: str):
    found = evaluate(OF_CLUSTERS, REFERENCES, clusters=ARTICLES, test=test, **CLUSTER_OPTIONS).results["alike"][value]
    plain = evaluate(OF_CLUSTERS, REFERENCES, test=test, **CLUSTER_OPTIONS).results["alike"][value]
    systems = counted(make, OF_CLUSTERS)
    expected = TESTS[test](systems, "base", seed=7, correction="holm", clusters=ARTICLES)["alike"][of_test]
    assert found.p_value == expected.p_value != plain.p_value


@each_clustered_value
def test_intervals_are_those_of_clusters(value: str, of_test: str, make: Any):
    found = evaluate(OF_CLUSTERS, REFERENCES, clusters=ARTICLES, **CLUSTER_OPTIONS).results
    plain = evaluate(OF_CLUSTERS, REFERENCES, **CLUSTER_OPTIONS).results
    for system, metric in counted(make, OF_CLUSTERS).items():
        alone = paired_bootstrap({system: metric}, system, confidence=0.9, seed=7, clusters=ARTICLES)[system][of_test]
        result = found[system][value]
        without = plain[system][value]
        assert (result.low, result.high) == pytest.approx((alone.low, alone.high), abs=1e-12)
        assert (result.low, result.high) != (without.low, without.high)


@pytest.mark.parametrize("test", TESTS)
def test_the_number_of_clusters_stands_wherever_they_were_drawn(test: str):
    found = evaluate(OF_CLUSTERS, REFERENCES, clusters=ARTICLES, test=test, **CLUSTER_OPTIONS)
    assert "|clusters:52|seed:7|" in found.signatures["rouge"]
    assert json.loads(found.to_json())["clusters"] == 52
    assert "[low, high]: 90% bootstrap interval of 52 clusters\n+ better, - worse than base: p < 0.05" in str(found)
    assert f"paired {test} test of 52 clusters" in str(found)


def test_without_clusters_none_are_named():
    plain = evaluate(OF_CLUSTERS, REFERENCES, **CLUSTER_OPTIONS)
    assert "cluster" not in f"{plain}{plain.to_json()}"


def test_to_pandas_has_a_row_for_each_system_and_value():
    pandas = pytest.importorskip("pandas", reason="pandas is optional, and not in every environment of the tests")
    frame = evaluate(pandas.DataFrame(SYSTEMS)["base"], pandas.Series(REFERENCES), "bleu,rouge").to_pandas()
    assert list(frame["value"]) == ["bleu", "rouge1", "rouge2", "rougeL", "rougeLsum"]
    frame = evaluate(SYSTEMS, REFERENCES).to_pandas()
    assert list(frame["system"]) == ["base", "base", "other", "other"]
    found = evaluate(SYSTEMS, REFERENCES).results["other"]["chrf"]
    assert {**frame.iloc[2].dropna()} == {"system": "other", "value": "chrf", **found.as_dict()}


def test_a_group_without_a_label_does_not_look_like_all_segments():
    pytest.importorskip("pandas", reason="pandas is optional, and not in every environment of the tests")
    systems = {"base": ["a b", "c"], "other": ["a b", "d"]}
    found = evaluate(systems, ["a b", "c"], "chrf", confidence=None, groups=["", "news"])
    assert list(found.to_pandas()["group"]) == ["", "", "(empty)", "(empty)", "news", "news"]
    assert str(found).splitlines()[5].split()[0] == "(empty)"
    named = evaluate(systems, ["a b", "c"], "chrf", confidence=None, groups={"domain": ["", "news"]})
    assert list(named.to_pandas()["group"])[2] == "domain=(empty)"


def test_a_word_in_another_unicode_form_is_warned_of_once():
    composed, decomposed = (unicodedata.normalize(form, "die Größe") for form in ("NFC", "NFD"))
    systems = {"a": ["the cat", decomposed], "b": ["the cat", composed], "c": [composed, composed]}
    told = "^system 'b', segment 1: 'Größe' has a different Unicode form in the refer"
    with pytest.warns(UserWarning, match=told) as seen:
        evaluate(systems, ["the cat", decomposed], "chrf", confidence=None)
    assert [warning.filename for warning in seen] == [__file__]


INVISIBLE = ["\u200b", "\u200e", "\u200f", "\u00ad", "\ufeff"]


@pytest.mark.parametrize("character", INVISIBLE)
def test_a_word_with_an_invisible_character_is_warned_of_on_either_side(character):
    marked = f"guten A{character}bend"
    plain = "guten Abend"
    shown = ascii(character)[1:-1]
    for hypotheses, wanted, words in (
        ([plain, marked], [plain, plain], f"'A{shown}bend' and 'Abend' of the reference"),
        ([plain, plain], [plain, marked], f"'Abend' and 'A{shown}bend' of the reference"),
    ):
        message = f"system 'a', segment 1: {words} differ in an invisible character, so they count as different words"
        with pytest.warns(UserWarning, match=f"^{re.escape(message)}: remove it .* text.replace") as seen:
            evaluate({"a": hypotheses}, wanted, "chrf", confidence=None)
        assert len(seen) == 1


@pytest.mark.parametrize("character", INVISIBLE)
def test_an_invisible_character_that_changes_no_match_is_not_warned_of(character):
    for hypothesis, wanted in (
        (f"guten A{character}bend", [f"guten A{character}bend"]),
        (f"guten A{character}bend", [f"guten A{character}bend", "guten Abend"]),
        (f"guten Mor{character}gen", ["guten Abend"]),
        (f"guten {character} Abend", ["guten Abend"]),
    ):
        evaluate({"a": [hypothesis]}, {"r": [wanted]}, "chrf", confidence=None)


def test_to_pandas_without_pandas_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match=r"^to_pandas needs pandas: pip install pandas$"):
        evaluate(["a"], ["a"], confidence=None).to_pandas()


def test_a_difference_in_the_last_bit_is_none():
    """F of 2 words of 5 with 1 match, and of 10 with 2, is 1/3 both times."""
    base = ["w0 x0 x1 x2"]
    other = ["w0 w1 x0 x1 x2 x3 x4 x5 x6 x7"]
    found = evaluate({"base": base, "other": other}, ["w0 w1"], {"rouge": ROUGEScore(rouge_keys="rouge1")})
    result = found.results["other"]["rouge1"]
    assert result.difference is not None
    assert 0 < abs(result.difference) < 1e-15
    assert (result.wins, result.ties, result.losses) == (0, 1, 0)
    assert (result.difference_low, result.difference_high) == (0, 0)
