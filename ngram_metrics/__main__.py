"""``python -m ngram_metrics``: the command line."""

import sys

from ngram_metrics._cli import main

if __name__ == "__main__":
    sys.exit(main())
