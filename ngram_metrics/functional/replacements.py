"""Replacements for functions of fastchrf, chrF of rows of texts, and of torch_ngram, the overlap of padded ids."""

from __future__ import annotations

from typing import TypeGuard

import torch
from torch import Tensor
from torch.nn.functional import pad

from ngram_metrics._core.basics.keywords import named_arguments
from ngram_metrics._core.basics.option_checks import checked_bool
from ngram_metrics._core.counting.numpy_matches import must_use_torch
from ngram_metrics._core.counting.pools import SMALL_SLOTS, SmallLayout, row_layout, small_aggregates
from ngram_metrics._core.counting.python_matches import list_totals, match_ngrams
from ngram_metrics._core.metrics.chrf import ChrfMeasure, count_fields
from ngram_metrics._core.scoring.pair_scores import aggregate_scores, pair_scores, score_aggregates, score_row
from ngram_metrics._core.text.character_reader import CharacterReader, number_characters
from ngram_metrics._core.text.groups import read_rows
from ngram_metrics._core.text.input_types import Groups
from ngram_metrics._core.text.messages import pluralize, type_name
from ngram_metrics._core.text.word_rules import remove_whitespace
from ngram_metrics.functional.score_functions import ngram_overlap

#: Up to this cost plain Python is faster than arrays. The cost is the characters of all pairs, plus 30 for each pair,
#: minus 3/4 of the characters of the row.
_SHORT_ROW = 630


