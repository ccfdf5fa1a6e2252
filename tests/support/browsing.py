"""What a reader does with the page, and what the page then shows."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def opened(browser, path: Path) -> Iterator:
    """The page, newly opened; no test leaves an error in the console."""
    browser.get("about:blank")
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    browser.get(path.as_uri())
    yield browser
    assert [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"] == []
    assert browser.execute_script("return window.ran") is None


@contextmanager
def emulated(page, width: int, scheme: str = "light") -> Iterator:
    """A screen of another size, or colours of another scheme."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    colours = [{"name": "prefers-color-scheme", "value": scheme}]
    try:
        page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": colours})
        yield page
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def texts(page, selector: str) -> list[str]:
    return page.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((node) => node.textContent)", selector
    )


def visible(page, selector: str) -> list[str]:
    """The texts of the elements that are shown."""
    return page.execute_script(
        "return [...document.querySelectorAll(arguments[0])].filter((node) => node.checkVisibility())"
        ".map((node) => node.textContent)",
        selector,
    )


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
