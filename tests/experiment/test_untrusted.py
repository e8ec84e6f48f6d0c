"""What anybody may have written is read with bounded work."""

import re
import tomllib
from contextlib import suppress

import pytest

from experiment import untrusted
from experiment.untrusted import (
    MOST_MARKS,
    explain_unbounded,
    is_too_marked,
    matches_whole,
    matches_within,
    read_toml,
    valid_pattern,
)
from tests.function_calls import counted

# Each takes exponential or high polynomial time by trial and error.
EXPONENTIAL = (
    "(a+)+b",
    "(a|a)*b",
    "(a*)*b",
    "(a|aa)+$b",
    r"(\w+\s?)*!b",
    "(.*a){12}b",
)
SEARCHED = (r"(a+)\1", "(?=a)a+b", "(?!b)a+", "(?<=x)a", "a++b", "a{1,2000}", "(?>a+)b")


@pytest.mark.parametrize("pattern", EXPONENTIAL)
def test_a_pattern_that_would_never_end_is_matched_by_a_linear_engine_in_the_process(
    pattern, monkeypatch
):
    monkeypatch.setattr(untrusted.re, "compile", None)  # Python's own is not asked
    monkeypatch.setattr(untrusted.subprocess, "run", None)
    assert explain_unbounded(pattern) == ""
    assert not matches_whole(pattern, "a" * 100_000 + "!")
    assert not matches_within(pattern, "a" * 100_000 + "!")


@pytest.mark.parametrize("pattern", SEARCHED)
def test_what_the_engine_cannot_express_is_refused_with_what_to_do_without(pattern):
    assert "looking ahead or behind" in explain_unbounded(pattern)


def test_a_run_launched_with_such_a_pattern_goes_on_in_a_process_that_is_ended():
    assert matches_whole(r"([ab])\1", "aa")
    assert not matches_whole(r"([ab])\1", "ab")
    assert matches_within("(?<=code )G", "the code G")
    assert not matches_within("(?<=code )G", "the code g")
    assert not matches_whole(r"(a+)+b(?=\b)", "a" * 60 + "!")
    assert not matches_whole(r"(.)\1", "\0\0")


def test_values_match_as_they_did():
    for pattern, text in (
        (r"[\w.-]{1,64}", "Az_9.-"),
        (r"[\w.-]{1,64}", "é"),
        ("[0-9a-f]{24}", "0" * 24),
        ("[0-9a-f]{24}", "0" * 25),
        ("[0-9A-Za-z-]{1,80}", ""),
        ("é+", "éé"),
        ("(?i)yes|no", "YES"),
        (r"\d+", "٣"),
        ("a$", "a\n"),
    ):
        assert matches_whole(pattern, text) == bool(re.fullmatch(pattern, text, re.ASCII)), pattern


def test_a_pattern_must_be_one_and_not_too_long():
    assert valid_pattern("a+") == "a+"
    for wrong in ("(", "a" * 1001, "(" * 900 + ")" * 900):
        with pytest.raises(ValueError, match="regular expression"):
            valid_pattern(wrong)


# What TOML and Markdown have for hostile writers, filled up to the size that the editor shows.
TOML = {
    "parts of a key": "a." * 49_000 + "a=1",
    "quoted parts": '"a".' * 24_000 + "a=1",
    "parts in many lines": "\n".join("a." * 200 + f"b{n}=1" for n in range(240)),
    "headers": "\n".join("[" + ".".join(["a"] * 300) + f".b{n}]" for n in range(160)),
    "arrays": "x=[" + "[]," * 33_000 + "]",
    "tables": "x=[" + "{a=1}," * 16_000 + "]",
    "depth": "x=" + "[" * 99_000,
    "keys": "\n".join(f"k{n}=1" for n in range(12_000)),
    "escapes": 'x="' + "\\n" * 49_000 + '"',
    "comments": "#\n" * 50_000,
}
MARKDOWN = (
    *("_a", "*a_", "[", "![", "[[a]", "[a](", "](", "`a`` ", "<a", "> ", "1. a\n", "#\n"),
    *("[a]: b\n", "&amp;", "\\_", "- ", "-\n", "**", "~", "| a ", "\t", "http://a "),
)


@pytest.mark.parametrize("text", TOML.values(), ids=TOML)
def test_toml_takes_work_in_proportion_to_its_size(text):
    def read() -> None:
        with suppress(ValueError, RecursionError):
            read_toml(text)

    calls, _ = counted(read)
    assert calls < 6 * len(text)


def test_keys_of_too_many_parts_are_refused_and_long_texts_are_not():
    with pytest.raises(tomllib.TOMLDecodeError, match="too many dots"):
        read_toml(TOML["parts of a key"])
    prose = 'text = """\n' + "One sentence. Another one. A third.\n" * 5_000 + '"""'
    assert len(read_toml(prose)["text"]) > 100_000


@pytest.mark.parametrize("mark", MARKDOWN)
def test_markdown_of_many_marks_is_shown_as_it_is_written(mark):
    from webapp.participant.trial_page import render_markdown

    most = mark * (MOST_MARKS // max(1, len(untrusted._MARKS.findall(mark))))
    for text in (most, mark * (100_000 // len(mark))):
        calls, html = counted(lambda text=text: render_markdown.__wrapped__(text))
        assert calls < 1_000_000
        assert "<script" not in html


def test_a_text_of_the_usual_length_is_no_text_of_many_marks():
    page = "# Title\n\nA sentence with *stress*, a [link](https://a.example) and a list:\n\n- one\n"
    assert not is_too_marked(page * 60)
    assert is_too_marked("_a" * 50_000)


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("a" * 1_001, "a regular expression of at most"),
        ("(", r"a regular expression \(missing"),
    ],
)
def test_what_is_no_pattern_is_said(pattern, problem):
    with pytest.raises(ValueError, match=problem):
        valid_pattern(pattern)
