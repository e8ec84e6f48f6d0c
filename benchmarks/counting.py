"""What the triggers that count add to storing an answer, on either database.

Usage: python benchmarks/counting.py [--database URL] [--answers 400] [--rounds 5]

The same answers are stored with the triggers and without them, in turns, each in a transaction of
its own; the least of the rounds counts. On SQLite the steps of its machine are counted, so the
result is the same on any computer; on PostgreSQL the time is measured. The URL must name an empty
database; the default is a SQLite file that is thrown away.
"""

import argparse
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from uuid import UUID

from arrivals import Steps
from sqlalchemy import Engine, delete, select

from experiment.records import Side
from experiment.responses.choice.sentence_pair import SentencePair
from experiment.studies.load import load_study
from webapp.core.keys import make_keys
from webapp.core.settings import Settings
from webapp.database.count_triggers import start_counting, stop_counting
from webapp.database.engine import Sessions, make_sessions, open_database
from webapp.database.models import Participant, Response, Trial
from webapp.database.row_counts import recount
from webapp.gate.gate import put_up
from webapp.gate.premises import Premises
from webapp.runs.launch import launch
from webapp.sessions.consent import Decision, enroll
from webapp.sessions.record import GivenAnswer, record

PAIRS = SentencePair()

NOW = datetime(2026, 3, 1, tzinfo=UTC)
Place = tuple[int, int]


def people(sessions: Sessions, answers: int) -> list[Place]:
    """Fill runs until there are so many trials; return each: the participant's id, the position."""
    study, trials = load_study("minimal"), list[Place]()
    while len(trials) < answers:
        with sessions.begin() as session:
            run = launch(session, study, 1, "direct", now=NOW, code_version="0")
            for number in range(study.design.lists * study.design.participants_per_list):
                participant = enroll(
                    session, run, study, Decision.ACCEPT, NOW, platform_id=f"W{number}"
                )
                session.flush()
                shown = select(Trial.position).where(Trial.participant_id == participant.id)
                trials += [(participant.id, position) for position in session.scalars(shown)]
    return trials[:answers]


def store(sessions: Sessions, trials: list[Place]) -> None:
    for number, (participant_id, position) in enumerate(trials):
        with sessions.begin() as session:
            answer = GivenAnswer(
                uuid=UUID(int=number), position=position, side=Side.FIRST, input_method="key"
            )
            record(session, session.get_one(Participant, participant_id), answer, NOW, PAIRS)


def forget(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(delete(Response))


def cost(
    engine: Engine, trials: list[Place], rounds: int, clock: Callable[[], float]
) -> tuple[float, float]:
    """Return what the clock says of one answer without the triggers, and with them."""
    sessions, least = make_sessions(engine), {False: float("inf"), True: float("inf")}
    for _ in range(rounds):
        for counting in least:
            with engine.begin() as connection:
                stop_counting(connection)
                if counting:
                    recount(connection)
                    start_counting(connection)
            began = clock()
            store(sessions, trials)
            least[counting] = min(least[counting], (clock() - began) / len(trials))
            forget(engine)
    return least[False], least[True]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--database", default="")
    parser.add_argument("--answers", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = options.database or f"sqlite:///{Path(folder) / 'db.sqlite3'}"
        engine = open_database(url, make_keys(Path(folder)))
        put_up(engine, Premises(Path(folder), Settings()))
        trials = people(make_sessions(engine), options.answers)
        clock, unit = _clock(engine)
        without, counting = cost(engine, trials, options.rounds, clock)
        engine.dispose()
    name = engine.dialect.name
    print(f"{name}: an answer without the triggers  {without:10,.0f} {unit}")
    print(f"{name}: what the triggers add           {counting - without:10,.0f} {unit}")


def _clock(engine: Engine) -> tuple[Callable[[], float], str]:
    if engine.dialect.name != "sqlite":
        return lambda: perf_counter() * 1e6, "us"
    engine.dispose()  # connections made from here on are counted
    steps = Steps(engine)
    return lambda: steps.n, "steps"


if __name__ == "__main__":
    main()
