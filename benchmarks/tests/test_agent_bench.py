"""What the bench of agents looks at: signals that were tried, alone and among those of others."""

import math
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean, median

import pytest

from experiment.integrity.observed import ObservedSession
from tests.experiment.integrity.sessions import changed, observed

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    import integrity_weights
    from agent_bench import scripts
    from agent_bench.candidates import AMONG_OTHERS, DROPPED, SPEAKS_NATS, nats_of
    from agent_bench.norms import Norms, blindness, detachment
    from agent_bench.seen import SeenAnswer
    from agent_bench.site import served

N_ITEMS, N_TRIALS = 60, 60
_items = random.Random("items")
LOGITS = [_items.gauss(1.5, 1.2) for _ in range(N_ITEMS)]
SLOWNESS = [_items.gauss(0, 0.2) for _ in range(N_ITEMS)]


def session(seed: int, *, chooses: str = "as people", reads: bool = True) -> ObservedSession:
    """Somebody to whom the sixty items are shown in an order of their own."""
    rng = random.Random(seed)
    order = rng.sample(range(N_ITEMS), N_TRIALS)
    chance = {
        "as people": lambda item: 1 / (1 + math.exp(-LOGITS[item])),
        "at random": lambda _: 0.5,
        "always right": lambda _: 1.0,
    }[chooses]
    return ObservedSession(
        tuple(
            SeenAnswer(
                position=place,
                arrived_ms=3000.0 * place,
                rt_ms=1500 * math.exp(SLOWNESS[item] * reads + rng.gauss(0, 0.3)),
                n_characters=rng.randint(50, 90),
                item=f"item {item}",
                kind=f"kind {item % 5}",
                chose_good=rng.random() < chance(item),
            )
            for place, item in enumerate(order, 1)
        )
    )


CROWD = [session(seed) for seed in range(60)]
NORMS = Norms.from_sessions(CROWD)


@pytest.mark.parametrize("chooses", ["at random", "always right"])
def test_choices_that_no_difficulty_touches_speak_for_a_program(chooses):
    people = [blindness(session(100 + n), NORMS) for n in range(30)]
    programs = [blindness(session(200 + n, chooses=chooses), NORMS) for n in range(30)]
    assert fmean(nats > 0 for nats in people) < 0.15
    assert fmean(nats > 1 for nats in programs) > 0.9


def test_who_answers_without_reading_is_a_person_as_often_as_one_in_twenty():
    found = [blindness(session(n, chooses="at random"), NORMS) for n in range(30)]
    assert median(found) <= math.log(20)


def test_times_that_owe_nothing_to_the_items_speak_for_a_program():
    people = [detachment(session(100 + n), NORMS) for n in range(40)]
    programs = [detachment(session(100 + n, reads=False), NORMS) for n in range(40)]
    assert fmean(people) < -1 < 0.5 < fmean(programs)


def test_norms_of_everybody_else_are_those_of_a_run_without_the_session():
    one, *others = CROWD
    without, alone = NORMS.without(one), Norms.from_sessions(others)
    for answer in one.answers:
        assert without.accuracy(answer) == pytest.approx(alone.accuracy(answer))
        assert without.time(answer) == pytest.approx(alone.time(answer))
        assert without.n_chosen(answer) == alone.n_chosen(answer)


def test_a_session_is_not_judged_by_itself_nor_by_too_few():
    one = session(1, chooses="at random")
    alone = Norms.from_sessions([one]).without(one)
    assert blindness(one, alone) is None
    assert detachment(one, alone) == pytest.approx(0)
    few = replace(one, answers=one.answers[:20])
    assert blindness(few, NORMS) is None
    assert detachment(few, NORMS) is None


def test_unknown_items_are_as_hard_as_their_kind_and_that_as_the_run():
    known = SeenAnswer(1, 0.0, item="new", kind="kind 0")
    of_kind = [a.chose_good for s in CROWD for a in s.answers if a.kind == "kind 0"]
    assert NORMS.accuracy(known) == pytest.approx(fmean(of_kind), abs=0.01)
    of_all = [a.chose_good for s in CROWD for a in s.answers]
    assert NORMS.accuracy(replace(known, kind="new")) == pytest.approx(fmean(of_all), abs=0.01)
    assert Norms().accuracy(known) == 0.5


