"""Modes that see whatever crosses between the host and a device.

An update of padded ids on a GPU must not make the host wait for the device, and must not copy from the host. No GPU is
needed to see whether it does: tensors of torch's ``meta`` device have shapes and no data, so code that reads a value
fails there. But what crosses from the host passes on ``meta`` without an error. Here it is one::

    with no_crossings():
        metric.update(preds, target)  # padded ids on meta, or on any other device

Where a device other than the CPU takes part, this is refused:

* copies, from the host as by ``ids.to(device)`` and to the host as by ``ids.cpu()``;
* operands on the CPU, such as an index. A number (a tensor without dimensions) in a pointwise operation is allowed:
  torch passes it by value;
* ``torch.tensor``, ``as_tensor``, ``asarray``, ``new_tensor`` and ``new`` with data from the host. They copy without an
  operation that a ``TorchDispatchMode`` could see, so a ``TorchFunctionMode`` watches the calls;
* operations that need a value, such as ``item``, and ``nonzero``, whose result has as many rows as there are values.

``crossings()`` refuses nothing and lists what crosses, to count it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

CONSTRUCTORS = {torch.tensor, torch.as_tensor, torch.asarray, Tensor.new_tensor, Tensor.new}
INDEXING = {"index", "index_put", "index_put_", "_index_put_impl_"}


@contextmanager
def no_crossings() -> Iterator[None]:
    """Raise an AssertionError where the host and a device exchange data."""

    def refuse(crossing: str) -> None:
        raise AssertionError(crossing)

    with _Constructors(refuse), _Operations(refuse):
        yield


@contextmanager
def crossings() -> Iterator[list[str]]:
    """List the operations by which the host and a device exchange data."""
    crossed: list[str] = []
    with _Constructors(crossed.append), _Operations(crossed.append):
        yield crossed


class _Constructors(TorchFunctionMode):
    def __init__(self, report: Callable[[str], None]) -> None:
        super().__init__()
        self.report = report

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        if function in CONSTRUCTORS and _is_elsewhere(result):
            data = args[1:] if function in (Tensor.new_tensor, Tensor.new) else args
            if not any(map(_is_elsewhere, tree_leaves(data))):
                self.report(f"{function.__name__}: copies from the host")
        return result


class _Operations(TorchDispatchMode):
    def __init__(self, report: Callable[[str], None]) -> None:
        super().__init__()
        self.report = report

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        operands = _tensors([args, kwargs])
        there = any(map(_is_elsewhere, operands))
        wrong = _wrong_operand(function, operands) if there else ""
        if wrong:
            self.report(f"{function}: {wrong}")
        results = function(*args, **(kwargs or {}))
        if operands and not wrong and any(_is_elsewhere(one) != there for one in _tensors(results)):
            self.report(f"{function}: copies between the host and the device")
        return results


def _is_elsewhere(value: Any) -> bool:
    """Whether this is a tensor that is not on the CPU."""
    return isinstance(value, Tensor) and value.device.type != "cpu"


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def _wrong_operand(function: Any, operands: list[Tensor]) -> str:
    """Say what is wrong with the operands of an operation on a device; "" if nothing is."""
    name = function._schema.name.partition("::")[2]
    takes_numbers = torch.Tag.pointwise in function.tags or name in {"fill_", "masked_fill_", *INDEXING}
    if any(not _is_elsewhere(operand) and (operand.dim() or not takes_numbers) for operand in operands):
        return "an operand is on the host"
    # With indices, or the size of its output, these read nothing; `meta` refuses masks, and to go without the size.
    may_read = {torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output} & set(function.tags)
    return "the host has to know a value" if may_read and name not in {"repeat_interleave", *INDEXING} else ""
