"""Takes the screenshots of report.md: ``python docs/make_screenshots.py runs/restore_text.html``.

The report is that of ``python examples/restore_text.py``. Chromium, chromedriver and the extra ``test`` are needed.
"""

from __future__ import annotations

import base64
import io
import shutil
import sys
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver

FOLDER = Path(__file__).parent / "screenshots"


def main(report: Path) -> None:
    """Show the page on a wide screen from its table of systems, and on a phone its segments, both light and dark."""
    FOLDER.mkdir(exist_ok=True)
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    # Named, since selenium would look for one elsewhere.
    options.binary_location = shutil.which("chromium") or ""
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    with webdriver.Chrome(options=options, service=service) as browser:
        for scheme in ("light", "dark"):
            take(browser, report, f"wide_{scheme}", 1240, 1300, scheme, "systems")
            take(browser, report, f"phone_{scheme}", 390, 700, scheme, "list")


def take(browser: Any, report: Path, name: str, width: int, height: int, scheme: str, part: str) -> None:
    """Write a picture of the page from the element ``part`` on."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(report.resolve().as_uri())
    browser.execute_script("document.getElementById(arguments[0]).scrollIntoView()", part)
    picture = base64.b64decode(browser.execute_cdp_cmd("Page.captureScreenshot", {})["data"])
    # A page of few colors: 128 of them look the same in half the bytes.
    image = Image.open(io.BytesIO(picture)).convert("RGB").quantize(128)
    image.save(FOLDER / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
