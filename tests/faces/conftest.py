"""How the tests of the metrics run."""

from collections.abc import Iterator

import matplotlib
import matplotlib.pyplot as plt
import pytest
import torch


@pytest.fixture
def figures() -> Iterator[None]:
    """Figures are drawn without a window, and closed."""
    backend = matplotlib.get_backend()
    matplotlib.use("Agg")
    yield
    plt.close("all")
    matplotlib.use(backend)


@pytest.fixture
def bfloat16_by_default() -> Iterator[None]:
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    yield
    torch.set_default_dtype(default)
