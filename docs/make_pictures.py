"""Draws the pictures of README and of the page on intervals: ``python docs/make_pictures.py runs/restore_text.html``.

The report is that of ``python examples/restore_text.py``: its texts, and the n-grams that match.
"""

from __future__ import annotations

import json
import re
import sys
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("svg")  # no window

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from ngram_metrics import ChrF, evaluate

FOLDER = Path(__file__).parent / "pictures"
#: Letters are outlines, so that the picture is the same with every font. The same picture is the same file.
SETTINGS = {"svg.fonttype": "path", "svg.hashsalt": "pictures"}
#: A browser shows an SVG in the scheme of its page: on a dark one lightness is turned round, and hues stay.
STYLE = "<style>@media (prefers-color-scheme: dark) { svg { filter: invert(1) hue-rotate(180deg) } }</style>"
#: The segment that README shows, and the epochs whose outputs it shows.
SEGMENT, EPOCHS = 22, ("epoch 3", "epoch 6", "epoch 10")
#: Where its texts begin, in percent of the width.
LEFT = 13.0


class Scheme(NamedTuple):
    """The colors of the report in a scheme. ``orders`` has the backgrounds of words, by the order of their n-gram."""

    ink: str
    faint: str
    curve: str
    orders: tuple[str, str, str, str]
    on_order_4: str


SCHEMES = {
    "light": Scheme("#1b1f24", "#59636e", "#2f6fb5", ("#e3effb", "#b9d7f3", "#7fb2e6", "#2a68ad"), "#ffffff"),
    "dark": Scheme("#e4e8ec", "#9da7b1", "#7db7f5", ("#1b2c3f", "#1f456b", "#2a669f", "#8cc0f2"), "#0c1a28"),
}


def read_report(path: Path) -> dict[str, Any]:
    """Return the data of a report."""
    page = path.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    if found is None:
        raise ValueError(f"{path} is no report: expected the page that examples/restore_text.py writes")
    data: dict[str, Any] = json.loads(found[1])
    # The baseline comes first in the data.
    for part in data["of_systems"].values():
        part[:] = [part[index] for index in data["given"]]
    for name in ("systems", "hypothesis_orders", "reference_orders"):
        data[name] = [data[name][index] for index in data["given"]]
    return data


def draw_curve_and_segment(data: dict[str, Any], scheme: Scheme) -> None:
    """Draw chrF over the epochs, and below it one segment with its matched n-grams."""
    figure, (above, below) = pyplot.subplots(2, 1, figsize=(8.6, 4.8), height_ratios=(1.6, 1), layout="constrained")
    systems = dict(zip(data["systems"], data["of_systems"]["texts"], strict=True))
    evaluate(systems, data["of_references"]["texts"][0], "chrf").plot(ax=above)
    above.get_lines()[0].set_color(scheme.curve)
    above.collections[0].set_color(scheme.curve)
    above.set_title("chrF after each epoch, with its 95% interval", loc="left", fontsize="medium")
    below.set_title("One segment, its words shaded by the longest matched n-gram:", loc="left", fontsize="medium")
    below.set_axis_off()
    below.set_xlim(0, 100)
    below.set_ylim(4, -0.5)
    figure.draw_without_rendering()  # the width of a word depends on the layout

    text = data["of_references"]["texts"][0][SEGMENT]
    write_word(below, 0, 0, "reference", scheme.faint)
    write_word(below, LEFT, 0, text, scheme.ink)
    for row, epoch in enumerate(EPOCHS, 1):
        index = data["systems"].index(epoch)
        write_word(below, 0, row, epoch, scheme.faint)
        text = data["of_systems"]["texts"][index][SEGMENT]
        steps = data["of_systems"]["steps"][index][SEGMENT]
        write_shaded(below, row, text, steps, data["hypothesis_orders"][index][SEGMENT], scheme)
    place = 56.0
    for order in "1234":
        place = write_word(below, place, -0.86, f" {order} ", *color_of(order, scheme)) + 1


def color_of(order: str, scheme: Scheme) -> tuple[str, str | None]:
    """Return the color of a word, and of its background, by the longest matched n-gram that covers it."""
    if order == "0":
        return scheme.ink, None
    return scheme.on_order_4 if order == "4" else scheme.ink, scheme.orders[int(order) - 1]


def write_shaded(ax: Axes, row: int, text: str, steps: list[int], orders: str, scheme: Scheme) -> None:
    """Write a text with its words shaded, neighbours of the same order together."""
    pieces: list[tuple[str, str]] = []
    end = 0
    for gap, width, order in zip(steps[::2], steps[1::2], orders, strict=True):
        space, word = text[end : end + gap], text[end + gap : end + gap + width]
        end += gap + width
        if pieces and pieces[-1][1] == order:
            pieces[-1] = pieces[-1][0] + space + word, order
        else:
            pieces += [(space, "0"), (word, order)]
    place = LEFT
    for piece, order in pieces:
        place = write_word(ax, place, row, piece, *color_of(order, scheme))


def write_word(ax: Axes, x: float, y: float, word: str, color: str, background: str | None = None) -> float:
    """Write a word from ``x`` on, and return where it ends."""
    if not word:
        return x
    # Spaces at the ends have no width of their own.
    text = ax.text(x, y, word.replace(" ", "\N{NO-BREAK SPACE}"), color=color, va="center_baseline", fontsize=11)
    end = float(text.get_window_extent().transformed(ax.transData.inverted()).x1)
    if background is not None:
        # Below all words: it reaches a little beyond its own.
        ax.add_patch(Rectangle((x - 0.2, y - 0.34), end - x + 0.4, 0.68, facecolor=background, zorder=0, clip_on=False))
    return end


def draw_interval(data: dict[str, Any]) -> None:
    """Draw chrF over the epochs in the band of its interval."""
    references = data["of_references"]["texts"][0]
    metric = ChrF(confidence=0.95)
    _, ax = pyplot.subplots(figsize=(5, 3), layout="constrained")
    metric.plot([metric(texts, references) for texts in data["of_systems"]["texts"]], ax)


def save(name: str, style: str = "") -> None:
    """Write the picture that was drawn last."""
    file = StringIO()
    # Without date and version.
    pyplot.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    pyplot.close()
    before, tag, after = file.getvalue().partition("<defs>")
    (FOLDER / name).write_text(before + style + tag + after, encoding="utf-8")


def main(report: Path) -> None:
    """Write all pictures."""
    data = read_report(report)
    with matplotlib.rc_context(SETTINGS):
        draw_interval(data)
        save("interval_over_epochs.svg", STYLE)
        for name, scheme in SCHEMES.items():
            inks = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
            with matplotlib.rc_context(dict.fromkeys(inks, scheme.ink)):
                draw_curve_and_segment(data, scheme)
                save(f"readme_{name}.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
