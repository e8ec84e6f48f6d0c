"""A participant, and everything stored about their session."""

import json
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, UniqueConstraint, false, text
from sqlalchemy.orm import Mapped, column_property, mapped_column

from experiment.participation import EventKind
from webapp.core.tokens import new_reference
from webapp.database.models.base import Base, UtcDateTime
from webapp.database.models.identity import Name, name_of


class Participant(Base):
    """Somebody who decided on a consent page; their ids elsewhere never leave the database."""

    __tablename__ = "participant"
    __table_args__ = (
        UniqueConstraint("run_id", "person_key"),
        UniqueConstraint("run_id", "visit_mark"),
        # Who fell silent, and who held a place before, are looked for at every arrival.
        Index(None, "run_id", "state", "consented_at"),
        Index("ix_participant_place", "run_id", "list", "place"),
        # Few ask for it; what is counted of everybody is counted without them.
        Index(
            "ix_participant_restricted",
            "run_id",
            "restricted_at",
            sqlite_where=text("restricted_at IS NOT NULL"),
            postgresql_where=text("restricted_at IS NOT NULL"),
        ),
        # Pages show them in order of arrival.
        Index("ix_participant_order", "run_id", "id"),
        # The last who finished say how long it takes.
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
    code: Mapped[str] = mapped_column(  # random, shown to them alone, in no export
        unique=True, default=new_reference
    )
    person_key: Mapped[int | None] = mapped_column(ForeignKey("identity.id"), index=True)
    _platform_id: Mapped[str | None] = column_property(name_of(person_key), expire_on_flush=False)
    platform_id = Name[str | None]("person_key")  # what the recruiting platform calls the person
    visit_mark: Mapped[str | None]  # random, from the consent page whose button was pressed
    state: Mapped[str]  # experiment.participation.State
    ending: Mapped[str | None]  # experiment.participation.Ending of who left; null for others
    watched: Mapped[bool] = mapped_column(  # whether errors on catch trials end the session
        default=False, server_default=false()
    )
    link_id: Mapped[int | None] = mapped_column(ForeignKey("link.id"), index=True)
    consent_text_id: Mapped[int | None] = mapped_column(  # null of who declined, or came earlier
        ForeignKey("consent_text.id")
    )
    list: Mapped[int | None]
    place: Mapped[int | None]
    arrived_at: Mapped[datetime] = mapped_column(UtcDateTime)
    consented_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    returned_at: Mapped[datetime | None] = mapped_column(UtcDateTime)  # after the lease was over
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    withdrawn_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # Since when their data are stored and not used, as they asked; null where they may be used.
    restricted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class LinkVisit(Base):
    """What a run's link said when somebody opened it; in no export, like all that platforms say.

    A link that no platform of the run would have made has no participant, and its problem.
    """

    __tablename__ = "link_visit"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    participant_id: Mapped[int | None] = mapped_column(ForeignKey("participant.id"), index=True)
    problem: Mapped[str]  # the error's short name; empty where the link was right
    said_key: Mapped[int] = mapped_column(ForeignKey("identity.id"), index=True)
    _said: Mapped[str] = column_property(name_of(said_key), expire_on_flush=False)
    said = Name[str]("said_key")  # its parameters by the platform's own names, as JSON
    at: Mapped[datetime] = mapped_column(UtcDateTime)

    @property
    def parameters(self) -> dict[str, str]:
        """What the link said, by the platform's own names."""
        parameters: dict[str, str] = json.loads(self.said)
        return parameters

    @parameters.setter
    def parameters(self, said: dict[str, str]) -> None:
        self.said = json.dumps(said, sort_keys=True)


class Answer(Base):
    """One answered field of the questionnaire."""

    __tablename__ = "answer"
    __table_args__ = (UniqueConstraint("participant_id", "field"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"))
    field: Mapped[str]
    value: Mapped[str]


class Trial(Base):
    """Written once, when the participant gets a place; never changed."""

    __tablename__ = "trial"
    __table_args__ = (UniqueConstraint("participant_id", "position"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"))
    position: Mapped[int]  # from 1
    run_item_id: Mapped[int] = mapped_column(ForeignKey("run_item.id"))
    good_side: Mapped[str]  # experiment.records.Side, or empty; never sent to the browser
    options: Mapped[str | None]  # the versions on the screen, joined by spaces; null of a pair
    points: Mapped[int | None]  # of the scale on which the version is rated


class Response(Base):
    """One row per answered trial; the unique trial makes a second answer impossible."""

    __tablename__ = "response"

    id: Mapped[int] = mapped_column(primary_key=True)
    trial_id: Mapped[int] = mapped_column(ForeignKey("trial.id"), unique=True)
    client_uuid: Mapped[str]  # made by the browser, the same for every resend
    chosen_side: Mapped[str]  # experiment.records.Side; empty of a rating
    rating: Mapped[int | None]  # a point of the trial's scale, from 1
    rt_ms: Mapped[float | None]
    input_method: Mapped[str]
    viewport_width_px: Mapped[int | None]
    viewport_height_px: Mapped[int | None]
    was_hidden: Mapped[bool | None]
    lost_focus: Mapped[bool | None]
    client_time: Mapped[datetime | None] = mapped_column(UtcDateTime)
    # What webapp.sessions.measurements reads; null where a browser did not tell.
    release_ms: Mapped[float | None]
    onset_source: Mapped[str | None]
    onset_uncertainty_ms: Mapped[float | None]
    times_shown: Mapped[int | None]
    seen_before_ms: Mapped[float | None]
    waited_ms: Mapped[float | None]
    trusted: Mapped[bool | None]
    pointer_moves: Mapped[int | None]
    pointer_path_px: Mapped[float | None]
    pointer_stopped_ms: Mapped[float | None]
    hidden_ms: Mapped[float | None]
    frames_dropped: Mapped[int | None]
    pixel_ratio: Mapped[float | None]
    round_trip_ms: Mapped[float | None]
    recorded_at: Mapped[datetime] = mapped_column(UtcDateTime)
    steps: Mapped[str | None]  # of what is read step by step: webapp.sessions.measurements
    trace: Mapped[str | None]  # what happened within the trial: experiment.trials.trace


class Device(Base):
    """One row for each device a session was opened on; nothing beyond these columns."""

    __tablename__ = "device"
    __table_args__ = (UniqueConstraint("participant_id", "mark"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"))
    mark: Mapped[str]  # random, of this session in this browser; empty where it stores nothing
    user_agent_family: Mapped[str]  # empty where the browser does not tell
    refresh_rate_hz: Mapped[float | None]
    time_zone_offset_min: Mapped[int | None]
    language: Mapped[str]  # likewise
    automated: Mapped[bool | None]  # what it says of itself; empty of earlier versions' devices
    noted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class Event(Base):
    """Append-only."""

    __tablename__ = "event"

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"), index=True)
    kind: Mapped[EventKind] = mapped_column(String)
    detail: Mapped[dict[str, str]] = mapped_column(JSON)
    at: Mapped[datetime] = mapped_column(UtcDateTime)


class Verdict(Base):
    """What the exclusion rules decided about one participant, and on what evidence."""

    __tablename__ = "verdict"
    # Finds the few who are excluded, or kept, among any number.
    __table_args__ = (Index(None, "kept", "participant_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"), unique=True)
    kept: Mapped[bool]
    rule: Mapped[str]
    evidence: Mapped[str]
    decided_at: Mapped[datetime] = mapped_column(UtcDateTime)


SORTED = (
    "answered", "minutes", "median_rt_ms", "fast", "same_side", "hidden", "waited_s", "n_events",
)  # fmt: skip


class SessionSummary(Base):
    """One session, as ``parallax summarise`` saw it; 0 where nothing was measured.

    All columns but the last are for sorting: what a page shows of them it reads from their own
    answers. To judge a session takes everybody else's answers too, so a page shows what was judged.
    """

    __tablename__ = "session_summary"
    __table_args__ = (
        *(
            Index(f"ix_session_summary_{column}", "run_id", column, "participant_id")
            for column in SORTED
        ),
        Index("ix_session_summary_flags", "run_id", "n_flags", "likelihood", "participant_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"), unique=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    answered: Mapped[int]
    minutes: Mapped[float]  # from consent to the end
    median_rt_ms: Mapped[float]
    fast: Mapped[int]  # answers that came in too quickly to have been read
    same_side: Mapped[float]  # share of the side that was chosen more often
    hidden: Mapped[int]  # trials during which the page was hidden or lost the focus
    waited_s: Mapped[float]  # the longest that an answer waited in the browser
    n_events: Mapped[int]
    n_flags: Mapped[int]
    likelihood: Mapped[float]  # agent_likelihood of the certificate
    # The certificate's figures, and whose times the session has, if it was copied.
    judged: Mapped[dict[str, Any]] = mapped_column(JSON)


class RunSummary(Base):
    """When a run's sessions were summarised, and what that took."""

    __tablename__ = "run_summary"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), unique=True)
    made_at: Mapped[datetime] = mapped_column(UtcDateTime)
    took_s: Mapped[float]
    responses: Mapped[int]  # of the run, when it was begun
    # What the run's page draws: webapp.runs.charts; null where a run was summarised before it was.
    charts: Mapped[dict[str, Any] | None] = mapped_column(JSON)


class ArrivalAddress(Base):
    """From where a participant came; a job deletes the row after an hour."""

    __tablename__ = "arrival_address"
    __table_args__ = (Index(None, "digest", "at"), Index(None, "at"))

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id"), unique=True)
    digest: Mapped[str]  # of the network address, under the installation's key
    at: Mapped[datetime] = mapped_column(UtcDateTime)
