"""Who writes to the researchers gives the code that their page showed."""

import pytest
from sqlalchemy import select

from experiment.payment.payment import PaymentKind
from webapp.database.engine import reading
from webapp.database.models import Participant
from webapp.payments.accounts import load_accounts
from webapp.payments.rewards import build_review_entry

pytestmark = pytest.mark.one_database


def test_a_review_decision_finds_the_participant_by_reference_and_by_their_own_code(
    worked, sessions, run
):
    ref = worked(1)
    worked(2)
    item = (PaymentKind.REWARD, 100, "Thank you")
    with reading(sessions) as session:
        code = session.scalars(select(Participant.code).where(Participant.ref == ref)).one()
        owed = load_accounts(session, run)
        by_code, by_ref = (build_review_entry(session, run, owed, who, item) for who in (code, ref))
    assert code != ref
    assert by_code == by_ref
    assert by_code.item.payee == ref
