"""The example of MBR decoding: what it prints, and its choice against plain Python."""

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
