"""The XML out and the XML in."""

from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.errors import WebappError
from webapp.recruiters.mturk.requests import LONGEST_FIELD, answer_fields, external_question

_NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
_OUT = f"{{{_NAMESPACE}/2006-07-14/ExternalQuestion.xsd}}"
_IN = f"{_NAMESPACE}/2005-10-01/QuestionFormAnswers.xsd"


def answers(*pairs: tuple[str, str]) -> str:
    inner = "".join(
        f"<Answer><QuestionIdentifier>{name}</QuestionIdentifier><FreeText>{text}</FreeText></Answer>"
        for name, text in pairs
    )
    return f'<QuestionFormAnswers xmlns="{_IN}">{inner}</QuestionFormAnswers>'


@given(st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=0x2FFF), max_size=200))
def test_a_link_arrives_as_it_was_whatever_stands_in_it(query):
    link = f"https://study.example/run/abc?{query}"
    question = fromstring(external_question(link, 600))
    assert question.findtext(f"{_OUT}ExternalURL") == link
    assert question.findtext(f"{_OUT}FrameHeight") == "600"
    assert question.tag == f"{_OUT}ExternalQuestion"


def test_a_link_that_does_not_fit_is_refused():
    with pytest.raises(
        WebappError, match=r"the link is too long for a question.*a question of at most 65535 bytes"
    ):
        external_question("https://study.example/" + "&" * 14_000)


@pytest.mark.parametrize("link", ["http://study.example/", "ftp://study.example/", "study"])
def test_a_link_in_clear_text_is_refused(link):
    with pytest.raises(WebappError, match="https://"):
        external_question(link)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_this_machine_may_be_linked_in_clear_text(host):
    assert f"http://{host}:8000/" in external_question(f"http://{host}:8000/")


def test_the_fields_of_an_answer_are_read():
    assert answer_fields(answers(("receipt", "abc"), ("other", "x"))) == {
        "receipt": "abc", "other": "x",
    }  # fmt: skip


def test_the_first_of_two_fields_of_a_name_stands():
    assert answer_fields(answers(("receipt", "mine"), ("receipt", "forged"))) == {"receipt": "mine"}


@pytest.mark.parametrize(
    "hostile",
    [
        "",
        "no xml",
        "<a><b></a>",
        '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
        "<Answer/>",
        answers(("receipt", "x" * 70_000)),
        "<a>" * 5_000,
    ],
)
def test_what_is_no_sound_answer_is_nothing(hostile):
    assert answer_fields(hostile) == {}


def test_a_long_field_is_cut():
    assert len(answer_fields(answers(("receipt", "x" * 5000)))["receipt"]) == LONGEST_FIELD


def test_an_answer_without_text_is_empty():
    xml = answers(("a", "")).replace("<FreeText></FreeText>", "")
    assert answer_fields(xml) == {"a": ""}
