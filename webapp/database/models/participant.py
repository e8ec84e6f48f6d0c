"""A participant, and all data stored about their session."""

import json
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, UniqueConstraint, false, text
from sqlalchemy.orm import Mapped, column_property, mapped_column

from experiment.participation import EventKind
from webapp.core.i18n import N_
from webapp.core.tokens import new_reference
from webapp.database.models.base import Base, UtcDateTime
from webapp.database.models.identity import Name, name_of


class Participant(Base):
    """A person who decided on a consent page; their platform ids are in no export."""

    __tablename__ = "participant"
    __table_args__ = (
        UniqueConstraint("run_id", "person_key"),
        UniqueConstraint("run_id", "visit_mark"),
        # Every arrival searches for inactive participants and for earlier ones of a place.
        Index(None, "run_id", "state", "consented_at"),
        Index("ix_participant_place", "run_id", "list", "place"),
        # Restrictions are rare; counts over all participants leave them out.
        Index(
            "ix_participant_restricted",
            "run_id",
            "restricted_at",
            sqlite_where=text("restricted_at IS NOT NULL"),
            postgresql_where=text("restricted_at IS NOT NULL"),
        ),
        # Pages list participants in order of arrival.
        Index("ix_participant_order", "run_id", "id"),
        # The last finished participants determine the expected duration.
        Index(
            "ix_participant_finished",
            "run_id",
            "finished_at",
            sqlite_where=text("finished_at IS NOT NULL"),
            postgresql_where=text("finished_at IS NOT NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    ref: Mapped[str] = mapped_column(unique=True)  # random, in exports
    code: Mapped[str] = mapped_column(  # random, shown only to the participant, in no export
        unique=True, default=new_reference
    )
    person_key: Mapped[int | None] = mapped_column(ForeignKey("identity.id"), index=True)
    _platform_id: Mapped[str | None] = column_property(name_of(person_key), expire_on_flush=False)
    platform_id = Name[str | None]("person_key")  # the recruiting platform's id
    visit_mark: Mapped[str | None]  # random, from the submitted consent page
    state: Mapped[str]  # experiment.participation.State
    ending: Mapped[str | None]  # experiment.participation.Ending, if they left; else null
    watched: Mapped[bool] = mapped_column(  # whether errors on catch trials end the session
        default=False, server_default=false()
    )
    link_id: Mapped[int | None] = mapped_column(ForeignKey("link.id"), index=True)
    consent_text_id: Mapped[int | None] = mapped_column(  # null after declining, and for old rows
        ForeignKey("consent_text.id")
    )
    list: Mapped[int | None]
    place: Mapped[int | None]
    arrived_at: Mapped[datetime] = mapped_column(UtcDateTime)
    consented_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    returned_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # after an expired lease
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    withdrawn_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # The time since which their data must not be used, at their request; null if not restricted.
    restricted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class LinkVisit(Base):
    """The parameters of a run's link when it was opened; in no export, like all platform data.

    The visit of an invalid link has no participant, but a problem.
    """

    __tablename__ = "link_visit"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    participant_id: Mapped[int | None] = mapped_column(ForeignKey("participant.id"), index=True)
    problem: Mapped[str]  # the error's short name; empty for a valid link
    said_key: Mapped[int] = mapped_column(ForeignKey("identity.id"), index=True)
    _said: Mapped[str] = column_property(name_of(said_key), expire_on_flush=False)
    said = Name[str]("said_key")  # its parameters under the platform's names, as JSON
    at: Mapped[datetime] = mapped_column(UtcDateTime)

    @property
    def parameters(self) -> dict[str, str]:
        """The link's parameters under the platform's names."""
        parameters: dict[str, str] = json.loads(self.said)
        return parameters

    @parameters.setter
    def parameters(self, said: dict[str, str]) -> None:
        self.said = json.dumps(said, sort_keys=True)


class Answer(Base):
    """The answer to one question of the questionnaire or the screening."""

    __tablename__ = "answer"
    __table_args__ = (UniqueConstraint("participant_id", "field"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"))
    field: Mapped[str]
    value: Mapped[str]


class Trial(Base):
    """A trial, written once, when the participant gets a place; never changed."""

    __tablename__ = "trial"
    __table_args__ = (UniqueConstraint("participant_id", "position"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"))
    position: Mapped[int]  # from 1
    run_item_id: Mapped[int] = mapped_column(ForeignKey("run_item.id"))
    good_side: Mapped[str]  # experiment.records.Side, or empty; never sent to the browser
    options: Mapped[str | None]  # the displayed versions, joined by spaces; null for a pair
    points: Mapped[int | None]  # the number of points of the rating scale


class Response(Base):
    """The response to one trial; a unique constraint on the trial prevents a second one."""

    __tablename__ = "response"

    id: Mapped[int] = mapped_column(primary_key=True)
    trial_id: Mapped[int] = mapped_column(ForeignKey("trial.id"), unique=True)
    client_uuid: Mapped[str]  # made by the browser, the same for every resend
    chosen_side: Mapped[str]  # experiment.records.Side; empty for a rating
    rating: Mapped[int | None]  # a point of the trial's scale, from 1
    rt_ms: Mapped[float | None]
    input_method: Mapped[str]
    viewport_width_px: Mapped[int | None]
    viewport_height_px: Mapped[int | None]
    was_hidden: Mapped[bool | None]
    lost_focus: Mapped[bool | None]
    client_time: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # The fields of webapp.sessions.measurements; null if the browser sent none.
    release_ms: Mapped[float | None]
    onset_source: Mapped[str | None]
    onset_uncertainty_ms: Mapped[float | None]
    times_shown: Mapped[int | None]
    seen_before_ms: Mapped[float | None]
    waited_ms: Mapped[float | None]
    trusted: Mapped[bool | None] = mapped_column(
        info={"told": N_("Whether each press came from you or from a script.")}
    )
    pointer_moves: Mapped[int | None]
    pointer_path_px: Mapped[float | None]
    pointer_stopped_ms: Mapped[float | None]
    hidden_ms: Mapped[float | None]
    frames_dropped: Mapped[int | None]
    pixel_ratio: Mapped[float | None]
    round_trip_ms: Mapped[float | None]
    recorded_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # Steps of reading, or what the type's script sends in details: webapp.sessions.measurements
    steps: Mapped[str | None]
    trace: Mapped[str | None]  # what happened within the trial: experiment.responses.trace


class Device(Base):
    """A device on which a session was opened; only these columns are stored."""

    __tablename__ = "device"
    __table_args__ = (UniqueConstraint("participant_id", "mark"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"))
    mark: Mapped[str]  # random, per session and browser; empty if the browser stores nothing
    user_agent_family: Mapped[str]  # empty if the browser does not report it
    refresh_rate_hz: Mapped[float | None]
    time_zone_offset_min: Mapped[int | None]
    language: Mapped[str]  # likewise
    automated: Mapped[bool | None]  # as reported; empty for devices of earlier versions
    noted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class Event(Base):
    """An event of a session; append-only."""

    __tablename__ = "event"

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"), index=True)
    kind: Mapped[EventKind] = mapped_column(String)
    detail: Mapped[dict[str, str]] = mapped_column(JSON)
    at: Mapped[datetime] = mapped_column(UtcDateTime)


class Verdict(Base):
    """The verdict of the exclusion rules on one participant, with the evidence."""

    __tablename__ = "verdict"
    # Finds the excluded or kept participants without a scan.
    __table_args__ = (Index(None, "kept", "participant_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"), unique=True)
    kept: Mapped[bool]
    rule: Mapped[str]
    evidence: Mapped[str]
    decided_at: Mapped[datetime] = mapped_column(UtcDateTime)


SORT_COLUMNS = (
    "answered", "minutes", "median_rt_ms", "fast", "same_side", "hidden", "waited_s", "n_events",
)  # fmt: skip


class SessionSummary(Base):
    """The figures of one session, computed by ``parallax summarise``; 0 if nothing was measured.

    All columns except the last are for sorting: pages compute the displayed figures from the
    session's own answers. Judging a session requires all other sessions' answers, so pages display
    the stored result.
    """

    __tablename__ = "session_summary"
    __table_args__ = (
        *(
            Index(f"ix_session_summary_{column}", "run_id", column, "participant_id")
            for column in SORT_COLUMNS
        ),
        Index("ix_session_summary_flags", "run_id", "n_flags", "likelihood", "participant_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"), unique=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    answered: Mapped[int]
    minutes: Mapped[float]  # from consent to the end
    median_rt_ms: Mapped[float]
    fast: Mapped[int]  # answers too quick for the text to have been read
    same_side: Mapped[float]  # share of the more frequent side
    hidden: Mapped[int]  # trials during which the page was hidden or lost the focus
    waited_s: Mapped[float]  # the longest time that an answer waited in the browser
    n_events: Mapped[int]
    n_flags: Mapped[int]
    likelihood: Mapped[float]  # agent_likelihood in the certificate
    # The certificate's figures, and the sessions with the same times, if it was copied.
    judged: Mapped[dict[str, Any]] = mapped_column(JSON)


class RunSummary(Base):
    """The time of the last summary of a run's sessions, and its cost."""

    __tablename__ = "run_summary"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), unique=True)
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    took_s: Mapped[float]
    responses: Mapped[int]  # of the run, when the summary began
    # The data of the run page's charts: webapp.runs.charts; null for old summaries.
    charts: Mapped[dict[str, Any] | None] = mapped_column(JSON)


class ArrivalAddress(Base):
    """The network address of a participant, as a digest; a job deletes it after an hour."""

    __tablename__ = "arrival_address"
    __table_args__ = (Index(None, "digest", "at"), Index(None, "at"))

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"), unique=True)
    digest: Mapped[str]  # keyed digest of the network address
    at: Mapped[datetime] = mapped_column(UtcDateTime)
