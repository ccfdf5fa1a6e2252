"""All results of systems: JSON has all of them, the other formats a part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ngram_metrics.cli.arguments import ScoreOptions
from ngram_metrics.cli.entries import Entry, Report
from ngram_metrics.cli.intervals import intervals
from ngram_metrics.cli.tally import Tally
from ngram_metrics.scores.bleu import BleuMeasure
from ngram_metrics.scores.resampling import RESAMPLES, SEED
from ngram_metrics.significance import TRIALS, Comparison, paired_approximate_randomization, paired_bootstrap

_TESTS: dict[str, Callable[..., dict[str, dict[str, Comparison]]]] = {
    "bootstrap": paired_bootstrap,
    "randomization": paired_approximate_randomization,
}


def report(tallies: Mapping[str, Sequence[Tally]], options: ScoreOptions) -> Report:
    """Return the report: scores in 0..100, not rounded; brevity penalty, ratio and p-values are not multiplied by 100.

    Args:
        tallies: for each system the same metrics, the baseline first.
        options: the options of the command.
    """
    baseline, *others = tallies
    flat = [tally for of_system in tallies.values() for tally in of_system]
    ends = iter(intervals(flat, options.confidence) if options.confidence is not None else [{}] * len(flat))
    systems: dict[str, dict[str, Entry]] = {system: {} for system in tallies}
    for system, of_system in tallies.items():
        for tally in of_system:
            systems[system] |= _entries(tally, next(ends))
    if others:
        _add_p_values(systems, tallies, options)
    made: Report = {"sentences": flat[0].sentences, "references": options.references, "systems": systems}
    if others:
        made["baseline"], made["test"], made["correction"] = baseline, options.test, options.correction
    if options.confidence is not None:
        made["confidence"] = options.confidence
    draws = _draws(options, tested=bool(others))
    made["signatures"] = {tally.metric.name: tally.signature_with(draws) for tally in tallies[baseline]}
    return made


def _entries(tally: Tally, ends: Mapping[str, tuple[float, float]]) -> dict[str, Entry]:
    """Return for each value its score, the parts of the score, and its interval."""
    scores = tally.scores()
    entries: dict[str, Entry] = {}
    for value in tally.metric.values:
        entry: Entry = {"score": 100 * scores[value]}
        if tally.metric.keys:
            entry["precision"], entry["recall"] = (100 * scores[f"{value}_{part}"] for part in ("precision", "recall"))
        if isinstance(tally.metric.measure, BleuMeasure):
            _add_parts(entry, tally)
        if value in ends:
            entry["low"], entry["high"] = (100 * score for score in ends[value])
        entries[value] = entry
    return entries


def _add_parts(entry: Entry, tally: Tally) -> None:
    parts = tally.parts()
    hypothesis, reference = int(parts["hypothesis_length"]), int(parts["reference_length"])
    entry["precisions"] = [100 * precision for precision in parts["precisions"].tolist()]
    entry["brevity_penalty"] = parts["brevity_penalty"].item()
    entry["ratio"] = hypothesis / reference if reference else 0.0
    entry["hypothesis_length"], entry["reference_length"] = hypothesis, reference


def _add_p_values(
    systems: dict[str, dict[str, Entry]], tallies: Mapping[str, Sequence[Tally]], options: ScoreOptions
) -> None:
    baseline = next(iter(tallies))
    correction = None if options.correction == "none" else options.correction
    for number, tally in enumerate(tallies[baseline]):
        tested = {system: of_system[number] for system, of_system in tallies.items()}
        compared = _TESTS[options.test](tested, baseline, correction=correction)
        for system in compared:
            for value in tally.metric.values:
                p_value = compared[system][value].p_value
                if p_value is not None:
                    systems[system][value]["p_value"] = p_value


def _draws(options: ScoreOptions, tested: bool) -> dict[str, str]:
    """Return the numbers of draws, their seed, and the test, for the signature."""
    draws = {}
    if options.confidence is not None or (tested and options.test == "bootstrap"):
        draws["bs"] = str(RESAMPLES)
    if tested and options.test == "randomization":
        draws["ar"] = str(TRIALS)
    if draws:
        draws["seed"] = str(SEED)
    if tested:
        draws |= {"test": options.test, "alternative": "two-sided", "correction": options.correction}
    return draws
