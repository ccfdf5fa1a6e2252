"""The command line: score files of sentences, one a line, compare systems, and choose among samples.

::

    ngram-metrics systems/*.txt -r reference.txt
    ngram-metrics base.txt tuned.txt -r first.txt second.txt -m bleu,chrf,rouge -c
    ngram-metrics reference.txt -i hypotheses.txt
    ngram-metrics mbr samples.txt -k 16

Nothing here imports torch before the arguments are known to be right.
"""

from ngram_metrics.cli.main import main as main
