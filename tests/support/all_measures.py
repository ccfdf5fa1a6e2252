"""All measures, each beside plain Python: those of measures.py, and MEASURED of each test of a metric."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import measures
from measures import Measured

_TESTS = Path(__file__).parents[1] / "_core" / "metrics"


def _namespace(path: Path) -> dict[str, Any]:
    spec = spec_from_file_location(f"measured_in_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)


MEASURES: dict[str, Measured] = {
    **measures.MEASURES,
    **{
        path.stem.removeprefix("test_"): _namespace(path)["MEASURED"]
        for path in sorted(_TESTS.glob("test_*.py"))
        if "\nMEASURED = " in path.read_text(encoding="utf-8")
    },
}
