"""The site, built strictly: what its pages hold, and that they fetch nothing."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import emulated, start_browser
from documentation import ROOT, public_names

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly."""
    for needed in ("mkdocs", "mkdocstrings", "material", "latex2mathml"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed (group docs)")
    folder = tmp_path_factory.mktemp("site")
    # Not --quiet: it hides the warnings from --strict as well.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def reference(site: Path) -> dict[str, str]:
    """The pages of the reference, by the name each is about."""
    return {page.stem: page.read_text(encoding="utf-8") for page in (site / "api").glob("*.html")}


def test_every_public_name_has_a_page_and_a_line_in_the_overview(site: Path):
    pages = reference(site)
    overview = (site / "api.html").read_text(encoding="utf-8").replace("<wbr>", "")
    for name in public_names():
        assert f'id="{name}"' in pages[name], name
        assert re.search(rf'<td><a href="api/{name}.html"><code>{name}</code></a></td>\s*<td>.*\w', overview), name


def test_docstrings_are_shown_without_markup(site: Path):
    for name, page in {**reference(site), "overview": (site / "api.html").read_text(encoding="utf-8")}.items():
        words = re.sub(r"<[^>]+>", "", re.sub(r"<pre\b.*?</pre>", "", page, flags=re.DOTALL))
        for markup in (":class:", ":func:", ":mod:", ":math:", ".. math", "\\frac", "``", "====", "&gt;&gt;&gt;"):
            assert markup not in words, f"{name}: {markup}"
        assert not re.findall(r'docs/[\w/]+\.md|page "|(?<!\.)\b_core\.', words), name


def test_the_site_fetches_nothing(site: Path):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        fetched = re.findall(r'<(?:script|link|img|iframe)[^>]*\b(?:src|href)="(?:https?:)?//', text)
        assert fetched == [], page.name
    for style in site.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", style.read_text(encoding="utf-8")) == [], (
            style.name
        )


#: What users search for, and the page that answers it.
SEARCHES = {
    "per-segment scores": "metrics/bleu.html",
    "sentence scores": "metrics/bleu.html",
    "GPU": "concepts/devices.html",
    "multi-GPU double counting": "start/troubleshooting.html",
    "BLEU 0 first epoch": "start/troubleshooting.html",
    "score different from sacrebleu": "start/troubleshooting.html",
    "multiple references": "concepts/input.html",
    "empty predictions": "concepts/input.html",
    "padding token ids": "concepts/input.html",
    "confidence interval": "concepts/is_the_difference_real.html",
    "significance test": "concepts/is_the_difference_real.html",
    "checkpoint resume": "guides/distributed.html",
    "stderr": "concepts/is_the_difference_real.html",
    "SpeechBrain": "guides/hosts.html",
    "lm-eval": "guides/command_line.html",
    "caption": "guides/hosts.html",
    "stop words": "metrics/rouge.html",
    "French": "metrics/rouge.html",
    "languages": "guides/languages.html",
    "gen_len": "guides/hugging_face.html",
    "repeated": "guides/counting.html",
    "own metric": "guides/own_metric.html",
    "a score for each language": "guides/languages.html",
}


def test_a_search_finds_the_page_among_the_first_three(site: Path):
    if not shutil.which("node"):
        pytest.skip("node, which runs the search of the site, is not installed")
    program = Path(__file__).with_name("search_site.mjs")
    command = ["node", str(program), str(site)]
    queries = json.dumps(list(SEARCHES))
    done = subprocess.run(command, input=queries, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    found = dict(zip(SEARCHES, json.loads(done.stdout), strict=True))
    assert {query: found[query][:3] for query, page in SEARCHES.items() if page not in found[query][:3]} == {}


#: Of a page: what is wider than the screen, the smallest code, and words of code that are cut in first columns.
LOOKS = r"""
    const cut = (code) => {
        const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
        let before = null;
        while (walker.nextNode()) {
            for (let place = 0; place < walker.currentNode.length; place += 1) {
                const range = document.createRange();
                range.setStart(walker.currentNode, place);
                range.setEnd(walker.currentNode, place + 1);
                const [box] = range.getClientRects();
                if (!box) continue;
                const letter = /\w/.test(range.toString());
                if (before && letter && before.letter && box.top > before.bottom - 2) return true;
                before = { letter, bottom: box.bottom };
            }
        }
        return false;
    };
    const all = (selector) => [...document.querySelectorAll(selector)];
    const blocks = all("pre > code");
    const boxes = all("html, pre > code, .md-typeset table");
    return {
        wide: boxes.filter((node) => node.scrollWidth > node.clientWidth + 1).length,
        small: blocks.filter((block) => parseFloat(getComputedStyle(block).fontSize) < 13).length,
        cut: all("table :is(td, th):first-child code").filter(cut).map((code) => code.textContent)
    }"""


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Any]:
    started = start_browser(tmp_path / "browser")
    yield started
    started.quit()


@pytest.mark.parametrize("width", [1280, 390])
def test_code_is_large_and_never_cut(browser: Any, site: Path, width: int):
    """Long lines of examples go on below, and code in first columns breaks between its parts."""
    with emulated(browser, width):
        # The page of missing pages has absolute links, and no style on a disk.
        for page in sorted({*site.rglob("*.html")} - {site / "404.html"}):
            browser.get(page.as_uri())
            looks = browser.execute_script(LOOKS)
            assert looks == {"wide": 0, "small": 0, "cut": []}, page.relative_to(site)


def test_an_example_is_copied_as_it_is(browser: Any, site: Path):
    """The theme copies the text that a browser shows while the code has this attribute."""
    browser.get((site / "guides/lightning.html").as_uri())
    copies = """
        return [...document.querySelectorAll("pre > code")].map((code) => {
            code.setAttribute("data-md-copying", "");
            return [code.innerText.trimEnd(), code.textContent.trimEnd()];
        })"""
    for copied, written in browser.execute_script(copies):
        assert copied == written


def test_the_front_page_answers_in_ten_rows(site: Path):
    front = (site / "index.html").read_text(encoding="utf-8")
    (rows,) = re.findall("<tbody>(.*?)</tbody>", front, re.DOTALL)
    assert rows.count("<tr>") <= 10


def test_getting_started_comes_first(site: Path):
    front = (site / "index.html").read_text(encoding="utf-8")
    pages = re.findall(r'href="(start/\w+\.html)" class="md-nav__link"', front)
    assert pages[0] == "start/getting_started.html"
