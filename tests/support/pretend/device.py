"""A pretend accelerator: tensors that say they are on a device, hold real data on the CPU, and log what is asked.

    with accelerator() as log:
        metric = Bleu(device=DEVICE)
        ...
    log.counts

It refuses what CUDA refuses: operands on different devices, but for a number (a tensor of no dimension) on the CPU in
a pointwise operation, and numpy. What CUDA leaves open, the order of additions and of equal values, it draws at random.
Sums and products themselves are the CPU's, so it says nothing of their rounding, and nothing of time. What CUDA has and
other accelerators lack is refused too: `lacking.py` has the list.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from pretend.lacking import refuse_what_others_lack
from pretend.log import LAUNCH, TO_DEVICE, TO_HOST, WAIT, Log
from pretend.unordered import in_any_order, unstable_sort
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils import backend_registration
from torch.utils._python_dispatch import TorchDispatchMode

#: The type that torch leaves to backends from outside.
DEVICE = torch.device("privateuseone", 0)
#: No kernel: memory is only asked for, or looked at in another shape.
WITHOUT_KERNEL = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "_unsafe_view"}
WITHOUT_KERNEL |= {"lift", "lift_fresh", "_local_scalar_dense", "set_"}
#: Of their first operand only what is found, or written, is moved.
LOOKED_UP = {"index_select", "gather", "index", "index_add", "index_copy", "index_fill", "index_put"}
LOOKED_UP |= {"scatter", "scatter_add", "scatter_reduce"}
#: They take operands on two devices.
BETWEEN_DEVICES = {"copy_", "_to_copy", "set_"}
#: CUDA copies their indices from the CPU, and waits.
INDEXED = {"index", "index_put", "index_put_", "_index_put_impl_"}


class Elsewhere(Tensor):
    """A tensor on the device: `held` is what it holds, on the CPU."""

    held: Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, held: Tensor) -> "Elsewhere":
        made = Tensor._make_wrapper_subclass(
            cls,
            held.shape,
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=DEVICE,
        )
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError(f"{function} outside of `with accelerator()`")

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return f"Elsewhere({self.held})"


class _Calls(TorchFunctionMode):
    """Does what torch's C++ does for devices that it knows, before any operation is dispatched."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if function in (torch.tensor, torch.as_tensor) and _is_device(kwargs.get("device")):
            if isinstance(args[0], Elsewhere):
                return args[0].to(**kwargs)
            return function(*args, **{**kwargs, "device": "cpu"}).to(DEVICE)
        if function is Tensor.new_tensor and isinstance(args[0], Elsewhere):
            return torch.tensor(*args[1:], **{"dtype": args[0].dtype, **kwargs}).to(DEVICE)
        if function is Tensor.tolist and isinstance(args[0], Elsewhere):
            return args[0].cpu().tolist()
        if function is Tensor.numpy and isinstance(args[0], Elsewhere):
            raise TypeError(f"can't convert {DEVICE} device type tensor to numpy")
        return function(*args, **kwargs)


