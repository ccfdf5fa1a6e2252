"""torch, numpy and RapidFuzz are imported when they are used, and then are the modules themselves."""

import subprocess
import sys

import pytest

#: What is left of placeholders in the modules of the package.
LEFT = """
import sys
from ngram_metrics._core.basics.lazy import _Placeholder
left = [name for name, module in list(sys.modules.items()) if name.startswith("ngram_metrics.")
        for value in vars(module).values() if isinstance(value, _Placeholder)]
assert not left, left
"""


def test_the_first_use_gives_every_module_torch_itself():
    program = f"""
import sys
from ngram_metrics._core.metrics import bleu, rouge
assert not {{"numpy", "rapidfuzz", "torch"}} & {{*sys.modules}}
assert bleu.torch.Tensor is rouge.torch.Tensor
import torch
from ngram_metrics._core.text import labels  # after the first use
assert bleu.torch is rouge.torch is labels.torch is torch
{LEFT}"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name", ["functional", "counting", "_torchmetrics"])
def test_what_a_graph_may_record_imports_them_at_once(name: str):
    """``torch.compile`` with ``fullgraph`` does not trace an import."""
    program = f"from ngram_metrics._core.metrics import rouge; import ngram_metrics.{name}\n{LEFT}"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_other_threads_may_import_meanwhile():
    program = """
import sys
from types import ModuleType

class Name(str):
    def startswith(self, prefix):
        sys.modules["made meanwhile"] = ModuleType("made meanwhile")
        return False

sys.modules[Name("other")] = ModuleType("other")
import ngram_metrics.functional
"""
    subprocess.run([sys.executable, "-c", program], check=True)
