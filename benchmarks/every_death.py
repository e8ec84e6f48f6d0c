"""Kill the operator's process at every point of a payment in turn, and check each payment.

Usage: python benchmarks/every_death.py [--step 1]

On the Prolific stand-in, each participant in turn is rejected by mistake, then paid and given a
bonus; the platform would pay the bonus again if the call were repeated. For each participant the
process is killed at the next point (or every ``--step``-th one): before and after each call to the
platform and each commit. Then each command is repeated, as a person would do. If an ordered payment
is not visible, a simulated person looks at the platform's pages and decides. The exit status is 1
if a participant was not paid exactly once.
"""

import argparse
import logging
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from fault_injection.campaign import BONUS, REWARD
from fault_injection.environment import small_study
from fault_injection.operator import Death, ProcessDied
from fault_injection.prolific import Participant, ProlificEnvironment, open_prolific_environment
from fault_injection.restored_prolific import ProlificOperator

from experiment.payment.payment import PaymentItem, PaymentKind
from experiment.studies.load import load_study
from webapp.payments.bonuses import build_bonus_entries
from webapp.recruiters.prolific.client import ProlificClient
from webapp.recruiters.prolific.opening import open_prolific
from webapp.recruiters.prolific.settings import ProlificSettings
from webapp.runs.launch import launch_run

PLACES_PER_LIST = 30  # of two lists; there are fewer points
NAMES = ("points", "people paid exactly once", "people paid less", "people paid more")


class DeathAt(Death):
    """Ends the process at one point, counted from when that point was set."""

    def __init__(self) -> None:
        super().__init__(random.Random(0), 0)
        self._point = self._passed = 0

    def set(self, point: int) -> None:
        """Let the process die at that point, from 1."""
        self._point, self._passed = point, 0

    @property
    def came(self) -> bool:
        """Whether the process got that far."""
        return self._passed >= self._point

    def may_come(self, *_: object) -> None:
        """Die, if this is the point."""
        if self.on:
            self._passed += 1
            if self._passed == self._point:
                raise ProcessDied


def opened(
    environment: ProlificEnvironment, platform: ProlificClient, death: DeathAt
) -> ProlificOperator:
    """Return the operator of a run that is full, and whose people wait to be paid."""
    with environment.services.sessions.begin() as session:
        study = load_study(str(small_study(environment.folder, PLACES_PER_LIST)))
        run = launch_run(session, study, 1, "prolific", now=environment.clock(), code_version="0")
    operator = ProlificOperator(environment, run, platform, random.Random(1), death)
    operator.counts = Counter()
    operator.publish()
    return operator


def sent(environment: ProlificEnvironment, operator: ProlificOperator) -> Participant:
    """Return somebody who did everything and waits to be paid."""
    person = Participant(environment, operator.run.ref)
    with person:
        assert person.take(operator.study), "there is no place left"
        assert person.consent(), "there is no place here"
        person.answer()
    operator.report()
    operator.poll()
    return person


def paid(operator: ProlificOperator, person: Participant) -> None:
    """Reject somebody, pay them after all, and give them a bonus."""
    [account] = [a for a in operator.accounts() if a.participant.platform_id == person.ref]
    who = account.participant.ref
    operator.reject(who)
    operator.approve_only(who, undo_rejection=True)
    [account] = [a for a in operator.accounts() if a.participant.ref == who]
    item = PaymentItem(who, PaymentKind.BONUS, BONUS, "Thank you.", "file")
    operator.pay_entries(build_bonus_entries([account], [item])[0])


def campaign(step: int) -> Counter[str]:
    """Return the counts, of as many people as there are points, and one for whom nobody dies."""
    logging.disable(logging.WARNING)
    counts, death = Counter[str](), DeathAt()
    with (
        tempfile.TemporaryDirectory() as name,
        open_prolific_environment(Path(name)) as environment,
    ):
        settings = ProlificSettings(endpoint=environment.url)
        platform = open_prolific(settings, live=False, attempts=1, now=environment.clock)
        operator = opened(environment, platform, death)
        for point in range(1, 2 * PLACES_PER_LIST * step, step):
            death.set(0)
            person = sent(environment, operator)
            death.set(point)
            paid(operator, person)
            got = environment.paid().get(person.ref, [])
            counts["people paid exactly once"] += sorted(got) == [
                ("bonus", BONUS),
                ("reward", REWARD),
            ]
            total = sum(amount_minor for _, amount_minor in got)
            counts["people paid less"] += total < REWARD + BONUS
            counts["people paid more"] += total > REWARD + BONUS
            if not death.came:
                break
            counts["points"] += 1
        else:
            raise AssertionError("there are more points than places")
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--step", type=int, default=1, help="every how manyth point is tried")
    counts = campaign(parser.parse_args().step)
    for name in NAMES:
        print(f"{name:<26}{counts[name]:>8,}")
    sys.exit(counts["people paid exactly once"] != counts["points"] + 1)
