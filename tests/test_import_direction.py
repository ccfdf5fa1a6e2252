"""Imports inside the package go one way; see the drawing in docs/architecture.md.

counting <- {text, scores} <- functional <- {pair, torchmetrics, mbr, significance} <- {ignite, lightning, cli, report}

The source of every module is parsed, not run, so an import inside a function counts too.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = "ngram_metrics"
SOURCE = Path(__file__).parent.parent / PACKAGE

# "the package" stands for `ngram_metrics/__init__.py`, the table of contents.
_COUNTS = {"checks", "counting"}
_FUNCTIONAL = _COUNTS | {"text", "scores", "scorer", "functional"}
_FACES = _FUNCTIONAL | {"torchmetrics", "mbr", "significance", "the package"}
_OUTSIDE = _FACES | {"ignite", "ignite_face", "hugging_face", "cli", "report", "evaluation"}
_LOGGERS = _FACES - {"the package"} | {"sentence_table"}
MAY_IMPORT = {
    "checks": {"checks"},
    "counting": _COUNTS,
    "text": _COUNTS | {"text"},
    "scores": _COUNTS | {"scores"},
    "scorer": _FUNCTIONAL - {"functional"},
    "functional": _FUNCTIONAL,
    "pair": _FUNCTIONAL | {"pair"},
    "torchmetrics": _FACES - {"the package"},
    "mbr": _FACES - {"the package"},
    "significance": _FACES - {"the package"},
    "the package": _FACES | {"evaluation"},
    "ignite": _OUTSIDE,
    "ignite_face": _FACES - {"the package"} | {"ignite_face"},
    "hugging_face": _FACES - {"the package"} | {"hugging_face"},
    "sentence_table": _FUNCTIONAL - {"functional"},
    "lightning": _LOGGERS,
    "ignite_handler": _LOGGERS | {"ignite_face"},
    "cli": _FACES | {"cli", "evaluation"},
    "evaluation": _FUNCTIONAL - {"functional"} | {"scorer", "significance", "evaluation"},
    "report": {"evaluation", "scorer", "text"},
    "__main__": _OUTSIDE,
}

# A third-party package that only these layers may import.
ONLY_IN = {
    "ignite": {"ignite", "ignite_face", "ignite_handler"},
    "lightning": {"lightning"},
    "torchmetrics": {"torchmetrics", "hugging_face", "lightning"},
}


def layer_of(module: str) -> str:
    """The layer of a dotted module name inside the package."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "the package"


