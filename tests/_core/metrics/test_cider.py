"""CIDEr-D against the published formula in plain loops: in one call and with a table, in every kind of input."""

import json
import pickle
import subprocess
import sys

import numpy as np
import oracles
import pytest
import torch
from draws import fewer
from hypothesis import given
from hypothesis import strategies as st
from layouts import PADDING, inputs

from ngram_metrics import CiderD, evaluate, mbr
from ngram_metrics._core.basics import output
from ngram_metrics._core.document_frequency import DocumentFrequency
from ngram_metrics._core.metrics.cider import CiderMeasure
from ngram_metrics.functional import cider_d, document_frequency
from ngram_metrics.hugging_face import Reward

# Few words, so that n-grams recur in several segments; 4 and 5 stand in no corpus.
words = st.lists(st.integers(1, 3), max_size=9)
# An empty reference among several cannot be told from a missing one in a padded tensor.
reference_lists = st.lists(words, min_size=1, max_size=1) | st.lists(words.filter(bool), min_size=1, max_size=3)
batches = st.lists(st.tuples(st.lists(st.integers(1, 5), max_size=9), reference_lists), min_size=2, max_size=5)
corpora = st.lists(reference_lists, min_size=2, max_size=5)


def tensor(rows):
    return torch.tensor(rows, dtype=torch.int64)


def similarities(sentences, corpus, **options):
    return [
        oracles.cider_similarities(hypothesis, references, corpus, **options) for hypothesis, references in sentences
    ]


def expected(sentences, corpus, **options):
    return [10 * sum(each) / len(each) for each in similarities(sentences, corpus, **options)]


def assert_scores(scores, wanted):
    assert scores.dtype == torch.float64
    assert scores.numpy() == pytest.approx(np.array(wanted), rel=1e-12, abs=1e-12)


@pytest.mark.filterwarnings("ignore:every segment|the references")
@fewer(4)
@given(batches, st.integers(1, 5), st.sampled_from([0.5, 6.0]))
def test_without_a_table_the_references_are_the_corpus(sentences, order, sigma):
    wanted = expected(sentences, [references for _, references in sentences], max_order=order, sigma=sigma)
    for preds, target, options in inputs(sentences).values():
        assert_scores(cider_d(preds, target, None, order, sigma, "none", **options), wanted)
        assert_scores(cider_d(preds, target, ngram=order, sigma=sigma, **options), sum(wanted) / len(wanted))


@pytest.mark.filterwarnings("ignore:every segment|the references")
@fewer(5)
@given(batches, corpora, st.integers(1, 5), st.integers(0, 2))
def test_a_table_weighs_the_ngrams_of_any_batch(sentences, corpus, order, longer):
    wanted = expected(sentences, corpus, max_order=order)
    corpora_of, layouts = inputs([([], text) for text in corpus]), inputs(sentences)
    for layout in corpora_of.keys() & layouts.keys():
        _, references, options = corpora_of[layout]
        table = document_frequency(references, order + longer, **options)
        preds, target, options = layouts[layout]
        assert_scores(cider_d(preds, target, table, order, average="none", **options), wanted)
        for hypothesis, references, score in zip(preds, target, wanted, strict=True):
            in_rows = layout in ("rows", "arrays", "single rows")
            alone = (hypothesis[None], references[None]) if in_rows else ([hypothesis], [references])
            assert_scores(cider_d(*alone, table, order, average="none", **options), [score])


@given(corpora, st.integers(1, 4))
def test_frequencies_count_segments(corpus, order):
    wanted = oracles.frequencies(corpus, order)
    table = document_frequency(corpus, order)
    assert table.segments == len(corpus)
    assert table.ngram == order
    assert list(table.tokens) == sorted({token for r in corpus for reference in r for token in reference})
    assert [sorted(counts.tolist()) for counts in table.counts] == [
        sorted(count for ngram, count in wanted.items() if len(ngram) == n) for n in range(1, order + 1)
    ]


CORPUS = [["a cat sat on the mat", "the cat sat on a mat"], ["a dog ran home"], ["it rains"]]


def test_a_table_is_the_same_however_it_was_kept(tmp_path):
    table = document_frequency(CORPUS)
    path = tmp_path / "table.json"
    table.save(path)
    for kept in (DocumentFrequency.load(path), pickle.loads(pickle.dumps(table)), document_frequency(CORPUS)):
        assert kept == table
        assert hash(kept) == hash(table)
        assert repr(kept) == "DocumentFrequency(3 segments, 11 tokens, orders 1 to 4)"
        assert cider_d("a cat sat", ["a cat ran"], kept).equal(cider_d("a cat sat", ["a cat ran"], table))
        assert CiderD(kept).signature == CiderD(table).signature
    for other in (CORPUS[:2], [*CORPUS, ["it rains"]], [*CORPUS[:2], ["it pours"]]):
        assert document_frequency(other) != table
    assert document_frequency(CORPUS, tokenizer="13a") != table
    assert document_frequency([[[1, 2]], [[1]]]) != document_frequency([[[2, 1]], [[1]]])
    assert table != "table"


