"""A sentence is its English text, and keeps what it is made of."""

import copy
import pickle

import pytest

from opcheck.lang.sentence import Sentence, filled, from_data, place_names, sentences
from opcheck.lang.speech import Language, catalogue, speaking, tell

LACKS = Sentence("{vendor} registers no kernel for {op}", vendor="ascend", op="aten::relu")
INSIDE = Sentence("it runs as {op}: {said}", op="aten::relu", said=LACKS)


def test_it_is_its_text() -> None:
    text = "it runs as aten::relu: ascend registers no kernel for aten::relu"
    assert text == INSIDE
    assert hash(INSIDE) == hash(text)
    assert (type(str(INSIDE)), f"{INSIDE}.") == (str, f"{text}.")
    assert INSIDE.template == "it runs as {op}: {said}"
    assert dict(INSIDE.arguments) == {"op": "aten::relu", "said": LACKS}


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))]
)
def test_a_copy_has_its_parts(again) -> None:  # type: ignore[no-untyped-def]
    found = again(INSIDE)
    assert found == INSIDE
    assert [(s.template, dict(s.arguments)) for s in sentences(found)] == [
        (s.template, dict(s.arguments)) for s in (INSIDE, LACKS)
    ]


def test_numbers_are_written_as_digits() -> None:
    assert dict(Sentence("{count} calls", count=12).arguments) == {"count": "12"}


def test_nothing_but_names_is_filled_in() -> None:
    template = "{a} {a.__class__} {a[0]} {a!r} {a:>9} {} {0} {{a}} {b}"
    assert (
        filled(template, {"a": "{b}"}) == "{b} {a.__class__} {a[0]} {a!r} {a:>9} {} {0} {{b}} {b}"
    )
    assert place_names(template) == {"a", "b"}


def test_it_is_found_by_its_template_whatever_stands_in_it() -> None:
    """No pattern would read these arguments back from the text."""
    odd = Sentence("{vendor} registers no kernel for {op}", vendor="a registers b", op="x y: z")
    with speaking(Language.CHINESE):
        assert tell(odd) == "a registers b 没有为 x y: z 注册 kernel"
        assert tell(str(odd)) != tell(odd)


def test_a_sentence_inside_is_translated_too() -> None:
    with speaking(Language.CHINESE):
        assert tell(INSIDE) == "它实际执行为 aten::relu：ascend 没有为 aten::relu 注册 kernel"


def test_a_number_chooses_the_plural() -> None:
    chinese = catalogue(Language.CHINESE)
    assert chinese.tell(Sentence("{count} call", count=1)) == "1 次调用"
    assert chinese.tell(Sentence("{count} calls", count=12)) == "12 次调用"


def test_a_template_of_the_database_is_recognised_once_for_all_arguments() -> None:
    template = (
        '{argument} is {actual}: "any words of a vendor"; the kernel hands the call to the host CPU'
    )
    found = Sentence(template, argument="self", actual="int64")
    with speaking(Language.CHINESE):
        assert tell(found) == tell(from_data(str(found))) != found


def test_no_english_stands_within_a_translation() -> None:
    unknown = Sentence("{said}; but {said_second}", said="words that nobody knows", said_second="x")
    with speaking(Language.CHINESE):
        assert tell(unknown) == str(unknown)


def test_a_sentence_that_is_not_known_stays_english() -> None:
    with speaking(Language.CHINESE):
        assert tell(Sentence("nobody {a} knows {b} this", a="1", b="2")) == "nobody 1 knows 2 this"