@named_arguments
def pairwise_chrf(
    hypotheses: Groups,
    references: Groups,
    char_order: int = 6,
    beta: float = 2.0,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
    device: torch.device | str | None = None,
) -> Tensor | list[Tensor]:
    """Return chrF of each hypothesis with each reference of its row, like fastchrf's ``pairwise_chrf``.

    Args:
        hypotheses: at least one row, each with any number of texts; see ``_core.text.groups``.
        references: as many rows of references; the same object, or the same texts, are counted once.
        char_order: the longest order of character n-grams, 1 to 1,000.
        beta: how much recall weighs against precision, 0 to 1e15.
        remove_whitespace: whether whitespace is left out.
        eps_smoothing: whether F is averaged over all orders; see ``_core.metrics.chrf``.
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
    whitespace = not checked_bool(remove_whitespace, "remove_whitespace")
    counted_on = torch.device("cpu" if device is None else device)
    if _is_one_row(hypotheses) and _is_one_row(references) and _are_few(hypotheses[0] + references[0], counted_on):
        if _is_short_row(hypotheses[0], references[0]):
            return _score_short_row(measure, hypotheses[0], references[0], whitespace)
        others = [] if hypotheses[0] == references[0] else references[0]  # equal rows are counted once
        layout = _row_layout(hypotheses[0], others, whitespace, measure.char_order)
        if layout.is_small:
            return score_row(measure, layout).mul_(100)
    reader = CharacterReader(whitespace=whitespace)
    scores = pair_scores(measure, read_rows(reader, hypotheses, references), counted_on)
    return scores.mul_(100) if isinstance(scores, Tensor) else [row.mul_(100) for row in scores]


@named_arguments
def aggregate_chrf(
    hypotheses: Groups,
    references: Groups,
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
    whitespace = not checked_bool(remove_whitespace, "remove_whitespace")
    counted_on = torch.device("cpu" if device is None else device)
    if _is_one_row(hypotheses) and _is_one_row(references) and _are_few(hypotheses[0] + references[0], counted_on):
        if len(references[0]) == 1 and _is_short_row(hypotheses[0], references[0]):  # one reference is its aggregate
            return _score_short_row(measure, hypotheses[0], references[0], whitespace).squeeze(2)
        layout = _row_layout(hypotheses[0], references[0], whitespace, measure.char_order)
        if layout.is_small:
            return score_aggregates(measure, small_aggregates(layout)).mul_(100).unsqueeze(0)
    reader = CharacterReader(whitespace=whitespace)
    ((hypothesis_groups, reference_groups),) = read_rows(reader, hypotheses, references)
    scores = 100 * aggregate_scores(measure, hypothesis_groups, reference_groups, counted_on)
    hypothesis_counts = hypothesis_groups.counts.tolist()
    sizes = set(zip(hypothesis_counts, reference_groups.counts.tolist(), strict=True))
    rows = scores.split(hypothesis_counts)
    return torch.stack(rows) if len(sizes) == 1 else list(rows)


def _is_one_row(side: Groups) -> TypeGuard[list[list[str]]]:
    """Return whether a side is a list with a single list of texts."""
    return type(side) is list and len(side) == 1 and type(side[0]) is list and set(map(type, side[0])) == {str}


def _are_few(texts: list[str], device: torch.device) -> bool:
    """Return whether texts, which are counted on a device, are few enough for arrays of numpy."""
    return device.type == "cpu" and sum(map(len, texts)) <= SMALL_SLOTS and not must_use_torch()


def _is_short_row(hypotheses: list[str], references: list[str]) -> bool:
    """Return whether plain Python counts single rows sooner than arrays do: a few pairs of short texts."""
    characters = [sum(map(len, side)) for side in (hypotheses, references)]
    pairs = len(hypotheses) * len(references)
    in_pairs = characters[0] * len(references) + characters[1] * len(hypotheses)
    if hypotheses == references:
        characters = characters[:1]
        pairs = pairs - len(hypotheses) >> 1  # a text with itself, or the other way round, is not counted
        in_pairs = characters[0] * (len(hypotheses) - 1)
    return in_pairs + 30 * pairs - 3 * sum(characters) // 4 <= _SHORT_ROW


def _score_short_row(measure: ChrfMeasure, hypotheses: list[str], references: list[str], whitespace: bool) -> Tensor:
    """Return chrF of all pairs in plain Python, ``(1, hypotheses, references)``."""
    sides = [[text if whitespace else remove_whitespace(text) for text in side] for side in (hypotheses, references)]
    matches: dict[tuple[str, ...], list[int]] = {}
    scores = []
    for hypothesis in sides[0]:
        totals = list_totals(len(hypothesis), measure.char_order)
        for reference in sides[1]:
            pair = tuple(sorted((hypothesis, reference)))  # the matches are the same in either order
            if hypothesis == reference:
                matches[pair] = totals
            elif pair not in matches:
                matches[pair] = match_ngrams(hypothesis, [reference], measure.char_order)
            counts = count_fields(matches[pair], totals, len(reference))
            scores.append(100 * measure.score_in_python(counts))
    shape = 1, len(hypotheses), len(references)
    return torch.tensor(scores, dtype=torch.float64, device="cpu").view(shape)


def _row_layout(hypotheses: list[str], references: list[str], whitespace: bool, char_order: int) -> SmallLayout:
    """Lay out the characters of single rows of texts for counting."""
    return row_layout(number_characters(hypotheses + references, whitespace), len(hypotheses), char_order)


@named_arguments
def get_score(ref_tensor: Tensor, sys_tensor: Tensor, pad_id: int, n_gram: int) -> Tensor:
    """Return the overlap of each sample with its reference: torch_ngram's ``get_score`` with exact clipped counts.

    Args:
        ref_tensor: ``(batch, width)`` of an integer dtype, padded ids.
        sys_tensor: ``(batch, samples, width)`` of an integer dtype, padded ids.
        pad_id: the id that is padding.
        n_gram: the order, 1 to 1,000.

    Returns:
        ``(batch, samples)`` float32 from 0 to 1, as torch_ngram's. It is computed as by ``ngram_overlap``, and
        rounded once. ``_core.metrics.overlap`` lists the differences from torch_ngram.

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
            f"ref_tensor has shape {tuple(ref_tensor.shape)} and sys_tensor {tuple(sys_tensor.shape)}: "
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
    """
    if not input_tensors:
        raise ValueError("input_tensors is empty: expected at least one tensor")
    for index, tensor in enumerate(input_tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"tensor {index} is {type_name(tensor)}: expected int64 token ids")
        if tensor.dtype != torch.int64 or tensor.dim() == 0:
            raise TypeError(
                f"tensor {index} is {tensor.dtype} of {pluralize(tensor.dim(), 'dimension')}: expected int64 token ids"
            )
    longest = max(tensor.shape[-1] for tensor in input_tensors)
    return torch.stack([pad(tensor, (0, longest - tensor.shape[-1]), value=pad_id) for tensor in input_tensors])
