"""Whatever order people come, drop out, return and finish in, places are given out fairly."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import ClassVar
from uuid import uuid4

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from sqlalchemy import select

from experiment.participation import State
from experiment.records import Side
from experiment.responses.choice.choice import SentencePair
from experiment.studies.study import Study
from webapp.database.engine import Sessions
from webapp.database.models import Participant, Place, Response, Run, Trial
from webapp.errors import RequestError
from webapp.sessions.consent import Decision, enroll
from webapp.sessions.finish import finish_session
from webapp.sessions.lease import is_over, resume_session
from webapp.sessions.record import PostedAnswer, record_answer

PAIRS = SentencePair()

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
LISTS, PLACES, TRIALS = 3, 2, 2
LEASE = timedelta(minutes=60)


class Assignment(RuleBasedStateMachine):
    """The server and a model of it: who holds which place, and when they last gave a sign."""

    sessions: ClassVar[Sessions]
    study: ClassVar[Study]
    runs: ClassVar[Iterator[Run]]

    def __init__(self) -> None:
        super().__init__()
        self.run = next(self.runs)
        self.now = START
        self.holders: dict[tuple[int, int], int] = {}  # place -> participant
        self.had: dict[int, tuple[int, int]] = {}  # participant -> the place they were given
        self.seen: dict[int, datetime] = {}
        self.answered: dict[int, int] = {}
        self.finished: set[int] = set()
        self.anybody_left = False

    def silent(self) -> set[int]:
        """The holders whose leases are over."""
        return {
            who
            for who in self.holders.values()
            if who not in self.finished and self.seen[who] < self.now - LEASE
        }

    def free_the_silent(self) -> None:
        silent = self.silent()
        self.anybody_left |= bool(silent)
        self.holders = {place: who for place, who in self.holders.items() if who not in silent}

    @rule()
    def somebody_comes(self) -> None:
        full = len(self.holders) - len(self.silent()) == LISTS * PLACES
        with self.sessions() as session:
            try:
                newcomer = enroll(
                    session, session.get(Run, self.run.id), self.study, Decision.ACCEPT, self.now
                )
            except RequestError as error:
                assert (error.code, full) == ("run_full", True)
                return
            session.commit()
        assert not full, "a place was given that nobody may have"
        self.free_the_silent()
        fill = Counter(dict.fromkeys(range(LISTS), 0))
        fill.update(list_ for list_, _ in self.holders)
        place = (newcomer.list, newcomer.place)
        assert place not in self.holders
        assert fill[newcomer.list] == min(fill.values())
        self.holders[place] = newcomer.id
        self.had[newcomer.id] = place
        self.seen[newcomer.id] = self.now
        self.answered[newcomer.id] = 0

    @rule(minutes=st.integers(1, 45))
    def time_goes_by(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @precondition(lambda self: self.had)
    @rule(data=st.data())
    def somebody_answers(self, data: st.DataObject) -> None:
        who = data.draw(st.sampled_from(sorted(set(self.had) - self.finished) or [0]))
        if not who or self.answered[who] == TRIALS:
            return
        position = self.answered[who] + 1
        answer = PostedAnswer(uuid=uuid4(), position=position, side=Side.FIRST, input_method="key")
        with self.sessions.begin() as session:
            participant = session.get(Participant, who, with_for_update=True)
            assert record_answer(session, participant, answer, self.now, PAIRS) == TRIALS - position
        self.answered[who] = position
        self.sign_of_life(who)

    @precondition(lambda self: self.had)
    @rule(data=st.data())
    def somebody_comes_back(self, data: st.DataObject) -> None:
        who = data.draw(st.sampled_from(sorted(set(self.had) - self.finished) or [0]))
        if not who:
            return
        with self.sessions.begin() as session:
            participant = session.get(Participant, who, with_for_update=True)
            if not is_over(session, participant, self.run, self.now):
                return
            has_place = resume_session(session, participant, self.now)
        assert has_place == (self.holders.get(self.had[who], who) == who)
        if has_place:
            self.sign_of_life(who)

    @precondition(lambda self: self.had)
    @rule(data=st.data())
    def somebody_finishes(self, data: st.DataObject) -> None:
        ready = [w for w in self.holders.values() if self.answered[w] == TRIALS]
        who = data.draw(st.sampled_from(sorted(set(ready) - self.finished) or [0]))
        if not who or who in self.silent():
            return
        with self.sessions.begin() as session:
            finish_session(
                session, session.get(Participant, who, with_for_update=True), [], {}, self.now
            )
        self.finished.add(who)

    def sign_of_life(self, who: int) -> None:
        if self.holders.setdefault(self.had[who], who) == who:
            self.seen[who] = self.now

    @invariant()
    def places_have_one_holder_and_quotas_hold(self) -> None:
        with self.sessions() as session:
            places = session.scalars(select(Place).where(Place.run_id == self.run.id)).all()
            stored = {(p.list, p.place): p.participant_id for p in places if p.participant_id}
            answers = session.scalars(
                select(Response.id)
                .join(Trial)
                .join(Participant)
                .where(Participant.run_id == self.run.id)
            ).all()
            people = session.scalars(select(Participant).where(Participant.run_id == self.run.id))
            finished = {person.id for person in people if person.state == State.FINISHED}
        assert len(places) == LISTS * PLACES
        # Whose lease is over holds the place until somebody comes who wants one.
        assert stored == self.holders
        assert len(answers) == sum(self.answered.values()), "an answer was lost"
        assert finished == self.finished

    @invariant()
    def while_nobody_drops_out_lists_differ_by_at_most_one(self) -> None:
        fill = Counter(list_ for list_, _ in self.holders)
        if not self.anybody_left:
            assert max(fill.values(), default=0) - min(fill[n] for n in range(LISTS)) <= 1


def test_places_are_given_out_fairly_in_any_order_of_events(sessions, study, run_of):
    # The draws are the same on both: they differ in what a statement does, which few draws show.
    examples = 25 if sessions.kw["bind"].dialect.name == "sqlite" else 8
    Assignment.sessions, Assignment.study = sessions, study
    Assignment.runs = (run_of(LISTS, PLACES, ref=f"run{n}") for n in count())
    Assignment.TestCase.settings = settings(
        max_examples=examples,
        stateful_step_count=25,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    Assignment.TestCase("runTest").runTest()