def test_a_file_keeps_any_token(tmp_path):
    """Two surrogates are another token than the character that they encode; numpy's tokens are equal to plain ones."""
    path = tmp_path / "table.json"
    words = ["\ud83d\ude00", "\U0001f600", "\0", "\ud800", "\u2028", "1", ""]
    for tokens, plain in ((words, words), (list(map(np.str_, words)), words), ([np.int64(3), np.int64(7)], [3, 7])):
        table = document_frequency([[tokens], [tokens[:1]]])
        table.save(path)
        assert DocumentFrequency.load(path) == table == document_frequency([[plain], [plain[:1]]])
        assert DocumentFrequency.load(path).tokens == tuple(plain)


@pytest.mark.programs
def test_a_table_of_another_process_is_the_same():
    told = f"from ngram_metrics.functional import document_frequency as df; print(df({CORPUS!r}).digest)"
    found = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == document_frequency(CORPUS).digest


def test_a_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "table.json"
    whole = {"layout": 1, "kind": "ids", "tokenizer": "", "segments": 2, "tokens": [1], "counts": [[1]], "keys": []}
    path.write_text(json.dumps(whole))
    assert DocumentFrequency.load(path) == document_frequency([[1], [[]]], 1)
    others = [{**whole, "layout": 2}, {**whole, "counts": [["a"]]}, {**whole, "more": 1}, {"layout": 1}, [1], "layout"]
    wrong = {"kind": "words", "tokenizer": 5, "segments": "2", "tokens": [[1]], "counts": [[1, 1]], "keys": [[1]]}
    others += [{**whole, name: value} for name, value in wrong.items()]
    others += [{**whole, "kind": "tokens"}, {**whole, "segments": -1}, {**whole, "counts": []}]
    others += [{**whole, "tokens": [1, 1], "counts": [[1, 1]]}, {**whole, "tokens": [1, 2]}]
    for content in (*map(json.dumps, others), "no table", "\u00e4", "[" * 100_000):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(ValueError, match=r"table\.json is not a table of document frequencies"):
            DocumentFrequency.load(path)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        *(
            ("counts", [[count, 1], [1]], rf"counts of order 1 have {count}: expected integers from 1 to 2")
            for count in (0, -1, 1.5, 1.0, 3)
        ),
        ("counts", [[1, True], [1]], "counts of order 1 have True: expected integers from 1 to 2"),
        ("counts", [[1, 1], [None]], "counts of order 2 have None: expected integers from 1 to 2"),
        ("counts", [[1, 1], [2**70]], f"counts of order 2 have {2**70}: expected integers from 1 to 2"),
        ("counts", [[1, 1], 1], "counts are not a list for each order"),
        ("counts", [[1], [1]], "counts of order 1 are 1, for 2 tokens"),
        ("counts", [[1, 1], [1, 1]], "counts and keys of order 2 differ in number"),
        ("counts", [[1, 1]], "counts has 1 orders and keys 1"),
        ("segments", True, "segments is True: expected an integer of at least 0"),
        ("segments", 2.0, "segments is 2.0"),
        ("keys", [[4]], "keys of order 2 have 4: expected integers from 0 to 3"),
        ("keys", [[-1]], "keys of order 2 have -1"),
        ("keys", [[True]], "keys of order 2 have True"),
        ("keys", "ab", "keys are not a list for each order"),
        ("tokens", [7, 5], "tokens are ids out of order"),
        ("tokens", [5, True], "tokens are not a list of ids"),
        ("tokens", [5, 5], "tokens has a token twice"),
        ("kind", "tokens", "kind is 'tokens'"),
        ("tokenizer", None, "tokenizer is not text"),
        ("layout", 2, "layout is 2: expected 1"),
    ],
)
def test_a_file_that_no_corpus_could_have_made_is_refused(name, value, words, tmp_path):
    table = document_frequency([[[5, 7]], [[5]]], 2)
    path = tmp_path / "table.json"
    table.save(path)
    parts = json.loads(path.read_text())
    path.write_text(json.dumps({**parts, name: value}))
    with pytest.raises(ValueError, match=rf"table\.json is not a table of .* another version: {words}"):
        DocumentFrequency.load(path)
    path.write_text(json.dumps(parts))
    assert DocumentFrequency.load(path) == table


