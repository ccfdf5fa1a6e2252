"""All that is known of systems when their files are read: what JSON writes, and other formats show a part of."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ngram_metrics.cli.intervals import intervals
from ngram_metrics.cli.tally import Tally
from ngram_metrics.scores.resampling import RESAMPLES, SEED
from ngram_metrics.significance import TRIALS, Comparison, paired_approximate_randomization, paired_bootstrap

_TESTS: dict[str, Callable[..., dict[str, dict[str, Comparison]]]] = {
    "bootstrap": paired_bootstrap,
    "randomization": paired_approximate_randomization,
}


def report(tallies: Mapping[str, Sequence[Tally]], options: argparse.Namespace) -> dict[str, Any]:
    """Return the report: scores in 0..100, not rounded; brevity penalty, ratio and p-values as they are.

    Args:
        tallies: for each system the same metrics, the baseline first.
        options: those of the command.
    """
    baseline, *others = tallies
    flat = [tally for of_system in tallies.values() for tally in of_system]
    ends = iter(intervals(flat, options.confidence) if options.confidence is not None else [{}] * len(flat))
    systems: dict[str, dict[str, Any]] = {system: {} for system in tallies}
    for system, of_system in tallies.items():
        for tally in of_system:
            systems[system] |= _entries(tally, next(ends))
    if others:
        _add_p_values(systems, tallies, options.test)
    made: dict[str, Any] = {
        "sentences": flat[0].sentences,
        "references": options.references,
        "systems": systems,
    }
    if others:
        made |= {"baseline": baseline, "test": options.test}
    if options.confidence is not None:
        made["confidence"] = options.confidence
    draws = _draws(options, tested=bool(others))
    made["signatures"] = {tally.metric.name: tally.signature_with(draws) for tally in tallies[baseline]}
    return made


def _entries(tally: Tally, ends: Mapping[str, tuple[float, float]]) -> dict[str, dict[str, Any]]:
    """Return for each value its score, what it is made of, and its interval."""
    scores = tally.scores()
    entries: dict[str, dict[str, Any]] = {}
    for value in tally.metric.values:
        entry: dict[str, Any] = {"score": 100 * scores[value]}
        entry |= {part: 100 * scores[f"{value}_{part}"] for part in ("precision", "recall") if tally.metric.keys}
        if tally.metric.name == "bleu":
            entry |= _bleu_parts(tally)
        if value in ends:
            entry |= {end: 100 * score for end, score in zip(("low", "high"), ends[value], strict=True)}
        entries[value] = entry
    return entries


def _bleu_parts(tally: Tally) -> dict[str, Any]:
    parts = tally.parts()
    hypothesis, reference = int(parts["hypothesis_length"]), int(parts["reference_length"])
    return {
        "precisions": [100 * precision for precision in parts["precisions"].tolist()],
        "brevity_penalty": parts["brevity_penalty"].item(),
        "ratio": hypothesis / reference if reference else 0.0,
        "hypothesis_length": hypothesis,
        "reference_length": reference,
    }


def _add_p_values(systems: dict[str, dict[str, Any]], tallies: Mapping[str, Sequence[Tally]], test: str) -> None:
    baseline, *others = tallies
    for number, tally in enumerate(tallies[baseline]):
        compared = _TESTS[test]({system: of_system[number] for system, of_system in tallies.items()}, baseline)
        for system in others:
            for value in tally.metric.values:
                systems[system][value]["p_value"] = compared[system][value].p_value


def _draws(options: argparse.Namespace, tested: bool) -> dict[str, str]:
    """Return the draws of what is printed, for the signature."""
    draws = {}
    if options.confidence is not None or (tested and options.test == "bootstrap"):
        draws["bs"] = str(RESAMPLES)
    if tested and options.test == "randomization":
        draws["ar"] = str(TRIALS)
    return {**draws, "seed": str(SEED)} if draws else {}
