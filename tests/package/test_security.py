"""The package runs no code from data, starts no process and opens no connection; what it is tested with is pinned.

The source of every module is parsed, not run, so a call inside a function that no test reaches counts too.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from packages import PROJECT, PYPROJECT

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "ngram_metrics"

#: Modules that turn bytes into objects or code, start processes, or talk to other machines.
MODULES = {
    *("pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "copyreg"),
    *("subprocess", "multiprocessing", "pty", "ctypes", "code", "codeop", "runpy", "webbrowser"),
    *("socket", "ssl", "http", "urllib", "urllib3", "requests", "httpx", "aiohttp", "ftplib", "smtplib", "xmlrpc"),
    *("huggingface_hub", "datasets", "evaluate", "gdown", "wget"),
    *("torch.hub", "torch.utils.model_zoo", "torch.utils.cpp_extension", "nltk.downloader"),
}
#: Builtins that run what they are given. `re.compile` and `torch.compile` are attributes and no such builtin.
BUILTINS = {"eval", "exec", "compile", "__import__", "breakpoint", "input"}
#: Attributes by the end of their dotted name, wherever they are used.
ATTRIBUTES = {
    *("os.system", "os.popen", "os.fork", "os.execv", "os.spawnv", "os.posix_spawn"),
    *("torch.load", "torch.hub", "np.load", "numpy.load", "np.fromfile", "nltk.download", "nltk.data"),
    *("builtins.eval", "builtins.exec", "builtins.compile"),
}
#: Methods that fetch a model or data, whatever they are called on.
METHODS = {"from_pretrained", "load_state_dict_from_url", "download_url_to_file", "urlopen", "urlretrieve"}
#: Where a module is imported by a name made at run time, and the fixed beginning of that name.
IMPORTED_BY_NAME = {
    "ngram_metrics/__init__.py": "ngram_metrics.",
    "ngram_metrics/_core/metrics/registry.py": "ngram_metrics._core.metrics.",
    "ngram_metrics/_core/text/tokenizer_option.py": "sacrebleu.tokenizers.",
}


def is_or_is_in(name: str, modules: set[str]) -> bool:
    """Whether a dotted name is one of some modules or lies in one."""
    return any((name + ".").startswith(module + ".") for module in modules)


def imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.level == 0:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def beginning(argument: ast.expr) -> str:
    """The part of a string that stands in the source before anything is filled in."""
    first = argument.values[0] if isinstance(argument, ast.JoinedStr) and argument.values else argument
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def dangers(source: str, path: str) -> list[str]:
    """What a file does that no file of the package may do: `file:line: what`."""
    found = []
    for node in ast.walk(ast.parse(source)):
        here = f"{path}:{getattr(node, 'lineno', 0)}"
        for name in imported(node):
            if is_or_is_in(name, MODULES) or name in ATTRIBUTES:
                found.append(f"{here}: imports {name}")
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in BUILTINS:
            found.append(f"{here}: uses {node.id}")
        if isinstance(node, ast.Attribute):
            name = ast.unparse(node)
            if name in ATTRIBUTES or is_or_is_in(name, MODULES) or node.attr in METHODS:
                found.append(f"{here}: uses {name}")
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            allowed = IMPORTED_BY_NAME.get(path)
            if allowed is None or not node.args or not beginning(node.args[0]).startswith(allowed):
                found.append(f"{here}: imports by a name made at run time")
    return found


def test_no_module_loads_code_starts_a_process_or_opens_a_connection():
    paths = sorted(SOURCE.rglob("*.py"))
    assert len(paths) > 20
    found = [danger for path in paths for danger in dangers(path.read_text("utf-8"), path.relative_to(ROOT).as_posix())]
    assert not found, "\n".join(found)


def test_the_package_is_source_only():
    """Nothing that the scan cannot read, such as an extension module or a pickle, but the page of the report."""
    page = {path for path in (SOURCE / "_evaluation" / "page").iterdir() if path.suffix in (".css", ".html", ".js")}
    others = {path for path in SOURCE.rglob("*") if path.is_file()} - page
    assert {path.suffix or path.name for path in others} <= {".py", ".pyc", ".typed"}


DANGEROUS = """import pickle
import torch.hub
from torch import hub
from torch import load
def f(): from subprocess import run
import urllib.request as r
from urllib import request
x = eval('1')
run = exec
compile(source, 'name', 'exec')
__import__(name)
torch.load(path)
state = torch.hub.load(name)
nltk.download('punkt')
AutoTokenizer.from_pretrained(name)
importlib.import_module(f'{name}.tokenizers')
np.load(path)
"""
HARMLESS = """import re, importlib.metadata
re.compile('a'), torch.compile(f), self.load_state_dict(states)
def executor(evaluation): 'pickle, exec and eval'
"""


def test_the_scan_finds_what_runs_code_and_lets_the_rest_pass():
    found = [line.split(":")[1] for line in dangers(DANGEROUS, "ngram_metrics/_core/text/words.py")]
    assert sorted(set(map(int, found))) == list(range(1, 18))
    assert dangers(HARMLESS, "ngram_metrics/_core/text/words.py") == []
    by_name = "importlib.import_module(f'sacrebleu.tokenizers.{module}')"
    assert dangers(by_name, "ngram_metrics/_core/text/tokenizer_option.py") == []
    assert dangers(by_name, "ngram_metrics/_core/text/words.py")


def normalized(requirement: str) -> str:
    """The name of a distribution in a requirement."""
    return re.sub("[-_.]+", "-", re.match(r"[A-Za-z0-9._-]+", requirement).group()).lower()


def test_what_the_checks_install_is_pinned():
    """All that the package, its extras and its groups ask for by name, but for what only the benchmarks need."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = list(filter(None, (line.partition("#")[0].strip() for line in lines)))
    assert [pin for pin in pins if not re.match(r"[\w.-]+==[\w.!+-]+(; python_version (>=|<) \"3\.11\")?$", pin)] == []
    groups = {name: group for name, group in PYPROJECT["dependency-groups"].items() if name != "bench"}
    wanted = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values(), *groups.values()]
    names = {normalized(requirement) for requirements in wanted for requirement in requirements}
    assert names - set(map(normalized, pins)) == {"ngram-metrics"}
