"""A real browser for what is looked at: the report and the site."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

#: A window without a screen, and a browser that asks for nothing by itself.
FLAGS = [
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900", "--no-first-run", "--disable-sync"),
    *("--disable-quic", "--disable-background-networking", "--disable-component-update"),
]


def start_browser(profile: Path) -> Any:
    """Return a new browser with this folder for its files, or skip the test. Call its ``quit`` at the end."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no chromium, or no chromedriver: on Debian, apt-get install chromium chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    started.set_script_timeout(120)  # axe-core takes seconds, and the machine may be busy
    return started


@contextmanager
def emulated(page: Any, width: int, scheme: str = "light") -> Iterator[Any]:
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
