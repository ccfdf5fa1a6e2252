"""Modes that see what crosses between the host and a device, without a GPU.

Tensors of torch's ``meta`` device have shapes and no data: code that reads a value fails there. What crosses from the
host passes on ``meta`` without an error; under ``no_crossings()`` it is one. Where a tensor takes part that is not on
the CPU, these are refused:

* copies, such as ``ids.to(device)`` and ``ids.cpu()``;
* operands on the CPU, such as an index, except a number in a pointwise operation, which torch passes by value;
* ``torch.tensor`` and its like with data from the host. No ``TorchDispatchMode`` sees these copies, so a
  ``TorchFunctionMode`` watches the calls;
* operations that need a value, such as ``item``, and ``nonzero``, whose result has as many rows as there are values.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

CONSTRUCTORS = {torch.tensor, torch.as_tensor, torch.asarray, Tensor.new_tensor, Tensor.new}
INDEXING = {"index", "index_put", "index_put_", "_index_put_impl_"}


@contextmanager
def crossings(report: Callable[[str], None] | None = None) -> Iterator[list[str]]:
    """List the operations by which the host and a device exchange data, or report each of them."""
    crossed: list[str] = []
    with _Constructors(report or crossed.append), _Operations(report or crossed.append):
        yield crossed


def no_crossings() -> AbstractContextManager[object]:
    """Raise an AssertionError where the host and a device exchange data."""
    return crossings(_refuse)


def _refuse(crossing: str) -> None:
    raise AssertionError(crossing)


class _Reporting:
    def __init__(self, report: Callable[[str], None]) -> None:
        super().__init__()
        self.report = report


class _Constructors(_Reporting, TorchFunctionMode):
    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        if function in CONSTRUCTORS and _is_elsewhere(result):
            data = args[1:] if function in (Tensor.new_tensor, Tensor.new) else args
            if not any(map(_is_elsewhere, tree_leaves(data))):
                self.report(f"{function.__name__}: copies from the host")
        return result


class _Operations(_Reporting, TorchDispatchMode):
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
    # Given integer indices or an output size, these read no value. Otherwise `meta` itself raises.
    may_read = {torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output} & set(function.tags)
    return "the host has to know a value" if may_read and name not in {"repeat_interleave", *INDEXING} else ""
