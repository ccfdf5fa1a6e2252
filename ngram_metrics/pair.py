"""One hypothesis and its references in one call: the scores of ``ngram_metrics.functional`` as ``float``.

For a single pair they are 1.5 to 3 times as fast: ``read`` below takes a microsecond where
``_core.text.input_forms``, which names what is wrong and where, takes six. They import neither torch nor numpy,
so a process that only scores pairs starts at once. They keep no state, and can be called from any thread and after a
fork. Settings, counts and formulas are those of the file of each metric in ``_core.metrics``, which is imported when
its function is first called.

Each function takes the options of the function of ``functional`` for the same metric, with the same defaults, but
neither ``average`` nor ``device``. It returns that function's score for ``[hypothesis]`` and ``[references]``, and
raises its errors for invalid input, but gives no warnings. Tensors, arrays, texts at which a caller's tokenizer fails,
and other unusual input are passed on to that function, which imports torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from itertools import chain
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, get_args

from ngram_metrics._core.basics.option_checks import (
    DEFAULT_ROUGE_KEYS,
    ROUGE_KEYS,
    Accumulate,
    check_choice,
    checked_keys,
)
from ngram_metrics._core.counting.python_matches import RougeText
from ngram_metrics._core.text.single_texts import read_summaries, split_characters, split_words, summary_of_ids
from ngram_metrics._core.text.tokenizer_option import is_for_text_only
from ngram_metrics._core.text.word_rules import has_splitter, prepare_texts

if TYPE_CHECKING:
    from ngram_metrics._core.basics.option_checks import RougeKey, Smoothing
    from ngram_metrics._core.metrics.rouge import RougeMeasure
    from ngram_metrics._core.scoring.measure import AnyMeasure
    from ngram_metrics._core.text.input_types import Document, Tokenizer

__all__ = ["bleu", "chrf", "rouge", "gleu", "overlap"]

_Given = ParamSpec("_Given")
_Score = TypeVar("_Score")


@lru_cache(256, typed=True)
def _make_measure(metric: str, *options: Any) -> AnyMeasure:
    """Return the same measure for equal options of a metric, whose file is imported when it is first needed."""
    from ngram_metrics._core.metrics.registry import REGISTRY

    return REGISTRY[metric].make(*options).measure


class Unusual(ValueError):
    """Input or a setting that is wrong, or that only ``ngram_metrics.functional`` reads."""


def require(condition: object) -> None:
    """Raise ``Unusual`` unless the condition is true."""
    if not condition:
        raise Unusual


def is_id(value: Any) -> bool:
    """Return whether this is an integer that int64 holds."""
    return type(value) is int and abs(value) < 1 << 63


def read(
    hypothesis: Any, references: Any, pad_id: Any, text_options: Sequence[object] = (), separator: int | None = None
) -> tuple[bool, list[Any]]:
    """Return whether the documents are texts, and the hypothesis with the references after it.

    Args:
        hypothesis: a text, or a list or tuple of tokens or of ids.
        references: a reference of the same kind, or a list or tuple of several.
        pad_id: the id or ids that are not tokens; they are dropped.
        text_options: the options for text; none of them refuses documents that are not texts.
        separator: an id that is kept, and may be negative.
    """
    padding: Sequence[Any] = ()
    if pad_id is not None:
        padding = pad_id if type(pad_id) in (list, tuple) else (pad_id,)
        require(all(map(is_id, padding)))
    if type(hypothesis) is str:
        if type(references) is str:
            return True, [hypothesis, references]
        require(set(map(type, _items(references))) == {str})
        return True, [hypothesis, *references]
    require(not any(map(is_for_text_only, text_options)))
    require(all(has_splitter(option) for option in text_options if isinstance(option, str)))
    types = set(map(type, _items(references)))
    documents = [_items(hypothesis), *(references if types and types <= {list, tuple} else [references])]
    require(references and (hypothesis or tuple not in types))  # () may be a token or a reference
    types = set(map(type, chain.from_iterable(documents)))
    require(types <= {str} or types == {int})
    if types == {int}:
        dropped = {*padding} - {separator}
        documents = [[token for token in ids if token not in dropped] for ids in documents] if dropped else documents
        # Longer ids may have one hash by the thousand: a dict of them takes quadratic time.
        require(all(0 <= token < 1 << 63 or token == separator for token in chain.from_iterable(documents)))
    return False, documents


def _items(value: Any) -> Any:
    require(type(value) in (list, tuple))
    return value


def name_document(index: int) -> str:
    """Return the name of a document in an error, as in ``functional``."""
    return f"reference {index - 1} of segment 0" if index else "segment 0"


def _else_by(name: str) -> Callable[[Callable[_Given, _Score]], Callable[_Given, _Score]]:
    """Return a decorator that refuses what is wrong, and passes other unusual input on to a function of ``functional``.

    The function that is decorated has the name of its metric in the registry.
    """

    def decorate(function: Callable[_Given, _Score]) -> Callable[_Given, _Score]:
        @wraps(function)
        def score(*args: _Given.args, **options: _Given.kwargs) -> _Score:
            try:
                return function(*args, **options)
            except (TypeError, ValueError, OverflowError):
                # The block ends before other functions are called, so that their errors have no other one before them.
                arguments = _name_arguments(function, args, options)
            _refuse_wrong(function.__name__, **arguments)
            return _call_functional(name, **arguments)

        return score

    return decorate


# What is needed for unusual and wrong input alone is imported by then, because a process for one pair starts at once.
def _name_arguments(function: Callable[..., object], args: Any, options: Any) -> dict[str, Any]:
    from ngram_metrics._core.basics.keywords import check_arguments

    return check_arguments(function, args, options)


def _refuse_wrong(metric: str, hypothesis: Any, references: Any, **options: Any) -> None:
    """Raise the error of ``functional`` for wrong options, and for wrong documents, without torch."""
    from ngram_metrics._core.metrics.registry import REGISTRY
    from ngram_metrics._core.text import input_forms

    reader = REGISTRY[metric].make(**options).reader
    segments = input_forms.read([hypothesis], [references])
    if isinstance(segments, input_forms.PaddedSegments) or segments.kind == "text":
        return
    reader.check_text_options(segments.kind)
    if {*map(type, segments.documents)} <= {list, tuple}:
        reader.read_in_python(segments)


def _call_functional(name: str, hypothesis: Any, references: Any, **options: Any) -> Any:
    from ngram_metrics import functional

    scores = getattr(functional, name)([hypothesis], [references], average="none", **options)
    return {key: value.item() for key, value in scores.items()} if isinstance(scores, dict) else scores.item()


@_else_by("bleu_score")
def bleu(
    hypothesis: Document,
    references: Document | Sequence[Document],
    ngram: int = 4,
    smooth: Smoothing = "exp",
    smooth_value: float | None = None,
    weights: Sequence[float] | None = None,
    effective_order: bool | None = None,
    tokenizer: Tokenizer | None = "13a",
    lowercase: bool = False,
    pad_id: int | Sequence[int] | None = None,
) -> float:
    """Return sacrebleu's sentence BLEU, from 0 to 1, as ``bleu_score`` of ``functional`` does.

    Args:
        hypothesis: a text, or a sequence of tokens or ids.
        references: one reference of the same kind, or a list of several.
        ngram: the longest order, 1 to 1,000.
        smooth: the smoothing, see ``_core.metrics.bleu``.
        smooth_value: the value for ``floor`` (default 0.1) and ``add-k`` (default 1).
        weights: one weight for each order; None for equal weights.
        effective_order: whether orders without any n-gram are left out; None for True, as in sacrebleu.
        tokenizer: for text: see ``_core.text.tokenizer_option``.
        lowercase: for text: whether it is lowercased.
        pad_id: for ids: the id or ids that are not tokens.

    Raises:
        ValueError, TypeError: as in ``functional``, in the same words.

    Example:
        >>> from ngram_metrics import pair
        >>> pair.bleu("The cat sat.", ["The cat sat!", "A cat sat."])
        0.8409
    """
    weights = tuple(weights) if type(weights) is list else weights
    measure = _make_measure("bleu", ngram, smooth, smooth_value, "none", weights, effective_order)
    require(type(lowercase) is bool)
    return _score_words(measure, hypothesis, references, pad_id, tokenizer, lowercase)


@_else_by("chrf_score")
def chrf(
    hypothesis: Document,
    references: Document | Sequence[Document],
    char_order: int = 6,
    word_order: int = 0,
    beta: float = 2.0,
    lowercase: bool = False,
    whitespace: bool = False,
    eps_smoothing: bool = False,
    pad_id: int | Sequence[int] | None = None,
) -> float:
    """Return chrF of one segment, from 0 to 1, as ``ngram_metrics.functional.chrf_score`` does.

    The settings are those of ``ngram_metrics.ChrF``; the input and the errors are those of ``bleu``.

    Example:
        >>> from ngram_metrics import pair
        >>> pair.chrf("abc", "abcdefgh")
        0.3225
    """
    measure = _make_measure("chrf", char_order, word_order, beta, lowercase, whitespace, eps_smoothing)
    require(type(lowercase) is type(whitespace) is bool)
    is_text, documents = read(hypothesis, references, pad_id, (lowercase, whitespace, word_order > 0))
    if is_text:
        texts = prepare_texts(documents, lowercase)
        kinds = [split_characters(text, whitespace, word_order > 0) for text in texts]
    else:
        require(all(type(token) is int or len(token) == 1 for document in documents for token in document))
        kinds = [[document] for document in documents]
    return measure.score_in_python(measure.count_in_python(kinds[0], kinds[1:]))


@_else_by("rouge_score")
def rouge(
    hypothesis: Document,
    references: Document | Sequence[Document],
    accumulate: Accumulate = "best",
    use_stemmer: bool = False,
    normalizer: Callable[[str], str] | None = None,
    tokenizer: Tokenizer | None = None,
    rouge_keys: RougeKey | Sequence[RougeKey] = DEFAULT_ROUGE_KEYS,
    sentence_splitter: Callable[[str], Sequence[str]] | None = None,
    sentence_separator_id: int | None = None,
    pad_id: int | Sequence[int] | None = None,
) -> dict[str, float]:
    """Return ROUGE of one segment or summary, as ``ngram_metrics.functional.rouge_score`` does.

    The settings are those of ``ngram_metrics.ROUGEScore``; the input and the errors are those of ``bleu``.

    Returns:
        A dict with ``<key>_fmeasure``, ``<key>_precision`` and ``<key>_recall`` for each key, each from 0 to 1.

    Example:
        >>> from ngram_metrics import pair
        >>> pair.rouge("My name is John", "Is your name John", rouge_keys="rougeL")
        {'rougeL_fmeasure': 0.5, 'rougeL_precision': 0.5, 'rougeL_recall': 0.5}
    """
    measure, names = _make_rouge_plan(tuple(rouge_keys) if type(rouge_keys) is list else rouge_keys, accumulate)
    require(type(use_stemmer) is bool and (sentence_separator_id is None or is_id(sentence_separator_id)))
    require((normalizer is None or callable(normalizer)) and (sentence_splitter is None or callable(sentence_splitter)))
    text_options = (use_stemmer, normalizer, tokenizer, sentence_splitter)
    is_text, documents = read(hypothesis, references, pad_id, text_options, sentence_separator_id)
    if is_text:
        summaries = read_summaries(documents, "Lsum" in measure.variants, *text_options, name_document)
    else:
        separator = sentence_separator_id
        summaries = [
            RougeText(ids, [ids]) if separator is None else summary_of_ids(ids, separator) for ids in documents
        ]
    if len(summaries) == 2 or accumulate == "best":
        scores = map(measure.score_key, measure.count_keys(summaries[0], summaries[1:]))
    else:
        rows = [map(measure.score_key, measure.count_keys(summaries[0], [other])) for other in summaries[1:]]
        scores = map(_mean_score, zip(*rows, strict=True))
    values: dict[str, float] = {}
    for (fmeasure_name, precision_name, recall_name), score in zip(names, scores, strict=True):
        precision, recall, fmeasure = score
        values[fmeasure_name], values[precision_name], values[recall_name] = fmeasure, precision, recall
    return values


def _mean_score(scores: Sequence[tuple[float, float, float]]) -> tuple[float, float, float]:
    """Return the means of precision, recall and F over the references."""
    precision, recall, fmeasure = zip(*scores, strict=True)
    return sum(precision) / len(scores), sum(recall) / len(scores), sum(fmeasure) / len(scores)


@lru_cache(256, typed=True)
def _make_rouge_plan(
    rouge_keys: RougeKey | Sequence[RougeKey], accumulate: Accumulate
) -> tuple[RougeMeasure, list[tuple[str, str, str]]]:
    """Check options, and return the measure of the keys, and the names of the F, precision and recall of each."""
    from ngram_metrics._core.metrics.rouge import RougeMeasure

    keys = checked_keys(rouge_keys)
    check_choice("accumulate", accumulate, get_args(Accumulate))
    names = [(f"{key}_fmeasure", f"{key}_precision", f"{key}_recall") for key in keys]
    return RougeMeasure(tuple(ROUGE_KEYS[key] for key in keys)), names


@_else_by("gleu_score")
def gleu(
    hypothesis: Document,
    references: Document | Sequence[Document],
    ngram: int = 4,
    tokenizer: Tokenizer | None = None,
    pad_id: int | Sequence[int] | None = None,
) -> float:
    """Return Google-BLEU of one segment, from 0 to 1, as ``ngram_metrics.functional.gleu_score`` does.

    The settings are those of ``ngram_metrics.Gleu``; the input and the errors are those of ``bleu``.

    Example:
        >>> from ngram_metrics import pair
        >>> pair.gleu("the cat is on the mat", "a cat is on the mat")
        0.7778
    """
    return _score_words(_make_measure("gleu", ngram), hypothesis, references, pad_id, tokenizer)


@_else_by("ngram_overlap")
def overlap(
    hypothesis: Document,
    references: Document | Sequence[Document],
    ngram: int = 1,
    tokenizer: Tokenizer | None = None,
    pad_id: int | Sequence[int] | None = None,
) -> float:
    """Return the n-gram overlap, 2c / (h + r), from 0 to 1, as ``ngram_metrics.functional.ngram_overlap`` does.

    The settings are those of ``ngram_metrics.NgramOverlap``; the input and the errors are those of ``bleu``.

    Example:
        >>> from ngram_metrics import pair
        >>> pair.overlap(["a", "a", "b"], ["a", "b", "c"])
        0.6667
    """
    return _score_words(_make_measure("overlap", ngram), hypothesis, references, pad_id, tokenizer)


def _score_words(
    measure: AnyMeasure, hypothesis: Any, references: Any, pad_id: Any, tokenizer: Any, lowercase: bool = False
) -> float:
    is_text, documents = read(hypothesis, references, pad_id, (tokenizer, lowercase))
    if is_text:
        documents = list(split_words(prepare_texts(documents, lowercase), tokenizer, name_document))
    return measure.score_in_python(measure.count_in_python(documents[0], documents[1:]))
