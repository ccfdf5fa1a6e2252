"""Results as tables, Markdown, LaTeX and HTML: the layout of each, and names that are shown and never run."""

import html
import json
import re

import pytest
from report_pages import HOSTILE
from systems import output, references

from ngram_metrics import evaluate

NAME = "<b onload='x()'>&*[_|$\\ \u202e\t\n\x1b[31m\x07"
SHOWN = "<b onload='x()'>&*[_|$\\ [U+202E]  [U+001B][31m[U+0007]"
REFERENCES = references(120)
SYSTEMS = {"base": output(REFERENCES, 0.3, seed=10), "other": output(REFERENCES, 0.2, seed=11)}


def test_the_table_has_scores_with_intervals_and_marks_then_notes_and_signatures():
    found = evaluate(SYSTEMS, {"human": REFERENCES}, "bleu,rouge")
    header, *rows = str(found).splitlines()
    assert header.split() == ["system", "bleu", "rouge1", "rouge2", "rougeL", "rougeLsum"]
    for row, (system, values) in zip(rows, found.results.items(), strict=False):
        cells = [system]
        for each in values.values():
            score, low, high = (f"{100 * number:.2f}" for number in (each.score, each.low, each.high))
            cells += [score, f"[{low},", f"{high}]" + "+" * (system == "other")]
        assert row.split() == cells
    assert rows[2:6] == [
        "",
        "120 segments, reference human, scores on a 0-100 scale",
        "[low, high]: 95% bootstrap interval",
        "+ better, - worse than base: p < 0.05, paired randomization test with Holm's correction",
    ]
    assert rows[6:] == [f"{name}: {text}" for name, text in found.signatures.items()]
    assert len(header) == len(rows[0]) + 1 == len(rows[1]), "columns are aligned"


def test_markdown_escapes_names():
    found = evaluate({"a|b_c": SYSTEMS["base"], "other": SYSTEMS["other"]}, REFERENCES, confidence=None)
    lines = found.to_markdown().splitlines()
    values = [f"{100 * each.score:.2f}" for each in found.results["a|b_c"].values()]
    assert lines[:3] == ["| system | chrF | BLEU |", "| :-- | --: | --: |", rf"| a\|b\_c | {' | '.join(values)} |"]
    assert lines[3].count("+ |") == 2
    assert r"\+ better, - worse than a\|b\_c: p " in lines[6]
    assert f"`bleu: {found.signatures['bleu']}`  " in lines


@pytest.mark.parametrize("name", ["a`b", "`", "``a``", "<img src=x> `<img src=y>` ```"])
def test_a_backtick_in_the_name_of_a_metric_does_not_end_the_code_of_its_signature(name: str):
    found = evaluate(SYSTEMS, REFERENCES, {name: "bleu"}, confidence=None)
    *_, line = found.to_markdown().splitlines()
    # In Markdown as many backticks as it began with end the code. One space at either end is not shown.
    code = re.match(r"(`+)(.+?)(?<!`)\1(?!`)", line)
    assert code[0] == line.rstrip()
    assert code[2].strip() == f"{name}: {found.signatures[name]}"


def test_html_shows_names_as_they_are_and_says_what_differs():
    systems = {NAME: ["a b c"] * 60, "[other]": ["a b d"] * 60}
    shown = evaluate(systems, ["a b d"] * 60, "chrf")._repr_html_()
    assert "<b " not in shown
    assert "&lt;b onload=&#x27;x()&#x27;&gt;&amp;*[_|$\\ [U+202E]  [U+001B][31m[U+0007]" in shown
    told = re.search(r'<td class="better" title="([^"]*)">([\d.]+) <small>\[.*?\]</small>\+</td>', shown)
    assert re.fullmatch(
        r"difference \+[\d.]+ \[[\d.]+, [\d.]+\], p = 0\.0001; 60 segments better, 0 equal, 0 worse", told[1]
    )
    assert told[2] == "100.00"
    assert "prefers-color-scheme: dark" in shown
    plain = html.unescape(re.sub("<style>.*?</style>|<.*?>", " ", shown, flags=re.S))
    assert "95% bootstrap interval" in plain
    assert "nrefs:1|bs:1000|ar:10000" in plain


def forms(name: str) -> list[str]:
    """The table, Markdown and LaTeX where a name is that of a system, the baseline and a reference."""
    found = evaluate({name: ["a"], "b": ["b"]}, {name: ["b"]}, "chrf", confidence=None)
    assert name in json.loads(found.to_json())["systems"]
    return [str(found), found.to_markdown(), found.to_latex()]


@pytest.mark.parametrize("name", [NAME, *filter(None, HOSTILE[:8])])
def test_a_name_is_one_cell_of_one_line(name: str):
    assert [form.count("\n") for form in forms(name)] == [form.count("\n") for form in forms("plain")]


def test_a_name_commands_no_terminal():
    assert all(form.replace("\n", "").isprintable() for form in forms(NAME))
    assert forms(NAME)[0].count(SHOWN) == 3


def test_no_character_of_a_name_is_a_command_of_latex():
    found = evaluate({r"a&%$#_{}~^\*": ["a"], "b": ["a"]}, {"r_1": ["a"]}, "bleu", confidence=None).to_latex()
    written = r"a\&\%\$\#\_\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}*"
    assert f"\n{written} & 0.00 " in found
    assert rf"$^{{+}}$ better, $^{{-}}$ worse than {written}: p" in found


