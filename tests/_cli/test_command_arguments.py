"""Which file is what, options wherever they stand, and what is refused before anything is read."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from commands import BASE, printed, refused, report, scores, write
from sacrebleu.metrics.bleu import _TOKENIZERS

from ngram_metrics import _cli as cli
from ngram_metrics._cli import command_arguments, shared_options
from ngram_metrics._cli.main import make_scorers
from ngram_metrics._core.metrics.registry import METRIC_NAMES, REGISTRY, takers_of
from ngram_metrics._core.text.tokenizer_option import _DOWNLOADING, _OF_SACREBLEU
from ngram_metrics._core.text.word_bounds import NAMED
from ngram_metrics._evaluation import DEFAULT_METRICS, FORMATS

SYSTEMS = ["base.txt", "other.txt"]
#: Two metrics that have references, where any do.
ONE, TWO = list(REGISTRY)[:2]


def takers(option: str) -> str:
    """The names of the metrics that take an option, as a sentence lists them."""
    return " and ".join(", ".join(takers_of(option)).rsplit(", ", 1))


@pytest.mark.parametrize(
    ("arguments", "systems", "references"),
    [
        ("base.txt -r ref.txt", ["base.txt"], ["ref.txt"]),
        ("base.txt --references ref.txt ref2.txt", ["base.txt"], ["ref.txt", "ref2.txt"]),
        ("base.txt -r ref.txt -r ref2.txt", ["base.txt"], ["ref.txt", "ref2.txt"]),
        ("base.txt other.txt -r ref.txt", SYSTEMS, ["ref.txt"]),
        ("score base.txt other.txt -r ref.txt", SYSTEMS, ["ref.txt"]),
        (f"-r ref.txt -m {ONE} base.txt other.txt", SYSTEMS, ["ref.txt"]),
        (f"base.txt -r ref.txt -m {ONE} other.txt", SYSTEMS, ["ref.txt"]),
        ("ref.txt -i base.txt", ["base.txt"], ["ref.txt"]),
        ("ref.txt ref2.txt --input base.txt other.txt", SYSTEMS, ["ref.txt", "ref2.txt"]),
        ("-i base.txt other.txt -r ref.txt", SYSTEMS, ["ref.txt"]),
        ("other.txt base.txt -r ref.txt --baseline base.txt", SYSTEMS, ["ref.txt"]),
        ("other.txt -r ref.txt --baseline base.txt", SYSTEMS, ["ref.txt"]),
        ("-r ref.txt -c base.txt other.txt", SYSTEMS, ["ref.txt"]),
        ("-r ref.txt -c 0.9 base.txt other.txt", SYSTEMS, ["ref.txt"]),
        (f"-r ref.txt -m {ONE} {TWO} base.txt other.txt", SYSTEMS, ["ref.txt"]),
        (f"base.txt -m {ONE},{TWO} other.txt -r ref.txt", SYSTEMS, ["ref.txt"]),
        ("base.txt -lc other.txt -r ref.txt", SYSTEMS, ["ref.txt"]),
        ("base.txt -r ref.txt -- -lc", ["base.txt", "-lc"], ["ref.txt"]),
        ("-r ref.txt -- -lc", ["-lc"], ["ref.txt"]),
        ("base.txt t.tsv:1 t.tsv:2 -r ref.txt", ["base.txt", "t.tsv:1", "t.tsv:2"], ["ref.txt"]),
        ("-:2 other.txt -r ref.txt", ["-:2", "other.txt"], ["ref.txt"]),
        (f"-r -:text -m {ONE} -i base.txt", ["base.txt"], ["-:text"]),
    ],
)
def test_which_file_is_what(arguments: str, systems: list[str], references: list[str], folder: Path):
    words = arguments.removeprefix("score ").split()
    parsed = command_arguments.parse_score(words)
    assert (parsed.systems, parsed.references) == (systems, references)


@pytest.mark.parametrize(
    ("arguments", "systems", "files"),
    [
        ("runs/base.txt runs/tuned.txt", ["base.txt", "tuned.txt"], ["runs/base.txt", "runs/tuned.txt"]),
        ("runs/base/out.txt ./runs/tuned/out.txt", ["base", "tuned"], ["runs/base/out.txt", "./runs/tuned/out.txt"]),
        ("r/a/x/o r/b/y/o r/b/x/o", ["a/x", "b/y", "b/x"], ["r/a/x/o", "r/b/y/o", "r/b/x/o"]),
        ("runs/base/out.txt", ["out.txt"], ["runs/base/out.txt"]),
        ("a.txt d/a.txt", ["a.txt", "d/a.txt"], ["a.txt", "d/a.txt"]),
        ("d/t.tsv:1 d/t.tsv:2", ["t.tsv:1", "t.tsv:2"], ["d/t.tsv:1", "d/t.tsv:2"]),
        ("base=r/a.txt tuned=r/b.txt:2", ["base", "tuned"], ["r/a.txt", "r/b.txt:2"]),
        ("r/a.txt tuned=r/b.txt r/c.txt", ["a.txt", "tuned", "c.txt"], ["r/a.txt", "r/b.txt", "r/c.txt"]),
        ("x=- a.txt", ["x", "a.txt"], ["-", "a.txt"]),
        ("lr=0.1.txt", ["lr=0.1.txt"], ["lr=0.1.txt"]),
        ("lr=0.1.txt:2 a.txt", ["lr=0.1.txt:2", "a.txt"], ["lr=0.1.txt:2", "a.txt"]),
        ("runs/lr=0.1/out.txt", ["out.txt"], ["runs/lr=0.1/out.txt"]),
        ("a=x.txt b=y.txt --baseline b", ["b", "a"], ["y.txt", "x.txt"]),
        ("a=x.txt b=y.txt --baseline y.txt", ["b", "a"], ["y.txt", "x.txt"]),
        ("a=x.txt b=y.txt --baseline c=z.txt", ["c", "a", "b"], ["z.txt", "x.txt", "y.txt"]),
        ("a=x.txt base.txt=y.txt --baseline base.txt", ["base.txt", "a"], None),
    ],
)
def test_a_system_has_a_name_that_a_table_can_show(arguments: str, systems: list[str], files: list[str], folder: Path):
    write(folder / "lr=0.1.txt", ["a\tb"])
    if files is None:  # a path that is there is a path
        with pytest.raises(SystemExit):
            command_arguments.parse_score([*arguments.split(), "-r", "ref.txt"])
        (folder / "base.txt").unlink()
    parsed = command_arguments.parse_score([*arguments.split(), "-r", "ref.txt"])
    assert parsed.systems == systems
    assert files is None or parsed.inputs == [*files, "ref.txt"]


def test_the_names_of_systems_are_shown_everywhere(folder: Path, capsys):
    words = ["first=base.txt", "other.txt", "-r", "ref.txt", "-m", ONE]
    named = printed(capsys, *words, "--segments", "scores.tsv", "--report", "page.html", "-f", "latex")
    assert (["first" in named, "base.txt" in named], "other.txt" in named) == ([True, False], True)
    assert list(report(capsys, *words)["systems"]) == ["first", "other.txt"]
    assert "\tfirst\t" in (folder / "scores.tsv").read_text()
    page = (folder / "page.html").read_text()
    assert "<title>first, other.txt</title>" in page
    assert "base.txt" not in page


@pytest.mark.parametrize(
    ("arguments", "references", "files"),
    [
        ("home/user/ref.txt", ["ref.txt"], None),
        ("d/de/ref.txt ./d/fr/ref.txt", ["de", "fr"], None),
        ("d/t.tsv:1 d/t.tsv:2", ["t.tsv:1", "t.tsv:2"], None),
        ("human=d/ref.txt d/other.txt", ["human", "other.txt"], ["d/ref.txt", "d/other.txt"]),
        ("lr=0.1.txt", ["lr=0.1.txt"], None),
    ],
)
def test_a_reference_is_named_as_a_system_is(
    arguments: str, references: list[str], files: list[str] | None, folder: Path
):
    write(folder / "lr=0.1.txt", ["a"])
    words = arguments.split()
    for parsed in map(command_arguments.parse_score, (["base.txt", "-r", *words], [*words, "-i", "base.txt"])):
        assert parsed.references == references
        assert parsed.inputs == ["base.txt", *(files or words)]


def test_no_folder_of_a_reference_is_shown(folder: Path, capsys):
    (folder / "secret").mkdir()
    paths = [f"secret/{name}" for name in ("ref.txt", "ref2.txt")]
    for path in paths:
        (folder / path).write_bytes((folder / path.removeprefix("secret/")).read_bytes())
    words = ["base.txt", "-r", paths[0], f"human={paths[1]}"]
    for form in FORMATS:
        shown = printed(capsys, *words, "--details", "-f", form)
        assert "secret" not in shown
        assert ("ref.txt" in shown) == ("human" in shown) == (form not in ("tsv", "latex"))
    assert report(capsys, *words)["references"] == ["ref.txt", "human"]
    printed(capsys, *words, "--report", "page.html", "--segments", "lines.tsv")
    for name in ("page.html", "lines.tsv"):
        text = (folder / name).read_text(encoding="utf-8")
        assert "secret" not in text
        assert ("human" in text) == (name == "page.html")


@pytest.mark.parametrize(
    ("arguments", "level", "metrics"),
    [
        ("", None, DEFAULT_METRICS),
        ("-c", 0.95, DEFAULT_METRICS),
        ("--confidence", 0.95, DEFAULT_METRICS),
        ("-c=0.99", 0.99, DEFAULT_METRICS),
        ("-c 0.99", 0.99, DEFAULT_METRICS),
        (f"--confidence 0.99 -m {ONE}", 0.99, [ONE]),
        (f"--confidence=0.99 -m {TWO},{ONE}", 0.99, [TWO, ONE]),
        (f"-m {TWO} -c -m {ONE},{TWO}", 0.95, [TWO, ONE]),
        (f"-m {ONE} {TWO} -c", 0.95, [ONE, TWO]),
        (f"-m={ONE},{TWO}", None, [ONE, TWO]),
        ("-m rougeL,rouge9 rouge1 -c", 0.95, ["rougeL", "rouge9", "rouge1"]),
    ],
)
def test_levels_and_metrics(arguments: str, level: float | None, metrics: Sequence[str], folder: Path):
    for words in (["base.txt", "-r", "ref.txt", *arguments.split()], [*arguments.split(), "base.txt", "-r", "ref.txt"]):
        parsed = command_arguments.parse_score(words)
        assert (parsed.confidence, parsed.metrics, parsed.systems) == (level, list(metrics), ["base.txt"])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("", "no reference: expected SYSTEM... -r REFERENCE..., or REFERENCE... -i SYSTEM..."),
        ("base.txt ref.txt", "no reference: expected SYSTEM... -r REFERENCE..., or REFERENCE... -i SYSTEM..."),
        ("-i base.txt", "no reference: "),
        ("-r ref.txt base.txt", "no system: the files after -r are references"),
        ("ref2.txt -i base.txt -r ref.txt", "with -i and -r, 'ref2.txt' is neither a system nor a reference"),
        ("base.txt base.txt -r ref.txt", "the system 'base.txt' is given twice"),
        ("base.txt ./base.txt other.txt -r ref.txt --baseline base.txt", "the system './base.txt' is given twice"),
        ("base.txt t.tsv:1 ./t.tsv:1 -r ref.txt", "the system './t.tsv:1' is given twice"),
        ("base.txt -r ref.txt ./ref.txt", "the reference './ref.txt' is given twice"),
        ("base.txt -r ref.txt -m meteor", f"unknown metric 'meteor': expected some of {','.join(REGISTRY)}"),
        ("base.txt -r ref.txt -c 95", "'95' is not a level between 0 and 1; did you mean 0.95?"),
        ("base.txt -r ref.txt -c abc", "'abc' is not a level between 0 and 1, such as 0.95, nor the name of a file"),
        ("-c abc base.txt -r ref.txt", "'abc' is not a level between 0 and 1, such as 0.95, nor the name of a file"),
        ("base.txt -r ref.txt -c 0", "'0' is not a level between 0 and 1"),
        ("base.txt -r ref.txt -c nan", "'nan' is not a level between 0 and 1"),
        ("base.txt -r ref.txt -c .9985", "confidence must be at most 0.998, the highest level that 1000 resamples"),
        ("base.txt -r ref.txt -c=high", "'high' is not a level between 0 and 1"),
        ("base.txt -r ref.txt --tokenizer 14a", "unknown tokenizer '14a': expected 13a, char, "),
        ("base.txt -r ref.txt -tok flores200", "unicode, zh, or --spm-model for a model"),
        ("base.txt -r ref.txt --device cuda", "expected no device: text is counted on the CPU"),
        ("mbr base.txt -k 5 --device gpu", "'gpu' is not a device: expected cpu, cuda, cuda:1, xpu or mps"),
        ("mbr base.txt -k 5 --device meta", "'meta' is not a device"),
        ("base.txt -r ref.txt --threads 0", "'0' is not an integer from 1 to 1024"),
        ("base.txt -r ref.txt --threads 99999", "'99999' is not an integer from 1 to 1024"),
        ("base.txt -r ref.txt --digits -1", "'-1' is not an integer from 0 to 15"),
        ("base.txt -r ref.txt --digits x", "'x' is not an integer from 0 to 15"),
        ("- -r -", "standard input can be read once, and - is given twice"),
        ("-:2 -r -", "standard input can be read once"),
        ("base.txt:0 -r ref.txt", "base.txt:0: columns are counted from 1"),
        ("base.txt -r ref.txt -m bleu --stem", f"--stem is for {takers('stem')}, and does nothing for bleu"),
        ("base.txt -r ref.txt -m chrf,rouge -lc", f"for {takers('lowercase')}, and does nothing for chrf and rouge"),
        ("base.txt -r ref.txt -m bleu --chrf-lowercase", f"for {takers('chrf_lowercase')}, and does nothing for bleu"),
        ("base.txt -r ref.txt -m chrf -tok zh", f"--tokenizer is for {takers('tokenizer')}, and does nothing for chrf"),
        ("base.txt -r ref.txt -m rouge --spm-model m", f"--spm-model is for {takers('tokenizer')}"),
        ("base.txt -r ref.txt -tok zh --spm-model m", "--tokenizer and --spm-model: expected one of them"),
        ("base.txt -r ref.txt --test bootstrap", "--test is for several systems, and there is one: base.txt"),
        ("base.txt -r ref.txt --correction holm", "--correction is for several systems, and there is one: base.txt"),
        ("base.txt other.txt -r ref.txt --correction bonferroni", "invalid choice: 'bonferroni'"),
        ("base.txt -r ref.txt --baseline base.txt", "--baseline is for several systems, and there is one: base.txt"),
        ("base.txt -r ref.txt --clusters ref2.txt", "--clusters is for intervals and tests, and there is neither"),
        ("base.txt -r ref.txt --fail-if-worse 1", "--fail-if-worse is for several systems, and there is one: base.txt"),
        ("base.txt other.txt -r ref.txt --fail-if-worse -1", "'-1' is not a number of points from 0, such as 0.5"),
        ("base.txt other.txt -r ref.txt --fail-if-worse inf", "'inf' is not a number of points from 0"),
        ("base.txt other.txt -r ref.txt --fail-if-worse a", "'a' is not a number of points from 0"),
        ("base.txt -r ref.txt --source ref2.txt", "--source is for the page: expected --report too"),
        ("base.txt -r ref.txt -c --clusters -:0", "-:0: columns are counted from 1"),
        ("base.txt -r ref.txt --segments s.csv", "--segments s.csv: expected a name that ends in .tsv or .jsonl"),
        ("base.txt -r ref.txt -o ./base.txt", "--output ./base.txt would overwrite base.txt"),
        ("t.tsv:1 -r ref.txt --segments t.tsv", "--segments t.tsv would overwrite t.tsv:1"),
        ("base.txt -r ref.txt -o s.tsv --segments s.tsv", "--segments s.tsv would overwrite --output"),
        ("base.txt -r ref.txt -o none/out.txt", "--output none/out.txt is in a directory that does not exist"),
        ("base.txt -r ref.txt -o .", "--output . is a directory: expected a file"),
        ("base.txt -r ref.txt --metri bleu", "unrecognized arguments: --metri bleu; did you mean '--metrics'?"),
        ("base.txt -r ref.txt --tokeniser=zh", "unrecognized arguments: --tokeniser=zh; did you mean '--tokenizer'?"),
        ("base.txt -r ref.txt -m bleu,chfr", "; did you mean 'chrf'?"),
        ("base.txt -r ref.txt -m BLEU", "; did you mean 'bleu'?"),
        ("base.txt -r ref.txt -f jsno", "; did you mean 'json'?"),
        ("base.txt -r ref.txt -tok 13A", "; did you mean '13a'?"),
        ("mbr n.txt -m rouge_2", "; did you mean 'rouge2'?"),
        ("mbr n.txt --wieghts w", "unrecognized arguments: --wieghts w; did you mean '--weights'?"),
        (f"base.txt -r ref.txt --digits {'9' * 5000}", "999... is not an integer from 0 to 15"),
        ("base.txt -r ref.txt -s other.txt", "unrecognized arguments: -s"),
        ("base.txt -r ref.txt -l", "-l: expected no option for the language; -lc lowercases"),
        ("-t wmt17 -l en-de -i base.txt", "-t: expected files: no test set is downloaded"),
        ("base.txt -r ref.txt -to 13a", "unrecognized arguments: -to"),
        ("mbr n.txt -k 5 -l", "unrecognized arguments: -l"),
        ("base.txt -r ref.txt --line-limit 0", "'0' is not an integer from 1 to 1000000000"),
        ("base.txt -r ref.txt --line-limit 1000000001", "'1000000001' is not an integer from 1 to 1000000000"),
        ("base.txt -r ref.txt -b", "-b: expected -f tsv or -f json, for programs"),
        ("base.txt -r ref.txt --sentences=s.tsv", "--sentences: expected --segments"),
        (
            "base.txt -r ref.txt --paired-bs",
            "--paired-bs: expected --test bootstrap; several systems are always tested",
        ),
        ("base.txt -r ref.txt --paired-ar", "--paired-ar: expected no option: several systems are tested"),
        ("base.txt -r ref.txt -m rouge,bleu,rougeL", "the metrics 'rouge' and 'rougeL' both write 'rougeL'"),
        ("base.txt -r ref.txt -m rougel", f"unknown metric 'rougel': expected some of {','.join(REGISTRY)}"),
        (
            "base.txt -r a=ref.txt a=ref2.txt",
            "two references have the name 'a': expected different names, as NAME=FILE",
        ),
        ("base.txt -r a=ref.txt b=ref.txt", "the reference 'ref.txt' is given twice"),
        ("a=base.txt a=other.txt -r ref.txt", "two systems have the name 'a': expected different names, as NAME=FILE"),
        ("other.txt=base.txt other.txt -r ref.txt", "two systems have the name 'other.txt'"),
        ("a=base.txt b=base.txt -r ref.txt", "the system 'base.txt' is given twice"),
        ("mbr", "expected SAMPLES, one file of hypotheses, and got none"),
        ("mbr n.txt m.txt -k 5", "expected SAMPLES, one file of hypotheses, and got n.txt, m.txt"),
        ("mbr n.txt -m rougeLsum", "invalid choice: 'rougeLsum'"),
        ("mbr n.txt -k 0", "'0' is not an integer from 1 to 100000"),
        ("mbr n.txt -k 99999999999999999999", "is not an integer from 1 to 100000"),
        ("mbr n.txt --stem", f"--stem is for {takers('stem')}, and does nothing for chrf"),
        ("mbr - --weights -", "standard input can be read once"),
        ("mbr n.txt -o n.txt", "--output n.txt would overwrite n.txt"),
    ],
)
def test_wrong_arguments_exit_with_2_and_say_why(arguments: str, told: str, folder: Path, capsys):
    found = refused(capsys, *arguments.split())
    assert told in found


@pytest.mark.parametrize("words", ["#", "base.txt -r #", "base.txt -r ref.txt -o #", "a -r b --segments #"])
def test_a_name_of_nothing_is_refused(words: str, capsys):
    """As a variable of the shell is, where it is not set."""
    given = [word.replace("#", "") for word in words.split()]
    assert refused(capsys, *given).endswith(": '' is not the name of a file")


def test_the_table_and_json_name_systems_and_references(folder: Path, capsys):
    shown = printed(capsys, "other.txt", "base.txt", "-r", "ref.txt", "ref2.txt", "--baseline", "base.txt")
    assert "120 segments, references ref.txt, ref2.txt, scores on a 0-100 scale\n" in shown
    assert [line.split()[0] for line in shown.splitlines()[:3]] == ["system", "base.txt", "other.txt"]
    found = report(capsys, "other.txt", "base.txt", "-r", "ref.txt", "ref2.txt", "--baseline", "base.txt")
    assert found["references"] == ["ref.txt", "ref2.txt"]
    assert found["baseline"] == "base.txt"


def test_names_that_are_written_out_are_those_there_are():
    assert set(shared_options.TOKENIZERS) == {*NAMED, *_OF_SACREBLEU}
    assert set(shared_options.TOKENIZERS) >= set(_TOKENIZERS) - set(_DOWNLOADING)
    for arguments in (["a", "-r", "b", "-m", name] for name in METRIC_NAMES):
        assert list(make_scorers(command_arguments.parse_score(arguments))) == arguments[-1:]
    for name in command_arguments.mbr_metrics():
        assert make_scorers(command_arguments.parse_mbr(["a", "-m", name]))[name].measure.pair_orders


def test_version_and_help(capsys):
    for arguments, told in (
        (["--version"], "ngram-metrics "),
        (["mbr", "--version"], "ngram-metrics "),
        (["--help"], "--references"),
        (["score", "-h"], "--references"),
        (["mbr", "--help"], "--weights"),
    ):
        with pytest.raises(SystemExit) as stopped:
            cli.main(arguments)
        assert stopped.value.code == 0
        assert told in capsys.readouterr().out


def test_a_file_named_as_a_command_is_given_with_its_folder(folder: Path, capsys):
    expected = scores(capsys, "base.txt", "-r", "ref.txt")
    write(folder / "mbr", BASE)
    assert scores(capsys, "./mbr", "-r", "ref.txt") == expected
