"""Calls about participants: eligibility, groups, messages, demographics, test participants."""

import csv
import io
from typing import Any

from flask import request
from sqlalchemy import select

from marketplace.prolific.api.middleware import API, ApiRouter, Reply, read_json_object
from marketplace.prolific.api.serializers import format_time
from marketplace.prolific.api.studies import find_study
from marketplace.prolific.errors import RefusedError
from marketplace.prolific.people import (
    DemographicExport,
    Group,
    Participant,
    TestParticipant,
    add_member,
    check_filters,
    find_group,
    list_members,
    passes_filters,
    send_message,
    supported_filters,
)
from marketplace.prolific.store import Moment, Study, Submission, is_id

_GROUP_PATH = f"{API}/participant-groups/<ref>/"
_MOST_EXPORTS, _MOST_FILTERS = 2, 15


def add_groups(router: ApiRouter) -> None:
    """Add the calls about participant groups."""

    @router.on("POST", f"{API}/participant-groups/", "create-participant-group")
    def create_participant_group(moment: Moment) -> Reply:
        fields = read_json_object()
        if not isinstance(fields.get("name"), str) or not fields["name"]:
            raise RefusedError({"name": ["A name is needed."]})
        group = Group(name=fields["name"], description=fields.get("description"))
        moment.session.add(group)
        moment.session.flush()
        for participant in _read_participant_ids(fields):
            add_member(moment, group, participant)
        return 201, _serialize_group(moment, group)

    @router.on("GET", _GROUP_PATH, "get-participant-group")
    def get_participant_group(moment: Moment, ref: str) -> Reply:
        return 200, _serialize_group(moment, find_group(moment, ref))

    @router.on("GET", f"{_GROUP_PATH}participants/", "get-participant-group-participants")
    def get_participant_group_participants(moment: Moment, ref: str) -> Reply:
        memberships = [
            {
                "participant_id": membership.participant,
                "datetime_created": format_time(membership.since),
            }
            for membership in list_members(moment, find_group(moment, ref))
        ]
        return 200, {"results": memberships}


def add_messages(router: ApiRouter) -> None:
    """Add the calls about messages and filters."""

    @router.on("GET", f"{API}/filters/", "get-filters")
    def get_filters(_moment: Moment) -> Reply:
        return 200, {
            "results": supported_filters(),
            "_links": {},
            "meta": {"count": len(supported_filters())},
        }

    @router.on("POST", f"{API}/messages/", "send-message", flat=True)
    def answer_send_message(moment: Moment) -> Reply:
        fields = read_json_object()
        _send_messages(moment, [fields.get("recipient_id")], fields)
        return 204, {}

    @router.on("POST", f"{API}/messages/bulk/", "bulk-message-participants", flat=True)
    def bulk_message_participants(moment: Moment) -> Reply:
        fields = read_json_object()
        _send_messages(moment, fields.get("ids") or [], fields)
        return 204, {}

    @router.on("GET", f"{API}/messages/unread/", "get-unread-messages", flat=True)
    def get_unread_messages(_moment: Moment) -> Reply:
        return 200, {"results": []}


def add_demographics(router: ApiRouter) -> None:
    """Add the calls that export demographics; each study has two of these requests."""

    @router.on("POST", f"{API}/studies/<ref>/demographic-export/", "export-demographic-data")
    def export_demographic_data(moment: Moment, ref: str) -> Reply:
        study, filters = find_study(moment, ref), read_json_object().get("filters", [])
        if len(filters) > _MOST_FILTERS:
            raise RefusedError({"filters": [f"At most {_MOST_FILTERS}."]})
        exports = _past_exports(moment, study)
        if filters not in exports:
            if len(exports) >= _MOST_EXPORTS:
                raise RefusedError("The study's two demographic exports are used.")
            moment.session.add(DemographicExport(study=study.ref, filters=filters))
        return 200, _demographics_csv(moment, study)

    @router.on(
        "GET", f"{API}/studies/<ref>/demographic-export-history/", "get-demographic-export-history"
    )
    def get_demographic_export_history(moment: Moment, ref: str) -> Reply:
        exports = _past_exports(moment, find_study(moment, ref))
        return 200, {
            "count": len(exports),
            "filters": [filter_ for filters in exports for filter_ in filters],
        }


