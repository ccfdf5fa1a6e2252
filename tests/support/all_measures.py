"""All measures, each beside plain Python: those of measures.py, and MEASURED of each test of a metric."""

import runpy
from pathlib import Path

import measures

MEASURES = dict(measures.MEASURES)
for path in sorted((Path(__file__).parents[1] / "_core" / "metrics").glob("test_*.py")):
    if "\nMEASURED = " in path.read_text(encoding="utf-8"):
        measured = runpy.run_path(str(path))["MEASURED"]
        MEASURES |= measured if isinstance(measured, dict) else {path.stem.removeprefix("test_"): measured}
