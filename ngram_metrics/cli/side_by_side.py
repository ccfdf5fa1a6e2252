"""Several files in parallel: the same number of lines of each at a time, and an error if one ends first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngram_metrics.cli.errors import InputError
from ngram_metrics.cli.sources import Source


def chunks(sources: Sequence[Source], lines: int) -> Iterator[list[list[str]]]:
    """Yield ``lines`` lines of each file at a time, fewer at the end.

    Raises:
        InputError: files with different numbers of lines, or empty ones.
    """
    empty = True
    while True:
        columns = [source.chunk(lines) for source in sources]
        if len(set(map(len, columns))) > 1:
            counts = ", ".join(f"{source.place.name} has {source.count_rest()}" for source in sources)
            raise InputError(
                f"the files have different numbers of lines: {counts}; expected one line per sentence in each"
            )
        if not columns[0]:
            break
        empty = False
        yield columns
    if empty:
        raise InputError(f"{sources[0].place.name} is empty: expected at least one line")
