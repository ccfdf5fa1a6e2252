"""Word accuracy by frequency: the counts of loops over words."""

from collections import Counter

import pytest
from report_pages import data_of, write_report
from systems import output, references

import ngram_metrics

LINES = references(80)
SECOND = output(LINES, 0.4, seed=3)
SYSTEMS = {"base": output(LINES, 0.4, seed=1), "better": output(LINES, 0.1, seed=2), "silent": [""] * 80}
EDGES = [(1, 1), (2, 4), (5, 9), (10, 99), (100, 999), (1000, None)]


def f1(matched: int, produced: int, wanted: int) -> float:
    return 100 * 2 * matched / (produced + wanted)


@pytest.mark.parametrize("streams", [[LINES], [LINES, SECOND]], ids=["one reference", "two"])
def test_buckets_hold_the_words_that_a_loop_counts(tmp_path, streams):
    write_report(tmp_path / "page.html", SYSTEMS, streams, tokenizer=None)
    wanted = []
    for several in zip(*streams, strict=True):
        of_segment = Counter()
        for text in several:
            of_segment |= Counter(text.split())
        wanted.append(of_segment)
    frequency = sum(wanted, Counter())
    expected = []
    for low, high in EDGES:
        inside = {word for word, count in frequency.items() if low <= count <= (high or count)}
        if not inside:
            continue
        totals = []
        for texts in SYSTEMS.values():
            counts = [Counter(text.split()) for text in texts]
            matches = map(Counter.__and__, counts, wanted)
            matched, produced = (sum(each[word] for each in side for word in inside) for side in (matches, counts))
            totals.append((matched, produced, sum(frequency[word] for word in inside)))
        expected.append((low, high, totals))
    found = data_of(tmp_path / "page.html")["accuracy"]
    assert len(found) >= 3
    assert [(bucket["from"], bucket["to"]) for bucket in found] == [(low, high) for low, high, _ in expected]
    for bucket, (_, _, totals) in zip(found, expected, strict=True):
        assert bucket["words"] == totals[0][2]
        for (score, low, high), counts in zip(bucket["scores"], totals, strict=True):
            assert score == round(f1(*counts), 2)
            assert low <= score <= high
            assert (low < high) == (score > 0)


def test_a_lower_level_gives_narrower_intervals_and_no_order_of_segments_changes_them(tmp_path):
    found = []
    for confidence, step in ((0.95, 1), (0.95, -1), (0.5, 1)):
        systems = {name: texts[::step] for name, texts in SYSTEMS.items()}
        write_report(tmp_path / "page.html", systems, LINES[::step], confidence=confidence)
        found.append([ends for bucket in data_of(tmp_path / "page.html")["accuracy"] for ends in bucket["scores"]])
    assert found[0] == found[1]
    pairs = list(zip(found[0], found[2], strict=True))
    assert all(wide[1] <= narrow[1] <= narrow[2] <= wide[2] for wide, narrow in pairs)
    assert any(wide != narrow for wide, narrow in pairs)


def test_documents_are_drawn_whole(tmp_path):
    found = []
    for clusters in (None, list("abcdefgh" * 10), list(range(80))):
        evaluation = ngram_metrics.evaluate(SYSTEMS, LINES, "chrf", clusters=clusters)
        evaluation.write_report(tmp_path / "page.html")
        data = data_of(tmp_path / "page.html")
        words = [ends for bucket in data["accuracy"] for ends in bucket["scores"]]
        found.append((words, [ends for bucket in data["buckets"] for ends in bucket["scores"]["chrf"]]))
    assert found[0] == found[2]
    for segments, documents in zip(found[0], found[1], strict=True):
        assert [ends[0] for ends in segments] == [ends[0] for ends in documents]
        assert segments != documents


def test_no_words_are_no_bucket(tmp_path):
    write_report(tmp_path / "page.html", {"a": ["x"]}, [""])
    assert data_of(tmp_path / "page.html")["accuracy"] == []
