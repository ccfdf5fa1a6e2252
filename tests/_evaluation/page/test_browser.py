"""The page in a real browser: nothing asks for anything, and every control does what it says."""

import json
import re
from pathlib import Path

import pytest
from browsing import choose, click, counted, emulated, focused, press, segments, texts
from report_pages import HOSTILE, NAME, REFERENCES, SEGMENTS, SYSTEMS, TITLE, write_report

from ngram_metrics.functional import bleu_score

pytestmark = pytest.mark.programs


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, SYSTEMS, REFERENCES, title=TITLE)
    return path


def scores_of(name: str) -> list[float]:
    options = {"smooth": "exp", "effective_order": True, "tokenizer": "13a", "average": "none"}
    return [round(100 * score, 2) for score in bleu_score(SYSTEMS[name], REFERENCES, **options).tolist()]


def test_no_request_leaves_the_page(page):
    counted(page)
    click(page, "#tables button")
    for heading in ("order", "value"):
        choose(page, f"#{heading}", page.execute_script("return document.getElementById(arguments[0]).value", heading))
    events = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert {url.partition(":")[0] for url in asked} <= {"file", "data"}
    assert len([url for url in asked if url.startswith("file")]) == 1


def test_text_is_shown_and_never_run(page):
    assert texts(page, "h1") == ["<script>window.ran = 4</script> [U+0000] & {{ 7 * 7 }}"]
    assert page.title == texts(page, "h1")[0]
    assert NAME.replace("\u202e", "[U+202E]") in texts(page, "#scores tbody th")
    choose(page, "#order", "file")
    shown = []
    while True:
        shown += texts(page, "article tbody tr:nth-child(2) .line:first-child")
        if page.execute_script("return document.getElementById('on').disabled"):
            break
        click(page, "#on")
    shown = shown[SEGMENTS:]
    for line, text in zip(shown, HOSTILE, strict=True):
        expected = text.rstrip().replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
        for hidden in "\x00\x07\u202e\u202c\ud800\udc00":
            expected = expected.replace(hidden, f"U+{ord(hidden):04X}")
        assert line.rstrip() == expected
    assert "as given: &amp; is an escape" in texts(page, "article .given")[0]
    assert page.execute_script("return document.querySelectorAll('article script, article img, article b').length") == 0


def test_systems_are_sorted_by_their_score_and_by_a_click(page):
    score = "#scores thead th:nth-child(2)"
    heading = f"return document.querySelector('{score}').getAttribute('aria-sort')"
    for ascending in (False, True):
        scores = list(map(float, texts(page, "#scores tbody td:nth-child(2)")))
        assert scores == sorted(scores, reverse=not ascending)
        assert page.execute_script(heading) == ("ascending" if ascending else "descending")
        click(page, f"{score} button")
    click(page, "#scores thead th:nth-child(1) button")
    assert texts(page, "#scores tbody th")[1:] == ["base", "better"]
    click(page, "#scores thead th:nth-child(5) button")  # p-values: the lowest first, the baseline last
    assert texts(page, "#scores tbody tr:last-child th") == ["base"]
    assert texts(page, "#status") == ["Sorted by p of bleu, lowest first"]


def test_segments_are_sorted_as_asked(page):
    better, base = scores_of("better"), scores_of("base")
    apart = sorted(range(len(base)), key=lambda s: -abs(round(better[s] - base[s], 2)))
    assert segments(page)[:3] == [s + 1 for s in apart[:3]]
    choose(page, "#order", "worst")
    worst = sorted(range(len(base)), key=lambda s: better[s])
    assert segments(page) == [s + 1 for s in worst[:20]]
    choose(page, "#first", "0")
    assert segments(page) == [s + 1 for s in sorted(range(len(base)), key=lambda s: base[s])[:20]]
    choose(page, "#order", "longest")
    assert segments(page)[0] == len(REFERENCES)
    shown = [texts(page, "article tbody tr:nth-child(2) td:nth-child(3)")[0]]
    assert shown == [f"{base[-1]:.2f}"]


def test_words_are_shaded_by_their_matched_orders(page):
    page.execute_script("location.hash = '#s=69'")  # two words of Hebrew, the same in the system
    row = "#segment-69 tbody tr:nth-child(2) .line span"
    assert page.execute_script("return document.querySelector(arguments[0]).className", row) == "o2"
    assert texts(page, row)[0] == HOSTILE[8]


def test_search_finds_segments_and_goes_away(page):
    choose(page, "#search", "QUOTES")
    assert SEGMENTS + 3 in segments(page)
    assert len(segments(page)) < 5
    click(page, "#all")
    assert len(segments(page)) == 20
    choose(page, "#search", "no such words")
    assert texts(page, "#range") == ["no segment"]


