"""Warnings of texts that ROUGE reads otherwise than meant, and texts of which it must not warn."""

import re
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ngram_metrics import GroupedMetric, ROUGEScore, evaluate, mbr
from ngram_metrics import _cli as cli
from ngram_metrics.functional import rouge_score

pytest.importorskip("ignite", reason="the classes for ignite are tested")

from ngram_metrics import ignite

pytestmark = pytest.mark.filterwarnings("error")

#: Eight sentences of each language.
OTHER_LANGUAGES = {
    "German": [
        "Der Zug nach München fährt um acht Uhr ab.",
        "Die Kinder spielen im Garten hinter dem Haus.",
        "Morgen soll es im Süden regnen.",
        "Sie hat das Buch schon zweimal gelesen.",
        "Für die lange Reise brauchen wir größere Koffer.",
        "Der Bäcker in unserer Straße öffnet heute erst um neun.",
        "Niemand wusste, wo der alte Schlüssel lag.",
        "Am Abend gehen wir zusammen über die Brücke.",
    ],
    "Czech": [
        "Vlak do Brna odjíždí v osm hodin ráno.",
        "Děti si hrají na zahradě za domem.",
        "Zítra má na jihu celý den pršet.",
        "Tu knihu už četla dvakrát.",
        "Na dlouhou cestu potřebujeme větší kufr.",
        "Pekař v naší ulici otevírá dnes později.",
        "Nikdo nevěděl, kde leží starý klíč.",
        "Večer půjdeme spolu přes most.",
    ],
    "Russian": [
        "Поезд отходит в восемь часов утра.",
        "Дети играют в саду за домом.",
        "Завтра на юге будет дождь.",
        "Она уже дважды прочитала эту книгу.",
        "Для долгой дороги нужен большой чемодан.",
        "Пекарня на нашей улице сегодня откроется позже.",
        "Никто не знал, где лежит старый ключ.",
        "Вечером мы вместе пойдём через мост.",
    ],
    "Spanish": [
        "El tren sale mañana a las ocho.",
        "Los niños juegan en el jardín.",
        "En el sur lloverá todo el día.",
        "Ella ya leyó el libro dos veces.",
        "Para un viaje tan largo hace falta otra maleta.",
        "La panadería abre hoy más tarde.",
        "Nadie sabía dónde estaba la llave.",
        "Por la noche cruzamos el puente.",
    ],
    "Chinese": [
        "火车早上八点开。",
        "孩子们在房子后面的花园里玩。",
        "明天南方会下雨。",
        "这本书她已经读了两遍。",
        "长途旅行需要更大的箱子。",
        "我们街上的面包店今天开得晚。",
        "没有人知道旧钥匙在哪里。",
        "晚上我们一起过桥。",
    ],
    "Hindi": [
        "गाड़ी सुबह आठ बजे चलती है।",
        "बच्चे घर के पीछे बगीचे में खेलते हैं।",
        "कल दक्षिण में बारिश होगी।",
        "उसने यह किताब दो बार पढ़ी है।",
        "लंबी यात्रा के लिए बड़ा बक्सा चाहिए।",
        "हमारी गली की दुकान आज देर से खुलेगी।",
        "किसी को पता नहीं था कि पुरानी चाबी कहाँ है।",
        "शाम को हम साथ में पुल पार करेंगे।",
    ],
}
#: English, with what English has beside ASCII: quotes, dashes, symbols, emoji, and a few names and borrowed words.
ENGLISH = [
    "The train leaves at eight o’clock, and nobody is on the platform yet.",
    "“Put it back,” she said — and then, after a while, “please.”",
    "It costs €5.00 or £4.50, weighs ½ kg and is 20 °C warm… ™ © №",
    "Thanks 👍🏽 ❤️ 1️⃣ 👨‍👩‍👧 🇪🇺 ☎️ — see you tomorrow!",
    "The area is 30 m² (x² + y² ≤ 9), and the ratio is 2×3÷4.",
    "The naïve café on the corner sold out of bread before noon, which surprised the baker more than anybody else.",
    "We met her in Zürich on a cold day in the spring of 1998, and she told us all about the long way home.",
    "e‑mail, co‑operate, non‐breaking: three hyphens that are not ASCII.",
]
DROPPED = (
    "ROUGE's rule for words keeps only a-z and 0-9, but more than 3 % of the words have other letters: "
    "pass tokenizer='unicode' to keep them"
)
WITHOUT_WORDS = (
    "ROUGE's rule for words keeps only a-z and 0-9, but some texts have none of these and score 0: "
    "pass tokenizer='unicode', which keeps letters and digits of all scripts"
)
UNSPLIT = (
    "rougeLsum compares sentences, but the texts have several sentences on one line, so its scores equal "
    "those of rougeL: put each sentence on a line of its own, or pass a sentence_splitter"
)
#: Summaries of several sentences.
SUMMARIES = [
    "The cat sat down. It slept well.",
    "Nobody came! The rain was too strong.",
    "Why not? Because of the rain.",
]
ONE_SENTENCE = [
    "The cat sat on the mat.",
    "A dog ran home",
    "Mr. Smith, Dr. Jones and Prof. Brown met the U.S. Senate.",
    "It rains in No. 10 Downing Street, as in Leeds vs. Chelsea",
    "Am 3. Oktober spielt J. S. Bach in St. Gallen.",
    "Costs rose by 4.5 percent vs. 3.2 percent in Q. E. D. Inc. Germany",
]