def seen(session: ObservedSession, **fields: object) -> ObservedSession:
    """The session as the bench sees it, with these fields in every answer."""
    answers = (
        SeenAnswer(**asdict(one), pointer_stopped_ms=max(0.0, one.rt_ms - 60))
        for one in session.answers
    )
    return changed(replace(session, answers=tuple(answers)), **fields)


_drawn = random.Random("programs")
# What a program's answers have that a person's have not, by the signal that asks for it.
SPEAKS = {
    "pace": {"arrived_ms": lambda a: 40.0 * a.position},
    "trusted": {"trusted": False},
    "short_holds": {"release_ms": lambda a: a.rt_ms + 1},
    "even_holds": {"release_ms": lambda a: a.rt_ms + 90},
    "jumps": {"pointer_moves": 1},
    "even_paths": {"pointer_path_px": 300.0},
    "rests": {"pointer_path_px": 300.0},
    "waits": {"pointer_stopped_ms": lambda a: 0.2 * a.rt_ms},
    "even_times": {"rt_ms": lambda a: 900.0 + a.position},
    "reading": {"rt_ms": lambda _: _drawn.lognormvariate(7, 0.4)},
    "drift": {"rt_ms": lambda _: _drawn.lognormvariate(7, 0.4)},
}


@pytest.mark.parametrize("name", DROPPED)
def test_each_signal_that_was_left_speaks_of_what_it_asks_for(name: str):
    person, program = seen(observed(n=76)), seen(observed(n=76), **SPEAKS[name])
    assert nats_of(person)[name] < SPEAKS_NATS <= nats_of(program)[name]


@pytest.mark.parametrize("name", DROPPED)
def test_no_signal_is_told_of_nothing_or_of_measurements_that_are_not_there(name: str):
    unmeasured = dict.fromkeys(
        ("rt_ms", "release_ms", "waited_ms", "trusted", "pointer_moves", "pointer_stopped_ms")
    )
    assert name not in nats_of(seen(observed(n=76), **unmeasured))
    assert name not in nats_of(seen(observed(n=1), trusted=None))


def test_signals_among_others_are_bounded_and_told_only_where_the_others_are_known():
    program = session(300, chooses="always right", reads=False)
    told = nats_of(program, NORMS)
    assert told["choices"] == min(3.0, blindness(program, NORMS)) >= SPEAKS_NATS
    assert told["items"] == min(4.0, detachment(program, NORMS)) >= SPEAKS_NATS
    assert not set(AMONG_OTHERS) & set(nats_of(program))


def test_weights_are_printed_of_the_sessions_that_are_given(capsys):
    program = seen(observed(n=76), trusted=None)
    integrity_weights.show(tuple(integrity_weights.counts({"a script": [program] * 3})))
    printed = capsys.readouterr().out
    assert printed.startswith("1 kinds of programs")
    assert re.search("^measured +3 of 3 .*: 4.0 ", printed, re.MULTILINE), printed
    assert re.search("^device +0 of 3 .*: 0.0 ", printed, re.MULTILINE)


def test_a_site_tells_of_each_answer_what_the_signals_ask(tmp_path):
    def first(lengths: Sequence[int], *_: object) -> Iterator[tuple[float, scripts.Answer]]:
        answer = {"rt_ms": 900.0, "side": "first", "pointer_stopped_ms": 700.0}
        yield from ((0.0, answer) for _ in lengths)

    with served(tmp_path, "minimal", 1) as (site, _):
        refs = [scripts.take_part(site, first, random.Random(n), 1.0) for n in range(2)]
        found = site.observed()
    assert list(found) == refs
    for one in found.values():
        # Each of these lists shows the expected sentence first in half of its trials.
        assert [answer.chose_good for answer in one.answers].count(True) == 4
        assert [answer.chose_good for answer in one.answers].count(False) == 4
        assert len({answer.item for answer in one.answers}) == 8
        assert {answer.pointer_stopped_ms for answer in one.answers} == {700.0}
        assert all(", " in answer.kind for answer in one.answers)
