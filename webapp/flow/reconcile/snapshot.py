"""What is laid side by side: a run's records, its ledger, and what the platform lists."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.payment import PaymentKind
from webapp.db import Sessions, reading
from webapp.flow.acceptance import HANDED_IN
from webapp.flow.lease import expired
from webapp.flow.ledger import is_in_hand, payments_of
from webapp.flow.owed import Account, accounts
from webapp.flow.pay import mark
from webapp.models import Assignment, Hit, Payment, Run
from webapp.recruiters.platform import Bonus, Platform
from webapp.tokens import Tokens

_MARK = re.compile(r"\[[0-9a-f]{12}\]$")


@dataclass(frozen=True)
class Snapshot:
    """A run beside its platform.

    Attributes:
        run_ref: The run's reference.
        accounts: Everybody who consented, with what they got.
        assignments: Every assignment of the run's recruitment that was handed in.
        hits: Every offer.
        payments: The whole ledger.
        bonuses: Every bonus that the platform lists.
        receipts: The participant whom a submission's receipt names, by the assignment's id; None
            where it is none of ours.
        silent: The references of those whose places could be given to others.
        in_hand: The ids of payments that another process may be making at this moment.
        at: When this was so.
    """

    run_ref: str
    accounts: Sequence[Account]
    assignments: Sequence[Assignment]
    hits: Sequence[Hit]
    payments: Sequence[Payment]
    bonuses: Sequence[Bonus]
    receipts: Mapping[str, str | None]
    silent: Sequence[str]
    in_hand: frozenset[int]
    at: datetime

    @cached_property
    def ledger(self) -> Mapping[str | None, list[Payment]]:
        """The payments by the platform's id of the assignment they are on."""
        lines = defaultdict[str | None, list[Payment]](list)
        for payment in self.payments:
            lines[payment.assignment].append(payment)
        return lines

    @cached_property
    def marks(self) -> Counter[str]:
        """How often the platform lists a bonus, by the mark of its payment."""
        return Counter(found[0] for b in self.bonuses if (found := _MARK.search(b.reason)))

    @property
    def bonuses_elsewhere(self) -> list[Bonus]:
        """The bonuses that no payment of ours has the mark of."""
        own = {mark(payment) for payment in self.payments if payment.kind == PaymentKind.BONUS}
        found = [(bonus, _MARK.search(bonus.reason)) for bonus in self.bonuses]
        return [bonus for bonus, text in found if text is None or text[0] not in own]

    def ref(self, participant_id: int | None, otherwise: str) -> str:
        """Return the participant's reference, or what stands for somebody who has none."""
        return self._refs.get(participant_id, otherwise)

    def participant_of(self, assignment_id: str) -> int | None:
        """Return the key of the participant who submitted that, None where it is nobody here."""
        ids = (a.participant_id for a in self.assignments if a.platform_id == assignment_id)
        return next(ids, None)

    @cached_property
    def _refs(self) -> Mapping[int | None, str]:
        return {account.participant.id: account.participant.ref for account in self.accounts}


def take_snapshot(
    sessions: Sessions, platform: Platform, run: Run, tokens: Tokens, now: datetime
) -> Snapshot:
    """Return the run beside its platform; the submissions were brought in by a poll before.

    Raises:
        PlatformError: The platform cannot be asked.
    """
    with reading(sessions) as session:
        assignments = _handed_in(session, run)
        payments = payments_of(session, run)
        hits = session.scalars(select(Hit).where(Hit.run_id == run.id).order_by(Hit.id)).all()
        people, silent = accounts(session, run), expired(session, run, now)
    return Snapshot(
        run_ref=run.ref,
        accounts=people,
        assignments=assignments,
        hits=hits,
        payments=payments,
        bonuses=[b for hit in hits if hit.platform_id for b in platform.bonuses(hit.platform_id)],
        receipts={a.platform_id: tokens.read_receipt(a.receipt) for a in assignments},
        silent=[person.ref for person in silent],
        in_hand=frozenset(payment.id for payment in payments if is_in_hand(payment, now)),
        at=now,
    )


def _handed_in(session: Session, run: Run) -> Sequence[Assignment]:
    return session.scalars(
        select(Assignment)
        .outerjoin(Hit, Hit.id == Assignment.hit_id)
        .where(Assignment.run_id == run.id, Assignment.status.in_(HANDED_IN))
        .where(Hit.purpose.is_distinct_from("compensation"))
        .order_by(Assignment.id)
    ).all()
