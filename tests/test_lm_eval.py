"""The metrics in lm-evaluation-harness: in its releases, and as its head and its next version register them."""

import json
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module, metadata
from math import isnan
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import sacrebleu
import torch
from documentation import DOCS, blocks
from harness_corpus import EXPECTED, OUTPUTS, REFERENCES, SINGLE
from metrics.apis import APIS
from oracles import close
from packages import PROJECT

import ngram_metrics
from ngram_metrics import ROUGEScore
from ngram_metrics.significance import standard_error

GROUP = "lm_eval.metrics"
STREAM = [SINGLE]
SACREBLEU = {
    "ngram_bleu": lambda: sacrebleu.corpus_bleu(OUTPUTS, STREAM).score,
    "ngram_chrf": lambda: sacrebleu.corpus_chrf(OUTPUTS, STREAM).score,
    "ngram_chrfpp": lambda: sacrebleu.corpus_chrf(OUTPUTS, STREAM, word_order=2).score,
    "ngram_ter": lambda: sacrebleu.corpus_ter(OUTPUTS, STREAM).score,
}
NO_TEXTS = (
    "^{} got no texts: expected a text and its references, from process_results if there are several; "
    "of repeats the filter take_first passes on one text$"
)
ROUGE = {f"ngram_{key}": partial(ROUGEScore, rouge_keys=key) for key in ("rouge1", "rouge2", "rougeL", "rougeLsum")}
#: What makes the metrics that sacrebleu lacks.
OTHERS = ROUGE | {
    f"ngram_{name}": api.metric for name, api in APIS.items() if name != "rouge" and f"ngram_{name}" not in SACREBLEU
}
LOWER = {f"ngram_{name}" for name, api in APIS.items() if not api.row.make().measure.higher_is_better}


def entry_points() -> list[metadata.EntryPoint]:
    return [metadata.EntryPoint(name, value, GROUP) for name, value in PROJECT["entry-points"][GROUP].items()]


class Registry(dict):
    """What the registries of the harness do at commit b954108c: by its docs/plugins.md and tests/test_plugins.py.

    An entry point is kept until its name is asked for. The module that it names then registers the same name, which is
    allowed if the function is the one that the entry point names.
    """

    def register(self, name: str, target: Any) -> None:
        placeholder = self.get(name)
        if isinstance(placeholder, metadata.EntryPoint):
            assert placeholder.value == f"{target.__module__}:{target.__name__}"
        else:
            assert name not in self, f"{name} is already registered"
        self[name] = target

    def load(self, name: str) -> Any:
        if isinstance(self[name], metadata.EntryPoint):
            self[name] = self[name].load()
        return self[name]


class Head(ModuleType):
    """The module ``lm_eval.api.registry``, with one metric of the harness's own."""

    def __init__(self) -> None:
        super().__init__("lm_eval.api.registry")
        self.metrics, self.aggregations = Registry(), Registry()
        self.metric_aggregations, self.directions = Registry(), Registry()
        self.output_types = Registry()
        self.register_aggregation("bleu")(sum)
        self.register_metric(metric="bleu", higher_is_better=True, aggregation="bleu", output_type="generate_until")(
            max
        )
        self.find_packages()

    def find_packages(self) -> None:
        for entry_point in entry_points():
            if entry_point.name not in self.metrics:
                self.metrics[entry_point.name] = entry_point

    def load(self, name: str) -> Any:
        return self.metrics.load(name)

    def register_aggregation(self, name: str) -> Callable[[Any], Any]:
        return lambda function: self.aggregations.register(name, function) or function

    def register_metric(self, **options: Any) -> Callable[[Any], Any]:
        def decorate(function: Any) -> Any:
            self.store(function, **options)
            return function

        return decorate

    def store(
        self, function: Any, *, metric: str, higher_is_better: bool, aggregation: str, output_type: str = ""
    ) -> None:
        self.metrics.register(metric, function)
        self.directions.register(metric, higher_is_better)
        self.metric_aggregations.register(metric, self.aggregations[aggregation])
        self.output_types.register(metric, output_type)