def messages_of(call: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(warning.message) for warning in caught]


def batches_of(texts: list[str], size: int) -> list[list[str]]:
    repeated = texts * -(-size // len(texts))
    return [repeated[first : first + size] for first in range(0, len(repeated) - size + 1, size)]


@pytest.mark.parametrize("summary", SUMMARIES)
def test_each_mark_ends_a_sentence(summary: str):
    assert messages_of(lambda: ROUGEScore().update([summary], [summary])) == [UNSPLIT]


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
@pytest.mark.parametrize("size", [32, 64, 200])
def test_the_first_update_of_another_language_is_warned_of_once(language: str, size: int):
    (batch, *_) = batches_of(OTHER_LANGUAGES[language], size)
    metric = ROUGEScore(rouge_keys="rouge1")
    assert messages_of(lambda: metric.update(batch, batch[::-1])) == [DROPPED]
    # Later only texts that have no words at all are looked for.
    later = [] if batch[0][0].isascii() else [WITHOUT_WORDS]
    assert messages_of(lambda: metric.update(batch[:1], [batch[1]])) == later
    metric.reset()
    assert messages_of(lambda: metric.update(["it rains"] * size, batch)) == [DROPPED]


@pytest.mark.parametrize("size", [1, 8, 64])
def test_english_is_not_warned_of(size: int):
    for batch in batches_of(ENGLISH, size):
        rouge_score(batch, batch[::-1], rouge_keys="rouge1")
        evaluate({"a": batch}, batch[::-1], "rouge1", confidence=None)


def test_two_different_words_are_not_enough():
    rouge_score(["Zürich café"] * 50, ["café Zürich"] * 50, rouge_keys="rouge1")
    assert messages_of(lambda: rouge_score(["Zürich café"], ["Größe"], rouge_keys="rouge1")) == [DROPPED]


def test_three_percent_of_the_words_are_not_enough():
    three = ["Zürich café Größe"]
    words = ["a"] * 97
    rouge_score([*three, " ".join(words)], [""] * 2, rouge_keys="rouge1")
    fewer = [*three, " ".join(words[1:])]
    assert messages_of(lambda: rouge_score(fewer, [""] * 2, rouge_keys="rouge1")) == [DROPPED]


@pytest.mark.parametrize(
    "options",
    [{"tokenizer": "unicode"}, {"tokenizer": "13a"}, {"tokenizer": str.split}, {"normalizer": str}],
    ids=str,
)
def test_an_explicit_tokenizer_or_normalizer_is_not_warned_of(options: dict[str, Any]):
    german = OTHER_LANGUAGES["German"]
    rouge_score(german, german, rouge_keys="rouge1", **options)


def test_tokens_and_ids_are_not_warned_of():
    tokens = [text.split() for text in OTHER_LANGUAGES["German"]]
    rouge_score(tokens, tokens)


UNREAD = (["слово"], ["東京", "नमस्ते 。"], ["!?", "é"])


@pytest.mark.parametrize("texts", UNREAD)
@pytest.mark.parametrize("options", [{}, {"tokenizer": str.split}, {"rouge_keys": "rouge1"}, {"use_stemmer": True}])
def test_a_text_that_the_ascii_rule_empties_warns(texts: list[str], options: dict[str, Any]):
    for preds, target in ((["a"] * len(texts), texts), (texts, [["a", "b"]] * len(texts))):
        with pytest.warns(
            UserWarning, match="some texts have none of these and score 0: pass tokenizer='unicode', which keeps"
        ):
            rouge_score(preds, target, **options)


def test_a_text_that_keeps_some_letters_or_has_none_does_not_warn():
    for texts in (["", " \n"], ["!?", "…"], ["👍", "a 東京"], ["_", "Zürich"], ["\u0130", "\u212a"]):
        rouge_score(texts, texts)
    for options in ({"tokenizer": "unicode"}, {"normalizer": str}, {"tokenizer": "char"}):
        for texts in UNREAD:
            rouge_score(texts, texts, **options)


@pytest.mark.parametrize("size", [1, 8, 64])
def test_summaries_in_one_line_are_warned_of(size: int):
    for batch in batches_of(SUMMARIES, size):
        assert messages_of(lambda batch=batch: rouge_score(batch, batch)) == [UNSPLIT]
        assert messages_of(lambda batch=batch: rouge_score(["a"] * size, batch, rouge_keys="rougeLsum")) == [UNSPLIT]


def test_only_the_first_update_is_searched_for_sentences():
    metric = ROUGEScore()
    metric.update(["the cat"], ["the cat sat"])
    metric.update(SUMMARIES, SUMMARIES)


@pytest.mark.parametrize("size", [1, 8, 64])
def test_segments_of_one_sentence_are_not_warned_of(size: int):
    for batch in batches_of(ONE_SENTENCE, size):
        rouge_score(batch, batch[::-1])


def test_what_has_sentences_already_is_not_warned_of():
    rouge_score([*SUMMARIES, "a\nb"], [*SUMMARIES, "a"])
    rouge_score(SUMMARIES, SUMMARIES, rouge_keys=("rouge1", "rougeL"))
    rouge_score(SUMMARIES, SUMMARIES, sentence_splitter=lambda text: text.split(". "))
    rouge_score([*SUMMARIES], [ONE_SENTENCE[:2]] * 3)  # half of the references at most
    tokens = [text.split() for text in SUMMARIES]
    rouge_score(tokens, tokens)
    rouge_score([[5, 6]], [[5, 6]])


GERMAN = OTHER_LANGUAGES["German"]


@pytest.mark.parametrize(
    "call",
    [
        lambda texts: ROUGEScore().update(texts, texts),
        lambda texts: ROUGEScore()["rougeLsum_fmeasure"].update(texts, texts),
        lambda texts: ignite.ROUGEScore().update((texts, texts)),
        lambda texts: GroupedMetric(ROUGEScore(), ["a"]).update(texts, texts, ["a"] * len(texts)),
        lambda texts: mbr.decode(ROUGEScore(rouge_keys="rouge1"), [texts]),
        rouge_score,
    ],
)
def test_every_api_warns(call: Any):
    arguments = (GERMAN, GERMAN) if call is rouge_score else (GERMAN,)
    assert messages_of(lambda: call(*arguments)) == [DROPPED]


def test_evaluate_and_the_command_name_their_own_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    texts = [f"{first} {second}" for first, second in pairwise(GERMAN)]
    option = "a metric object in metrics= with"
    told = messages_of(lambda: evaluate({"a": texts}, texts, "rougeLsum", confidence=None))
    assert told == [
        DROPPED.replace("tokenizer=", f"{option} tokenizer="),
        UNSPLIT.replace("a sentence_splitter", f"{option} a sentence_splitter"),
    ]
    (tmp_path / "texts").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    assert cli.main([f"{tmp_path}/texts", "-r", f"r={tmp_path}/texts", "-m", "rougeLsum,rouge1"]) == 0
    of_command = UNSPLIT.partition(": ")[0] + ": pass --sentence-separator TEXT, with the text between two sentences"
    assert capsys.readouterr().err.splitlines() == [
        f"ngram-metrics: warning: {told}" for told in (DROPPED.replace("tokenizer=", "--rouge-tokenizer "), of_command)
    ]


def test_the_line_of_the_page_silences_the_warning():
    page = (Path(__file__).parents[3] / "docs" / "metrics" / "rouge.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^>>> (warnings\.filterwarnings\([^#]*\))", page, re.MULTILINE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        eval(line)
        rouge_score(GERMAN, GERMAN)
