"""The page of many systems in a real browser: what is chosen is shown, and everything fits."""

from pathlib import Path

import pytest
from browsing import choose, click, emulated, segments, texts, visible
from report_pages import data_of, write_report
from systems import output, references

from ngram_metrics import Bleu, ChrF

pytestmark = pytest.mark.programs

LINES = references(60)
NAMES = [f"run-{number:02}" for number in range(14)] + ["Word-Named-System-Of-Some-Team", "runs/2026/" + "x" * 90]
SYSTEMS = {name: output(LINES, 0.05 + 0.03 * (number * 7 % 16), seed=number) for number, name in enumerate(NAMES)}
SYSTEMS["run-03"] = ["", "la la la la la la la", *SYSTEMS["run-03"][2:]]
SOURCES = [line[::-1] for line in LINES]
DOMAINS = [("news", "sport", "science")[number % 3] for number in range(60)]
IDS = [f"line-{number}-" + "x" * 200 for number in range(60)]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    columns = {"domain": DOMAINS, "id": IDS}
    metrics = {"BLEU": Bleu(), "chrF": ChrF(), "chrF++": ChrF(word_order=2)}
    write_report(path, SYSTEMS, LINES, metrics, sources=SOURCES, groups=columns)
    return path


@pytest.fixture(scope="module")
def data(path) -> dict:
    return data_of(path)


@pytest.fixture(params=[1280, 390])
def screen(request, page):
    """The page on a wide and on a narrow screen."""
    with emulated(page, request.param):
        yield page


def test_the_table_shows_one_score_at_a_time_or_all(page, data):
    assert visible(page, "#scores th.score") == ["BLEU"]
    assert texts(page, "#scores tbody th") == data["systems"]
    assert "brevity penalty" in " ".join(visible(page, "#scores thead th"))
    choose(page, "#value", "chrF")
    assert visible(page, "#scores th.score") == ["chrF"]
    assert "brevity penalty" not in " ".join(visible(page, "#scores thead th"))
    click(page, "#every")
    assert visible(page, "#scores th.score") == ["BLEU", "chrF", "chrF++"]


def test_the_chart_shows_the_chosen_score_with_its_intervals_in_the_order_given(page, data):
    for value in data["values"]:
        choose(page, "#value", value)
        assert texts(page, "#chart figcaption") == [f"{value} of each system with its interval, in the order given"]
        assert texts(page, "#chart title") == data["systems"]
        place = """
            const number = (node, name) => Number(node.getAttribute(name));
            const all = (selector) => [...document.querySelectorAll(selector)];
            return [all("#chart .dot").map((node) => [number(node, "cx"), number(node, "cy")]),
                all("#chart .whisker").map((node) => [number(node, "x1"), number(node, "x2")])]"""
        dots, whiskers = page.execute_script(place)
        assert [y for _, y in dots] == sorted(y for _, y in dots)
        entries = [entry[value] for entry in data["entries"]]
        low, high = min(entries)[0], max(entries)[0]
        left, right = min(dots)[0], max(dots)[0]
        for entry, (x, _), ends in zip(entries, dots, whiskers, strict=True):
            expected = [left + (right - left) * (score - low) / (high - low) for score in entry]
            assert [x, *ends] == pytest.approx(expected, abs=0.01)
        (points,) = page.execute_script("return [document.querySelector('#chart .curve').getAttribute('points')]")
        assert [list(map(float, point.split(","))) for point in points.split()] == dots


def test_nothing_is_wider_than_the_page(screen):
    for box in screen.find_elements("css selector", "#chosen input:not(:checked)"):
        screen.execute_script("arguments[0].click()", box)
    width = "return [document.scrollingElement.scrollWidth, innerWidth]"
    found, most = screen.execute_script(width)
    assert found <= most
    outside = """
        const past = (inner, outer) => inner.left < outer.left - 1 || inner.right > outer.right + 1;
        return [...document.querySelectorAll("svg *:not(title)")].filter((node) =>
            past(node.getBoundingClientRect(), node.closest("svg").getBoundingClientRect()))
            .map((node) => node.outerHTML)"""
    assert screen.execute_script(outside) == []
    if most == 1280:
        scrolled = """
            return [...document.querySelectorAll(".wide:not(#groups .wide)")]
                .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.getAttribute("aria-label"))"""
        assert screen.execute_script(scrolled) == []


def test_names_are_in_one_piece(screen):
    height = "return [...document.querySelectorAll('#scores tbody th .name')].map((node) => node.clientHeight)"
    heights = dict(zip(texts(screen, "#scores tbody th"), screen.execute_script(height), strict=True))
    assert {heights[name] for name in NAMES[:14]} == {min(heights.values())}
    assert heights[NAMES[15]] > min(heights.values())


def test_segments_are_filtered_by_labels_and_found_by_source_and_id(page):
    choose(page, "#order", "file")
    choose(page, "#labels select", "1")
    assert segments(page) == [number + 1 for number, domain in enumerate(DOMAINS) if domain == "sport"][:10]
    choose(page, "#search", "line-4")
    assert segments(page) == [5, 41, 44, 47, 50]
    click(page, "#all")
    assert texts(page, "#range")[0].endswith(" of 60 segments")
    choose(page, "#search", SOURCES[7])
    assert segments(page) == [8]
    assert texts(page, "article .source .line") == [SOURCES[7]]
    assert "domain: sport" in texts(page, "article header")[0]


def test_groups_have_their_scores(page, data):
    assert texts(page, "#column option") == ["domain"]
    assert texts(page, "#groups caption") == ["BLEU by domain"]
    assert texts(page, "#groups thead th") == ["domain", "segments", *data["systems"]]
    assert texts(page, "#groups tbody th") == ["news", "sport", "science"]
    assert texts(page, "#groups tbody td:nth-child(2)") == ["20", "20", "20"]
    score, low, high = data["columns"][0]["groups"][1]["scores"]["BLEU"][2]
    assert texts(page, "#groups tbody tr:nth-child(2) td:nth-child(5)") == [f"{score:.2f} [{low:.2f}, {high:.2f}]"]


@pytest.mark.parametrize(("way", "sign"), [("worse", -1), ("better", 1)])
def test_segments_are_filtered_by_their_change_against_the_baseline(page, data, way, sign):
    compared = int(page.execute_script("return document.getElementById('compared').value"))
    scores = data["scores"]["BLEU"]
    changes = [sign * (ours - base) for ours, base in zip(scores[compared], scores[0], strict=True)]
    choose(page, "#change", way)
    choose(page, "#margin", "20")
    expected = sum(change > 20 for change in changes)
    assert 0 < expected < len(changes)
    assert texts(page, "#range")[0].endswith(f" of {expected} segment{'s' * (expected != 1)}")
    assert all(changes[segment - 1] > 20 for segment in segments(page))
    click(page, "#all")
    assert texts(page, "#range")[0].endswith(f" of {len(changes)} segments")


def test_flags_lead_to_their_segments(page):
    row = NAMES.index("run-03") + 1
    counts = texts(page, f"#flags tbody tr:nth-child({row}) td")
    assert [text.partition(" ")[0] for text in counts][:2] == ["1", "0"]
    click(page, f"#flags tbody tr:nth-child({row}) td:nth-child(2) button")
    assert segments(page) == [1]
    assert "run-03" in texts(page, "article tbody th")
    assert "empty output" in texts(page, "article .flag")
    choose(page, "#order", "file")
    click(page, f"#flags tbody tr:nth-child({row}) td:nth-child(4) button")
    assert 2 in segments(page)
