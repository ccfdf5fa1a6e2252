"""What stands beside the texts: sources, columns and the scores of their labels."""

import pytest
from commands import BASE, FILES, OTHER, REFERENCES
from report_pages import data_of, write_report

import ngram_metrics

SYSTEMS = {"base": BASE, "other": OTHER, "third": FILES["ref2.txt"]}
SOURCES = [f"source {line}" for line in REFERENCES]
DOMAINS = [("news", "sport \u202e", 3)[number % 5 % 3] for number in range(len(REFERENCES))]
IDS = list(range(len(REFERENCES)))
ONE = {"a": ["x", "y"]}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "page.html"
    write_report(path, SYSTEMS, REFERENCES, sources=SOURCES, groups={"domain": DOMAINS, "<id>": IDS})
    return data_of(path)


def test_columns_hold_the_label_of_each_segment(data):
    domain, number = data["columns"]
    assert [domain["labels"][label] for label in domain["of_segments"]] == [
        str(label).replace("\u202e", "[U+202E]") for label in DOMAINS
    ]
    assert (number["name"], number["labels"]) == ("<id>", list(map(str, IDS)))
    assert data["sources"] == SOURCES


@pytest.mark.parametrize(("labels", "scored"), [(50, True), (51, False)])
def test_up_to_fifty_labels_are_scored_and_more_only_filter_the_page(tmp_path, labels, scored):
    lines = ["x y z"] * 51
    groups = [min(number, labels - 1) for number in range(51)]
    for given, name in (({"of": groups}, "of"), (groups, "group")):
        found = ngram_metrics.evaluate({"a": lines}, lines, "chrf", confidence=None, groups=given)
        found.write_report(tmp_path / "page.html")
        (column,) = data_of(tmp_path / "page.html")["columns"]
        assert (column["name"], len(column["labels"]), len(column["of_segments"])) == (name, labels, 51)
        assert (column["groups"] is not None) == bool(found.groups) == ('"groups"' in found.to_json()) == scored
        assert (f"Groups with more than 50 labels are not scored: {name} (51 labels)" in str(found)) != scored


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"sources": ["x"]}, ValueError, "^sources has 1 segment and system 'a' 2: expected the same number$"),
        ({"sources": ["x", None]}, TypeError, r"^a missing value \(None\) at segment 1 of sources: "),
        ({"sources": "xy"}, TypeError, "^sources is a str: expected a sequence of texts$"),
        ({"title": 5}, TypeError, "^title is an int: expected a text$"),
        ({"tokenizer": "13b"}, ValueError, "unknown tokenizer '13b'"),
    ],
)
def test_what_cannot_be_shown_is_told(tmp_path, options, kind, words):
    with pytest.raises(kind, match=words):
        write_report(tmp_path / "page.html", ONE, ["x", "y"], **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("groups", [{"domain": ["news", "", "talk"] * 40}, ["news", "", "talk"] * 40], ids=type)
@pytest.mark.parametrize("confidence", [0.95, None])
def test_groups_reach_the_page_with_their_scores(tmp_path, confidence, groups):
    systems = {"base": BASE, "other": OTHER}
    expected = ngram_metrics.evaluate(systems, REFERENCES, "bleu,chrf", groups=["news", "", "talk"] * 40).groups
    write_report(tmp_path / "page.html", systems, REFERENCES, "bleu,chrf", confidence, groups)
    (column,) = data_of(tmp_path / "page.html")["columns"]
    assert column["name"] == ("domain" if isinstance(groups, dict) else "group")
    assert column["labels"] == ["news", "(empty)", "talk"]
    for group, results in zip(column["groups"], expected.values(), strict=True):
        assert group["segments"] == 40
        for value, of_systems in group["scores"].items():
            shown = [result[value] for result in results.values()]
            assert of_systems == [[round(100 * part, 2) for part in (one.score, one.low, one.high)] for one in shown]
        assert list(group["scores"]) == ["bleu", "chrf"]