def test_systems_are_chosen(page):
    assert len(texts(page, "article:first-child tbody tr")) == 4
    click(page, "#chosen input[value='2']")
    assert len(texts(page, "article:first-child tbody tr")) == 3
    assert "2" not in texts(page, "#distribution svg text")
    click(page, "#chosen input[value='1']")
    click(page, "#chosen input[value='0']")
    assert texts(page, "#status") == ["At least one system is shown"]
    assert len(texts(page, "article:first-child tbody tr")) == 2
    choose(page, "#value", "chrf")
    assert "chrf" in texts(page, "article header")[0]


def test_keys_and_links_lead_to_segments(page):
    shown = segments(page)
    press(page, "n")
    assert focused(page) == f"segment-{shown[0]}"
    for _ in range(20):
        press(page, "j")
    assert segments(page) != shown
    assert focused(page) == f"segment-{segments(page)[0]}"
    press(page, "p")
    assert focused(page) == f"segment-{shown[-1]}"
    assert page.current_url.endswith(f"#s={shown[-1]}")
    page.execute_script("location.hash = '#s=72'")
    assert page.execute_async_script("setTimeout(() => arguments[0](document.activeElement.id), 30)") == "segment-72"
    page.refresh()
    assert focused(page) == "segment-72"
    page.execute_script("location.hash = '#s=1000'")
    assert page.execute_async_script(
        "setTimeout(() => arguments[0](document.getElementById('status').textContent), 30)"
    ) == ("There is no segment 1000")


def test_ngrams_lead_to_the_segments_that_hold_them(page):
    counted(page)
    captions = texts(page, "#tables caption")
    assert captions[0] == "Matched more often by better than by base"
    assert len(captions) == 4
    for order in ("2-4", "1", "2", "3", "4"):
        choose(page, "#length", order)
        counted(page)
        first = "#tables table tbody tr:first-child"
        ngram, count = texts(page, f"{first} button")[0], int(texts(page, f"{first} td:last-child")[0])
        words = len(texts(page, "#tables tr:first-child button")[0].split())
        assert words >= int(order[0]) - 1  # 13a parts a full stop from its word
        click(page, f"{first} button")
        assert len(segments(page)) == min(20, count)
        for text in texts(page, "article"):
            assert ngram in text
        click(page, "#all")


def test_a_mark_of_significance_is_apart_from_its_number(page):
    cells = page.execute_script(
        "return [...document.querySelectorAll('#scores .mark')].map((node) => node.parentNode.innerText)"
    )
    assert cells
    assert all(re.fullmatch(r"0\.\d{4} [+-]", cell) for cell in cells), cells


def test_the_charts_leave_no_hole_on_a_wide_window(page):
    """In rows as high as their highest chart, charts would cover 0.6 of the space."""
    with emulated(page, 1280):
        covered = page.execute_script("""
            const box = (node) => node.getBoundingClientRect();
            const figures = [...document.querySelectorAll("#charts figure")];
            const heights = figures.map((figure) => box(figure.lastElementChild).bottom - box(figure).top);
            const columns = new Set(figures.map((figure) => box(figure).left)).size;
            const sum = heights.reduce((sum, height) => sum + height);
            return [columns, sum / (columns * box(document.querySelector("#charts .charts")).height)]""")
    assert covered[0] == 3
    assert covered[1] > 0.7


def test_the_table_is_copied(page):
    click(page, "[data-copy='markdown']")
    status = "setTimeout(() => arguments[0](document.getElementById('status').textContent), 100)"
    assert page.execute_async_script(status) == "Copied"


def test_the_page_is_dark_and_narrow_where_that_is_asked_for(page):
    background = "return getComputedStyle(document.body).backgroundColor"
    light = page.execute_script(background)
    with emulated(page, 390, "dark"):
        assert page.execute_script(background) != light
        assert page.execute_script("return document.scrollingElement.scrollWidth") <= 390


@pytest.mark.parametrize(
    ("systems", "references"),
    [({"only": ["a b"]}, ["a c"]), ({"a": [""], "b": [""]}, [""]), ({"a": ["x y"], "b": ["x y"]}, [["x"], ["y x y"]])],
    ids=["one system", "nothing at all", "no difference"],
)
def test_small_reports_open(browser, tmp_path, systems, references):
    path = tmp_path / "small.html"
    write_report(path, systems, references)
    browser.get_log("browser")
    browser.get(path.as_uri())
    assert segments(browser) == [1]
    counted(browser)
    assert len(texts(browser, "#tables table")) == (2 if len(systems) == 1 else 4)
    assert [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"] == []
