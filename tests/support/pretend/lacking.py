"""What CUDA has, and XLA 2.9, Vulkan, MPS or other accelerators lack, get wrong, or leave to the CPU."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

INTEGERS = {torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}
#: Pointwise operations that take a mask beside numbers. A sum with the mask first is wrong on Vulkan.
MASKED = {"masked_fill", "masked_fill_", "mul", "mul_", "where"}
#: On Vulkan they write bools into the memory of numbers.
COMPARISONS = {"eq_", "ge_", "gt_", "le_", "lt_", "ne_"}


def _replaces_by_infinity(_: Tensor, *values: float | None, **options: float | None) -> bool:
    return any(value is not None and math.isinf(value) for value in (*values, *options.values()))


#: Operations, when they are refused, and what to call in their place.
LACKING: dict[str, tuple[Callable[..., bool], str]] = {
    "cumsum": (
        lambda mask, *_, dtype=None: mask.dtype == torch.bool and dtype is None,
        "it with the dtype of the sum: some sum in bool",
    ),
    "__rshift__": (
        lambda _, by: isinstance(by, Tensor) and by.dim() > 0 and by.numel() == 1,
        "torch.bitwise_right_shift: XLA shifts by 32 bits and more to 0",
    ),
    "xlogy": (lambda first, _: not (isinstance(first, Tensor) and first.dim() > 0), "it with a tensor first"),
    "nan_to_num": (_replaces_by_infinity, "it with finite numbers"),
    "aminmax": (lambda *_: True, "amin and amax"),
    "exp2": (lambda *_: True, "cumprod or pow: XLA copies to the CPU and back"),
}


def refuse_what_others_lack(function: Any, name: str, args: Any, kwargs: Any) -> None:
    """Raise an error for an operation of the list, one that mixes bool and integers, and a comparison in place."""
    is_refused, instead = LACKING.get(name.removeprefix("special_"), (None, ""))
    if is_refused is not None and is_refused(*args, **kwargs):
        raise NotImplementedError(f"{function}: not every accelerator has it; call {instead}")
    dtypes = {operand.dtype for operand in args if isinstance(operand, Tensor)}
    if torch.Tag.pointwise in function.tags and name not in MASKED and torch.bool in dtypes and dtypes & INTEGERS:
        raise NotImplementedError(f"{function}: not every accelerator mixes bool and integers; call long first")
    if name in COMPARISONS:
        raise NotImplementedError(f"{function}: not every accelerator compares in place; call {name.removesuffix('_')}")
