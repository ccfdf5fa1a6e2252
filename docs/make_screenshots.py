"""Takes the screenshots of report.md: ``python docs/make_screenshots.py runs/restore_text.html``.

The report is that of ``python examples/restore_text.py``. Chromium, chromedriver and the extra ``test`` are needed.
"""

from __future__ import annotations

import base64
import shutil
import sys
from pathlib import Path
from typing import Any

from selenium import webdriver

FOLDER = Path(__file__).parent / "screenshots"


def main(report: Path) -> None:
    """Show the page on a wide screen from its beginning, and its sentences on a dark phone."""
    FOLDER.mkdir(exist_ok=True)
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(flag)
    # Named, since selenium would look for one elsewhere.
    options.binary_location = shutil.which("chromium") or ""
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    with webdriver.Chrome(options=options, service=service) as browser:
        take(browser, report, "report", 1240, 1300, "light", "systems")
        take(browser, report, "report_dark", 390, 700, "dark", "list")


def take(browser: Any, report: Path, name: str, width: int, height: int, scheme: str, part: str) -> None:
    """Write a picture of what stands from the element ``part`` on."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(report.resolve().as_uri())
    browser.execute_script("document.getElementById(arguments[0]).scrollIntoView()", part)
    picture = browser.execute_cdp_cmd("Page.captureScreenshot", {})
    (FOLDER / f"{name}.png").write_bytes(base64.b64decode(picture["data"]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
