"""What is skipped for lack of a package or a device: tests, docstrings, and the blocks of pages.

pytest applies a conftest.py only to what lies beside and below it, so this one is above all three. What only tests need
is in tests/conftest.py.
"""

import gc
import importlib
import logging
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from documentation import imported_modules

# Without a handler the first message of absl makes one, on the captured stream of the test that is running, and every
# later message is an error on a closed stream.
logging.getLogger().addHandler(logging.NullHandler())


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
def pytest_collection() -> Any:
    """Keep modules and tests from the collector of garbage, which would walk through all of them again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


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