def _past_exports(moment: Moment, study: Study) -> list[list[dict[str, Any]]]:
    query = select(DemographicExport.filters).where(DemographicExport.study == study.ref)
    return list(moment.session.scalars(query))


def _demographics_csv(moment: Moment, study: Study) -> bytes:
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(
        ["Submission id", "Participant id", "Status", "Started at", "Completed at", "Age",
         "Country of residence"]
    )  # fmt: skip
    query = select(Submission).where(Submission.study_id == study.id).order_by(Submission.id)
    for submission in moment.session.scalars(query):
        participant = moment.session.scalar(
            select(Participant).where(Participant.ref == submission.participant)
        )
        age, country = (participant.age, participant.country) if participant else ("", "")
        times = (format_time(submission.started_at), format_time(submission.completed_at))
        rows.writerow(
            [submission.ref, submission.participant, submission.status, *times, age, country]
        )
    return text.getvalue().encode()


def _read_participant_ids(fields: dict[str, Any]) -> list[str]:
    ids = fields.get("participant_ids") or []
    if not all(isinstance(participant_id, str) and is_id(participant_id) for participant_id in ids):
        raise RefusedError({"participant_ids": ["Identifiers have 24 hexadecimal digits."]})
    return list(ids)


def _send_messages(moment: Moment, ids: list[Any], fields: dict[str, Any]) -> None:
    study, body = find_study(moment, str(fields.get("study_id", ""))), fields.get("body")
    if not isinstance(body, str) or not body.strip():
        raise RefusedError({"body": ["A text is needed."]})
    participant_ids_of_study = set(
        moment.session.scalars(
            select(Submission.participant).where(Submission.study_id == study.id)
        )
    )
    strangers = [
        str(participant_id)
        for participant_id in ids
        if participant_id not in participant_ids_of_study
    ]
    if strangers or not ids:
        raise RefusedError({"ids": [f"They did not take part: {', '.join(strangers)}."]})
    for participant in ids:
        send_message(moment, str(participant), study.ref, body)


def _serialize_group(moment: Moment, group: Group) -> dict[str, Any]:
    return {
        "id": group.ref,
        "name": group.name,
        "project_id": None,
        "workspace_id": moment.account.workspace,
        "organisation_id": None,
        "description": group.description,
        "participant_count": len(list_members(moment, group)),
        "is_deleted": group.deleted,
        "feeder_studies": [],
    }


# The API does not report counts below this number.
_LEAST_REPORTED = 25


def add_test_studies(router: ApiRouter) -> None:
    """Add the calls about eligible participants and test studies."""

    @router.on("POST", f"{API}/eligibility-count/", "get-eligible-count", flat=True)
    def get_eligible_count(moment: Moment) -> Reply:
        filters = read_json_object().get("filters")
        if not isinstance(filters, list):
            raise RefusedError({"filters": ["A list of filters is needed."]})
        check_filters(filters)
        everybody = moment.session.scalars(select(Participant))
        count = sum(passes_filters(moment, participant, filters) for participant in everybody)
        return 200, {"count": count if count >= _LEAST_REPORTED else 0}

    @router.on("POST", f"{API}/researchers/participants/", "create-test-participant-for-researcher")
    def create_test_participant_for_researcher(moment: Moment) -> Reply:
        email = read_json_object().get("email")
        if not isinstance(email, str) or "@" not in email:
            raise RefusedError({"email": ["An e-mail address is needed."]})
        participant = Participant()
        moment.session.add(participant)
        moment.session.flush()
        moment.session.add(TestParticipant(participant=participant.ref))
        return 201, {"participant_id": participant.ref}

    @router.on("POST", f"{API}/studies/<ref>/test-study", "create-test-study", flat=True)
    def create_test_study(moment: Moment, ref: str) -> Reply:
        draft = find_study(moment, ref)
        if draft.status != "UNPUBLISHED":
            raise RefusedError("Only a draft can be tested.")
        people = list(moment.session.scalars(select(TestParticipant.participant)))
        if not people:
            raise RefusedError("Make a test participant first.")
        only = {"filter_id": "custom_allowlist", "selected_values": people}
        fields = {**draft.fields, "filters": [only], "total_available_places": len(people)}
        study = Study(fields=fields, project=draft.project, created_at=moment.now, status="ACTIVE")
        moment.session.add(study)
        moment.session.flush()
        return 200, {
            "study_id": study.ref,
            "study_url": f"{request.host_url}studies/{study.ref}",
        }
