"""The documentation: what its pages show runs, what they link to exists, and everything public is in the reference.

Blocks with ``>>>`` are doctests of the pages and run as such; here is the rest.
"""

import doctest
import importlib
import inspect
import re
import shlex
import shutil
import sys
import warnings
from collections.abc import Iterator, Mapping
from importlib.machinery import ModuleSpec
from pathlib import Path
from statistics import fmean
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import pytest
from documentation import BLOCK, DOCS, ROOT, TEXTS, blocks, imported_modules, public_names
from torch.utils.data import DataLoader

import ngram_metrics
from ngram_metrics import Bleu, ChrF
from ngram_metrics import _cli as cli
from ngram_metrics._core.scoring.settings import SIGNATURE_FIELDS
from ngram_metrics.hugging_face import Generates

PARSER = doctest.DocTestParser()
#: Blocks of Python that are compiled and do not run here, by a line of theirs, and why.
NOT_RUN = {
    "class Translator(LightningModule)": "a test below runs it with a model of its own",
    "evaluator = Engine(": "a test below runs it with a model of its own",
    "trainer = Seq2SeqTrainer(model": "a test below runs it with a trainer of its own",
    'systems = {"epoch 9": outputs_9': "a test below runs it on texts of its own",
    "compiled = torch.compile(reward, fullgraph=True, dynamic=False)": "C++ is generated and compiled for a long time",
    "SEGMENTS = [  # a source, what the model writes": "tests/examples/test_guides.py runs it as a program",
    "from icu4py.breakers import WordBreaker": "needs ICU; a test of the tokenizers runs it",
}
#: Pages whose blocks another test runs.
RUN_ELSEWHERE = {
    "docs/guides/hosts.md": "adopters/test_hosts_page.py",
    "docs/guides/hugging_face.md": "examples/test_trainer_recipe.py",
}


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def is_session(code: str) -> bool:
    return ">>> " in code


PROGRAMS = [page for page in TEXTS if not all(map(is_session, blocks(page, "python")))]


@pytest.mark.parametrize("page", PROGRAMS, ids=named)
def test_python_without_prompts_runs_or_is_known_not_to(page: Path):
    """Up to the first block that imports a missing package."""
    names: dict[str, object] = {}
    for number, code in enumerate(blocks(page, "python"), 1):
        # A block may use what a session above it has defined; what that prints, its doctest has compared.
        parts = (
            [example.source for example in PARSER.get_examples(code) if example.exc_msg is None]
            if is_session(code)
            else [code]
        )
        for part in parts:
            program = compile(part, named(page), "exec")
            is_known = not is_session(code) and any(line in code for line in NOT_RUN)
            if named(page) not in RUN_ELSEWHERE and not is_known:
                for module in imported_modules(part):
                    reason = f"{named(page)}: block {number} and those below it need {module}"
                    pytest.importorskip(module, reason=reason, exc_type=ImportError)
                exec(program, names)


def test_every_exception_is_still_needed():
    programs = "".join(code for page in PROGRAMS for code in blocks(page, "python") if not is_session(code))
    assert [line for line in NOT_RUN if line not in programs] == []
    for page, test in RUN_ELSEWHERE.items():
        assert page in map(named, PROGRAMS)
        assert Path(page).name in (ROOT / "tests" / test).read_text(encoding="utf-8")


def test_code_has_a_language_and_sessions_are_doctests():
    for page in TEXTS:
        for _, language, code in BLOCK.findall(page.read_text(encoding="utf-8")):
            assert language in {"python", "console", "sh", "text", "toml", "yaml", ""}, f"{named(page)}: {language}"
            assert ">>> " not in code or language == "python", f"{named(page)}: a session is not marked as python"


def sessions(page: Path) -> Iterator[tuple[str, str]]:
    """Commands of the blocks marked console, and what they print."""
    for code in blocks(page, "console"):
        for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            yield command, printed


def compared(text: str) -> str:
    """Without the versions in signatures, and without the last digits of numbers, which depend on the processor."""
    return re.sub(r"(\.\d{6})\d+", r"\1", re.sub(r":\d+(\.\d+)+", ":*", text))


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "guides/command_line.md"], ids=named)
def test_the_command_line_prints_what_the_page_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples" / "command_line", tmp_path, dirs_exist_ok=True)
    names = set()
    for command, printed in sessions(page):
        name, *arguments = shlex.split(command)
        names.add(name)
        if name == "ngram-metrics":
            cli.main(arguments)
            shown = capsys.readouterr()
            assert compared(shown.out + shown.err) == compared(printed), command
        else:
            lines = Path(arguments[-1]).read_text(encoding="utf-8").splitlines(True)
            assert compared("".join(lines[: int(arguments[1])])) == compared(printed), command
    assert "ngram-metrics" in names