def test_keys_out_of_order_are_refused(tmp_path):
    path = tmp_path / "table.json"
    document_frequency([[[5, 7, 5]], [[5]]], 2).save(path)
    parts = json.loads(path.read_text())
    assert parts["keys"] == [[1, 2]]
    for keys in ([2, 1], [1, 1]):
        path.write_text(json.dumps({**parts, "keys": [keys]}))
        with pytest.raises(ValueError, match="keys of order 2 are out of order"):
            DocumentFrequency.load(path)


def test_tokens_of_any_text_are_saved_and_others_refused(tmp_path):
    path = tmp_path / "table.json"
    for corpus in ([["\ud800 \U0001f600"], ["a"]], [[2**62], [7]]):
        table = document_frequency(corpus)
        table.save(path)
        assert DocumentFrequency.load(path) == table
    with pytest.raises(TypeError, match=r"has the token \('a', 'b'\): expected str or int"):
        document_frequency([[[("a", "b")]], [[("c", "d")]]]).save(path)
    with pytest.raises(TypeError, match="has the token True: expected str or int"):
        document_frequency([[[True, "a"]], [["b"]]]).save(path)
    with pytest.raises(ValueError, match="4300 digits"):
        document_frequency([[[10**5000]], [[1]]], 1).save(path)
    assert DocumentFrequency.load(path) == table


