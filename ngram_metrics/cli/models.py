"""The metrics that the options name; a model of sentencepiece is read from its file."""

from __future__ import annotations

from ngram_metrics.cli.files import InputError
from ngram_metrics.cli.options import Options
from ngram_metrics.metrics import named
from ngram_metrics.scorer import Scorer
from ngram_metrics.text.inputs import Tokenizer


def chosen(options: Options) -> dict[str, Scorer]:
    """Return the metrics that the options name.

    Raises:
        InputError: a model that cannot be loaded.
        ModuleNotFoundError: a package that an option needs is not installed.
    """
    tokenizer = _model(options.spm_model) if options.spm_model else options.tokenizer or "13a"
    return {
        name: named(name, tokenizer, options.lowercase, options.chrf_lowercase, options.stem)
        for name in options.metrics
    }


def _model(path: str) -> Tokenizer:
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError as error:
        raise ModuleNotFoundError("--spm-model needs sentencepiece: pip install sentencepiece") from error
    try:
        with open(path, "rb") as file:
            model: Tokenizer = SentencePieceProcessor(model_proto=file.read())
            return model
    except OSError as error:
        raise InputError(f"--spm-model {path} cannot be read: {error.strerror}") from error
    except RuntimeError as error:
        raise InputError(f"--spm-model {path} is not a sentencepiece model") from error