def test_the_output_of_every_script_on_a_guide_is_compared_with_what_it_prints():
    """A new block of output needs a test that runs its script, as `tests/examples` has for these."""
    guides = {page.stem for page in (DOCS / "guides").glob("*.md") if blocks(page, "text")}
    assert guides == {"distributed", "ignite", "lightning"}


def test_the_command_line_page_has_every_option(capsys: pytest.CaptureFixture[str]):
    page = (DOCS / "guides/command_line.md").read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    options = set(re.findall(r"(?<=[ \[])--?[a-z][a-z-]*", capsys.readouterr().out))
    table = page[page.index("## All options") :]
    assert set(re.findall(r"`(--?[a-z-]+)`", table)) == options


def test_the_page_of_the_signature_names_every_field():
    page = (DOCS / "start/which_number.md").read_text(encoding="utf-8")
    table = page[page.index("| field | says |") :]
    assert [name for name in SIGNATURE_FIELDS if f"`{name}`" not in table] == []


def test_every_relative_link_leads_somewhere():
    for page in TEXTS:
        text = BLOCK.sub("", page.read_text(encoding="utf-8"))
        for target in re.findall(r"""(?:\]\(|\b(?:src|srcset|href)=")([^)\s"]+)""", text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            other = page.parent / path if path else page
            assert other.exists(), f"{named(page)}: {target}"
            if anchor and other.suffix == ".md":
                assert anchor in anchors(other), f"{named(page)}: {target}"


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ +(.+)$", BLOCK.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


def test_every_public_name_is_in_the_reference():
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| \[`([\w.]+)`\]", page, re.MULTILINE) == public_names()
    assert set(public_names()) <= set(re.findall(r"^::: (\S+)$", page, re.MULTILINE))


def test_the_reference_begins_as_the_docstrings_do():
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    for name, row in re.findall(r"^\| \[`([\w.]+)`\]\(.*?\) \| (.+)\. \|$", page, re.MULTILINE):
        module, _, attribute = name.rpartition(".")
        imported = pytest.importorskip(module, reason=f"{module} needs its framework", exc_type=ImportError)
        docstring = inspect.getdoc(getattr(imported, attribute))
        assert " ".join(docstring.split()).replace("``", "`").startswith(row), name


#: What other modules of the package call, and what the framework calls; nobody else has to.
NOT_FOR_USERS = {
    *("average", "describe_settings", "has_one_reference", "local_signature", "name_values"),
    # The states.
    *("kind", "segments", "reference_range", "row", "score_sum", "rows", "saved_on"),
}


def methods_of_a_class(name: str) -> set[str]:
    """The public methods and properties that this package adds to those of the framework."""
    module, _, class_name = name.rpartition(".")
    public = getattr(importlib.import_module(module), class_name)
    bases = public.__mro__ if inspect.isclass(public) else ()
    ours = [base for base in bases if base.__module__.startswith("ngram_metrics")]
    kinds = (FunctionType, property, classmethod, staticmethod)
    members = {member for base in ours for member, value in vars(base).items() if isinstance(value, kinds)}
    theirs = {member for base in bases if base not in ours for member in dir(base)}
    return {member for member in members - theirs if member[0] != "_"}


def test_every_public_method_is_in_the_reference():
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    entries = re.findall(r"^::: (\S+)\n((?: {4}.*\n)*)", page, re.MULTILINE)
    listed = {name: set(re.findall(r"\w+", options.partition("members: [")[2])) for name, options in entries}
    missing = {name: methods_of_a_class(name) - NOT_FOR_USERS - listed.get(name, set()) for name in public_names()}
    lacking = {name: methods for name, methods in missing.items() if methods}
    assert lacking == {}, "list these in docs/api.md, below the line of the class: options: members: [...]"
    assert "segment_rows" in listed["ngram_metrics.Bleu"]


def test_the_package_shows_its_public_names_and_modules_and_nothing_else():
    modules = {name.split(".")[1] for name in public_names() if name.count(".") > 1}
    assert {*dir(ngram_metrics)} == {*ngram_metrics.__all__, *modules, "__version__"}
    assert all(hasattr(ngram_metrics, name) for name in dir(ngram_metrics))


@pytest.mark.parametrize("framework", ["ignite", "lightning"])
def test_the_package_shows_a_module_if_its_framework_is_installed(framework: str, monkeypatch: pytest.MonkeyPatch):
    installed = ModuleType(framework)
    installed.__spec__ = ModuleSpec(framework, None)
    monkeypatch.setitem(sys.modules, framework, installed)
    assert framework in dir(ngram_metrics)
    monkeypatch.setitem(sys.modules, framework, None)
    assert framework not in dir(ngram_metrics)


def replaced_by_the_readme() -> list[tuple[str, str, list[str]]]:
    """The rows of README's table of speeds: the class of another package, ours, and how many times as fast it is."""
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("| today | here |")[2].partition("\n\n")[0]
    cells = [row.strip("| ").split(" | ") for row in table.splitlines()[2:]]
    return [(old.strip("`"), new.strip("`"), speeds) for old, new, *speeds in cells]


def test_the_speeds_of_the_readme_are_those_of_the_benchmarks():
    rows = replaced_by_the_readme()
    assert len(rows) > 7
    measured = set(re.findall(r"\| ([\d.]+) (?=\|)", (DOCS / "project/benchmarks.md").read_text(encoding="utf-8")))
    for old, _, speeds in rows:
        assert len(speeds) == 2, f"{old}: one number in each cell"
        assert set(speeds) <= measured, old


#: Texts in which every order of n-grams matches, in every segment, and in which no class scores 0 or 1.
HYPOTHESES = ["the cat sat on the mat in the hall", "we saw the small dog run home", "It was 3.5 degrees, and cold!"]
REFERENCES = ["a cat sat on the mat in a hall", "we saw the small dog walk home", "It was 3.5 degrees, but cold."]


def scores_of(metric: Any) -> dict[str, float]:
    """The scores of the texts, from 0 to 1, by a metric of any of the packages; one score is called "score"."""
    lists = [[reference] for reference in REFERENCES]
    package = type(metric).__module__.partition(".")[0]
    if package == "sacrebleu":
        return {"score": metric.corpus_score(HYPOTHESES, [REFERENCES]).score / 100}
    if package == "rouge_score":
        rows = [metric.score(*pair) for pair in zip(REFERENCES, HYPOTHESES, strict=True)]
        return {f"{key}_fmeasure": fmean(row[key].fmeasure for row in rows) for key in rows[0]}
    if hasattr(metric, "attach"):  # a metric of ignite reads words
        metric.update(([text.split() for text in HYPOTHESES], [[text.split()] for text in REFERENCES]))
        score = metric.compute()
    else:
        score = metric(HYPOTHESES, lists)
    return dict(score) if isinstance(score, Mapping) else {"score": score}


@pytest.mark.parametrize(("old", "new"), [(old, new) for old, new, _ in replaced_by_the_readme()])
def test_a_class_and_the_class_that_replaces_it_in_the_readme_give_the_same_numbers(old: str, new: str):
    pytest.importorskip("ignite", reason="the table has classes of ignite")
    names: dict[str, Any] = {"keys": ("rouge1", "rouge2", "rougeL")}
    exec("import ignite.metrics, sacrebleu, torchmetrics.text, ngram_metrics.ignite", names)
    exec("from rouge_score import rouge_scorer", names)
    exec("from ngram_metrics import Bleu, ChrF, ROUGEScore", names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the other packages
        expected = scores_of(eval(old, names))
    found = scores_of(eval(new, names))
    assert {name: float(found[name]) for name in expected} == pytest.approx(
        {name: float(score) for name, score in expected.items()}, abs=1e-6
    )
    assert all(0.1 < score < 0.99 for score in expected.values())


#: Two batches, and what the model of the snippets below writes for them; README scores the same texts by hand.
EPOCH = [
    {"source": ["1"], "references": [["the cat is on the mat", "a cat sat on a mat"]]},
    {"source": ["2"], "references": ["it was fast asleep"]},
]
TRANSLATIONS = {"1": "the cat sat on the mat", "2": "it was asleep"}


def readme_snippet(word: str, **names: Any) -> dict[str, Any]:
    """What the snippet of the README with a word defines, from names that a user has."""
    (snippet,) = (code for code in blocks(ROOT / "README.md", "python") if word in code)
    exec(compile(snippet, "README.md", "exec"), names)
    return names


def translate(sources: list[str]) -> list[str]:
    return [TRANSLATIONS[source] for source in sources]


def percent(score: float) -> str:
    return f"{100 * score:.1f}"


def test_the_lightning_snippet_of_the_readme_logs_the_score_of_an_epoch():
    lightning = pytest.importorskip("lightning.pytorch", reason="the block needs lightning")
    model = readme_snippet("LightningModule", LightningModule=lightning.LightningModule, Bleu=Bleu)["Translator"]()
    model.translate = translate
    options = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Lightning's, of the number of workers
        loader = DataLoader(EPOCH, batch_size=None)
        (logged,) = lightning.Trainer(accelerator="cpu", **options).validate(model, loader, verbose=False)
    assert {name: percent(value) for name, value in logged.items()} == {"val/bleu": "43.8"}


def test_the_ignite_snippet_of_the_readme_scores_an_epoch():
    engine = pytest.importorskip("ignite.engine", reason="the block needs ignite")
    names = readme_snippet("ngram_metrics.ignite", Engine=engine.Engine, translate=translate)
    assert percent(names["evaluator"].run(EPOCH).metrics["bleu"]) == "43.8"


def test_the_trainer_snippet_of_the_readme_passes_metrics_that_count_batches():
    pytest.importorskip("transformers", reason="the block needs transformers")
    tokenizer = SimpleNamespace(
        all_special_ids=[0], batch_decode=lambda rows, **_: [" ".join(map(str, row)) for row in rows]
    )
    given = dict.fromkeys(("model", "collator", "train_set", "eval_set")) | {"Bleu": Bleu, "ChrF": ChrF}
    given["Seq2SeqTrainingArguments"] = lambda folder, **options: options
    given["Seq2SeqTrainer"] = lambda model, arguments, *sets, **options: (arguments, options["compute_metrics"])
    given["SFTTrainer"] = type("SFTTrainer", (), {})
    names = readme_snippet("ComputeMetrics", tokenizer=tokenizer, **given)
    assert names["GeneratingTrainer"].__mro__[1:3] == (Generates, given["SFTTrainer"])
    assert names["GeneratingTrainer"].generation_kwargs == {"max_new_tokens": 64}
    arguments, compute_metrics = names["trainer"]
    assert arguments == {"predict_with_generate": True, "batch_eval_metrics": True}
    predicted = SimpleNamespace(predictions=[[5, 6, 7, 8, 9]], label_ids=[[5, 6, 7, 8, 9]])
    assert compute_metrics(predicted, compute_result=True) == {"bleu": 1.0, "chrf": 1.0}


def test_the_comparison_of_the_readme_writes_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    outputs = {f"outputs_{epoch}": ["the cat sat", f"it rained {epoch} times"] for epoch in (9, 10)}
    readme_snippet("outputs_9", ngram_metrics=ngram_metrics, references=["the cat sat", "it rained 3 times"], **outputs)
    assert Path("report.html").stat().st_size > 10_000


def test_the_files_that_a_page_names_exist():
    named_by_page = {
        page: re.findall(r"`((?:[\w.]+/)+\w+\.(?:py|md|ya?ml|toml|js))`", page.read_text(encoding="utf-8"))
        for page in TEXTS
    }
    assert len(named_by_page[DOCS / "project" / "architecture.md"]) > 15
    missing = {
        path
        for paths in named_by_page.values()
        for path in paths
        if not any((folder / path).is_file() for folder in (ROOT, ROOT / "ngram_metrics"))
    }
    of_others = {
        "val/samples/59.md",  # what MLflow's logger writes
        *("eole/scorers/bleu.py", "joeynmt/metrics.py", "ludwig/modules/metric_modules.py", "onmt/scorers/bleu.py"),
    }
    assert missing == of_others


def migrated_lines() -> list[tuple[str, str]]:
    """The table at the top of the page on moving: lines of other packages, and the lines that replace them."""
    table = (DOCS / "start" / "migrating.md").read_text(encoding="utf-8").partition("| today | here |\n|---|---|\n")[2]
    return re.findall(r"^\| `(.+)` \| `(.+)` \|$", table.partition("\n\n")[0], re.MULTILINE)


def last_value(line: str, names: dict[str, Any]) -> float:
    """Run statements that `;` separates, and return the value of the last."""
    *statements, expression = line.split("; ")
    names = dict(names)
    for statement in statements:
        exec(statement, names)
    return float(eval(expression, names))


@pytest.mark.parametrize(("old", "new"), migrated_lines())
def test_a_line_and_the_line_that_replaces_it_give_the_same_number(old: str, new: str):
    pytest.importorskip("ignite", reason="the table has lines of ignite")
    names: dict[str, Any] = {}
    exec("import ignite.metrics, nltk.translate.bleu_score, sacrebleu, torchmetrics.text, ngram_metrics.ignite", names)
    exec("from rouge_score import rouge_scorer", names)
    exec("from ngram_metrics import Bleu, ChrF, ROUGEScore, functional", names)
    (session,) = (code for code in blocks(DOCS / "start" / "migrating.md", "python") if ">>> lists =" in code)
    for example in PARSER.get_examples(session):
        exec(example.source, names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the other packages
        assert last_value(new, names) == pytest.approx(last_value(old, names), abs=1e-6)
    assert last_value(new, names) > 0.1


def test_docstrings_name_pages_by_their_titles():
    """The site turns such a title into a link. Its build is slow, and fails for a title that no page has."""
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    titles = {line.strip(" -").rpartition(": ")[0] for line in navigation.splitlines() if line.endswith(".md")}
    for module in sorted((ROOT / "ngram_metrics").rglob("*.py")):
        for title in re.findall(r'\bpage\s+"([^"]+)"', module.read_text(encoding="utf-8")):
            assert " ".join(title.split()) in titles, named(module)
