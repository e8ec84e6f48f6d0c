"""What a payment says of a person goes with the person; the books keep kind, amount and times."""

import pytest
from sqlalchemy import select

from tests.webapp.payments.conftest import (  # noqa: F401 - fixtures
    hit,
    pay_rewards,
    platform,
    worked,
)
from webapp.database.engine import reading
from webapp.database.models import Participant, Payment
from webapp.privacy.forget import find_participant, replace_ids

WORDS = "Paid to Ada Lovelace of Horsley Towers."


@pytest.mark.one_database
def test_neither_reason_nor_answer_nor_device_of_a_payment_is_kept(
    run,
    sessions,
    worked,  # noqa: F811
    pay_rewards,  # noqa: F811
):
    worked(1)
    pay_rewards()
    with sessions.begin() as session:
        line = session.scalars(select(Payment)).one()
        line.reason, line.answer, line.set_up_id = WORDS, WORDS, "set-up-of-ada"
        before = (line.kind, line.amount_minor, line.currency, line.state, line.made_at)
    with sessions.begin() as session:
        replace_ids(session, find_participant(session, session.scalars(select(Participant)).one()))
    with reading(sessions) as session:
        line = session.scalars(select(Payment)).one()
        kept = [str(value) for value in vars(line).values()]
        assert not [value for value in kept if "Ada" in value or "ada" in value]
        assert "AWORKER1" not in kept and "ASSIGNMENT1" not in kept
        assert (line.kind, line.amount_minor, line.currency, line.state, line.made_at) == before
