"""How the tests run: what is skipped for lack of a package or a device, and how many examples hypothesis draws."""

import importlib
import logging
import os
from collections.abc import Iterator
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from documentation import imported_modules
from hypothesis import HealthCheck, settings
from packages import OLDEST_COMPILER

# Without a handler the first message of absl makes one, on the captured stream of the test that is running, and every
# later message is an error on a closed stream.
logging.getLogger().addHandler(logging.NullHandler())

# A deadline fails on the first run of a torch operation; a red test must be red again on the next run.
settings.register_profile(
    "default", deadline=None, max_examples=25, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
# Other examples every night, and more of them: `--hypothesis-profile=nightly`, or the variable below.
settings.register_profile("nightly", settings.get_profile("default"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("NGRAM_METRICS_HYPOTHESIS", "default"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--require-all", action="store_true", help="fail where a test is skipped for lack of a package")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Keep a file in one process of pytest-xdist, which then starts what its tests share once."""
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "loadfile"


#: What only one framework imports; without it, the docstrings are not collected.
OF_FRAMEWORKS = {"ngram_metrics/ignite": "ignite", "ngram_metrics/lightning.py": "lightning"}
collect_ignore = [path for path, framework in OF_FRAMEWORKS.items() if find_spec(framework) is None]


def pytest_report_header() -> list[str]:
    return [f"not collected: {path}, without {OF_FRAMEWORKS[path]}" for path in collect_ignore]


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--require-all"):
        pytest.importorskip = import_or_fail
        collect_ignore.clear()
    # With the mark of a device only its folder is run: where the device is, what other tests need may be missing.
    if config.option.markexpr in ("cuda", "device") and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        config.args[:] = [str(Path(__file__).parent / "tests" / "devices")]


def import_or_fail(name: str, *_: object, **__: object) -> ModuleType:
    """Take the place of `pytest.importorskip`: a missing package is an error."""
    return importlib.import_module(name)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Here, where tests are collected: the process that only hands them out needs no torch.
    import torch

    # The tensors of tests are small: on a busy machine threads that wait for one another cost ten times what they save.
    torch.set_num_threads(1)
    if not torch.cuda.is_available():
        for item in items:
            if item.get_closest_marker("cuda"):
                item.add_marker(pytest.mark.skip(reason="no CUDA device"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """Run the examples of a page or a docstring up to the first that imports a missing package, and skip the rest."""
    if not isinstance(item, pytest.DoctestItem):
        return (yield)
    examples = item.dtest.examples
    for index, example in enumerate(examples):
        for module in imported_modules(example.source):
            try:
                importlib.import_module(module)
            except ImportError:
                item.dtest.examples = examples[:index]
                yield
                line = (item.dtest.lineno or 0) + example.lineno + 1
                reason = f"{item.name}, line {line}: this block and those below it need {module}"
                return pytest.importorskip(module, reason=reason, exc_type=ImportError)
    return (yield)


@pytest.fixture(params=["bfloat16 by default", "meta by default", "autocast", "inference mode"])
def surroundings(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a training loop may have set around a metric, and what must not reach its results."""
    import torch

    before = torch.get_default_dtype()
    around = {
        "meta by default": lambda: torch.device("meta"),
        "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
        "inference mode": torch.inference_mode,
    }
    try:
        with around.get(request.param, nullcontext)():
            if request.param not in around:
                torch.set_default_dtype(torch.bfloat16)
            yield
    finally:
        torch.set_default_dtype(before)


@pytest.fixture
def figures() -> Iterator[None]:
    """Figures are drawn without a window, and closed."""
    matplotlib = pytest.importorskip("matplotlib", reason="figures are drawn")
    from matplotlib import pyplot

    backend = matplotlib.get_backend()
    matplotlib.use("Agg")
    yield
    pyplot.close("all")
    matplotlib.use(backend)


@pytest.fixture
def ignite_classes() -> ModuleType:
    """The classes for ignite, in tests that are about more than them."""
    return pytest.importorskip("ngram_metrics.ignite", reason="ignite is not installed", exc_type=ImportError)


@pytest.fixture
def compiling() -> Iterator[None]:
    """Nothing is compiled before or after, and where torch.compile is too old, nothing at all."""
    import torch

    if tuple(map(int, torch.__version__.split(".")[:2])) < OLDEST_COMPILER:
        pytest.skip("torch.compile is too old, see docs/guides/rewards.md")
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()
