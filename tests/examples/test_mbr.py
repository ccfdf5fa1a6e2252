"""The example of MBR decoding: what it prints, its choice against plain Python, and when it ends in an error."""

import programs
import pytest
from sacrebleu import CHRF


@pytest.fixture(scope="module")
def example():
    return programs.example("mbr")


@pytest.fixture
def run(example, capsys):
    def run(*arguments):
        programs.run(example, *arguments)
        return capsys.readouterr().out

    return run


def write_folder(folder, references, systems):
    (folder / "systems").mkdir()
    for name, lines in {"reference": references, **{f"systems/{name}": of for name, of in systems.items()}}.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def printed(output):
    """chrF and BLEU of each line of the table."""
    lines = [line.rsplit(maxsplit=2) for line in output.splitlines()[3:]]
    return {name.strip(): (float(chrf), float(bleu)) for name, chrf, bleu in lines}


@pytest.mark.parametrize("utility", ["chrf", "chrf++", "bleu"])
def test_the_choice_scores_above_the_average_and_every_system_of_the_sample(run, example, utility):
    scores = printed(run("--utility", utility))
    assert list(scores) == [*example.SYSTEMS, "average", f"MBR, {utility}"]
    choice = scores.pop(f"MBR, {utility}")
    for chrf, bleu in scores.values():
        assert (choice[0] > chrf, choice[1] > bleu) == (True, True)


def test_the_scores_are_those_of_plain_mbr_with_sacrebleu(run, example):
    chrf = CHRF()
    pools = list(zip(*example.SYSTEMS.values(), strict=True))
    chosen = [max(pool, key=lambda one: sum(chrf.sentence_score(one, [r]).score for r in pool)) for pool in pools]
    scores = printed(run())
    for name, outputs in {**example.SYSTEMS, "MBR, chrf": chosen}.items():
        expected = chrf.corpus_score(outputs, [example.REFERENCES]).score
        assert scores[name][0] == pytest.approx(expected, abs=0.0051)
    assert scores["average"][0] == pytest.approx(sum(scores[name][0] for name in example.SYSTEMS) / 4, abs=0.011)


def test_a_folder_is_read_line_by_line(run, example, tmp_path):
    folder = write_folder(tmp_path, example.REFERENCES, example.SYSTEMS)
    assert printed(run(folder)) == printed(run())
    # U+2028 ends no segment.
    first = folder / "systems" / "first.txt"
    first.write_text(first.read_text("utf-8").replace("opens at", "opens\u2028at"), encoding="utf-8")
    assert "6 segments, 4 systems" in run(folder)