class Next(Head):
    """The same of 0.5.0.dev1: it finds no entry points, and its bootstrap sends every aggregation to other processes.

    By default a metric is for tasks of multiple choice, and a task takes only metrics for its type of output.
    """

    def find_packages(self) -> None:
        """Find none."""

    def load(self, name: str) -> Any:
        import_module("ngram_metrics.lm_eval")  # as a task does
        return super().load(name)

    def store(
        self,
        function: Any,
        *,
        metric: str,
        higher_is_better: bool = True,
        aggregation: str | None = None,
        reduction: str | None = None,
        output_type: str = "multiple_choice",
    ) -> None:
        super().store(
            function,
            metric=metric,
            higher_is_better=higher_is_better,
            aggregation=aggregation,
            output_type=output_type,
        )
        if metric != "bleu":
            self.metric_aggregations[metric] = SentAway(self.metric_aggregations[metric])


class SentAway:
    """An aggregation that runs in another process, for which it is pickled."""

    def __init__(self, aggregation: Any) -> None:
        self.sent = pickle.dumps(aggregation)

    def __call__(self, items: list[Any]) -> float:
        return pickle.loads(self.sent)(items)


@pytest.fixture(params=[Head, Next])
def head(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Head]:
    module = request.param()
    for name in ("lm_eval", "lm_eval.api"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "lm_eval.api.registry", module)
    # Set before it is deleted, so that what the test imports is forgotten after it.
    monkeypatch.setitem(sys.modules, "ngram_metrics.lm_eval", module)
    monkeypatch.delitem(sys.modules, "ngram_metrics.lm_eval")
    return module


def evaluate(head: Head, name: str, references: list[Any]) -> float:
    """Score as a task with one target for each document does."""
    function = head.load(name)
    items = [
        function(references=[reference], predictions=[output])
        for output, reference in zip(OUTPUTS, references, strict=True)
    ]
    return head.metric_aggregations[name](items)


@pytest.mark.parametrize("head", [Head], indirect=True)
def test_the_head_imports_the_module_when_a_name_is_asked_for(head: Head):
    assert "ngram_metrics.lm_eval" not in sys.modules
    assert head.load("bleu") is max
    assert "ngram_metrics.lm_eval" not in sys.modules
    assert head.load("ngram_ter").__name__ == "ngram_ter"
    assert not [name for name, target in head.metrics.items() if isinstance(target, metadata.EntryPoint)]


def test_every_entry_point_has_its_standard_error_and_its_direction(head: Head):
    head.load("ngram_bleu")
    scores = {*SACREBLEU, *OTHERS}
    assert head.directions == {
        "bleu": True,
        **{name: name not in LOWER for name in scores},
        **{f"{name}_stderr": False for name in scores},
    }
    assert {entry_point.name for entry_point in entry_points()} == head.directions.keys() - {"bleu"}
    assert set(head.output_types.values()) == {"generate_until"}


@pytest.mark.parametrize("name", SACREBLEU)
def test_scores_are_those_of_sacrebleu(head: Head, name: str):
    assert evaluate(head, name, SINGLE) == close(SACREBLEU[name]())


@pytest.mark.parametrize("name", OTHERS)
def test_other_metrics_have_the_defaults_of_their_classes(head: Head, name: str):
    outputs = ["the cat, the cat, the cat, the cat. the cat", "A dog; a dog"]
    references = [["the cat. the cat, the cat"], ["a dog, a dog"]]
    metric = OTHERS[name](confidence=0.95)
    metric.update(outputs, references)
    (score, *_), (error, *_) = metric.compute().values(), standard_error(metric).values()
    head.load(name)
    items = list(zip(outputs, references, strict=True))
    found = (head.metric_aggregations[name](items), head.metric_aggregations[f"{name}_stderr"](items))
    assert found == (close(100 * score.item()), close(100 * error))
    assert 0 < found[0] < 100


def test_a_list_of_targets_is_several_references(head: Head):
    assert evaluate(head, "ngram_bleu", REFERENCES) == EXPECTED["bleu"][0]


