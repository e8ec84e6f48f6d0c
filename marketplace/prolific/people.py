"""Participants, their groups, messages to them, and the filters that decide who may take part."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, UniqueConstraint, select
from sqlalchemy.orm import Mapped, mapped_column

from marketplace.prolific.errors import RefusedError, UnknownError
from marketplace.prolific.store import Base, Moment, Study, Submission, new_id
from marketplace.storage import UtcDateTime


class Participant(Base):
    """A participant at the site."""

    __tablename__ = "participant"

    id: Mapped[int] = mapped_column(primary_key=True)
    ref: Mapped[str] = mapped_column(unique=True, default=new_id)
    country: Mapped[str] = mapped_column(default="GB")
    age: Mapped[int] = mapped_column(default=30)
    device: Mapped[str] = mapped_column(default="desktop")


class TestParticipant(Base):
    """A participant who only tests studies."""

    __tablename__ = "test_participant"

    id: Mapped[int] = mapped_column(primary_key=True)
    participant: Mapped[str] = mapped_column(unique=True)


class Group(Base):
    """A participant group."""

    __tablename__ = "participant_group"

    id: Mapped[int] = mapped_column(primary_key=True)
    ref: Mapped[str] = mapped_column(unique=True, default=new_id)
    name: Mapped[str]
    description: Mapped[str | None]
    deleted: Mapped[bool] = mapped_column(default=False)


class Membership(Base):
    """A participant's membership of a group."""

    __tablename__ = "membership"
    __table_args__ = (UniqueConstraint("group_id", "participant"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    group_id: Mapped[int] = mapped_column(ForeignKey("participant_group.id"))
    participant: Mapped[str]
    since: Mapped[datetime] = mapped_column(UtcDateTime)


class Message(Base):
    """A message to a participant."""

    __tablename__ = "message"

    id: Mapped[int] = mapped_column(primary_key=True)
    ref: Mapped[str] = mapped_column(unique=True, default=new_id)
    recipient: Mapped[str] = mapped_column(index=True)
    study: Mapped[str]
    body: Mapped[str]
    sent_at: Mapped[datetime] = mapped_column(UtcDateTime)


class DemographicExport(Base):
    """One of the two requests for demographics that each study has."""

    __tablename__ = "demographic_export"

    id: Mapped[int] = mapped_column(primary_key=True)
    study: Mapped[str] = mapped_column(index=True)
    filters: Mapped[list[dict[str, Any]]] = mapped_column(JSON)


def find_group(moment: Moment, ref: str) -> Group:
    """Return a participant group.

    Raises:
        UnknownError: No group has that identifier.
    """
    group = moment.session.scalar(select(Group).where(Group.ref == ref, Group.deleted.is_(False)))
    if group is None:
        raise UnknownError("participant group")
    return group


def list_members(moment: Moment, group: Group) -> list[Membership]:
    """Return a group's members, in order of joining."""
    query = select(Membership).where(Membership.group_id == group.id).order_by(Membership.id)
    return list(moment.session.scalars(query))


def add_member(moment: Moment, group: Group, participant: str) -> None:
    """Add a participant to a group, unless they are a member already."""
    if participant not in {membership.participant for membership in list_members(moment, group)}:
        moment.session.add(Membership(group_id=group.id, participant=participant, since=moment.now))
        moment.session.flush()


def remove_member(moment: Moment, group: Group, participant: str) -> None:
    """Remove a participant from a group."""
    for membership in list_members(moment, group):
        if membership.participant == participant:
            moment.session.delete(membership)
    moment.session.flush()


def send_message(moment: Moment, participant: str, study: str, body: str) -> None:
    """Send a message to a participant."""
    moment.session.add(Message(recipient=participant, study=study, body=body, sent_at=moment.now))


COUNTRIES = {"0": "United Kingdom", "1": "United States", "2": "Ireland", "3": "Germany"}
_COUNTRY_CODES = {"GB": "0", "US": "1", "IE": "2", "DE": "3"}
_GROUP_FILTERS = {"participant_group_allowlist": True, "participant_group_blocklist": False}
_STUDY_FILTERS = {"previous_studies_allowlist": True, "previous_studies_blocklist": False}
_PERSON_FILTERS = {"custom_allowlist": True, "custom_blocklist": False}


def supported_filters() -> list[dict[str, Any]]:
    """Return the supported filters."""
    return [
        {
            "filter_id": "age",
            "title": "Age",
            "description": "The participant's age in years.",
            "question": "What is your age?",
            "type": "range",
            "data_type": "integer",
            "min": 18,
            "max": 100,
        },
        _select_filter("current-country-of-residence", "Current country of residence", COUNTRIES),
        *(
            {**_select_filter(name, name.replace("_", " ").capitalize(), {}), "data_type": kind}
            for kind, names in (
                ("ParticipantGroupID", _GROUP_FILTERS),
                ("StudyID", _STUDY_FILTERS),
                ("ParticipantID", _PERSON_FILTERS),
            )
            for name in names
        ),
    ]


def _select_filter(name: str, title: str, choices: Mapping[str, str]) -> dict[str, Any]:
    return {
        "filter_id": name,
        "title": title,
        "description": title,
        "question": title,
        "type": "select",
        "data_type": "ChoiceID",
        "choices": dict(choices),
    }


def check_filters(filters: list[dict[str, Any]]) -> None:
    """Refuse unsupported filters.

    Raises:
        RefusedError: A filter is not supported.
    """
    known_ids = {filter_["filter_id"] for filter_ in supported_filters()}
    unknown = [
        filter_.get("filter_id") for filter_ in filters if filter_.get("filter_id") not in known_ids
    ]
    if unknown:
        raise RefusedError({"filters": [f"There is no filter {unknown[0]!r}."]})


def is_eligible(moment: Moment, participant: Participant, study: Study) -> bool:
    """Return whether a study is visible to a participant."""
    devices = study.fields["device_compatibility"]
    if devices and participant.device not in devices:
        return False
    return passes_filters(moment, participant, study.fields["filters"])


def passes_filters(moment: Moment, participant: Participant, filters: list[dict[str, Any]]) -> bool:
    """Return whether a participant passes every filter."""
    return all(_passes_filter(moment, participant, filter_) for filter_ in filters)


def _passes_filter(moment: Moment, participant: Participant, filter_: Mapping[str, Any]) -> bool:
    name = str(filter_.get("filter_id"))
    if name == "age":
        span = filter_.get("selected_range", {})
        lower, upper = int(span.get("lower", 0)), int(span.get("upper", 200))
        return lower <= participant.age <= upper
    chosen_values = {str(value) for value in filter_.get("selected_values", [])}
    if name == "current-country-of-residence":
        return _COUNTRY_CODES.get(participant.country) in chosen_values
    if name in _GROUP_FILTERS:
        is_member = any(
            participant.ref
            in {membership.participant for membership in list_members(moment, group)}
            for group in (find_group(moment, ref) for ref in chosen_values)
        )
        return is_member == _GROUP_FILTERS[name]
    if name in _STUDY_FILTERS:
        earlier_submissions = select(Submission).where(
            Submission.participant == participant.ref,
            Submission.study.has(Study.ref.in_(chosen_values)),
        )
        return (moment.session.scalars(earlier_submissions).first() is not None) == _STUDY_FILTERS[
            name
        ]
    if name in _PERSON_FILTERS:
        return (participant.ref in chosen_values) == _PERSON_FILTERS[name]
    return True
