"""What the checks find in sound and unsound items."""

from dataclasses import replace

import pytest

from experiment.materials.checks import Result, check_items
from experiment.materials.read import load_items
from experiment.records import Item, Variant
from experiment.studies.load import load_study

ITEMS = list(load_items(load_study("minimal")))


def not_passed(items: list[Item]) -> dict[str, str]:
    return {f.check: f.found for f in check_items(items) if f.result is not Result.PASSED}


def test_sound_items_pass_every_check():
    assert not_passed(ITEMS) == {}


def test_no_items_at_all_is_a_failure():
    assert not_passed([]) == {"there are items": "0"}


@pytest.mark.parametrize(
    ("changes", "check", "found"),
    [
        ({"item_id": "simple-1"}, "item ids are unique", "simple-1: the id occurs twice"),
        ({"bad": ITEMS[1].good}, "the versions of an item differ", "simple-2: two versions are"),
        ({"bad": ""}, "the versions of an item differ", "simple-2: good or bad is empty"),
        (
            {"contrast": Variant.DISTRACTOR},
            "the versions of an item differ",
            "simple-2: good or distractor is empty",
        ),
        ({"condition": "dual"}, "conditions are balanced", "not in simple (singular: 16, dual: 1"),
        ({"good": "the  cats run"}, "no stray white space", "simple-2: good is 'the  cats run'"),
        ({"frame": "S=x "}, "no stray white space", "simple-2: frame is 'S=x '"),
        ({"good": "the\u00a0cats run"}, "no stray white space", "simple-2: good is"),
    ],
)
def test_an_unsound_item_fails_its_check(changes: dict[str, str], check: str, found: str):
    findings = check_items([ITEMS[0], replace(ITEMS[1], **changes), *ITEMS[2:]])
    failed = {f.check: f.found for f in findings if f.result is Result.FAILED}
    assert list(failed) == [check]
    assert found in failed[check]


@pytest.mark.parametrize(
    "good", ["the neighbor\u2019s well-known café", "кошка спит", "pe\u0301re"]
)
def test_letters_of_any_language_apostrophes_and_hyphens_are_sound(good: str):
    assert not_passed([replace(ITEMS[0], good=good, bad=good[::-1].strip())]) == {}


@pytest.mark.parametrize(
    ("good", "found"), [("the cats run.", "'.' (first in simple-1)"), ("the c\u0430ts", "CYRILLIC")]
)
def test_other_characters_and_second_scripts_are_warned_of(good: str, found: str):
    findings = check_items([replace(ITEMS[0], good=good), *ITEMS[1:]])
    warned = [f.found for f in findings if f.result is Result.WARNING]
    assert len(warned) == 1
    assert found in warned[0]
    assert all(f.result is not Result.FAILED for f in findings)
