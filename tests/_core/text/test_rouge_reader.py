"""How ROUGE reads: which words and sentences a text, tokens or ids have, and the words of every refusal."""

from itertools import chain

import pytest
import rouge_oracle
import torch
from hypothesis import given
from hypothesis import strategies as st
from layouts import apart, encoded, numbered_segments, read_batch, segments_of

from ngram_metrics._core.counting.batch import END_OF_SENTENCE, FIRST_TOKEN
from ngram_metrics._core.counting.padded_batch import pad_batch
from ngram_metrics._core.text.rouge_reader import RougeReader

#: Only "\n" ends a line; the others part words alone.
PIECES = ["a", "B", "c1", " ", "\n", "\n\n", "\r\n", "\r", "\u2028", "\x85", "\x0b", "_", ".", "é", "\u212a", "😀"]
texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def split(document):
    """The sentences of a document that have words."""
    sentences = [[]]
    for token in document:
        if token == END_OF_SENTENCE - FIRST_TOKEN:
            sentences.append([])
        else:
            sentences[-1].append(token)
    return [*filter(None, sentences)]


def sentences_read(reader, preds, target):
    """The sentences of each hypothesis and of each of its references, with words numbered by segment."""
    segments = segments_of(read_batch(reader, preds, target)[-1])
    return numbered_segments([(split(first), list(map(split, others))) for first, others in segments])


@pytest.mark.filterwarnings("ignore:ROUGE's rule for words")
@given(st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=4))
def test_a_text_is_read_as_lines_of_words(batch):
    def summary(text):
        return [*filter(None, rouge_oracle.summary(text))]

    expected = [(summary(first), list(map(summary, others))) for first, others in batch]
    joined = [([*chain(*first)], [[*chain(*other)] for other in others]) for first, others in expected]
    preds, target = apart(batch)
    assert sentences_read(RougeReader(), preds, target) == numbered_segments(expected)
    assert encoded(RougeReader(), preds, target) == numbered_segments(joined)
    assert encoded(RougeReader(sentences=False), preds, target) == numbered_segments(joined)


def test_a_tokenizer_of_the_whole_text_need_not_agree_with_that_of_its_lines():
    """The words of rouge1 are those of the text, the words of rougeLsum those of the sentences."""
    reader = RougeReader(tokenizer=lambda text: [text])
    assert encoded(reader, ["a\nb"], ["a\nb"]) == [[[0], [[0]]]]
    assert sentences_read(reader, ["a\nb"], ["a\nb"]) == [[[[0], [1]], [[[0], [1]]]]]


def test_words_are_stemmed_last():
    reader = RougeReader(use_stemmer=True, tokenizer=lambda text: [*text.split(), "", "runs"])
    assert sentences_read(reader, ["running run\nwas"], ["was"]) == [[[[0, 0, 0], [1, 0]], [[[1, 0]]]]]
    assert encoded(RougeReader(use_stemmer=True, normalizer=str), ["Running running"], ["x"]) == [[[0, 0], [[1]]]]


def test_a_negative_id_beside_padded_ids_is_an_error_but_for_the_separator():
    reader = RougeReader(sentence_separator_id=-9, pad_id=0)
    preds = torch.tensor([[5, -9, 6, -1, 7]])
    assert sentences_read(reader, preds, [[[-9, 5, 0, 6], []]]) == [[[[0], [1, 2]], [[[0, 1]], []]]]
    with pytest.raises(ValueError, match="reference 1 of segment 0 has the id -8, which is negative: expected ids"):
        read_batch(reader, preds, [[[-9, 5, 0, 6], [-9, -8]]])


@pytest.mark.parametrize("sentences", [[[1, 2]], [["a", "b"]], torch.tensor([[1, 2]])], ids=["ids", "tokens", "padded"])
def test_without_a_separator_a_document_is_one_sentence(sentences):
    (got,) = read_batch(RougeReader(pad_id=0), sentences, sentences)
    assert got.lengths.tolist() == [2, 2]


@pytest.mark.parametrize("make", [list, torch.tensor])
def test_the_separator_splits_where_it_is_padding_too(make):
    """The end of a sentence may be the id that fills a row: then it still ends a sentence, in both layouts."""
    reader = RougeReader(sentence_separator_id=9, pad_id=9)
    sides = (make([[1, 2, 9, 3, 4]]), make([[3, 4, 9, 1, 2]]))
    assert sentences_read(reader, *sides) == [[[[0, 1], [2, 3]], [[[2, 3], [0, 1]]]]]
    assert encoded(reader, *sides) == [[[0, 1, 2, 3], [[2, 3, 0, 1]]]]


@pytest.mark.parametrize(("pad_id", "counts"), [(9, [1, 2, 1]), (0, [2, 2, 2])])
def test_a_row_of_separators_is_a_missing_reference_if_they_are_padding_too(pad_id, counts):
    """Both engines agree. A segment without any reference has an empty one."""
    hypotheses = torch.tensor([[5, 9, 6]] * 3)
    references = torch.tensor([[[9, 9, 9], [5, 9, 6]], [[6, 9, 5], [7, 9, 9]], [[9, 9, 9], [9, 9, 9]]])
    reader = RougeReader(sentence_separator_id=9, pad_id=pad_id)
    (_, sentences) = read_batch(reader, hypotheses, references)
    assert sentences.count_references().tolist() == counts
    assert split(segments_of(sentences)[0][1][-1]) == [[5], [6]]
    in_torch = pad_batch(hypotheses, references, (pad_id,), 9)
    assert in_torch.count_references().tolist() == counts
    of_words = read_batch(RougeReader(sentence_separator_id=9, pad_id=pad_id, sentences=False), hypotheses, references)
    assert of_words[0].count_references().tolist() == counts


PREDS, TARGET = ["a", "b c"], [["d"], ["e", "f\nwrong g"]]


@pytest.mark.parametrize(
    ("option", "wrong", "words", "more"),
    [
        ("normalizer", None, "the normalizer returned a NoneType for {}: expected a str", {}),
        ("tokenizer", "words", "the tokenizer returned a str for {}, .*wrong g'?: expected a sequence of tokens", {}),
        ("tokenizer", [["word"]], r"{} has the token \['word'\], a list: expected a hashable", {}),
        ("sentence_splitter", "f", r"the sentence_splitter returned a str for {}, 'f\\nwrong g': expected a seq", {}),
        ("sentence_splitter", 3, "the sentence_splitter returned an int for {}", {}),
        ("sentence_splitter", ["f", 3], "the sentence_splitter returned .*{}.*expected a sequence of str", {}),
        ("tokenizer", [1, 2], r"needs words, but the tokenizer returned \[1, 2\] for {}", {"use_stemmer": True}),
        ("tokenizer", [tuple("words")], "needs words, but the tokenizer returned .* for {}", {"use_stemmer": True}),
    ],
)
@pytest.mark.parametrize("sentences", [True, False])
def test_a_callable_that_returns_the_wrong_type_is_told_of_with_the_sentence(option, wrong, words, more, sentences):
    right = str if option == "normalizer" else str.split
    options = {option: lambda text: wrong if "wrong" in text else right(text), **more, "sentences": sentences}
    if option == "sentence_splitter" and not sentences:
        read_batch(RougeReader(**options), PREDS, TARGET)
        return
    with pytest.raises(TypeError, match=words.format("reference 1 of segment 1")):
        read_batch(RougeReader(**options), PREDS, TARGET)
