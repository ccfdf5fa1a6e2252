"""The forms that ``preds`` and ``target`` may have. Every input enters through ``read``, and is checked once.

Each family of forms is read by a module of its own: ``text_segments``, ``token_segments`` (tokens and ids, which only
their types tell apart) and ``padded_segments`` (padded ids, and samples). The result is ``Segments`` or
``PaddedSegments``. None of these modules imports torch before it gets a tensor or an array.

* A ``str`` is text. Several segments are a sequence of ``str``. A single ``str`` in ``preds`` is one segment, and its
  ``target`` is one reference or a list of references. A single ``str`` in ``target`` is the reference of one segment.
* A segment of tokens is a sequence of hashables. A segment of ids is a sequence of integers, or a 1-D integer tensor
  or array. Only the type of each token decides: an integer of any type is an id, but a ``bool`` is not. Floating-point
  numbers, lists, sets, dicts, tensors and arrays are errors. Any other hashable is a token.
* A batch of ids may be one padded integer tensor or array: hypotheses ``(segments, width)``, references
  ``(segments, width)`` or ``(segments, references, width)``.
* ``target`` has one item per segment. An item that is a segment is the only reference. An item that is a sequence of
  segments holds several references. An empty item means 'no reference' and is an error; ``[""]`` or ``[[]]`` is one
  empty reference. A tuple in an item is a reference, unless the tokens of a hypothesis are tuples.
* All non-empty hypotheses and references of a batch are of one kind: text, tokens or ids.
* Ids are indices of a vocabulary. In a padded tensor or array a negative id is not a token, like ``pad_id``. In a
  sequence or 1-D tensor a negative id that is not in ``pad_id`` is an error, which the readers raise. An id that
  ``numpy.ma`` masks is not a token. In a tensor or array ids are below 2^63. In a sequence an id is any ``int``.
"""

from __future__ import annotations

from collections.abc import Container, Sized
from typing import TYPE_CHECKING

from ngram_metrics._core.text.foreign_values import tensor_and_array_types, tensor_types
from ngram_metrics._core.text.input_warnings import look_swapped
from ngram_metrics._core.text.listed_items import list_items, refuse_unequal_numbers
from ngram_metrics._core.text.padded_segments import check_rows, read_padded, read_samples, to_tensor_or_list
from ngram_metrics._core.text.segments import PaddedSegments, Segments, segment_name
from ngram_metrics._core.text.text_segments import checked_texts, read_texts
from ngram_metrics._core.text.token_segments import checked_sequences, common_kind, read_tokens

if TYPE_CHECKING:
    from torch import Tensor

    from ngram_metrics._core.text.input_types import Hypotheses, References


def read(preds: Hypotheses, target: References, padding: Container[int] | None = None) -> Segments | PaddedSegments:
    """Find the kind of a batch, and check it.

    If ``preds`` may be samples, padded ids ``(segments, samples, width)``, ``padding`` has the ids that are not tokens.

    Raises:
        TypeError: an object that is neither text, nor tokens, nor ids; segments of different kinds.
        ValueError: different numbers of segments; a segment without a reference; a tensor of a wrong shape; tensors
            on different devices; in a tensor or array an id of 2^63 or more.
    """
    if padding is not None and isinstance(preds, tensor_and_array_types()) and preds.ndim == 3:
        return read_samples(preds, target, padding)
    preds = to_tensor_or_list(preds, "preds")
    target = to_tensor_or_list(target, "target")
    tensors = tensor_types()
    if isinstance(preds, tensors) and isinstance(target, tensors):
        return read_padded(preds, target)
    try:
        return _read_sequences(preds, target)
    except (TypeError, ValueError) as error:
        if look_swapped(preds, target):
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{error}; preds and target look swapped") from error
        raise


def _read_sequences(preds: object, target: object) -> Segments:
    """Read a batch with at least one side that is a sequence."""
    preds, target = _wrap_single_segment(preds, target)
    hypotheses = list_items("preds", preds)
    items = list_items("target", target)
    refuse_unequal_numbers(hypotheses, items)
    # An empty batch could be of any kind. As text it agrees with all options.
    if len(hypotheses) == 0 or isinstance(hypotheses[0], str):
        return read_texts(hypotheses, items)
    segments = read_tokens(hypotheses, items)
    tensors = tensor_types()
    has_padded_hypotheses = isinstance(preds, tensors)
    has_padded_references = isinstance(target, tensors)
    if has_padded_hypotheses or has_padded_references:
        padded = [has_padded_hypotheses] * len(segments.hypotheses)
        padded += [has_padded_references] * len(segments.references)
        return segments._replace(padded=padded)
    return segments


def _wrap_single_segment(preds: object, target: object) -> tuple[object, object]:
    """Return both sides as batches of one segment if one of them is a single ``str``."""
    if isinstance(preds, str):
        # target is either the references of the segment, or a batch of one segment with its references.
        is_batch = isinstance(target, (list, tuple)) and len(target) == 1 and isinstance(target[0], (list, tuple))
        return [preds], target if is_batch else [target]
    if isinstance(target, str) and isinstance(preds, Sized) and len(preds) == 1:
        return preds, [target]
    return preds, target


def read_documents(ids: Hypotheses) -> Segments | Tensor:
    """Check documents of ids without references. The errors are those of ``read`` for hypotheses.

    Padded ids are returned as a tensor ``(documents, width)``. Documents of another kind are returned too.
    """
    documents = to_tensor_or_list([ids] if isinstance(ids, str) else ids, "ids")
    if isinstance(documents, tensor_types()):
        check_rows("ids", documents)
        return documents
    items = list_items("ids", documents)
    no_references = [0] * len(items)
    if not items or isinstance(items[0], str):
        return Segments("text", checked_texts(items, segment_name), [], no_references)
    hypotheses, types = checked_sequences(items, segment_name)
    return Segments(common_kind(types, hypotheses, segment_name), hypotheses, [], no_references)
