"""Faults of sides and orders in a session fail a check."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from experiment.design.audit.audit import order_checks
from experiment.design.audit.session_checks import session_checks
from experiment.design.audit.sessions import Composition, Session, compose_all
from experiment.design.lists import build_lists
from experiment.records import Kind, Side, Trial
from experiment.responses.choice.choice import SentencePair
from tests.experiment.design.small_studies import MIXED, MIXED_ITEMS

BUILT = build_lists(MIXED, MIXED_ITEMS, 1)

OPPOSITE = {Side.FIRST: Side.SECOND, Side.SECOND: Side.FIRST}


def broken(change: Callable[[Session], list[Trial]]) -> set[str]:
    """Return the checks broken when the first session is changed."""
    first, *others = compose_all(MIXED, BUILT).sessions
    trials = tuple(
        replace(trial, position=position) for position, trial in enumerate(change(first), start=1)
    )
    composition = Composition(SentencePair(), [replace(first, trials=trials), *others])
    checks = [
        *session_checks(MIXED, BUILT, composition),
        *order_checks(MIXED, composition.sessions),
    ]
    return {each.name for each in checks if not each.passed}


def flip(trial: Trial) -> Trial:
    return replace(trial, good_side=OPPOSITE[trial.good_side])


def construction(session: Session, trial: Trial) -> str:
    return session.entries[trial.item_id].item.construction


def test_composed_sessions_pass_every_check():
    assert broken(lambda session: list(session.trials)) == set()


def flip_one_trial(session: Session) -> list[Trial]:
    return [flip(session.trials[0]), *session.trials[1:]]


def flip_one_each_way_in_two_constructions(session: Session) -> list[Trial]:
    def find(name: str, side: Side) -> Trial:
        return next(
            trial
            for trial in session.trials
            if construction(session, trial) == name and trial.good_side is side
        )

    flipped = (find("simple", Side.FIRST), find("across", Side.SECOND))
    return [flip(trial) if trial in flipped else trial for trial in session.trials]


def flip_all_trials(session: Session) -> list[Trial]:
    return [flip(trial) for trial in session.trials]


def bring_alike_together(session: Session) -> list[Trial]:
    return sorted(session.trials, key=lambda trial: construction(session, trial))


def lose_a_trial(session: Session) -> list[Trial]:
    return list(session.trials[:-1])


def show_a_trial_twice(session: Session) -> list[Trial]:
    return [*session.trials[:-1], session.trials[0]]


def change_a_kind(session: Session) -> list[Trial]:
    return [replace(session.trials[0], kind=Kind.FILLER), *session.trials[1:]]


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (flip_one_trial, "trials with good first, in a session"),
        (flip_one_trial, "sessions with good first, for an item"),
        (
            flip_one_each_way_in_two_constructions,
            "trials with good first, in a construction",
        ),
        (flip_all_trials, "places 2j and 2j+1 of a list"),
        (bring_alike_together, "neighbouring trials"),
        (bring_alike_together, "catch trials over a session"),
        (lose_a_trial, "trials of a session"),
        (show_a_trial_twice, "trials of a session"),
        (change_a_kind, "trials of a session"),
    ],
)
def test_a_broken_session_is_caught(change: Callable[[Session], list[Trial]], check: str):
    assert check in broken(change)