def test_a_table_is_replaced_when_all_of_it_is_written(tmp_path, monkeypatch):
    def interrupted(*_: object):
        raise KeyboardInterrupt

    path = tmp_path / "table.json"
    table = document_frequency(CORPUS)
    table.save(path)
    monkeypatch.setattr(output.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        document_frequency(["other", "words"]).save(path)
    assert DocumentFrequency.load(path) == table
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(OSError, match=r"cannot write .*: No such file or directory"):
        table.save(tmp_path / "none" / "table.json")


def test_one_segment_is_no_corpus():
    for call in (
        lambda: cider_d(["a cat"], ["a cat"]),
        lambda: cider_d(torch.tensor([[1, 2]]), torch.tensor([[1, 2]]), pad_id=0),
        lambda: cider_d("a", ["a", "b"], document_frequency(["a cat"])),
        lambda: CiderD(document_frequency(["a cat"])),
    ):
        with pytest.raises(ValueError, match="of one segment, in which every n-gram weighs 0"):
            call()


def test_no_segment_is_no_corpus():
    for call in (lambda table: cider_d(["a"], ["a"], table), CiderD):
        with pytest.raises(ValueError, match="counted in no segment: expected two segments or more"):
            call(document_frequency([]))


@pytest.mark.parametrize("sigma", [1e-200, 5e-324, 1e200])
def test_the_square_of_sigma_need_not_be_a_float(sigma):
    preds, target = ["a cat sat on the mat", "a dog ran"], CORPUS[:2]
    as_long, shorter = cider_d(preds, target, sigma=sigma, average="none").tolist()
    of_length = cider_d(preds, target, average="none").tolist()
    assert as_long == of_length[0]
    assert shorter == (pytest.approx(of_length[1] * np.exp(1 / 72), rel=1e-14) if sigma > 1 else 0)


def test_settings_are_checked():
    table = document_frequency(CORPUS, 2)
    for options, error, words in (
        ({"ngram": 2, "average": "micro"}, ValueError, r"leaves no counts to sum: expected average 'macro' or 'none'"),
        ({"ngram": 3}, ValueError, "has the orders 1 to 2, and ngram is 3"),
        ({"ngram": 2, "sigma": 0}, ValueError, r"sigma must be greater than 0 \(got: 0\)"),
        ({"ngram": 2, "sigma": -1}, ValueError, "sigma must be at least 0"),
        ({"ngram": 0}, ValueError, "ngram order must be greater than zero"),
        ({"ngram": 2, "tokenizer": "13a"}, ValueError, "was counted with tok:none, and the tokenizer is tok:13a"),
    ):
        for call in (lambda o: CiderD(table, **o), lambda o: cider_d("a", ["a"], table, **o)):
            with pytest.raises(error, match=words):
                call(options)
    for wrong in (None, {"a": 1}, "table.pt"):
        with pytest.raises(TypeError, match=r"expected a table that functional.document_frequency returns"):
            CiderD(wrong)


@pytest.mark.parametrize("layout", ["text", "rows"])
def test_an_unknown_token_is_not_the_first_one_after_the_next_ngram(layout):
    """With as many tokens as there are, "1 4" would have the key of "2 1"."""
    corpus, sentences = [[[1, 2, 1]], [[2, 1]], [[3]]], [([1, 4, 3], [[1, 4, 2]])]
    _, references, options = inputs([([], text) for text in corpus])[layout]
    preds, target, options = inputs(sentences)[layout]
    assert_scores(
        cider_d(preds, target, document_frequency(references, **options), **options), expected(sentences, corpus)[0]
    )


def test_a_table_of_words_is_not_for_ids():
    table, of_ids = document_frequency(CORPUS), document_frequency([[1, 2], [3]])
    with pytest.raises(ValueError, match="was counted in words, and the segments are ids"):
        cider_d([[1]], [[1]], table)
    with pytest.raises(ValueError, match="was counted in words, and the segments are ids"):
        cider_d(torch.tensor([[1]]), torch.tensor([[1]]), table, pad_id=0)
    with pytest.raises(ValueError, match="was counted in ids, and the segments are text"):
        cider_d("a", ["a"], of_ids)


@pytest.mark.parametrize(
    ("references", "error", "words"),
    [
        (5, TypeError, "target is an int"),
        ([1.5], TypeError, "float"),
        (["a", 5], TypeError, "is an int"),
        ([[]], ValueError, "segment 0 has no reference"),
        ([[[1, -1]]], ValueError, "has the id -1"),
        ([[["a", []]]], TypeError, "list as a token"),
        (torch.zeros(2, 2), TypeError, "expected token ids"),
        (torch.zeros(2).long(), ValueError, r"target has shape \(2,\)"),
        (torch.zeros(2, 2).long(), ValueError, "a padded tensor of ids needs pad_id"),
    ],
)
def test_references_that_cannot_be_read_are_refused(references, error, words):
    with pytest.raises(error, match=words):
        document_frequency(references)


def test_a_tokenizer_reads_table_and_texts():
    corpus = [["A cat, a dog!"], ["A dog."], ["It rains."]]
    for tokenizer in ("13a", str.split):
        table = document_frequency(corpus, tokenizer=tokenizer)
        split = [[reference.split() for reference in references] for references in corpus]
        if tokenizer == "13a":
            split = [
                [reference.replace(",", " ,").replace("!", " !").replace(".", " .").split() for reference in r]
                for r in corpus
            ]
        found = cider_d(["A dog."], [["A dog!"]], table, tokenizer=tokenizer)
        hypothesis, reference = (
            (["A", "dog", "."], ["A", "dog", "!"]) if tokenizer == "13a" else (["A", "dog."], ["A", "dog!"])
        )
        assert_scores(found, expected([(hypothesis, [reference])], split)[0])


def test_numbers_are_not_percentages():
    table = document_frequency(CORPUS)
    preds, target = ["a cat sat on a mat", "a dog ran home"], [CORPUS[0], CORPUS[1]]
    score = cider_d(preds, target, table).item()
    assert 1 < score < 10
    found = evaluate({"base": preds, "same": preds}, target, {"cider": CiderD(table)}, confidence=0.95)
    assert found.results["base"]["cider"].score == pytest.approx(score)
    assert f"{score:.2f} [" in str(found)
    assert "scores on a 0-100 scale, cider on a 0-10 scale" in str(found)
    assert f'"score": {found.results["base"]["cider"].score!r}' in found.to_json()
    assert repr(found.results["base"]["cider"].score) in found.to_tsv()
    assert (
        Reward(CiderD(table))(completions=preds, reference=target)
        == cider_d(preds, target, table, average="none").tolist()
    )


def test_pairs_are_refused():
    with pytest.raises(ValueError, match="does not score pairs"):
        mbr.decode(CiderD(document_frequency(CORPUS)), [["a", "b"]])


def test_ids_that_no_tensor_holds():
    large, score = 2**63, cider_d([[1, 2, 3]], [[[1, 2, 3]]], document_frequency([[[1, 2, 3]], [[1]]]))
    table = document_frequency([[[large, 1, large + 1]], [[large]]])
    assert cider_d([[large, 1, large + 1]], [[[large, 1, large + 1]]], table).equal(score)
    assert cider_d(tensor([[1, 0]]), tensor([[1, 0]]), table, pad_id=0).item() == pytest.approx(2.5)


def test_a_mean_has_no_parts():
    assert CiderD(document_frequency(CORPUS)).details() == {}


def test_a_long_vocabulary_and_long_rows():
    """Keys of more digits than fit in one sort, and ids beyond 32 bits."""
    draw = np.random.default_rng(3)
    ids = draw.integers(2**40, 2**40 + 400, (6, 2, 130)).tolist()
    sentences = [(draw.permutation(r[0]).tolist()[:100] + r[1][:20], r) for r in ids]
    corpus = [references for _, references in sentences]
    table = document_frequency(corpus)
    wanted = expected(sentences, corpus)
    preds = [hypothesis + [PADDING] * 10 for hypothesis, _ in sentences]
    assert_scores(cider_d(tensor(preds), tensor(ids), table, average="none", pad_id=PADDING), wanted)
    assert_scores(cider_d([one for one, _ in sentences], ids, table, average="none"), wanted)
    assert CiderMeasure(table).document_frequency is table
