"""How many examples hypothesis draws, and the fixtures that tests of several folders share."""

import os
from collections.abc import Iterator
from contextlib import nullcontext
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings
from packages import OLDEST_COMPILER

# A deadline fails on the first run of a torch operation; a red test must be red again on the next run.
settings.register_profile(
    "default", deadline=None, max_examples=25, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
# Other examples every night, and more of them: `--hypothesis-profile=nightly`, or the variable below.
settings.register_profile("nightly", settings.get_profile("default"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("NGRAM_METRICS_HYPOTHESIS", "default"))


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
