"""The page of the report: a template with one style and one script, and a policy that forbids all others."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.messages import pluralize, visible
from ngram_metrics._evaluation import result_tables
from ngram_metrics._evaluation.evaluate_arguments import Texts
from ngram_metrics._evaluation.page.charts import describe_chart, make_charts
from ngram_metrics._evaluation.page.contents import page_data
from ngram_metrics._evaluation.page.page_words import ORDERS
from ngram_metrics._evaluation.results import Outcome
from ngram_metrics._evaluation.steps import Steps, find_steps
from ngram_metrics._evaluation.system_counts import CountsBySystem, compute_outcome

_FOLDER = Path(__file__).parent
#: Characters that could end a script or a line of it, and those that UTF-8 cannot encode.
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
#: The files of the script, in order.
_SCRIPTS = (
    *("elements", "choices", "words", "systems", "groups"),
    *("flags", "article", "filters", "segments", "start"),
)
#: The most texts of a page, outputs and references: more make a page that a browser opens slowly.
MOST_TEXTS = 200_000
#: More names would not fit a title.
_NAMES_IN_TITLE = 3
#: The level of the intervals if the results have none.
_LEVEL = 0.95


def check_installed() -> None:
    """Raise ModuleNotFoundError if Jinja2 is not installed."""
    if importlib.util.find_spec("jinja2") is None:
        raise ModuleNotFoundError("a report needs Jinja2: pip install Jinja2")


def check_size(systems: Mapping[str, Sequence[str]], references: Iterable[str | Sequence[str]]) -> None:
    """Raise ValueError if a page would have more than ``MOST_TEXTS`` texts.

    ``references`` are texts, or lists of the texts of a segment.
    """
    outputs = sum(map(len, systems.values()))
    texts = outputs + sum(1 if isinstance(reference, str) else len(reference) for reference in references)
    if texts > MOST_TEXTS:
        raise ValueError(
            f"a report has at most {MOST_TEXTS:,} texts, and {pluralize(len(systems), 'system')} and the references "
            f"have {texts:,}: expected fewer segments, such as a sample of them, or fewer systems"
        )


def page(
    systems: CountsBySystem,
    outcome: Outcome,
    texts: Texts,
    sources: Sequence[str] | None,
    tokenizer: Tokenizer | None,
    title: str | None = None,
) -> str:
    """Return the page as HTML, with matches of words that ``tokenizer`` splits."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    if outcome.plan.confidence is None:
        plan = outcome.plan._replace(confidence=_LEVEL)
        outcome = compute_outcome(systems, list(outcome.signatures), texts, plan, outcome.grouping)
    steps = find_steps(texts.given)
    if title is None:
        title = _describe_comparison(texts.given, outcome.baseline, steps)
    scripts = [(_FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS]
    script = "\n".join(['"use strict";', "{", *scripts, "}"])
    styles = (_FOLDER / "page.css").read_text(encoding="utf-8")
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = visible
    # All markup is from this package or escaped.
    return environment.get_template("page.html").render(
        title=visible(title),
        outcome=outcome,
        given=texts.given,
        orders=ORDERS,
        several=len(outcome.results) > 1,
        tables=result_tables,
        style=result_tables.PLAIN,
        charts=make_charts(outcome, texts.given, steps),
        describe_chart=describe_chart,
        steps=steps,
        notes=result_tables.notes(outcome),
        script=Markup(script),
        styles=Markup(styles),
        script_digest=_digest(script),
        style_digest=_digest(styles),
        data=Markup(script_json(page_data(systems, outcome, texts, sources, tokenizer))),
    )


def _describe_comparison(systems: Sequence[str], baseline: str, steps: Steps | None) -> str:
    """Return a title that says what is compared, with at most three names of systems."""
    others = [system for system in systems if system != baseline]
    if not others:
        return f"Scores of {baseline}"
    if steps is not None:
        compared = f"{systems[0]} to {systems[-1]}"
    elif len(others) > _NAMES_IN_TITLE:
        compared = f"{', '.join(others[:_NAMES_IN_TITLE])} and {len(others) - _NAMES_IN_TITLE} more"
    else:
        compared = " and ".join(filter(None, (", ".join(others[:-1]), others[-1])))
    return f"{compared}, compared with {baseline}"


def script_json(value: object) -> str:
    """Return JSON that is safe inside a ``script`` element, whatever texts it contains."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
