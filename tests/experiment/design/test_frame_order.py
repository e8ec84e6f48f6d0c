"""How the frames of a square are numbered."""

import random
from collections import Counter

from experiment.design.frames import Frame
from experiment.design.latin_square import FrameOrderer, cells


def frames(template: str, n: int, n_words: int) -> list[Frame]:
    return [
        Frame(template, f"{template}{number}", {"N": f"noun{number % n_words}"})
        for number in range(n)
    ]


def most_uses(numbered: list[Frame], n_conditions: int, n_lists: int) -> int:
    return max(
        max(Counter(numbered[f].lemmas["N"] for f, _ in shown).values())
        for shown in (cells(len(numbered), n_conditions, n_lists, l_) for l_ in range(n_lists))
    )


def test_every_frame_gets_one_number():
    drawn = frames("simple", 12, 6)
    numbered = FrameOrderer(6).order([drawn], 2, random.Random(1))
    assert sorted(frame.text for frame in numbered) == sorted(frame.text for frame in drawn)


def test_pooled_templates_take_turns():
    pooled = [frames("living", 5, 5), frames("lifeless", 5, 5)]
    numbered = FrameOrderer(10).order(pooled, 2, random.Random(1))
    assert [frame.template for frame in numbered] == ["living", "lifeless"] * 5


def test_a_word_comes_back_less_in_a_list_than_by_chance():
    drawn = frames("simple", 10, 5)
    chance, chosen = [], []
    for seed in range(20):
        rng = random.Random(seed)
        chance.append(most_uses(rng.sample(drawn, 10), 4, 10))
        chosen.append(most_uses(FrameOrderer(10).order([drawn], 4, rng), 4, 10))
    assert sum(chosen) < sum(chance)


def test_a_square_avoids_what_the_squares_before_it_brought():
    orderer, first, second = FrameOrderer(2), frames("first", 2, 2), frames("second", 2, 2)
    one = orderer.order([first], 1, random.Random(1))
    other = orderer.order([second], 1, random.Random(2))
    assert [a.lemmas["N"] != b.lemmas["N"] for a, b in zip(one, other, strict=True)] == [True] * 2
