"""Draws the pictures of plots.md: ``python docs/make_pictures.py`` writes them into docs/pictures.

The texts are made up here. Each "epoch" has fewer words wrong than the one before, so that there is something to see.
"""

from __future__ import annotations

import random
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")  # no window

from ngram_metrics import Bleu, ChrF, ROUGEScore

FOLDER = Path(__file__).parent / "pictures"
#: Text stays text, and the same picture is the same file.
SETTINGS = {"font.size": 11.5, "legend.fontsize": "medium", "svg.fonttype": "none", "svg.hashsalt": "pictures"}
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


def computed(metric: Any, wrong: float, segments: int = 60) -> Any:
    """Return what ``compute`` gives after one epoch."""
    references = corpus(segments)
    metric.reset()
    metric.update(outputs(references, wrong), references)
    return metric.compute()


def only_f(values: dict[str, Any]) -> dict[str, Any]:
    """Return ROUGE's F without P and R, for fewer lines in the picture."""
    return {name: value for name, value in values.items() if name.endswith("_fmeasure")}


def figures() -> dict[str, Any]:
    """Return the figures by the names of their files."""
    bleu = Bleu()
    keys = ROUGEScore(rouge_keys=("rouge1", "rouge2", "rougeL"))
    sure = ChrF(confidence=0.95)
    rouge_sure = ROUGEScore(rouge_keys=("rouge1", "rougeL"), confidence=0.95)
    each = ChrF(average="none")
    return {
        "value": bleu.plot(computed(bleu, EPOCHS[-1])),
        "epochs": bleu.plot([computed(bleu, wrong) for wrong in EPOCHS]),
        "keys": keys.plot([only_f(computed(keys, wrong)) for wrong in EPOCHS]),
        "intervals": rouge_sure.plot(computed(rouge_sure, EPOCHS[-1])),
        "interval_over_epochs": sure.plot([computed(sure, wrong) for wrong in EPOCHS]),
        "segments": each.plot(computed(each, EPOCHS[1], segments=200)),
    }


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    with matplotlib.rc_context(SETTINGS):
        for name, (figure, _) in figures().items():
            figure.set_size_inches(4, 3)
            file = StringIO()
            # Without date and version.
            metadata = {"Date": None, "Creator": None}
            figure.savefig(file, format="svg", transparent=True, bbox_inches="tight", metadata=metadata)
            before, tag, after = file.getvalue().partition("<defs>")
            (FOLDER / f"{name}.svg").write_text(before + STYLE + tag + after, encoding="utf-8")


if __name__ == "__main__":
    main()
