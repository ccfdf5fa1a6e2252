"""Keywords of other packages: the error names the option of this package."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

#: What to write instead of each keyword; the first word is the name of our option.
_OURS = {
    # torchmetrics, torcheval
    "n_gram": "ngram",
    "n_char_order": "char_order",
    "n_word_order": "word_order",
    "return_sentence_level_score": "average='none'",
    # sacrebleu; tokenize is torchmetrics' too
    "max_ngram_order": "ngram",
    "tokenize": "tokenizer",
    "smooth_method": "smooth",
    "n_bootstrap": "confidence, the level of the interval",
    # nltk
    "smoothing_function": "smooth",
    "auto_reweigh": "effective_order",
    "max_len": "char_order",
    "ignore_whitespace": "whitespace, which means the opposite",
    # fastchrf
    "remove_whitespace": "whitespace, which means the opposite",
    # rouge_score, and ignite's Rouge
    "split_summaries": "sentence_splitter, such as nltk.sent_tokenize",
    "variants": "rouge_keys",
    "multiref": "accumulate",
    # Hugging Face evaluate
    "max_order": "ngram",
    "rouge_types": "rouge_keys",
    "use_aggregator": "average, 'none' for a score of each sentence",
    # TensorBLEU
    "pad_token_id": "pad_id",
}


def refuse_keywords_of_peers(metric: type, keywords: Iterable[str]) -> None:
    """Raise TypeError for a keyword of another package that a metric has under another name.

    Args:
        metric: the class of the metric; the parameters of its base classes are options too.
        keywords: the keywords that are no parameters of the class.
    """
    for keyword in keywords:
        if keyword in _OURS:
            options = {option for base in metric.__mro__ for option in inspect.signature(base).parameters}
            # A metric without this option, such as chrF for n_gram, has no name to suggest.
            if _OURS[keyword].replace("=", ",").split(",")[0] in options:
                raise TypeError(f"{metric.__name__} has no {keyword}: expected {_OURS[keyword]}")
