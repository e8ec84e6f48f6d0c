"""Calls before a study is published: count eligible participants, and create a test study."""

from flask import request
from sqlalchemy import select

from marketplace.prolific.api.middleware import API, Door, Reply, given
from marketplace.prolific.api.studies import find_study
from marketplace.prolific.errors import RefusedError
from marketplace.prolific.filters import meets_all, refuse_unknown
from marketplace.prolific.people import Participant, TestParticipant
from marketplace.prolific.store import Moment
from marketplace.prolific.tables import Study

# The API does not report counts below this number.
_LEAST_TOLD = 25


def add_trials(door: Door) -> None:
    """Add the calls about eligible participants and test studies."""

    @door.on("POST", f"{API}/eligibility-count/", "get-eligible-count", flat=True)
    def eligible(moment: Moment) -> Reply:
        filters = given().get("filters")
        if not isinstance(filters, list):
            raise RefusedError({"filters": ["A list of filters is needed."]})
        refuse_unknown(filters)
        everybody = moment.session.scalars(select(Participant))
        count = sum(meets_all(moment, each, filters) for each in everybody)
        return 200, {"count": count if count >= _LEAST_TOLD else 0}

    @door.on("POST", f"{API}/researchers/participants/", "create-test-participant-for-researcher")
    def test_participant(moment: Moment) -> Reply:
        email = given().get("email")
        if not isinstance(email, str) or "@" not in email:
            raise RefusedError({"email": ["An e-mail address is needed."]})
        who = Participant()
        moment.session.add(who)
        moment.session.flush()
        moment.session.add(TestParticipant(participant=who.ref))
        return 201, {"participant_id": who.ref}

    @door.on("POST", f"{API}/studies/<ref>/test-study", "create-test-study", flat=True)
    def test_study(moment: Moment, ref: str) -> Reply:
        draft = find_study(moment, ref)
        if draft.status != "UNPUBLISHED":
            raise RefusedError("Only a draft can be tested.")
        people = list(moment.session.scalars(select(TestParticipant.participant)))
        if not people:
            raise RefusedError("Make a test participant first.")
        only = {"filter_id": "custom_allowlist", "selected_values": people}
        fields = {**draft.fields, "filters": [only], "total_available_places": len(people)}
        made = Study(fields=fields, project=draft.project, created_at=moment.now, status="ACTIVE")
        moment.session.add(made)
        moment.session.flush()
        return 200, {
            "study_id": made.ref,
            "study_url": f"{request.host_url}studies/{made.ref}",
        }