@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_items_of_process_results_have_several_references(head: Head, metric: str):
    items = list(zip(OUTPUTS, REFERENCES, strict=True))
    head.load("ngram_bleu")
    found = (
        head.metric_aggregations[f"ngram_{metric}"](items),
        head.metric_aggregations[f"ngram_{metric}_stderr"](items),
    )
    assert found == EXPECTED[metric]


def test_an_aggregation_starts_no_threads_which_a_forked_process_would_wait_for(head: Head):
    head.load("ngram_bleu")
    metric = ngram_metrics.lm_eval.CorpusMetric("threads", lambda *_: torch.tensor(torch.get_num_threads()), ())
    threads = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        assert metric.aggregate([("the cat", ["a cat"])]) == 100
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(threads)


def test_one_document_has_no_standard_error(head: Head):
    head.load("ngram_bleu")
    aggregate = head.metric_aggregations["ngram_chrf_stderr"]
    assert isnan(aggregate([("the cat", ["the cat sat"])]))
    # Two equal documents have one, and it is 0.
    assert aggregate([("the cat", ["the cat sat"])] * 2) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("name", ["ngram_bleu", "ngram_chrf_stderr", "ngram_rougeL", "ngram_ter"])
@pytest.mark.parametrize(
    "items",
    [
        pytest.param([], id="none"),
        pytest.param([1.0, 1.0], id="floats"),
        pytest.param([1, 1], id="ints"),
        pytest.param([("the cat", ["a cat"]), 1.0], id="a float behind a pair"),
        pytest.param(["ab"], id="a text of two characters"),
        pytest.param([("the cat", "a cat", "the cat sat")], id="three texts"),
        pytest.param([(["the cat", "a cat"], ["a cat"])], id="the repeats of an output"),
        pytest.param([(["the cat"], ["a cat"]), ("the cat", ["a cat"])], id="the repeats of an output before a pair"),
    ],
)
def test_items_without_texts_are_an_error(head: Head, name: str, items: list[Any]):
    head.load(name)
    with pytest.raises(ValueError, match=NO_TEXTS.format(name)):
        head.metric_aggregations[name](items)


@pytest.mark.parametrize("texts", [[], ["the cat", "a cat"]], ids=["none", "two"])
def test_a_document_without_one_output_and_its_target_is_an_error(head: Head, texts: list[str]):
    for references, predictions in ((["the cat"], texts), (texts, ["the cat"])):
        with pytest.raises(ValueError, match=NO_TEXTS.format("ngram_bleu")):
            head.load("ngram_bleu")(references, predictions)


def test_the_module_has_no_other_attributes(head: Head):
    head.load("ngram_bleu")
    with pytest.raises(AttributeError, match=r"^module 'ngram_metrics.lm_eval' has no attribute 'ngram_blue'$"):
        ngram_metrics.lm_eval.ngram_blue  # noqa: B018


