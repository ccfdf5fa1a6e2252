"""Draws a score over epochs in the band of its interval: ``python docs/make_pictures.py`` writes docs/pictures.

The texts are made up here. Each "epoch" has fewer words wrong than the one before, so that there is something to see.
"""

from __future__ import annotations

import random
from io import StringIO
from pathlib import Path

import matplotlib

matplotlib.use("svg")  # no window

from ngram_metrics import ChrF

PICTURE = Path(__file__).parent / "pictures" / "interval_over_epochs.svg"
#: Text stays text, and the same picture is the same file.
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "pictures"}
#: A browser shows an SVG in the scheme of its page: on a dark one lightness is turned round, and hues stay.
STYLE = "<style>@media (prefers-color-scheme: dark) { svg { filter: invert(1) hue-rotate(180deg) } }</style>"
EPOCHS = (0.5, 0.35, 0.25, 0.18, 0.15)
TEXT = (
    "the a old young grey small quiet green house river cat dog child teacher letter window garden train sees "
    "finds leaves opens near behind under in before after morning winter evening slowly again never often"
)
WORDS = TEXT.split()


def corpus(segments: int, seed: int = 1) -> list[str]:
    """Return references: random words, 5 to 20 of them."""
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(5, 20))) for _ in range(segments)]


def outputs(references: list[str], wrong: float, seed: int = 2) -> list[str]:
    """Return hypotheses in which about this share of the words is another; each third of these is left out."""
    draw = random.Random(seed)

    def written(word: str) -> list[str]:
        if draw.random() >= wrong:
            return [word]
        return [] if draw.random() < 1 / 3 else [draw.choice(WORDS)]

    return [" ".join(one for word in reference.split() for one in written(word)) for reference in references]


def main() -> None:
    """Write the picture."""
    references = corpus(60)
    metric = ChrF(confidence=0.95)
    figure, _ = metric.plot([metric(outputs(references, wrong), references) for wrong in EPOCHS])
    figure.set_size_inches(4, 3)
    file = StringIO()
    with matplotlib.rc_context(SETTINGS):
        # Without date and version.
        metadata = {"Date": None, "Creator": None}
        figure.savefig(file, format="svg", transparent=True, bbox_inches="tight", metadata=metadata)
    before, tag, after = file.getvalue().partition("<defs>")
    PICTURE.write_text(before + STYLE + tag + after, encoding="utf-8")


if __name__ == "__main__":
    main()
