"""The states of a participant and the moves between them."""

from itertools import product

import pytest

from experiment.participation import TRANSITIONS, IllegalMoveError, State, move


def test_every_state_says_where_it_leads():
    assert set(TRANSITIONS) == set(State)


@pytest.mark.parametrize(("current", "wanted"), [*product(State, State)])
def test_a_move_is_made_or_refused_as_the_table_says(current: State, wanted: State):
    if wanted in TRANSITIONS[current]:
        assert move(current, wanted) is wanted
    else:
        with pytest.raises(IllegalMoveError, match=f'"{current}" cannot become "{wanted}"'):
            move(current, wanted)


def test_a_whole_session_is_legal():
    path = [State.ARRIVED, State.WORKING, State.ANSWERED, State.FINISHED]
    state = path[0]
    for wanted in path[1:]:
        state = move(state, wanted)
    assert state is State.FINISHED


def test_who_withdrew_goes_nowhere():
    with pytest.raises(IllegalMoveError, match="no further move"):
        move(State.WITHDRAWN, State.WORKING)


def test_who_declined_may_only_be_asked_again():
    assert move(State.DECLINED, State.ARRIVED) is State.ARRIVED
    with pytest.raises(IllegalMoveError, match="Expected one of: arrived"):
        move(State.DECLINED, State.WORKING)


def test_whoever_consented_may_withdraw_and_who_finished_does_nothing_else():
    consented = {State.WORKING, State.ANSWERED, State.ABANDONED, State.FINISHED, State.LEFT}
    assert {state for state in State if State.WITHDRAWN in TRANSITIONS[state]} == consented
    assert TRANSITIONS[State.FINISHED] == {State.WITHDRAWN}


def test_who_abandoned_may_come_back():
    assert move(State.ABANDONED, State.WORKING) is State.WORKING
