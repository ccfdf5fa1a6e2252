"""Replacements for fastchrf (chrF of rows of texts) and torch_ngram (the overlap of padded ids)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

from ngram_metrics._core.basics.keywords import named_arguments
from ngram_metrics._core.basics.option_checks import checked_bool
from ngram_metrics._core.basics.tensors import count_device, move_result, to_tensor
from ngram_metrics._core.metrics.chrf import ChrfMeasure
from ngram_metrics._core.scoring.pair_scores import score_aggregates, score_pools
from ngram_metrics._core.text.input_types import Rows
from ngram_metrics._core.text.messages import pluralize, type_name
from ngram_metrics._core.text.pool_reader import read_pools
from ngram_metrics._core.text.reader import CharacterReader
from ngram_metrics.functional.score_functions import ngram_overlap


@named_arguments
def pairwise_chrf(
    hypotheses: Rows,
    references: Rows,
    char_order: int = 6,
    beta: float = 2.0,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
    device: torch.device | str | None = None,
) -> Tensor | list[Tensor]:
    """Return chrF of each hypothesis with each reference of its row, like fastchrf's ``pairwise_chrf``.

    Args:
        hypotheses: at least one row, each with any number of texts. See the page "Minimum Bayes risk decoding".
        references: as many rows of references. If they are the same object as ``hypotheses``, or the same texts, they
            are counted only once.
        char_order: the longest order of character n-grams, 1 to 1,000.
        beta: how much recall weighs against precision, 0 to 1e15.
        remove_whitespace: whether whitespace is left out.
        eps_smoothing: whether F is averaged over all orders. See the page "chrF".
        device: where text is counted, by default the CPU.

    Returns:
        ``(rows, hypotheses, references)`` float64 from 0 to 100 (float32 if the device has no float64), if all rows
        have the same number of hypotheses and of references; otherwise a list with ``(hypotheses, references)`` for
        each row.

    Raises:
        TypeError: a str instead of a row, a document that cannot be read, or a setting of another type.
        ValueError: no rows, different numbers of rows, or a setting out of its range.

    Example:
        >>> from ngram_metrics.functional import pairwise_chrf
        >>> references = ["The cat sat on the mat.", "The fat cat sat on the mat.", "A cat sat on a mat."]
        >>> pairwise_chrf([["The cat sat on the mat.", "The cat sat on the hat."]], [references])
        tensor([[[100.0000,  74.6319,  55.7707],
                 [ 79.6537,  57.1529,  50.7218]]], dtype=torch.float64)
    """
    measure = ChrfMeasure(char_order, 0, beta, eps_smoothing)
    reader = CharacterReader(whitespace=not checked_bool(remove_whitespace, "remove_whitespace"))
    pools = read_pools(reader, hypotheses, references)
    return score_pools(measure, pools, device=count_device(device), scale=100)


@named_arguments
def aggregate_chrf(
    hypotheses: Rows,
    references: Rows,
    char_order: int = 6,
    beta: float = 2.0,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
    device: torch.device | str | None = None,
) -> Tensor | list[Tensor]:
    """Return chrF of each hypothesis with its row's average reference counts, like fastchrf's ``aggregate_chrf``.

    See Vamvas and Sennrich 2024, "Linear-time Minimum Bayes Risk Decoding with Reference Aggregation". This score is
    neither the mean over the references nor chrF with several references. The parameters are those of
    ``pairwise_chrf``. A row without references scores 0.

    Returns:
        ``(rows, hypotheses)`` float64 from 0 to 100 (float32 if the device has no float64), if all rows have the same
        number of hypotheses and of references; otherwise a list with ``(hypotheses,)`` for each row.

    Raises:
        TypeError, ValueError: the errors of ``pairwise_chrf``.

    Example:
        >>> from ngram_metrics.functional import aggregate_chrf
        >>> references = ["The cat sat on the mat.", "The fat cat sat on the mat.", "A cat sat on a mat."]
        >>> aggregate_chrf([["The cat sat on the mat.", "The cat sat on the hat."]], [references])
        tensor([[78.5639, 63.3719]], dtype=torch.float64)
    """
    measure = ChrfMeasure(char_order, 0, beta, eps_smoothing)
    reader = CharacterReader(whitespace=not checked_bool(remove_whitespace, "remove_whitespace"))
    (pools,) = read_pools(reader, hypotheses, references)
    scores = move_result(to_tensor(100 * score_aggregates(measure, pools)), device)
    if pools.is_even:
        return scores.reshape(pools.shape[:2])
    return list(scores.split(pools.hypotheses.tolist()))


@named_arguments
def get_score(ref_tensor: Tensor, sys_tensor: Tensor, pad_id: int, n_gram: int) -> Tensor:
    """Return the overlap of each sample with its reference: torch_ngram's ``get_score`` with exact clipped counts.

    Args:
        ref_tensor: ``(batch, width)`` of an integer dtype, padded ids.
        sys_tensor: ``(batch, samples, width)`` of an integer dtype, padded ids.
        pad_id: the id that is padding.
        n_gram: the order, 1 to 1,000.

    Returns:
        ``(batch, samples)`` float32 from 0 to 1, as in torch_ngram. It is the result of ``ngram_overlap``, rounded
        once. The page "N-gram overlap" lists the differences from torch_ngram.

    Raises:
        ValueError, TypeError: objects other than tensors, tensors of other shapes or dtypes, or an order out of its
            range.

    Example:
        >>> import torch
        >>> from ngram_metrics.functional import get_score
        >>> get_score(torch.tensor([[1, 2, 3, 4]]), torch.tensor([[[1, 2, 3, 0], [2, 4, 6, 8]]]), pad_id=0, n_gram=2)
        tensor([[0.8000, 0.0000]])
    """
    for name, ids in (("ref_tensor", ref_tensor), ("sys_tensor", sys_tensor)):
        if not isinstance(ids, Tensor):
            raise TypeError(f"{name} is {type_name(ids)}: expected a tensor of ids")
    if sys_tensor.dim() != 3 or ref_tensor.dim() != 2:
        raise ValueError(
            f"ref_tensor has shape {tuple(ref_tensor.shape)} and sys_tensor has shape {tuple(sys_tensor.shape)}: "
            "expected (batch, width) and (batch, samples, width)"
        )
    return ngram_overlap(sys_tensor, ref_tensor, n_gram, average="none", pad_id=pad_id).to(torch.float32)


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
        RuntimeError: dimensions other than the last differ, or the tensors are on different devices.
    """
    if not input_tensors:
        raise ValueError("input_tensors is empty: expected at least one tensor")
    for index, tensor in enumerate(input_tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"tensor {index} is {type_name(tensor)}: expected int64 token ids")
        if tensor.dtype != torch.int64 or tensor.dim() == 0:
            raise TypeError(
                f"tensor {index} has dtype {tensor.dtype} and {pluralize(tensor.dim(), 'dimension')}: expected int64 "
                "token ids with at least one dimension"
            )
    longest = max(tensor.shape[-1] for tensor in input_tensors)
    return torch.stack([pad(tensor, (0, longest - tensor.shape[-1]), value=pad_id) for tensor in input_tensors])
