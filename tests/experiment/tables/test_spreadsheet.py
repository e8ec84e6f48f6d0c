"""No text of a stranger is a formula to a spreadsheet, and each can be had back."""

import pytest

from experiment.tables.files import spreadsheet_safe

SIGNS = ["=", "+", "-", "@", "\t", "\n", "\r", "'"]
# In full width, small, and behind what nobody sees: a byte order mark, a direction, no width.
DISGUISED = ["\uff1d", "\uff0b", "\uff0d", "\uff20", "\ufe66", "\uff07"]
DISGUISED += [f"{mark}=" for mark in ("\ufeff", "\u202e", "\u2066", "\u200b", " \u00a0", "\x0b")]


@pytest.mark.parametrize("start", SIGNS + DISGUISED)
def test_a_sign_gets_an_apostrophe_that_can_be_taken_away(start):
    safe = spreadsheet_safe(f"{start}SUM(1)")
    assert safe == f"'{start}SUM(1)"


@pytest.mark.parametrize("text", ["", " ", "\u202e", "Italian", "1+1", "a=b", "\u202eabc", "½"])
def test_other_texts_stay_as_they_are(text):
    assert spreadsheet_safe(text) == text