class _Operations(TorchDispatchMode):
    """Runs each operation on what the tensors hold."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self.log, self.generator = log, torch.Generator("cpu").manual_seed(0)

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        operands = _tensors(args) + _tensors(kwargs)
        name = function._schema.name.partition("::")[2]
        here = any(isinstance(operand, Elsewhere) for operand in operands)
        to = kwargs.get("device")
        if not here and not _is_device(to):
            return function(*args, **kwargs)
        if here and name not in BETWEEN_DEVICES:
            self._refuse_mixtures(function, name, operands)
            refuse_what_others_lack(function, name, args, kwargs)
        stays_here = here if to is None else _is_device(to)
        held_args, held_kwargs = _mapped(_held, args), _mapped(_held, kwargs)
        if to is not None:
            held_kwargs["device"] = torch.device("cpu")
        results = self._run(function, name, held_args, held_kwargs)
        self._count(function, name, args, kwargs, operands, results, stays_here)
        return _as_asked(function, args, kwargs, results) if stays_here else results

    def _refuse_mixtures(self, function: Any, name: str, operands: list[Tensor]) -> None:
        others = [operand for operand in operands if not isinstance(operand, Elsewhere)]
        numbers_may_be_elsewhere = torch.Tag.pointwise in function.tags or name in {"fill_", "masked_fill_", *INDEXED}
        if name in INDEXED and isinstance(operands[0], Elsewhere):
            indices = [other for other in others if other.dim()]
            for _ in indices:
                self.log.add(TO_DEVICE, name)
            others = [other for other in others if other.dtype not in (torch.int64, torch.bool) and other.dim()]
        if any(other.dim() or not numbers_may_be_elsewhere for other in others):
            raise RuntimeError(f"{function}: Expected all tensors to be on the same device, but found {DEVICE} and cpu")

    def _run(self, function: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "sort" and kwargs.get("stable") is not True:
            dim, descending = (
                kwargs.get(key, args[place] if len(args) > place else default)
                for key, place, default in (("dim", 1, -1), ("descending", 2, False))
            )
            return unstable_sort(args[0], dim, descending, self.generator)
        args, kwargs = in_any_order(name, args, kwargs, self.generator)
        return function(*args, **kwargs)

    def _count(
        self, function: Any, name: str, args: Any, kwargs: Any, operands: list[Tensor], results: Any, stays_here: bool
    ) -> None:
        if name in ("_to_copy", "copy_"):
            source = args[0] if name == "_to_copy" else args[1]
            target_here = stays_here if name == "_to_copy" else isinstance(args[0], Elsewhere)
            if isinstance(source, Elsewhere) != target_here:
                self.log.add(TO_DEVICE if target_here else TO_HOST, name, _bytes(source))
                return
            if name == "copy_" and _same_memory(_held(args[0]), source.held):
                return
        if waits(function, name, args, kwargs):
            self.log.add(WAIT, name)
        outputs = _tensors(results)
        if not function.is_view and name not in WITHOUT_KERNEL and any(map(Tensor.numel, [*operands, *outputs])):
            read, written = [_bytes(operand) for operand in operands], sum(map(_bytes, outputs))
            if name.removesuffix("_") in LOOKED_UP and len(operands) > 1:
                touched = max(read[1:]) if name.endswith("_") else written
                read[0], written = min(read[0], touched), min(written, touched)
            self.log.add(LAUNCH, name, sum(read) + written)


def _is_device(device: Any) -> bool:
    return device is not None and torch.device(device).type == DEVICE.type


# Operations take and return values, lists, tuples and dicts of them. Torch's own walk through any tree takes as long as
# all else here.


def _tensors(values: Any) -> list[Tensor]:
    if isinstance(values, Tensor):
        return [values]
    if not isinstance(values, (list, tuple, dict)):
        return []
    return [leaf for value in (values.values() if isinstance(values, dict) else values) for leaf in _tensors(value)]


def _mapped(change: Callable[[Any], Any], values: Any) -> Any:
    if isinstance(values, dict):
        return {name: _mapped(change, value) for name, value in values.items()}
    if isinstance(values, (list, tuple)):
        return type(values)([_mapped(change, value) for value in values])
    return change(values)


def _held(leaf: Any) -> Any:
    return leaf.held if isinstance(leaf, Elsewhere) else leaf


def _as_asked(function: Any, args: Any, kwargs: Any, results: Any) -> Any:
    """The results on the device; what an operation wrote to is the operand itself."""
    written = [
        kwargs[argument.name] if argument.name in kwargs else args[place]
        for place, argument in enumerate(function._schema.arguments)
        if argument.alias_info is not None
        and argument.alias_info.is_write
        and (argument.name in kwargs or place < len(args))
    ]
    if written:
        for operand in written:
            if operand.shape != _held(operand).shape:
                raise NotImplementedError(f"{function} changes the shape of what it writes to")
        return written[0] if len(written) == 1 else type(results)(written)
    return _mapped(lambda leaf: Elsewhere(leaf) if isinstance(leaf, Tensor) else leaf, results)


def waits(function: Any, name: str, args: Any, kwargs: Any) -> bool:
    """Whether the host has to know a value of a device to go on."""
    if name == "repeat_interleave":
        return kwargs.get("output_size") is None
    if name == "segment_reduce":
        return not kwargs.get("unsafe")
    if name in INDEXED:
        return any(index is not None and index.dtype in (torch.bool, torch.uint8) for index in args[1])
    return bool({torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output} & set(function.tags))


def _bytes(tensor: Tensor) -> int:
    """What a tensor takes; an expanded one what it was expanded from."""
    sizes = [size for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if stride]
    return tensor.element_size() * torch.Size(sizes).numel() if tensor.numel() else 0


def _same_memory(one: Tensor, other: Tensor) -> bool:
    """Whether a copy would be one onto itself, which torch leaves out."""
    return all(
        get(one) == get(other) for get in (Tensor.data_ptr, Tensor.size, Tensor.stride, lambda tensor: tensor.dtype)
    )


#: What torch asks a backend's module for.
_MODULE = SimpleNamespace(
    get_amp_supported_dtype=lambda: [torch.bfloat16, torch.float16],
    is_initialized=lambda: True,
    is_available=lambda: False,  # a checkpoint of torch would look for streams
    _is_in_bad_fork=lambda: False,
    current_device=lambda: 0,
    device_count=lambda: 1,
)
_LIBRARY = torch.library.Library("_", "IMPL", "AutocastPrivateUse1")


@functools.cache
def _registered() -> None:
    register = getattr(backend_registration, "_setup_privateuseone_for_python_backend", None)
    if register is None:
        pytest.skip("this torch knows no backends in Python")
    register(backend_module=_MODULE)
    # Autocast of this device casts nothing; without a fallback its operations would be missing.
    _LIBRARY.fallback(torch.library.fallthrough_kernel)


@contextmanager
def accelerator() -> Iterator[Log]:
    """Let there be a device."""
    _registered()
    log = Log()
    with _Calls(), _Operations(log):
        yield log
