"""The options that all commands have, and what argparse is told about their values."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any

#: The names of :mod:`ngram_metrics.text.rules` and of sacrebleu's that ask MeCab; written out, since to ask takes
#: seconds.
TOKENIZERS = ("13a", "char", "intl", "ja-mecab", "ko-mecab", "none", "unicode", "zh")
#: Which metrics an option is for.
_FOR = {
    "tokenizer": ("bleu", "overlap", "gleu"),
    "spm_model": ("bleu", "overlap", "gleu"),
    "lowercase": ("bleu",),
    "chrf_lowercase": ("chrf", "chrf++"),
    "stem": ("rouge",),
}
_DEVICE = re.compile(r"cpu|(cuda|xpu|mps)(:\d+)?")


def add_text_options(parser: argparse.ArgumentParser) -> None:
    """Add what says how text is read."""
    text = parser.add_argument_group("how text is read")
    text.add_argument(
        "--tokenizer",
        "-tok",
        choices=TOKENIZERS,
        metavar="NAME",
        help=f"for bleu, overlap and gleu: {', '.join(TOKENIZERS)}; default: 13a",
    )
    text.add_argument("--spm-model", metavar="FILE", help="for the same, instead: a sentencepiece model, for spBLEU")
    text.add_argument("--lowercase", "-lc", action="store_true", help="for bleu, as sacrebleu's; rouge does so anyway")
    text.add_argument("--chrf-lowercase", action="store_true", help="for chrf and chrf++")
    text.add_argument("--stem", action="store_true", help="for rouge: stem words")


def add_run_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add what says where the work is done, and the version; return the group of these options."""
    run = parser.add_argument_group("how it is run")
    run.add_argument("--device", type=_device, default="cpu", help="where to count, as cuda; default: cpu")
    run.add_argument("--threads", type=positive, default=1, metavar="N", help="threads of torch, default: 1")
    run.add_argument("--version", action=_Version, nargs=0, help="print the version")
    run.add_argument("-h", "--help", action="help", help="print this")
    return run


def check_text_options(parser: argparse.ArgumentParser, options: argparse.Namespace, metrics: Sequence[str]) -> None:
    """End with an error where an option does nothing for the chosen metrics."""
    families = {"rouge" if name.startswith("rouge") else name for name in metrics}
    for name, of in _FOR.items():
        if getattr(options, name) and not families.intersection(of):
            parser.error(f"--{name.replace('_', '-')} is for {_listed(of)}, and does nothing for {_listed(metrics)}")
    if options.spm_model and options.tokenizer:
        parser.error("--tokenizer and --spm-model: expected one of them")


def positive(text: str) -> int:
    """Read an integer of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no integer of at least 1")
    return int(text)


def _device(text: str) -> str:
    if not _DEVICE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no device: expected cpu, cuda, cuda:1, xpu or mps")
    return text


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


class _Version(argparse.Action):
    """Prints the version, which takes a while to look up, only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        print(f"ngram-metrics {version('ngram-metrics')}")
        parser.exit()
