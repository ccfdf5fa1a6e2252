"""The example for Ray scores each language of a folder as sacrebleu does."""

from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
import sacrebleu
from programs import EXAMPLES, start
from systems import output, references


@pytest.mark.engines
def test_ray_scores_each_language_over_all_files(tmp_path: Path):
    corpora = {"de": references(1500, seed=1), "fr": references(900, seed=2)}
    texts = [
        {"language": language, "output": hypothesis, "reference": reference}
        for language, lines in corpora.items()
        for hypothesis, reference in zip(output(lines, 0.3, seed=3), lines, strict=True)
    ]
    for index in range(3):  # each file, and each batch of the example, has segments of both languages
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(texts[index::3]), tmp_path / f"{index}.parquet")
    printed = start(EXAMPLES / "ray_scores.py", str(tmp_path), folder=tmp_path, limit=300)
    found = [line.split() for line in printed.splitlines() if line.startswith(("de ", "fr "))]
    assert [line[:2] for line in found] == [["de", "1500"], ["fr", "900"]]
    for language, _, score in found:
        sides = zip(*((row["output"], row["reference"]) for row in texts if row["language"] == language), strict=True)
        hypotheses, targets = map(list, sides)
        assert float(score) == pytest.approx(sacrebleu.corpus_chrf(hypotheses, [targets]).score / 100, abs=1e-12)
