"""Choose for each segment the output of several systems that agrees best with all the others.

    pip install -e .
    python examples/mbr.py                 # the segments in this file
    python examples/mbr.py FOLDER          # reference.txt and systems/*.txt, one segment per line

Minimum Bayes risk decoding (Kumar and Byrne, 2004) chooses among several hypotheses the one with the highest mean score
against samples of what the answer may be. Here both are the outputs of all systems for a segment. What most of them say
is likely to be right, and the choice needs neither a model nor the true references. The references are read only to
show afterwards that the choice scores above the average system. The script ends with an error if it does not.

BLEU is counted on lowercased words without punctuation; papers report `tokenizer="13a"`. The segments below are made up
so that each system makes its mistakes elsewhere. Systems that resemble each other gain less.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import fmean

from ngram_metrics import Bleu, ChrF, mbr
from ngram_metrics.functional import bleu_score, chrf_score

#: What two outputs are compared with.
UTILITIES = {
    "chrf": lambda device: ChrF(device=device),
    "chrf++": lambda device: ChrF(word_order=2, device=device),
    "bleu": lambda device: Bleu(tokenizer="unicode", device=device),
}

REFERENCES = [
    "The library opens at nine in the morning.",
    "Please close the window before you leave the room.",
    "She found the letter under an old box in the kitchen.",
    "The last train to the coast was late again.",
    "Nobody could explain why the lights went out.",
    "We planted two apple trees behind the house in spring.",
]
SYSTEMS = {
    "first": [
        "The library opens at nine in the morning.",
        "Please shut the windows before leaving of the room.",
        "She found the letter under an old box in a kitchen.",
        "The last train to the coast was again too late.",
        "No one can explain why lights have gone.",
        "We planted two apple trees behind the house in spring.",
    ],
    "second": [
        "The bookshop is opening on nine in the morning.",
        "Please close the window before you leave the room.",
        "She found the letter below an old box in the kitchen.",
        "The last train to the coast was late again.",
        "Nobody could explain why the light went out.",
        "We have planted two trees of apples at the back of the home in the spring.",
    ],
    "third": [
        "The library opens at nine o'clock in the morning.",
        "Please close the window before you go from the room.",
        "She has the letter found under one old chest in kitchen.",
        "The last train to the shore had delay again.",
        "Nobody could explain why the lights went off.",
        "We planted two apple trees behind our house in spring.",
    ],
    "fourth": [
        "The library opens nine in the morning.",
        "Close please the window before you leave the space.",
        "She found a letter under an old box in the kitchen.",
        "Last train to the coast was late again.",
        "None explained the reason of why it was dark.",
        "Two apple trees we planted behind the house in the spring.",
    ],
}


def main() -> None:
    """Decode, and print the scores of each system, of their average and of the choice."""
    arguments = parse_arguments()
    references, systems = read_folder(arguments.folder) if arguments.folder else (REFERENCES, SYSTEMS)
    # A row for each segment. Without references the hypotheses are the references, too.
    rows = [list(outputs) for outputs in zip(*systems.values(), strict=True)]
    decoded = mbr.decode(UTILITIES[arguments.utility](arguments.device), rows)

    scores = {name: corpus_scores(outputs, references, arguments.device) for name, outputs in systems.items()}
    average = tuple(map(fmean, zip(*scores.values(), strict=True)))
    choice = corpus_scores(decoded.hypotheses, references, arguments.device)
    print(f"{len(rows)} segments, {len(systems)} systems\n\n{'':24} chrF    BLEU")
    for name, (chrf, bleu) in {**scores, "average": average, f"MBR, {arguments.utility}": choice}.items():
        print(f"{name:24.24}{chrf:6.2f}  {bleu:6.2f}")
    if not all(ours > mean for ours, mean in zip(choice, average, strict=True)):
        sys.exit("The choice does not score above the average system: expected it to")


def corpus_scores(hypotheses: list[str], references: list[str], device: str) -> tuple[float, float]:
    """Return chrF and BLEU of a corpus, from 0 to 100."""
    chrf = chrf_score(hypotheses, references, device=device)
    bleu = bleu_score(hypotheses, references, tokenizer="unicode", device=device)
    return 100 * chrf.item(), 100 * bleu.item()


def read_folder(folder: Path) -> tuple[list[str], dict[str, list[str]]]:
    """Read the references and the outputs of each system, one segment per line."""
    files = sorted((folder / "systems").glob("*.txt"))
    if not (folder / "reference.txt").is_file() or not files:
        sys.exit(f"{folder}: expected reference.txt and systems/*.txt, one segment a line")
    # Lines end at newlines only: str.splitlines would also split at rarer separators inside a segment.
    references, *outputs = (
        file.read_text(encoding="utf-8").removesuffix("\n").split("\n") for file in [folder / "reference.txt", *files]
    )
    for file, lines in zip(files, outputs, strict=True):
        if len(lines) != len(references):
            sys.exit(f"{file} has {len(lines)} lines: expected {len(references)}, a line for each of reference.txt")
    return references, {file.stem: lines for file, lines in zip(files, outputs, strict=True)}


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description="Choose for each segment the output that agrees best with those of the other systems.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("folder", type=Path, nargs="?", help="holds reference.txt and systems/*.txt")
    parser.add_argument("--utility", choices=UTILITIES, default="chrf", help="what two outputs are compared with")
    parser.add_argument("--device", default="cpu", help="where to count")
    return parser.parse_args()


if __name__ == "__main__":
    main()
