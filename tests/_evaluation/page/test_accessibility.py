"""The page for those who use no mouse or see no screen: axe-core finds nothing, and the keyboard reaches everything."""

import os
from pathlib import Path

import axe_core_python
import pytest
from browsing import emulated
from report_pages import write_report
from systems import output, references

pytestmark = pytest.mark.programs

AXE = (Path(os.path.dirname(axe_core_python.__file__)) / "axe.min.js").read_text(encoding="utf-8")
LINES = references(8)
SYSTEMS = {f"run-{number}": output(LINES, 0.1 * number, seed=number) for number in range(1, 5)}
CONTROLS = "a[href], button:not([disabled]), select, input, summary, [tabindex='0']"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    domains = [("news", "sport")[number % 2] for number in range(8)]
    write_report(path, SYSTEMS, LINES, sources=LINES[::-1], groups={"domain": domains})
    return path


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing(page, scheme, width):
    with emulated(page, width, scheme):
        page.execute_script("for (const details of document.querySelectorAll('details')) details.open = true")
        page.execute_script(AXE)
        run = "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => arguments[0](violations))"
        found = page.execute_async_script(run)
    assert [(each["id"], [node["failureSummary"] for node in each["nodes"]]) for each in found] == []


def test_the_tab_key_reaches_every_control_and_shows_where_it_is(page):
    reached = "return [...document.querySelectorAll(arguments[0])].filter((node) => node.checkVisibility()).length"
    controls = page.execute_script(reached, CONTROLS)
    assert controls > 40
    state = """
        const node = document.activeElement;
        const { outlineStyle, outlineWidth } = getComputedStyle(node);
        const known = node.matches(arguments[0]) && !node.dataset.seen;
        node.dataset.seen = "yes";
        return [known, outlineStyle !== "none" && outlineWidth !== "0px"]"""
    page.execute_script("document.activeElement.blur()")
    seen = 0
    while True:
        page.execute_cdp_cmd(
            "Input.dispatchKeyEvent", {"type": "keyDown", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
        )
        known, outlined = page.execute_script(state, CONTROLS)
        if not known:
            break
        assert outlined
        seen += 1
    assert seen == controls