def module_name(path: Path) -> str:
    """The dotted name of the file `path`, given from the folder that holds the package."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_names(tree: ast.AST, path: Path) -> Iterator[tuple[int, str]]:
    """The line and the absolute name of all that is imported.

    `from a import b` gives `a.b`: b may be a module; where it is not, the layer is still that of a.
    """
    package = path.parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            for alias in node.names:
                yield node.lineno, ".".join((*base, *filter(None, [node.module]), alias.name))


def target_layer(name: str) -> str:
    """The layer of an imported name; `ngram_metrics.Bleu` lies in the package itself."""
    layer = layer_of(name)
    return layer if layer in MAY_IMPORT else "the package"


def uses_of_nn(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the name of each attribute of `torch.nn` that is used without importing it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "torch.nn":
            yield node.lineno, f"torch.nn.{node.attr}"


def is_module_of_nn(name: str) -> bool:
    return (name + ".").startswith("torch.nn.") and not name.startswith("torch.nn.functional")


def violations(source: str, path: Path) -> list[str]:
    """What the file `path` with this source imports against the rules: `file:line: why`."""
    tree = ast.parse(source)
    layer = layer_of(module_name(path))
    if layer not in MAY_IMPORT:
        return [f"{path}:1: {layer!r} is in no layer; the layers are {', '.join(MAY_IMPORT)}"]

    found = []
    for line, name in imported_names(tree, path):
        root = name.partition(".")[0]
        here = f"{path}:{line}: imports {name}"
        if root == PACKAGE:
            if target_layer(name) not in MAY_IMPORT[layer]:
                allowed = ", ".join(sorted(MAY_IMPORT[layer]))
                found.append(f"{here}: {layer} may import only {allowed}")
        elif layer not in ONLY_IN.get(root, {layer}):
            found.append(f"{here}: only {', '.join(ONLY_IN[root])} may import {root}")
        elif layer == "counting" and root not in {"torch", "numpy", "rapidfuzz", *sys.stdlib_module_names}:
            found.append(f"{here}: counting may import only torch, numpy, rapidfuzz and the standard library")

    if layer == "functional":
        for line, name in (*imported_names(tree, path), *uses_of_nn(tree)):
            if is_module_of_nn(name):
                found.append(f"{path}:{line}: imports {name}: functional has no nn.Module")
    return found


def test_imports_go_one_way():
    paths = sorted(SOURCE.rglob("*.py"))
    assert SOURCE / "__init__.py" in paths
    found = [
        violation
        for path in paths
        for violation in violations(path.read_text("utf-8"), path.relative_to(SOURCE.parent))
    ]
    assert not found, "\n".join(["imports against the direction:", *found])


@pytest.mark.parametrize(
    ("path", "source"),
    [
        # Each layer and one to its right, written in every way there is.
        ("counting/keys.py", "from ngram_metrics.scores.bleu import score"),
        ("counting/keys.py", "from ..text import encoding"),
        ("counting/__init__.py", "from .. import functional"),
        ("scores/bleu.py", "import ngram_metrics.functional"),
        ("functional.py", "from .torchmetrics import Bleu"),
        ("functional.py", "from . import mbr"),
        ("mbr.py", "from ngram_metrics import cli"),
        ("torchmetrics/deep/er.py", "from ...ignite import Bleu"),
        ("__init__.py", "from .ignite import Bleu"),
        # text and scores do not know one another.
        ("text/encoding.py", "from ..scores import bleu as other"),
        ("scores/rouge.py", "from ngram_metrics import text"),
        # The table of contents lies above what it lists.
        ("torchmetrics/bleu.py", "import ngram_metrics"),
        ("functional.py", "from . import Bleu"),
        ("scores/bleu.py", "from ngram_metrics import *"),
        # Inside a function, and for the type checker only.
        ("scores/bleu.py", "def f():\n    from ..text import encoding"),
        ("scores/bleu.py", "if TYPE_CHECKING:\n    from ..text import encoding"),
        # Third parties.
        ("counting/keys.py", "import sacrebleu"),
        ("counting/keys.py", "from torchmetrics import Metric"),
        ("functional.py", "from torchmetrics.utilities import dim_zero_cat"),
        ("ignite.py", "import torchmetrics"),
        ("torchmetrics/bleu.py", "from ignite.metrics import Metric"),
        ("sentence_table.py", "from lightning.pytorch import Callback"),
        ("functional.py", "from torch import nn"),
        ("functional.py", "from torch.nn import Module"),
        ("functional.py", "import torch\nclass Score(torch.nn.Module): ..."),
        # A file that nobody has given a layer.
        ("utils.py", ""),
    ],
)
def test_a_violation_is_reported_with_its_place(path, source):
    (report,) = violations(source, Path(PACKAGE, path))
    line = source.count("\n") + 1 if "class" not in source else 2
    assert report.startswith(f"{Path(PACKAGE, path)}:{line}: ")


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("counting/keys.py", "import math\nimport torch.nn.functional as F\nfrom . import matches"),
        ("text/encoding.py", "from nltk.stem import porter\nfrom ..counting.keys import rank"),
        (
            "scores/bleu.py",
            "from ngram_metrics.counting import matches\nfrom .overlap import score",
        ),
        ("functional.py", "from .text import encode\nfrom .scores import bleu, chrf"),
        ("functional.py", "import torch\nx = torch.nn.functional.pad(y, (0, 1))"),
        ("torchmetrics/accumulator.py", "from torchmetrics import Metric\nfrom .. import significance"),
        ("__init__.py", "from .torchmetrics import Bleu"),
        ("ignite.py", "from ignite.metrics import Metric\nfrom .functional import bleu_score"),
        ("cli.py", "from . import __version__, functional"),
    ],
)
def test_what_the_direction_allows(path, source):
    assert violations(source, Path(PACKAGE, path)) == []


def test_the_report_names_file_line_import_and_rule():
    source = "import torch\n\nfrom ..text.reader import encode\n"
    assert violations(source, Path(PACKAGE, "scores/bleu.py")) == [
        "ngram_metrics/scores/bleu.py:3: imports ngram_metrics.text.reader.encode: "
        "scores may import only checks, counting, scores"
    ]
