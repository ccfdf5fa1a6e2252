"""Padded ids: tensors and arrays as ``preds``, ``target`` or a single segment, and samples.

This module does not import torch before it gets an array.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ngram_metrics._core.text.foreign_values import list_column, tensor_and_array_types, tensor_types
from ngram_metrics._core.text.messages import pluralize, shortened
from ngram_metrics._core.text.segments import PaddedSegments

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

#: Kinds of numpy dtypes that hold objects or text.
NO_NUMBERS = "OUST"
#: Advice for the errors of a tensor of another number of dimensions.
ONE_SEGMENT_ADVICE = "pass a single segment of ids in a list, as in [ids]"
SAMPLES_ADVICE = (
    "if each segment has several samples, flatten them to (segments * samples, width), and repeat its references"
)


def to_tensor_or_list(value: object, where: str) -> Any:
    """Return an array of numbers as a tensor, other arrays and columns of tables as lists, and other objects unchanged.

    Masked ids are left out of a 1-D array, and become negative in others.

    Raises:
        TypeError: a tensor or array of another dtype than integers, or a uint64 tensor on an accelerator; a nested,
            quantized or sparse tensor; a masked array of objects or str; a table with several columns. The message
            calls it ``where``.
        ValueError: an id of 2^63 or more.
    """
    if isinstance(value, (list, tuple, str)):
        return value
    if isinstance(value, tensor_types()):
        return _to_signed(value, where)
    if isinstance(value, np.ndarray):
        return _array_to_tensor_or_list(value, where)
    return list_column(value, where)


def _array_to_tensor_or_list(array: NDArray[Any], where: str) -> Tensor | list[Any]:
    """Return an array as ``to_tensor_or_list`` does."""
    import torch

    is_masked = np.ma.is_masked(array)
    if array.dtype.kind in NO_NUMBERS:
        if is_masked:
            raise TypeError(f"{where} is a masked array of {array.dtype}: expected a masked array of ids")
        return array.tolist()
    if is_masked and isinstance(array, np.ma.MaskedArray) and array.dtype.kind in "iu":
        hidden = torch.from_numpy(np.array(np.ma.getmaskarray(array), order="C"))
        ids: Tensor = to_tensor_or_list(array.filled(0), where)
        return ids[~hidden] if array.ndim == 1 else ids.long().masked_fill(hidden, -1)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{where} is an array of {array.dtype}: expected token ids of an integer dtype, such as int64")
    # A copy, because torch takes no read-only arrays, negative strides, or foreign byte orders.
    ids = torch.from_numpy(np.array(array, dtype=array.dtype.newbyteorder("="), order="C"))
    return _to_signed(ids, where)


def is_dense(ids: Tensor) -> bool:
    """Return whether a tensor is neither nested, quantized nor sparse."""
    import torch

    return not (ids.is_nested or ids.is_quantized) and ids.layout == torch.strided


def _to_signed(ids: Tensor, where: str) -> Tensor:
    """Return ids in an integer dtype that torch can compare, or raise as ``to_tensor_or_list`` does."""
    import torch

    if not is_dense(ids):
        raise TypeError(f"{where} is a nested, quantized or sparse tensor: expected a dense one")
    if ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool:
        raise TypeError(f"{where} is a tensor of {ids.dtype}: expected token ids of an integer dtype, such as int64")
    if ids.dtype != torch.uint64:
        return ids.long() if ids.dtype in (torch.uint16, torch.uint32) else ids
    if ids.device.type != "cpu":
        raise TypeError(
            f"{where} is a tensor of torch.uint64 on {ids.device}: expected int64, because looking for ids of 2^63 "
            "or more would have to wait for the device"
        )
    signed = ids.view(torch.int64)
    if (signed < 0).any():
        raise ValueError(f"{where} has the id {int(signed[signed < 0][0]) + 2**64}: expected ids below 2^63")
    return signed


def read_padded(preds: Tensor, target: Tensor) -> PaddedSegments:
    """Check the shapes of padded hypotheses and padded references."""
    check_rows("preds", preds)
    if target.dim() not in (2, 3):
        raise ValueError(
            f"target has shape {tuple(target.shape)}: expected (segments, width) or (segments, references, width)"
        )
    if len(preds) != len(target):
        raise ValueError(
            f"preds has {pluralize(len(preds), 'segment')} and target has {len(target)}: expected a row of target "
            "for each segment"
        )
    if preds.device != target.device:
        raise ValueError(f"preds is on {preds.device} and target is on {target.device}: expected the same device")
    if target.dim() == 2:
        return PaddedSegments(preds, target.unsqueeze(1))
    if target.shape[1] == 0 and len(target) > 0:
        raise ValueError(f"target has shape {tuple(target.shape)}: expected at least one reference per segment")
    return PaddedSegments(preds, target)


def check_rows(name: str, ids: Tensor) -> None:
    """Raise ValueError if padded ids do not have two dimensions."""
    if ids.dim() != 2:
        advice = SAMPLES_ADVICE if ids.dim() == 3 else ONE_SEGMENT_ADVICE
        raise ValueError(f"{name} has shape {tuple(ids.shape)}: expected (segments, width); {advice}")


def read_samples(preds: Tensor | NDArray[np.generic], target: object, padding: Container[int]) -> PaddedSegments:
    """Read samples ``(segments, samples, width)``. Each sample becomes a segment, with the references of its segment.

    ``padding`` has the ids that are not tokens.
    """
    segments, samples, _ = preds.shape
    references = _read_references_of_samples(target, segments)
    if references.dim() not in (2, 3) or len(references) != segments:
        raise ValueError(
            f"preds has shape {tuple(preds.shape)} and target has shape {tuple(references.shape)}: "
            f"{_expected_references(segments)}"
        )
    if not isinstance(target, tensor_and_array_types()):
        # Unlike in a padded tensor, negative ids in lists are an error.
        for index, ids in enumerate(references.flatten(1).tolist()):
            refuse_negative([token for token in ids if token not in padding], f"a reference of segment {index}")
    repeated = references.repeat_interleave(samples, 0, output_size=samples * segments)
    hypotheses = to_tensor_or_list(preds, "preds").flatten(0, 1)  # (segments * samples, width)
    padded = read_padded(hypotheses, _to_signed(repeated, "target"))
    return padded._replace(leading_shape=(segments, samples))


def _read_references_of_samples(target: object, segments: int) -> Tensor:
    """Return the references of samples as a tensor. Lists of one length are welcome too."""
    tensors = tensor_types()
    if isinstance(target, tensors):
        return target
    try:
        references = to_tensor_or_list(np.ma.asanyarray(target), "target")
    except ValueError as error:
        raise ValueError(f"target is ragged, but the samples are padded: {_expected_references(segments)}") from error
    if not isinstance(references, tensors):
        raise TypeError(f"target is {shortened(target)}, but the samples are padded: {_expected_references(segments)}")
    return references


def _expected_references(segments: int) -> str:
    return f"expected references ({segments}, width) or ({segments}, references, width)"


def refuse_negative(ids: Sequence[int], where: str) -> None:
    """Raise ValueError for a negative id in the segment called ``where``."""
    negative = [token for token in ids if token < 0]
    if negative:
        raise ValueError(
            f"{where} has the id {shortened(negative[0])}, which is negative: expected ids from 0 on; if it marks "
            "padding, add it to pad_id"
        )
