"""The page of many systems in a real browser: what is chosen is shown, and everything fits."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from browsing import choose, click, counted, emulated, focused, press, segments, texts, visible
from report_pages import data_of, write_report
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
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


def ranked(data: dict, value: str) -> list[str]:
    scores = [entry[value][0] for entry in data["entries"]]
    return sorted(data["systems"], key=lambda system: -scores[data["systems"].index(system)])


def test_the_table_shows_one_score_at_a_time_or_all(page, data):
    assert visible(page, "#scores th.score") == ["BLEU"]
    assert texts(page, "#scores tbody th") == ranked(data, "BLEU")
    assert "brevity penalty" in " ".join(visible(page, "#scores thead th"))
    choose(page, "#value", "chrF")
    assert visible(page, "#scores th.score") == ["chrF"]
    assert "brevity penalty" not in " ".join(visible(page, "#scores thead th"))
    assert texts(page, "#scores tbody th") == ranked(data, "chrF")
    click(page, "#every")
    assert visible(page, "#scores th.score") == ["BLEU", "chrF", "chrF++"]


def test_every_chart_says_its_score(page, data):
    for value in data["values"]:
        choose(page, "#value", value)
        captions = texts(page, "#charts figcaption")
        assert len(captions) == 5
        assert all(value in caption for caption in captions[:4])
        assert captions[4].startswith("Word accuracy (F1)")
        assert all(value in caption for caption in texts(page, "#groups figcaption"))
        assert texts(page, "#pairs caption") == [f"P-values of {value}"]


def test_nothing_is_wider_than_the_page(screen):
    counted(screen)
    for box in screen.find_elements("css selector", "#chosen input:not(:checked)"):
        screen.execute_script("arguments[0].click()", box)
    width = "return [document.scrollingElement.scrollWidth, innerWidth]"
    found, most = screen.execute_script(width)
    assert found <= most
    outside = """
        const past = (inner, outer) => inner.left < outer.left - 1 || inner.right > outer.right + 1;
        return [...document.querySelectorAll("svg *:not(title, .current)")].filter((node) =>
            past(node.getBoundingClientRect(), node.closest("svg").getBoundingClientRect()))
            .map((node) => node.outerHTML)"""
    assert screen.execute_script(outside) == []
    if most == 1280:
        scrolled = """
            return [...document.querySelectorAll(":not(details) > .wide")]
                .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.getAttribute("aria-label"))"""
        assert screen.execute_script(scrolled) == []


def test_words_and_names_are_in_one_piece(screen):
    counted(screen)
    broken = """
        const lines = (node) => new Set([...node.getClientRects()].map((box) => Math.round(box.top))).size;
        return [...document.querySelectorAll(".word")].filter((node) => lines(node) > 1).length"""
    assert screen.execute_script(broken) == 0
    assert len(texts(screen, "#tables .word")) > 20
    height = "return [...document.querySelectorAll('#scores tbody th .name')].map((node) => node.clientHeight)"
    heights = dict(zip(texts(screen, "#scores tbody th"), screen.execute_script(height), strict=True))
    assert {heights[name] for name in NAMES[:14]} == {min(heights.values())}
    assert heights[NAMES[15]] > min(heights.values())


def test_pairs_are_in_the_order_of_scores_and_the_correction_is_told(page, data):
    choose(page, "#value", "chrF")
    order = ranked(data, "chrF")
    assert [name.partition(" ")[2] for name in texts(page, "#pairs tbody th")] == order
    table = data["p_values"]["chrF"]
    first, third = (data["systems"].index(order[row]) for row in (0, 2))
    cells = texts(page, "#pairs tbody tr:first-child td")
    assert (cells[0], cells[2]) == ("", f"{table[first][third]:.4f}")
    bold = [float(text) for text in texts(page, "#pairs .significant")]
    assert len(bold) == sum(chance is not None and chance < 0.05 for row in table for chance in row)
    (told,) = texts(page, "#pairs .notes")
    draws = [each for row in data["draws"]["chrF"] for each in row if each is not None]
    assert f"test for each of the 120 pairs of systems, of {min(draws)} to {max(draws)} draws. Holm" in told
    cell = page.find_element("css selector", "#pairs tbody tr:first-child td:nth-of-type(3)")
    assert cell.get_attribute("title") == f"{data['draws']['chrF'][first][third]} draws"
    assert "only the 15 comparisons with run-00" in told


def test_segments_are_filtered_by_labels_and_found_by_source_and_id(page):
    choose(page, "#order", "file")
    choose(page, "#labels select", "1")
    assert segments(page) == [number + 1 for number, domain in enumerate(DOMAINS) if domain == "sport"]
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
    assert texts(page, "#groups figcaption") == [
        f"By domain: {label}, 20 segments, BLEU" for label in ("news", "sport", "science")
    ]
    row = texts(page, "#groups-numbers tbody tr:first-child > *")
    assert row[:3] == ["news", "run-00", "20"]
    assert list(map(float, row[3:])) == data["columns"][0]["groups"][0]["scores"]["BLEU"][0]


def test_a_point_opens_its_segment_by_click_and_by_keys(page, data):
    first, second = (
        int(page.execute_script(f"return document.getElementById('{side}').value")) for side in ("first", "second")
    )
    scores = [data["scores"]["BLEU"][system] for system in (first, second)]
    page.execute_script("document.querySelector('#scatter svg').focus()")
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        press(page, key)
    lowest = min(range(60), key=lambda number: (scores[1][number], scores[0][number]))
    assert texts(page, "#point") == [f"Segment {lowest + 1}: {scores[0][lowest]:.2f} and {scores[1][lowest]:.2f}"]
    press(page, "Enter")
    assert focused(page) == f"segment-{lowest + 1}"
    page.execute_script("document.getElementById('systems').scrollIntoView()")
    page.execute_script("""
        const { left, top, width, height } = document.querySelector("#scatter .current").getBoundingClientRect();
        const place = { clientX: left + width / 2, clientY: top + height / 2, bubbles: true };
        document.querySelector("#scatter .points").dispatchEvent(new MouseEvent("click", place))""")
    assert focused(page) == f"segment-{lowest + 1}"
    choose(page, "#first", str(second))
    assert visible(page, "#scatter") == []


@pytest.mark.parametrize(("way", "sign"), [("worse", -1), ("better", 1)])
def test_segments_are_filtered_by_their_change_against_the_baseline(page, data, way, sign):
    first = int(page.execute_script("return document.getElementById('first').value"))
    scores = data["scores"]["BLEU"]
    changes = [sign * (ours - base) for ours, base in zip(scores[first], scores[0], strict=True)]
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
    click(page, f"#flags tbody tr:nth-child({row}) td:nth-child(4) button")
    assert 2 in segments(page)


def test_ngrams_are_those_that_a_loop_counts(page, data):
    choose(page, "#length", "2")
    counted(page)
    systems = [
        int(page.execute_script(f"return document.getElementById('{side}').value")) for side in ("first", "second")
    ]
    matched = [Counter(), Counter()]
    tokens = Tokenizer13a()
    for segment, line in enumerate(LINES):
        wanted = bigrams(tokens(line))
        for counts, system in zip(matched, systems, strict=True):
            counts.update(wanted & bigrams(tokens(SYSTEMS[data["systems"][system]][segment])))
    for table, (ours, theirs) in enumerate([matched, matched[::-1]], 1):
        pairs = [(ours[ngram], theirs[ngram]) for ngram in ours if ours[ngram] > theirs[ngram]]
        pairs.sort(key=lambda pair: (-(pair[0] + 1) / (pair[1] + 1), -pair[0]))
        cells = [texts(page, f"#tables > :nth-child({table}) tbody td:nth-child({column})") for column in (2, 3)]
        assert list(zip(*(map(int, column) for column in cells), strict=True)) == pairs[:15]


def bigrams(text: str) -> Counter:
    words = text.split()
    return Counter(pairwise(words))


def test_ngrams_are_ranked_by_their_log_ratio(page):
    counted(page)
    for table in range(1, 5):
        rows = [texts(page, f"#tables > :nth-child({table}) tbody tr:nth-child({row}) td") for row in range(1, 16)]
        rows = [list(map(float, row[1:4])) for row in rows if len(row) == 5]
        assert rows
        ratios = [ratio for _, _, ratio in rows]
        assert ratios == sorted(ratios, reverse=True)
        for more, less, ratio in rows:
            assert 2**ratio == pytest.approx((more + 1) / (less + 1), rel=0.01)
