"""Replacements for torch_ngram's functions: the overlap of padded ids, with clipped counts."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

from ngram_metrics.functional.metrics import ngram_overlap
from ngram_metrics.scores.keywords import named_arguments
from ngram_metrics.text.messages import counted, type_name


@named_arguments
def get_score(ref_tensor: Tensor, sys_tensor: Tensor, pad_id: int, n_gram: int) -> Tensor:
    """Return the overlap of each sample with its reference: torch_ngram's ``get_score`` with exact clipped counts.

    Args:
        ref_tensor: ``(batch, width)`` of an integer dtype, padded ids.
        sys_tensor: ``(batch, samples, width)`` of an integer dtype, padded ids.
        pad_id: the id that is padding.
        n_gram: the order, 1 to 1,000.

    Returns:
        ``(batch, samples)`` in 0..1, float64 if the device has it, else float32. :mod:`ngram_metrics.scores.overlap`
        lists the differences from torch_ngram.

    Raises:
        ValueError, TypeError: objects other than tensors, tensors of other shapes or dtypes, or an order out of its
            range.

    Example:
        >>> import torch
        >>> from ngram_metrics.functional import get_score
        >>> get_score(torch.tensor([[1, 2, 3, 4]]), torch.tensor([[[1, 2, 3, 0], [2, 4, 6, 8]]]), pad_id=0, n_gram=2)
        tensor([[0.8000, 0.0000]], dtype=torch.float64)
    """
    for name, ids in (("ref_tensor", ref_tensor), ("sys_tensor", sys_tensor)):
        if not isinstance(ids, Tensor):
            raise TypeError(f"{name} is {type_name(ids)}: expected a tensor of ids")
    if sys_tensor.dim() != 3 or ref_tensor.dim() != 2:
        raise ValueError(
            f"ref_tensor has shape {tuple(ref_tensor.shape)} and sys_tensor {tuple(sys_tensor.shape)}: "
            "expected (batch, width) and (batch, samples, width)"
        )
    return ngram_overlap(sys_tensor, ref_tensor, n_gram, average="none", pad_id=pad_id)


@named_arguments
def pad2max(input_tensors: list[Tensor], pad_id: int) -> Tensor:
    """Pad id tensors to the longest and stack them, like torch_ngram's ``pad2max``.

    Args:
        input_tensors: at least one int64 tensor; all dimensions but the last must be equal.
        pad_id: the id that fills the rows.

    Returns:
        ``(tensors, ..., longest)`` int64.

    Raises:
        ValueError: an empty list.
        TypeError: an object that is not an int64 tensor.
    """
    if not input_tensors:
        raise ValueError("input_tensors is empty: expected at least one tensor")
    for index, tensor in enumerate(input_tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"tensor {index} is {type_name(tensor)}: expected int64 token ids")
        if tensor.dtype != torch.int64 or tensor.dim() == 0:
            raise TypeError(
                f"tensor {index} is {tensor.dtype} of {counted(tensor.dim(), 'dimension')}: expected int64 token ids"
            )
    longest = max(tensor.shape[-1] for tensor in input_tensors)
    return torch.stack([pad(tensor, (0, longest - tensor.shape[-1]), value=pad_id) for tensor in input_tensors])
