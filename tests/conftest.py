"""How the tests run: the number of examples, and what happens where there is no CUDA device."""

import logging
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from importlib import metadata
from pathlib import Path
from zlib import crc32

import pytest
from covering import covering
from packages import OLDEST_COMPILER, PROJECT

# Without a handler the first message of absl makes one, on the captured stream of the test that is running, and every
# later message is an error on a closed stream.
logging.getLogger().addHandler(logging.NullHandler())


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
def compiling() -> Iterator[None]:
    """Nothing is compiled before or after, and where torch.compile is too old, nothing at all."""
    import torch

    if tuple(map(int, torch.__version__.split(".")[:2])) < OLDEST_COMPILER:
        pytest.skip("torch.compile is too old, see docs/guides/rewards.md")
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.fixture
def figures() -> Iterator[None]:
    """Figures are drawn without a window, and closed."""
    import matplotlib
    from matplotlib import pyplot

    backend = matplotlib.get_backend()
    matplotlib.use("Agg")
    yield
    pyplot.close("all")
    matplotlib.use(backend)


def mark_the_rest_of_grids(items: Iterable[pytest.Item]) -> None:
    """Mark with `grid` what a test that is marked with `covering` does not run by default.

    Each test begins at another of its cases: tests over the same cases do not all choose the same.
    """
    grids: dict[str, dict[str, pytest.Item]] = defaultdict(dict)
    others = "slow", "cuda", "vulkan", "xla"
    for item in items:
        if item.get_closest_marker("covering") and not any(map(item.get_closest_marker, others)):
            test, _, case = item.nodeid.partition("[")
            grids[test][case.rstrip("]")] = item
    for test, cases in grids.items():
        start = crc32(test.encode()) % len(cases)
        chosen = covering([*list(cases)[start:], *list(cases)[:start]])
        for case, item in cases.items():
            if case not in chosen:
                item.add_marker(pytest.mark.grid)


@pytest.hookimpl(tryfirst=True)  # before those that `-m` leaves out are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_the_rest_of_grids(items)
    # Here, where tests are collected: the process that only hands them out needs no torch.
    import torch

    # The tensors of tests are small: on a busy machine threads that wait for one another cost ten times what they save.
    torch.set_num_threads(1)
    if torch.cuda.is_available():
        return
    for item in items:
        if item.get_closest_marker("cuda"):
            item.add_marker(pytest.mark.skip(reason="no CUDA device"))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """With several processes of pytest-xdist a file stays in one, which starts what its tests share once."""
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "loadfile"


def packages_of(extra: str) -> Iterator[str]:
    """The packages of an extra of pyproject.toml, and of the extras of this package that it names."""
    for requirement in PROJECT["optional-dependencies"][extra]:
        name, extras = re.match(r"([\w-]+)(?:\[([\w,]+)\])?", requirement).groups()
        if name != PROJECT["name"]:
            yield name
        else:
            for other in extras.split(","):
                yield from packages_of(other)


def missing_packages() -> list[str]:
    """The packages that the tests need and that are not installed."""
    return [name for name in packages_of("test") if not any(metadata.Distribution.discover(name=name))]


@pytest.hookimpl(tryfirst=True)  # before hypothesis loads the profile of `--hypothesis-profile`
def pytest_configure(config: pytest.Config) -> None:
    """With the mark of a device run its folder, which needs no peer: where the device is, they may be missing."""
    if config.option.markexpr in ("cuda", "vulkan", "xla"):
        if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
            config.args[:] = [str(Path(__file__).with_name("devices"))]
    elif missing := missing_packages():
        raise pytest.UsageError(f"the tests need {', '.join(missing)}: pip install -e '.[test]'")
    register_profiles()


def register_profiles() -> None:
    """Say how many examples hypothesis draws; it is imported after a look for what is missing."""
    from hypothesis import HealthCheck, settings

    # A deadline fails on the first run of a torch operation; a red test must be red again on the next run.
    settings.register_profile(
        "default", deadline=None, max_examples=25, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
    )
    # Other examples every night, and more of them: `--hypothesis-profile=nightly`, or the variable below.
    settings.register_profile("nightly", settings.get_profile("default"), derandomize=False, max_examples=1000)
    settings.load_profile(os.environ.get("NGRAM_METRICS_HYPOTHESIS", "default"))
