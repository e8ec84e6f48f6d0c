"""Which frames a square takes from the materials."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiment.design.frames import (
    Frame,
    Joint,
    better_exchange,
    choose_frames,
    index_materials,
    slot_differences,
)
from experiment.errors import DesignError
from experiment.records import Item, lemmas_of
from tests.experiment.design.small_studies import NUMBERS, make_items, make_study
from tests.function_calls import counted

# Function calls of Python for one more frame of 400, a twentieth above what was measured.
BUDGET = 720


def chosen(items: list[Item], seed: int, n_frames: int, *templates: str, **design: object):
    squares = [{"templates": [template], "frames": n_frames} for template in templates]
    study = make_study(squares, lists=1, trials_per_list=1, **design)
    squares = choose_frames(study.design, index_materials(items), seed)
    return [frame for square in squares for frames in square for frame in frames]


@settings(max_examples=50)
@given(st.lists(st.integers(1, 7), min_size=1, max_size=3), st.integers(0, 99), st.data())
def test_each_word_of_a_slot_is_used_equally_often_or_once_more(
    sizes: list[int], seed: int, data: st.DataObject
):
    slots = {f"S{number}": size for number, size in enumerate(sizes)}
    items = list(make_items("simple", slots, NUMBERS))
    n_frames = data.draw(st.integers(1, len(items) // 2))
    frames = chosen(items, seed, n_frames, "simple")
    assert len(set(frames)) == n_frames
    for slot, size in slots.items():
        uses = Counter(frame.lemmas[slot] for frame in frames)
        assert max(uses.values()) - (min(uses.values()) if len(uses) == size else 0) <= 1


def test_a_choice_asks_the_words_of_a_frame_once_for_each_slot():
    def count_choice(n_frames: int) -> int:
        study = make_study(
            [{"templates": ["simple"], "frames": n_frames}], lists=1, trials_per_list=1
        )
        calls, _ = counted(lambda: choose_frames(study.design, index, 1))
        return calls

    index = index_materials(make_items("simple", {"N": 20, "V": 20}, NUMBERS))
    assert (count_choice(30) - count_choice(10)) / 20 <= BUDGET


def test_a_square_with_gaps_is_balanced_too():
    items = [
        item
        for item in make_items("joined", {"N": 10, "V": 6, "W": 6}, NUMBERS)
        if lemmas_of(item.frame)["V"][1:] != lemmas_of(item.frame)["W"][1:]
    ]
    for seed in range(20):
        frames = chosen(items, seed, 30, "joined")
        assert Counter(frame.lemmas["N"] for frame in frames) == {f"n{n}": 3 for n in range(10)}
        assert set(Counter(frame.lemmas["W"] for frame in frames).values()) == {5}


def test_materials_that_allow_no_balance_give_what_they_have():
    rare = list(make_items("simple", {"N": ["cat"], "V": 5}, NUMBERS))
    once = list(make_items("simple", {"N": ["dog"], "V": 1}, NUMBERS))
    frames = chosen([*rare, *once], 1, 6, "simple")
    assert Counter(frame.lemmas["N"] for frame in frames) == {"cat": 5, "dog": 1}


def test_templates_kept_apart_never_share_their_slots_choice():
    items = [
        *make_items("across", {"N": 4, "M": 3, "V": 5}, NUMBERS),
        *make_items("within", {"N": 4, "M": 3, "V": 5}, NUMBERS),
    ]
    apart = [{"templates": ["across", "within"], "slots": ["N", "M"]}]
    for seed in range(20):
        frames = chosen(items, seed, 6, "across", "within", disjoint=apart)
        choices = [(frame.lemmas["N"], frame.lemmas["M"]) for frame in frames]
        assert len(set(choices)) == 12


def test_a_word_is_used_about_equally_often_over_the_templates():
    names = [f"template{number}" for number in range(7)]
    items = [item for name in names for item in make_items(name, {"N": 10, "V": 7}, NUMBERS)]
    uses = Counter(frame.lemmas["V"] for frame in chosen(items, 3, 10, *names))
    assert set(uses.values()) == {10}


def test_the_seed_decides_the_frames():
    items = list(make_items("simple", {"N": 6, "V": 6}, NUMBERS))
    first, again, other = (chosen(items, seed, 6, "simple") for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_frame_that_lacks_a_condition_is_not_chosen():
    items = list(make_items("simple", {"N": 3}, NUMBERS))[:-1]
    frames = chosen(items, 1, 2, "simple")
    assert {frame.lemmas["N"] for frame in frames} == {"n0", "n1"}


def test_too_few_frames_are_refused():
    items = list(make_items("simple", {"N": 3}, NUMBERS))
    with pytest.raises(DesignError, match='"simple": 4 frames are needed, but only 3'):
        chosen(items, 1, 4, "simple")


def test_too_few_choices_that_differ_are_refused():
    items = [*make_items("a", {"N": 3, "V": 9}, NUMBERS), *make_items("b", {"N": 3}, NUMBERS)]
    apart = [{"templates": ["a", "b"], "slots": ["N"]}]
    with pytest.raises(DesignError, match='"b": 2 frames are needed, but only 1'):
        chosen(items, 1, 2, "a", "b", disjoint=apart)


def test_a_template_without_the_slots_it_is_kept_apart_by_is_refused():
    items = [*make_items("a", {"N": 3}, NUMBERS), *make_items("b", {"V": 3}, NUMBERS)]
    apart = [{"templates": ["a", "b"], "slots": ["N"]}]
    with pytest.raises(DesignError, match=r'"b": the frames have no slot N.*some of: V'):
        chosen(items, 1, 2, "a", "b", disjoint=apart)


def frame(noun: str, verb: str) -> Frame:
    return Frame("simple", f"N={noun} V={verb}", {"N": noun, "V": verb})


def test_an_exchange_that_evens_out_the_uses_is_found():
    candidates = {frame(n, v): frozenset() for n in ("cat", "dog") for v in ("eats", "runs")}
    uneven = [frame("cat", "eats"), frame("cat", "runs")]
    assert slot_differences(uneven, list(candidates)) == {"N": 2, "V": 0}
    out, in_ = better_exchange(uneven, candidates, frozenset()) or pytest.fail("no exchange")
    uneven[uneven.index(out)] = in_
    assert slot_differences(uneven, list(candidates)) == {"N": 0, "V": 0}
    assert better_exchange(uneven, candidates, frozenset()) is None


def test_uses_that_differ_by_one_at_most_are_left_as_they_are():
    # The third frame has no verb: it would even out nothing, only use the verb less.
    first, second, verbless = (
        frame("cat", "eats"),
        frame("dog", "eats"),
        Frame("a", "N=ox", {"N": "ox"}),
    )
    candidates = dict.fromkeys((first, second, verbless), frozenset[Joint]())
    assert better_exchange([first, second], candidates, frozenset()) is None


def test_an_exchange_never_takes_a_choice_that_is_taken():
    choices = {"cat": (0, ("cat",)), "dog": (0, ("dog",))}
    candidates = {frame(n, v): frozenset({choices[n]}) for n in choices for v in ("eats", "runs")}
    uneven = [frame("cat", "eats"), frame("cat", "runs")]
    assert better_exchange(uneven, candidates, {choices["dog"]}) is None
