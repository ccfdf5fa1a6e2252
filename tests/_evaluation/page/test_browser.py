"""The page in a real browser: nothing asks for anything, every control does what it says, and everybody can use it."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from browsers import emulated, start_browser
from report_pages import HOSTILE, REFERENCES, SEGMENTS, SHOWN, SYSTEMS, data_of
from systems import output, references

from ngram_metrics import Bleu, ChrF, evaluate

pytest.importorskip("selenium", reason="it opens the page")
pytest.importorskip("axe_core_python", reason="it looks for what keeps people out")

import axe_core_python

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator:
    started = start_browser(tmp_path_factory.mktemp("browser"))
    yield started
    started.quit()


# What a reader does with the page, and what the page then shows.


@contextmanager
def opened(browser, path: Path) -> Iterator:
    """The page, newly opened; no test leaves an error in the console."""
    browser.get("about:blank")
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    browser.get(path.as_uri())
    yield browser
    assert [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"] == []
    assert browser.execute_script("return window.ran") is None


ALL = "const all = [...document.querySelectorAll(arguments[0])];"


def texts(page, selector: str) -> list[str]:
    return page.execute_script(f"{ALL} return all.map((node) => node.textContent)", selector)


def visible(page, selector: str) -> list[str]:
    """The texts of the elements that are shown."""
    shown = "all.filter((node) => node.checkVisibility())"
    return page.execute_script(f"{ALL} return {shown}.map((node) => node.textContent)", selector)


def segments(page) -> list[int]:
    return [int(text.split()[1]) for text in texts(page, "article h3")]


def choose(page, selector: str, value: str) -> None:
    page.execute_script(
        "const node = document.querySelector(arguments[0]); node.value = arguments[1];"
        "for (const kind of ['input', 'change']) node.dispatchEvent(new Event(kind, { bubbles: true }))",
        selector,
        value,
    )


def click(page, selector: str) -> None:
    page.execute_script("document.querySelector(arguments[0]).click()", selector)


def press(page, key: str) -> None:
    page.execute_script(
        "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: arguments[0], bubbles: true }))", key
    )


def focused(page) -> str:
    return page.execute_script("return document.activeElement.id")


# One report of texts that try to be more than text.


TITLE = "<script>window.ran = 4</script> \x00 & {{ 7 * 7 }}"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    evaluate(SYSTEMS, REFERENCES, "bleu,chrf").write_report(path, title=TITLE)
    return path


@pytest.fixture
def page(browser, path: Path) -> Iterator:
    with opened(browser, path) as page:
        yield page


def test_no_request_leaves_the_page(page):
    for heading in ("order", "value"):
        choose(page, f"#{heading}", page.execute_script("return document.getElementById(arguments[0]).value", heading))
    events = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert {url.partition(":")[0] for url in asked} <= {"file", "data"}
    assert len([url for url in asked if url.startswith("file")]) == 1


def test_text_is_shown_and_never_run(page):
    assert texts(page, "h1") == ["<script>window.ran = 4</script> [U+0000] & {{ 7 * 7 }}"]
    assert page.title == texts(page, "h1")[0]
    assert SHOWN in texts(page, "#scores tbody th")
    choose(page, "#order", "file")
    shown = []
    given = []
    while True:
        given += texts(page, "article .given")
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
    assert "as given: &amp; is an escape" in given[0]
    assert page.execute_script("return document.querySelectorAll('article script, article img, article b').length") == 0


def test_systems_are_in_the_order_given_and_sorted_by_a_click(page):
    assert texts(page, "#scores tbody th")[:2] == ["base", "better"]
    score = "#scores thead th:nth-child(2)"
    heading = f"return document.querySelector('{score}').getAttribute('aria-sort')"
    for ascending in (False, True):
        click(page, f"{score} button")
        scores = [float(text.split()[0]) for text in texts(page, "#scores tbody td:nth-child(2)")]
        assert scores == sorted(scores, reverse=not ascending)
        assert page.execute_script(heading) == ("ascending" if ascending else "descending")
    click(page, "#scores thead th:nth-child(1) button")
    assert texts(page, "#scores tbody th")[1:] == ["base", "better"]
    click(page, "#scores thead th:nth-child(4) button")  # p-values: the lowest first, the baseline last
    assert texts(page, "#scores tbody tr:last-child th") == ["base"]
    assert texts(page, "#status") == ["Sorted by p of bleu, lowest first"]


def test_segments_are_sorted_as_asked(page, path: Path):
    base, better, other = data_of(path)["scores"]["bleu"]

    def first_ten(keys: list[float]) -> list[int]:
        return [segment + 1 for segment in sorted(range(len(keys)), key=keys.__getitem__)[:10]]

    assert segments(page) == first_ten([-abs(ours - theirs) for ours, theirs in zip(better, base, strict=True)])
    choose(page, "#order", "worst")
    assert segments(page) == first_ten(better)
    choose(page, "#compared", "2")
    assert segments(page) == first_ten(other)
    choose(page, "#order", "longest")
    assert segments(page)[0] == len(REFERENCES)
    assert texts(page, "article tbody tr:nth-child(2) td:nth-child(3)")[0] == f"{base[-1]:.2f}"


def test_words_are_shaded_by_their_matched_orders(page):
    page.execute_script("location.hash = '#s=69'")  # two words of Hebrew, the same in the system
    assert texts(page, "#segment-69 tbody tr:nth-child(2) .line .o2") == [HOSTILE[8]]


def test_search_finds_segments_and_goes_away(page):
    choose(page, "#search", "QUOTES")
    assert SEGMENTS + 3 in segments(page)
    assert len(segments(page)) < 5
    click(page, "#all")
    assert len(segments(page)) == 10
    choose(page, "#search", "no such words")
    assert texts(page, "#range") == ["no segment"]


def test_systems_are_chosen(page):
    assert len(texts(page, "article:first-child tbody tr")) == 4
    click(page, "#chosen input[value='2']")
    assert len(texts(page, "article:first-child tbody tr")) == 3
    click(page, "#chosen input[value='1']")
    assert len(texts(page, "article:first-child tbody tr")) == 2
    click(page, "#chosen input[value='0']")  # without a choice all are shown
    assert len(texts(page, "article:first-child tbody tr")) == 4
    choose(page, "#value", "chrf")
    assert "chrf" in texts(page, "article header")[0]


def test_keys_and_links_lead_to_segments(page):
    shown = segments(page)
    press(page, "n")
    assert focused(page) == f"segment-{shown[0]}"
    for _ in range(10):
        press(page, "j")
    assert segments(page) != shown
    assert focused(page) == f"segment-{segments(page)[0]}"
    press(page, "p")
    assert focused(page) == f"segment-{shown[-1]}"
    assert page.current_url.endswith(f"#s={shown[-1]}")
    click(page, "#on")
    shown = segments(page)
    press(page, "n")
    assert focused(page) == f"segment-{shown[0]}"
    follow = "location.hash = arguments[0]; setTimeout(arguments[1], 30)"
    page.execute_async_script(follow, "#s=72")
    assert focused(page) == "segment-72"
    page.refresh()
    assert focused(page) == "segment-72"
    page.execute_async_script(follow, "#s=1000")
    assert texts(page, "#status") == ["There is no segment 1000"]


@pytest.mark.parametrize(
    ("systems", "references"),
    [({"only": ["a b"]}, ["a c"]), ({"a": [""], "b": [""]}, [""]), ({"a": ["x y"], "b": ["x y"]}, [["x"], ["y x y"]])],
    ids=["one system", "nothing at all", "no difference"],
)
def test_small_reports_open(browser, tmp_path, systems, references):
    path = tmp_path / "small.html"
    evaluate(systems, references).write_report(path)
    with opened(browser, path) as page:
        assert segments(page) == [1]


LINES = references(60)
NAMES = [f"run-{number:02}" for number in range(14)] + ["Word-Named-System-Of-Some-Team", "runs/2026/" + "x" * 90]
MANY_SYSTEMS = {name: output(LINES, 0.05 + 0.03 * (number * 7 % 16), seed=number) for number, name in enumerate(NAMES)}
MANY_SYSTEMS["run-03"] = ["", "la la la la la la la", *MANY_SYSTEMS["run-03"][2:]]
MANY_SOURCES = [line[::-1] for line in LINES]
DOMAINS = [("news", "sport", "science")[number % 3] for number in range(60)]
IDS = [f"line-{number}-" + "x" * 200 for number in range(60)]


@pytest.fixture(scope="module")
def many_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    metrics = {"BLEU": Bleu(), "chrF": ChrF(), "chrF++": ChrF(word_order=2)}
    found = evaluate(MANY_SYSTEMS, LINES, metrics, groups={"domain": DOMAINS, "id": IDS})
    found.write_report(path, sources=MANY_SOURCES)
    return path


@pytest.fixture
def many(browser, many_path: Path) -> Iterator:
    with opened(browser, many_path) as page:
        yield page


@pytest.fixture(scope="module")
def data(many_path) -> dict:
    return data_of(many_path)


@pytest.fixture(params=[1280, 390])
def screen(request, many):
    """The page on a wide and on a narrow screen."""
    with emulated(many, request.param):
        yield many


def test_the_table_shows_one_score_at_a_time_or_all(many, data):
    assert visible(many, "#scores th.score button") == ["BLEU"]
    assert texts(many, "#scores tbody th") == data["systems"]
    assert "brevity penalty" in " ".join(visible(many, "#scores thead th"))
    choose(many, "#value", "chrF")
    assert visible(many, "#scores th.score button") == ["chrF"]
    assert "brevity penalty" not in " ".join(visible(many, "#scores thead th"))
    click(many, "#every")
    assert visible(many, "#scores th.score button") == ["BLEU", "chrF", "chrF++"]


#: Where the parts of the chart that is shown are on the screen.
PLACES = """
    const boxOf = (node) => {
        const { left, right, top, bottom } = node.getBoundingClientRect();
        return { left, right, top, bottom };
    };
    const parts = ["", ".name", ".dot", ".whisker", ".band", ".axis"];
    const places = (part) => [...document.querySelectorAll(`figure:not([hidden]) ${part}`)].map(boxOf);
    return Object.fromEntries(parts.map((part) => [part, places(part)]))"""


def test_systems_that_are_no_steps_are_rows_in_the_order_given(many, data):
    for value in data["values"]:
        choose(many, "#value", value)
        assert visible(many, "figcaption") == [f"{value} of each system with its interval, in the order given"]
        assert visible(many, "figure .name") == data["systems"]
        places = many.execute_script(PLACES)
        assert places[".band"] == []
        middles = [(dot["left"] + dot["right"]) / 2 for dot in places[".dot"]]
        entries = [entry[value] for entry in data["entries"]]
        low, high = min(entries)[0], max(entries)[0]
        left, right = min(middles), max(middles)
        for entry, middle, whisker in zip(entries, middles, places[".whisker"], strict=True):
            expected = [left + (right - left) * (score - low) / (high - low) for score in entry]
            assert [middle, whisker["left"], whisker["right"]] == pytest.approx(expected, abs=0.5)
        for name, dot in zip(places[".name"], places[".dot"], strict=True):
            assert name["top"] < dot["top"] < dot["bottom"] < name["bottom"]
            assert name["right"] < places[".axis"][0]["left"]


def test_nothing_is_wider_than_the_page(screen):
    for box in screen.find_elements("css selector", "#chosen input:not(:checked)"):
        screen.execute_script("arguments[0].click()", box)
    width = "return [document.scrollingElement.scrollWidth, innerWidth]"
    found, most = screen.execute_script(width)
    assert found <= most
    outside = """
        const past = (inner, outer) => inner.left < outer.left - 1 || inner.right > outer.right + 1;
        return [...document.querySelectorAll("svg *:not(title)")].filter((node) =>
            past(node.getBoundingClientRect(), node.closest("figure").getBoundingClientRect()))
            .map((node) => node.outerHTML)"""
    assert screen.execute_script(outside) == []
    figure = screen.execute_script(PLACES)[""][0]
    assert figure["right"] - figure["left"] == screen.execute_script(
        "return document.querySelector('main').clientWidth"
    )
    if most == 1280:
        scrolled = """
            return [...document.querySelectorAll(".wide:not(#groups .wide)")]
                .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.getAttribute("aria-label"))"""
        assert screen.execute_script(scrolled) == []


def test_a_table_fades_at_the_right_as_long_as_columns_are_beyond_the_screen(screen):
    boxes = "return [...document.querySelectorAll('.wide')]"
    fades = screen.execute_script(f"{boxes}.map((box) => box.classList.contains('more'))")
    assert fades == screen.execute_script(f"{boxes}.map((box) => box.scrollWidth > box.clientWidth)")
    assert fades[0] == (screen.execute_script("return innerWidth") == 390)
    masked = "return getComputedStyle(document.querySelector('#systems .wide')).maskImage !== 'none'"
    assert screen.execute_script(masked) == fades[0]
    end = "document.querySelector('#systems .wide').scrollLeft = 10000; requestAnimationFrame(() => arguments[0]())"
    screen.execute_async_script(end)
    assert not screen.execute_script(masked)


def test_a_phone_shows_system_score_difference_and_p(many):
    for wide, value in ((1280, "BLEU"), (390, "BLEU"), (390, "chrF++")):
        choose(many, "#value", value)
        with emulated(many, wide):
            columns = """
                const cells = [...document.querySelectorAll("#scores tr")].map((row) =>
                    [...row.children].filter((cell) => cell.checkVisibility()).slice(0, 4));
                const right = Math.max(...cells.flat().map((cell) => cell.getBoundingClientRect().right));
                return [cells[0].map((cell) => cell.querySelector("button").firstChild.textContent), right]"""
            heads, right = many.execute_script(columns)
        assert heads == ["system", value, "difference", "p"]
        # Beyond this the table fades.
        assert right <= wide - 2 * 16


def test_epochs_are_a_curve_in_the_order_given_and_chrf_is_first(browser, tmp_path):
    path = tmp_path / "epochs.html"
    names = [f"epoch {number}" for number in range(1, 6)]
    epochs = {name: output(LINES, 0.5 - 0.1 * number, seed=number) for number, name in enumerate(names)}
    evaluate(epochs, LINES, baseline="epoch 4", groups=DOMAINS).write_report(path)
    with opened(browser, path) as page:
        assert visible(page, "#scores th.score button") == ["chrf"]
        assert texts(page, "#value option") == ["chrf", "bleu"]
        assert texts(page, "#scores tbody th") == names
        figures = texts(page, "figure[data-value='0'] title")
        assert [title.partition(":")[0] for title in figures] == names
        assert visible(page, "figcaption") == ["chrf over the epochs with its interval"]
        assert texts(page, "#groups thead th")[2:] == texts(page, "#flags tbody th") == names
        assert texts(page, "#chosen label .name") == names
        assert texts(page, "#compared option") == [name for name in names if name != "epoch 4"]
        assert texts(page, "article:first-child tbody th")[1:] == names[1:]
        assert texts(page, "#scores tbody td:nth-child(3)")[3] == "baseline"
        scores = [float(score.split()[0]) for score in texts(page, "#groups tbody tr:first-child td")[1:]]
        assert scores == sorted(scores)
        places = page.execute_script(PLACES)
        for side, rises in (("left", True), ("bottom", False)):
            dots = [dot[side] for dot in places[".dot"]]
            assert dots == sorted(dots, reverse=not rises)
        (band,) = places[".band"]
        assert (places[".dot"][0]["left"], places[".dot"][-1]["right"]) == pytest.approx(
            (band["left"] - 4, band["right"] + 4), abs=0.5
        )
        assert "+ better, - worse than epoch 4: p < 0.05" in texts(page, "#notes li")[2]


def test_segments_are_filtered_by_labels_and_found_by_source_and_id(many):
    choose(many, "#order", "file")
    choose(many, "#labels select", "1")
    assert segments(many) == [number + 1 for number, domain in enumerate(DOMAINS) if domain == "sport"][:10]
    choose(many, "#search", "line-4")
    assert segments(many) == [5, 41, 44, 47, 50]
    click(many, "#all")
    assert texts(many, "#range")[0].endswith(" of 60 segments")
    choose(many, "#search", MANY_SOURCES[7])
    assert segments(many) == [8]
    assert texts(many, "article .source .line") == [MANY_SOURCES[7]]
    assert "domain: sport" in texts(many, "article header")[0]


def test_groups_have_their_scores(many, data):
    assert texts(many, "#column option") == ["domain"]
    assert texts(many, "#groups caption") == ["BLEU by domain"]
    assert texts(many, "#groups thead th") == ["domain", "segments", *data["systems"]]
    assert texts(many, "#groups tbody th") == ["news", "sport", "science"]
    assert texts(many, "#groups tbody td:nth-child(2)") == ["20", "20", "20"]
    score, low, high = data["columns"][0]["groups"][1]["scores"]["BLEU"][2]
    assert texts(many, "#groups tbody tr:nth-child(2) td:nth-child(5)") == [f"{score:.2f} [{low:.2f}, {high:.2f}]"]


@pytest.mark.parametrize(("way", "sign"), [("worse", -1), ("better", 1)])
def test_segments_are_filtered_by_their_change_against_the_baseline(many, data, way, sign):
    compared = int(many.execute_script("return document.getElementById('compared').value"))
    scores = data["scores"]["BLEU"]
    changes = [sign * (ours - base) for ours, base in zip(scores[compared], scores[0], strict=True)]
    choose(many, "#change", way)
    choose(many, "#margin", "20")
    expected = sum(change > 20 for change in changes)
    assert 0 < expected < len(changes)
    assert texts(many, "#range")[0].endswith(f" of {expected} segment{'s' * (expected != 1)}")
    assert all(changes[segment - 1] > 20 for segment in segments(many))
    click(many, "#all")
    assert texts(many, "#range")[0].endswith(f" of {len(changes)} segments")


def test_flags_lead_to_their_segments(many):
    row = NAMES.index("run-03") + 1
    counts = texts(many, f"#flags tbody tr:nth-child({row}) td")
    assert [text.partition(" ")[0] for text in counts][:2] == ["1", "0"]
    click(many, f"#flags tbody tr:nth-child({row}) td:nth-child(2) button")
    assert segments(many) == [1]
    assert "run-03" in texts(many, "article tbody th")
    assert "empty output" in texts(many, "article .flag")
    choose(many, "#order", "file")
    click(many, f"#flags tbody tr:nth-child({row}) td:nth-child(4) button")
    assert 2 in segments(many)


AXE = (Path(os.path.dirname(axe_core_python.__file__)) / "axe.min.js").read_text(encoding="utf-8")
CONTROLS = "a[href], button:not([disabled]), select, input, summary, [tabindex='0']"


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing(many, scheme, width):
    with emulated(many, width, scheme):
        many.execute_script("for (const details of document.querySelectorAll('details')) details.open = true")
        many.execute_script(AXE)
        run = "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => arguments[0](violations))"
        found = many.execute_async_script(run)
    assert [(each["id"], [node["failureSummary"] for node in each["nodes"]]) for each in found] == []


def test_the_tab_key_reaches_every_control_and_shows_where_it_is(many):
    controls = len(visible(many, CONTROLS))
    assert controls > 40
    state = """
        const node = document.activeElement;
        const { outlineStyle, outlineWidth } = getComputedStyle(node);
        const known = node.matches(arguments[0]) && !node.dataset.seen;
        node.dataset.seen = "yes";
        return [known, outlineStyle !== "none" && outlineWidth !== "0px"]"""
    many.execute_script("document.activeElement.blur()")
    seen = 0
    while True:
        many.execute_cdp_cmd(
            "Input.dispatchKeyEvent", {"type": "keyDown", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
        )
        known, outlined = many.execute_script(state, CONTROLS)
        if not known:
            break
        assert outlined
        seen += 1
    assert seen == controls
