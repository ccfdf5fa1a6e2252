"""How the tests of the metrics run."""

from collections.abc import Iterator

import matplotlib
import matplotlib.pyplot as plt
import pytest


@pytest.fixture
def figures() -> Iterator[None]:
    """Figures are drawn without a window, and closed."""
    backend = matplotlib.get_backend()
    matplotlib.use("Agg")
    yield
    plt.close("all")
    matplotlib.use(backend)
