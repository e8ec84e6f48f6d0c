"""What somebody gave is erased when they ask for it with their code."""

import pytest
from sqlalchemy import select

from webapp.database.engine import reading
from webapp.database.models import Participant, Response
from webapp.errors import RunError


@pytest.mark.one_database
def test_the_code_on_the_last_page_is_enough(shell, visitor, run, sessions):
    visitor.answer_all()
    visitor.questionnaire(native_language="English")
    with reading(sessions) as session:
        person = session.scalars(select(Participant)).one()
    assert person.code in visitor.page().text
    with pytest.raises(RunError, match="no participant of the run"):
        shell("erase", run.ref, person.ref, "--yes")
    printed = shell("erase", run.ref, f" {person.code.upper()}", "--yes")
    assert f"delete the rows of participant {person.ref}" in printed
    with reading(sessions) as session:
        assert not session.scalars(select(Response)).all()
        assert session.scalars(select(Participant.state)).one() == "withdrawn"
