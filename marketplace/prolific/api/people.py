"""Calls about participants: eligibility, groups, messages, demographics, test participants."""

import csv
import io
from typing import Any

from flask import request
from sqlalchemy import select

from marketplace.prolific.api.middleware import API, Door, Reply, given
from marketplace.prolific.api.serializers import time
from marketplace.prolific.api.studies import find_study
from marketplace.prolific.errors import RefusedError
from marketplace.prolific.people import (
    DemographicExport,
    Group,
    Participant,
    TestParticipant,
    filter_list,
    find_group,
    join,
    leave,
    meets_all,
    members,
    refuse_unknown,
    write,
)
from marketplace.prolific.store import Moment, Study, Submission, is_id

_GROUP = f"{API}/participant-groups/<ref>/"
_MOST_EXPORTS, _MOST_FILTERS = 2, 15


def add_groups(door: Door) -> None:
    """Add the calls about participant groups."""

    @door.on("GET", f"{API}/participant-groups/", "get-participant-groups")
    def listed(moment: Moment) -> Reply:
        found = moment.session.scalars(select(Group).where(Group.deleted.is_(False)))
        return 200, {"results": [_group(moment, each) for each in found]}

    @door.on("POST", f"{API}/participant-groups/", "create-participant-group")
    def made(moment: Moment) -> Reply:
        asked = given()
        if not isinstance(asked.get("name"), str) or not asked["name"]:
            raise RefusedError({"name": ["A name is needed."]})
        group = Group(name=asked["name"], description=asked.get("description"))
        moment.session.add(group)
        moment.session.flush()
        for participant in _ids(asked):
            join(moment, group, participant)
        return 201, _group(moment, group)

    @door.on("GET", _GROUP, "get-participant-group")
    def shown(moment: Moment, ref: str) -> Reply:
        return 200, _group(moment, find_group(moment, ref))

    @door.on("PATCH", _GROUP, "update-participant-group")
    def changed(moment: Moment, ref: str) -> Reply:
        group, asked = find_group(moment, ref), given()
        group.name = asked.get("name", group.name)
        return 200, _group(moment, group)

    @door.on("DELETE", _GROUP, "delete-participant-group")
    def deleted(moment: Moment, ref: str) -> Reply:
        find_group(moment, ref).deleted = True
        return 204, {}

    for method, operation, change in (
        ("GET", "get-participant-group-participants", None),
        ("POST", "add-to-participant-group", join),
        ("DELETE", "remove-from-participant-group", leave),
    ):

        @door.on(method, f"{_GROUP}participants/", operation)
        def people(moment: Moment, ref: str, change: Any = change) -> Reply:  # noqa: ANN401
            group = find_group(moment, ref)
            for participant in _ids(given()) if change else []:
                change(moment, group, participant)
            found = [
                {"participant_id": each.participant, "datetime_created": time(each.since)}
                for each in members(moment, group)
            ]
            return 200, {"results": found}


def add_messages(door: Door) -> None:
    """Add the calls about messages and filters."""

    @door.on("GET", f"{API}/filters/", "get-filters")
    def filters(_moment: Moment) -> Reply:
        return 200, {"results": filter_list(), "_links": {}, "meta": {"count": len(filter_list())}}

    @door.on("POST", f"{API}/messages/", "send-message", flat=True)
    def one(moment: Moment) -> Reply:
        asked = given()
        _send(moment, [asked.get("recipient_id")], asked)
        return 204, {}

    @door.on("POST", f"{API}/messages/bulk/", "bulk-message-participants", flat=True)
    def many(moment: Moment) -> Reply:
        asked = given()
        _send(moment, asked.get("ids") or [], asked)
        return 204, {}

    @door.on("GET", f"{API}/messages/unread/", "get-unread-messages", flat=True)
    def unread(_moment: Moment) -> Reply:
        return 200, {"results": []}


def add_demographics(door: Door) -> None:
    """Add the calls that export demographics; each study has two of these requests."""

    @door.on("POST", f"{API}/studies/<ref>/demographic-export/", "export-demographic-data")
    def export(moment: Moment, ref: str) -> Reply:
        study, filters = find_study(moment, ref), given().get("filters", [])
        if len(filters) > _MOST_FILTERS:
            raise RefusedError({"filters": [f"At most {_MOST_FILTERS}."]})
        asked = _exports(moment, study)
        if filters not in asked:
            if len(asked) >= _MOST_EXPORTS:
                raise RefusedError("The study's two demographic exports are used.")
            moment.session.add(DemographicExport(study=study.ref, filters=filters))
        return 200, _table(moment, study)

    @door.on(
        "GET", f"{API}/studies/<ref>/demographic-export-history/", "get-demographic-export-history"
    )
    def history(moment: Moment, ref: str) -> Reply:
        asked = _exports(moment, find_study(moment, ref))
        return 200, {"count": len(asked), "filters": [each for some in asked for each in some]}


def _exports(moment: Moment, study: Study) -> list[list[dict[str, Any]]]:
    of = select(DemographicExport.filters).where(DemographicExport.study == study.ref)
    return list(moment.session.scalars(of))


def _table(moment: Moment, study: Study) -> bytes:
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(
        ["Submission id", "Participant id", "Status", "Started at", "Completed at", "Age",
         "Country of residence"]
    )  # fmt: skip
    of = select(Submission).where(Submission.study_id == study.id).order_by(Submission.id)
    for each in moment.session.scalars(of):
        who = moment.session.scalar(select(Participant).where(Participant.ref == each.participant))
        age, country = (who.age, who.country) if who else ("", "")
        times = (time(each.started_at), time(each.completed_at))
        rows.writerow([each.ref, each.participant, each.status, *times, age, country])
    return text.getvalue().encode()


def _ids(asked: dict[str, Any]) -> list[str]:
    ids = asked.get("participant_ids") or []
    if not all(isinstance(each, str) and is_id(each) for each in ids):
        raise RefusedError({"participant_ids": ["Identifiers have 24 hexadecimal digits."]})
    return list(ids)


def _send(moment: Moment, ids: list[Any], asked: dict[str, Any]) -> None:
    study, body = find_study(moment, str(asked.get("study_id", ""))), asked.get("body")
    if not isinstance(body, str) or not body.strip():
        raise RefusedError({"body": ["A text is needed."]})
    took = set(
        moment.session.scalars(
            select(Submission.participant).where(Submission.study_id == study.id)
        )
    )
    strangers = [str(each) for each in ids if each not in took]
    if strangers or not ids:
        raise RefusedError({"ids": [f"They did not take part: {', '.join(strangers)}."]})
    for participant in ids:
        write(moment, str(participant), study.ref, body)


def _group(moment: Moment, group: Group) -> dict[str, Any]:
    return {
        "id": group.ref,
        "name": group.name,
        "project_id": None,
        "workspace_id": moment.account.workspace,
        "organisation_id": None,
        "description": group.description,
        "participant_count": len(members(moment, group)),
        "is_deleted": group.deleted,
        "feeder_studies": [],
    }


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
