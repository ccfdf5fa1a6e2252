"""The command line, where no module imports torch before the arguments are checked."""

from ngram_metrics._cli.main import main as main
