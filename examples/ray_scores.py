"""Score Parquet files by language with Ray Data: `python examples/ray_scores.py FOLDER`.

The files have the columns language, output and reference. A task sends the counts of its rows, and no text.
"""

from __future__ import annotations

import pickle
import sys

try:
    import pandas
    import ray
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is not installed: pip install 'ray[data]'") from error

from ngram_metrics import ChrF


def count(rows: pandas.DataFrame) -> pandas.DataFrame:
    """Return a metric for each language of some rows."""
    metrics = {}
    for language, segments in rows.groupby("language"):
        metrics[language] = ChrF()
        metrics[language].update(segments["output"], segments["reference"])
    return pandas.DataFrame({"language": [*metrics], "metric": [*map(pickle.dumps, metrics.values())]})


def main(folder: str) -> None:
    """Print the score of each language."""
    totals: dict[str, ChrF] = {}
    counted = ray.data.read_parquet(folder).map_batches(count, batch_format="pandas", batch_size=1_000)
    for row in counted.iter_rows():
        totals.setdefault(row["language"], ChrF()).merge_state(pickle.loads(row["metric"]))
    for language, metric in sorted(totals.items()):
        print(language, metric.segments.item(), metric.compute().item())


if __name__ == "__main__":
    main(*sys.argv[1:])
