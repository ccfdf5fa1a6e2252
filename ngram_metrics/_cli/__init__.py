"""The command line: arguments, files, and one call of ``evaluate``."""

from ngram_metrics._cli.main import main as main