def test_latex_has_heads_as_papers_have_them_and_says_below_what_its_marks_mean():
    systems = {"[a]": ["a b c"] * 60, "b_": ["a b d"] * 60, "*z": ["q"] * 60}
    found = evaluate(systems, ["a b d"] * 60, "chrf,chrf++").to_latex().splitlines()
    assert found[:6] == [
        r"\begin{table}",
        r"\centering",
        r"\caption{60 segments, 1 reference, scores on a 0-100 scale.}",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"system & chrF & chrF++ \\",
    ]
    space = r"\phantom{$^{+}$}"
    assert found[7] == rf"{{}}[a] & 38.89 [38.89, 38.89]{space} & 46.67 [46.67, 46.67]{space} \\"
    assert found[8] == r"b\_ & 100.00 [100.00, 100.00]$^{+}$ & 100.00 [100.00, 100.00]$^{+}$ \\"
    assert found[9] == r"{}*z & 0.00 [0.00, 0.00]$^{-}$ & 0.00 [0.00, 0.00]$^{-}$ \\"
    assert found[10:14] == [
        r"\bottomrule",
        r"\end{tabular}",
        "",
        r"\par\smallskip{\footnotesize [low, high]: 95\% bootstrap interval. $^{+}$ better, $^{-}$ worse than [a]: "
        r"p $<$ 0.05, paired randomization test with Holm's correction.\par}",
    ]
    assert found[14] == r"\end{table}"
    assert found[15].startswith("% chrf: nrefs:1|")


def test_latex_has_the_caption_the_label_and_the_digits_that_are_asked_for():
    found = evaluate({"a": ["a b c"] * 60, "b": ["a b d"] * 60}, ["a b d"] * 60, "chrf")
    lines = found.to_latex(digits=1, intervals=False, label="tab:main", caption=r"Scores of \emph{both}.").splitlines()
    assert lines[2:4] == [r"\caption{Scores of \emph{both}.}", r"\label{tab:main}"]
    assert lines[8:10] == [r"a & 38.9\phantom{$^{+}$} \\", r"b & 100.0$^{+}$ \\"]
    assert "bootstrap" not in "".join(lines[:-3])
    data = "60 segments, 1 reference, scores on a 0-100 scale"
    assert lines[-3].startswith(rf"\par\smallskip{{\footnotesize {data}. $^{{+}}$ better, ")
    assert found.to_markdown(digits=0, intervals=False).splitlines()[2:4] == ["| a | 39 |", "| b | 100+ |"]
    for options, words in (
        ({"digits": -1}, r"^digits must be an integer of at least 0 \(got: -1\)$"),
        ({"digits": 0.5}, r"^digits must be an integer of at least 0 \(got: 0.5\)$"),
        ({"intervals": "no"}, r"^intervals must be True or False \(got: 'no'\)$"),
        ({"details": 1}, r"^details must be True or False \(got: 1\)$"),
        ({"caption": 1}, "^caption is an int: expected a text$"),
        ({"label": 1}, "^label is an int: expected a text$"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            found.to_latex(**options)


def test_papers_have_details_on_demand():
    found = evaluate(SYSTEMS, REFERENCES, "bleu,chrf")
    assert found.to_latex(details=True).count(" & difference & p") == 2
    assert found.to_markdown(details=True).count(" | difference | p ") == 2


def test_marks_say_which_way_a_significant_difference_goes():
    systems = {"base": ["a b c"] * 60, "better": ["a b d"] * 60, "worse": ["q"] * 60, "same": ["a b c"] * 60}
    found = evaluate(systems, ["a b d"] * 60, "chrf,overlap", confidence=None)
    ends = [[cell[-1] for cell in line.split()[1:]] for line in str(found).splitlines()[1:5]]
    assert ends == [["9", "7"], ["+", "+"], ["-", "-"], ["9", "7"]]
    assert "+ better, - worse than base: p < 0.05, paired randomization test" in str(found)


GROUPS = {"domain": ["news", "talk|_"] * 30, "id": list(range(60))}


def test_groups_have_a_block_in_every_table_and_rows_in_one_table():
    systems = {"base": ["a b c"] * 60, "better": ["a b d"] * 30 + ["a b c"] * 30}
    found = evaluate(systems, ["a b d"] * 60, "chrf,overlap", confidence=None, groups=GROUPS)
    rows = [line.split() for line in str(found).splitlines()[4:9]]
    score, other = (f"{100 * found.groups['domain']['news'][name]['chrf'].score:.2f}" for name in systems)
    assert rows[0] == ["domain", "system", "segments", "chrf", "overlap"]
    assert rows[1][:4] == ["news", "base", "30", score]
    assert rows[2][:4] == ["news", "better", "30", other]
    assert [row[:2] for row in rows[3:]] == [["talk|_", "base"], ["talk|_", "better"]]
    for text in (str(found), found.to_markdown(), found.to_latex(), found._repr_html_()):
        assert text.count("Groups with more than 50 labels are not scored: id (60 labels)") == 1
    assert r"| talk\|\_ | better | 30 |" in found.to_markdown()
    assert r"talk|\_ & better & 30 &" in found.to_latex()
    assert "<th>talk|_</th><th>better</th><td" in found._repr_html_()
    assert list(json.loads(found.to_json())["groups"]) == list(found.groups) == ["domain"]
    alone = evaluate(systems, ["a b d"] * 60, "chrf", confidence=None, groups=GROUPS["domain"])
    assert str(alone).splitlines()[4].split() == ["group", "system", "segments", "chrf"]