def test_the_package_imports_the_module_when_its_attribute_is_asked_for(head: Head, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delattr(ngram_metrics, "lm_eval", raising=False)
    assert ngram_metrics.lm_eval.ngram_ter.__name__ == "ngram_ter"


TASK = """
task: made_up
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{source}}}}"
doc_to_target: reference
metric_list:
"""


def entry(name: str) -> str:
    """An entry of a task, as the page says for both releases: the second takes nothing but the function from it."""
    lower = "    higher_is_better: false\n" if name in LOWER else ""
    return f"  - metric: !function ngram_metrics.lm_eval.{name}\n    aggregation: {name}\n{lower}"


def run_task(
    tmp_path: Path, entries: str, targets: list[Any], bootstrap_iters: int = 0
) -> tuple[dict[str, Any], list[str]]:
    """Run a task whose YAML has these entries: its results, and the lines of its table."""
    import lm_eval
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager
    from lm_eval.utils import make_table

    class Made(LM):
        def generate_until(self, requests: Any, **options: Any) -> list[str]:
            return [OUTPUTS[int(request.args[0])] for request in requests]

        def loglikelihood(self, requests: Any, **options: Any) -> Any:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    data = tmp_path / "made_up.jsonl"
    rows = [{"source": str(number), "reference": target} for number, target in enumerate(targets)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "made_up.yaml").write_text(TASK.format(data=data) + entries, encoding="utf-8")
    manager = TaskManager(include_path=str(tmp_path), include_defaults=False)
    results = lm_eval.simple_evaluate(
        model=Made(), tasks=["made_up"], task_manager=manager, bootstrap_iters=bootstrap_iters
    )
    return results["results"]["made_up"], [line.replace(" ", "") for line in make_table(results).splitlines()]


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Its version."""
    pytest.importorskip("lm_eval", reason="lm_eval is not installed")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    return metadata.version("lm_eval")


@pytest.mark.harnesses
def test_the_table_has_scores_directions_and_standard_errors(tmp_path: Path, harness: str):
    names = [*SACREBLEU, *ROUGE]
    entries = [entry(metric) for name in names for metric in (name, f"{name}_stderr")]
    row, lines = run_task(tmp_path, "".join(entries), SINGLE)
    for name in names:
        score, error = row[f"{name},none"], row[f"{name}_stderr,none"]
        assert name in ROUGE or score == close(SACREBLEU[name]())
        (line,) = (line for line in lines if f"|{name}|" in line)
        _, arrow, *shown = re.search(r"\|(ngram_\w+)\|(.)\|([\d.]+)\|±\|([\d.]+)\|", line).groups()
        assert arrow == ("↓" if name == "ngram_ter" else "↑")
        # The table rounds to the digits that fit its column.
        assert [*map(float, shown)] == pytest.approx([score, error], abs=0.01)


@pytest.mark.harnesses
def test_the_table_has_no_standard_error_of_one_document(tmp_path: Path, harness: str):
    _, lines = run_task(tmp_path, entry("ngram_chrf") + entry("ngram_chrf_stderr"), SINGLE[:1])
    (line,) = (line for line in lines if "|ngram_chrf|" in line)
    assert line.endswith("|±|NaN|")


@pytest.mark.harnesses
def test_the_function_of_the_page_passes_on_several_references(tmp_path: Path, harness: str):
    (code,) = (
        code for code in blocks(DOCS / "guides" / "harnesses.md", "python") if "import ngram_metrics.lm_eval" in code
    )
    (tmp_path / "several.py").write_text(code.replace("references", "reference"), encoding="utf-8")
    entries = ["  - metric: ngram_chrf\n", "  - metric: ngram_chrf_stderr\n"]
    row, _ = run_task(tmp_path, "".join([*entries, "process_results: !function several.process_results\n"]), REFERENCES)
    assert (row["ngram_chrf,none"], row["ngram_chrf_stderr,none"]) == EXPECTED["chrf"]


@pytest.mark.harnesses
def test_the_next_version_passes_on_a_list_of_targets(tmp_path: Path, harness: str):
    if harness.startswith("0.4."):
        with pytest.raises(ValueError, match=NO_TEXTS.format("ngram_bleu")):
            run_task(tmp_path, entry("ngram_bleu"), REFERENCES)
    else:
        row, _ = run_task(tmp_path, entry("ngram_bleu"), REFERENCES)
        assert row["ngram_bleu,none"] == EXPECTED["bleu"][0]


@pytest.mark.harnesses
def test_the_next_version_computes_standard_errors_itself(tmp_path: Path, harness: str):
    row, _ = run_task(tmp_path, entry("ngram_chrf") + entry("ngram_chrf_stderr"), SINGLE)
    ours = row["ngram_chrf_stderr,none"]
    row, _ = run_task(tmp_path, entry("ngram_chrf"), SINGLE, bootstrap_iters=1000)
    # Of 1,000 draws each has a standard error of 2 %.
    expected = "N/A" if harness.startswith("0.4.") else pytest.approx(ours, rel=0.15)
    assert row["ngram_chrf_stderr,none"] == expected
