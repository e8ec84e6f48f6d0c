"""Measurements that a browser sends with a choice, and with each word or region that was read.

An invalid measurement never causes an answer to be refused: a clock may be wrong by years, and an
older or newer page may send fewer or more fields. Unreadable values are dropped, and the choice is
stored. A trial's steps, or the details that the script of its type of response sends, are a JSON
text in the response's row: docs/decisions/reading-times.md.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, cast

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from experiment.participation import EventKind
from experiment.records import MOST_STEPS, Steps
from experiment.responses.trace import MOMENT, MOST_CHARACTERS
from webapp.database.models import Event

_DAY_MS = 24 * 60 * 60 * 1000
_MOST_PREMATURE = 20
_MOST_BROKEN = 4


def _read_or_none(value: object, read: ValidatorFunctionWrapHandler) -> Any:  # noqa: ANN401
    try:
        return read(value)
    except ValidationError:
        return None


_Lenient = WrapValidator(_read_or_none)
_Pixels = Annotated[Annotated[int, Field(ge=0, le=100_000)] | None, _Lenient]
_Flag = Annotated[bool | None, _Lenient]
_Count = Annotated[Annotated[int, Field(ge=0, le=1_000_000)] | None, _Lenient]
_Duration = Annotated[
    Annotated[float, Field(ge=0, le=_DAY_MS, allow_inf_nan=False)] | None, _Lenient
]
_Ratio = Annotated[Annotated[float, Field(gt=0, le=1_000, allow_inf_nan=False)] | None, _Lenient]
# Such a duration may last as long as a link works.
_LongDuration = Annotated[
    Annotated[float, Field(ge=0, le=1000 * _DAY_MS, allow_inf_nan=False)] | None, _Lenient
]
# Times at the limits of the calendar cannot be converted to UTC.
_Time = Annotated[
    Annotated[
        AwareDatetime,
        Field(strict=False),
        Field(ge=datetime(1, 1, 3, tzinfo=UTC), le=datetime(9999, 12, 29, tzinfo=UTC)),
    ]
    | None,
    _Lenient,
]


class _Press(BaseModel):
    """A press that did not count as a choice."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    # Pages of earlier versions refused the second press of a double click by a bound of its own.
    reason: Literal["before_painting", "lockout", "pause", "second_finger", "double_click"]
    input_method: Literal["key", "pointer", "touch"]
    ms: float | None = Field(default=None, allow_inf_nan=False)


class Measurements(BaseModel):
    """How a choice was made, as measured by the browser; fields that it cannot measure are None."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    rt_ms: _Duration = Field(default=None, description="from painting to press")
    release_ms: _Duration = Field(default=None, description="from painting to the end of the press")
    onset_source: Annotated[Literal["presentation", "frames"] | None, _Lenient] = Field(
        default=None, description="the source of the painting's time"
    )
    onset_uncertainty_ms: _Duration = Field(default=None, description="the painting's uncertainty")
    times_shown: _Count = Field(default=None, description="how often the trial was shown")
    seen_before_ms: _LongDuration = Field(
        default=None, description="how long the trial was seen before"
    )
    waited_ms: _LongDuration = Field(default=None, description="from the choice to its sending")
    trusted: _Flag = Field(default=None, description="whether the browser made the event")
    pointer_moves: _Count = Field(default=None, description="movements of the pointer")
    pointer_path_px: _Duration = Field(default=None, description="how far the pointer went")
    pointer_stopped_ms: _Duration = Field(
        default=None, description="from painting to the last move"
    )
    viewport_width_px: _Pixels = Field(default=None, description="the page's width")
    viewport_height_px: _Pixels = Field(default=None, description="the page's height")
    was_hidden: _Flag = Field(default=None, description="whether the page was ever hidden")
    lost_focus: _Flag = Field(default=None, description="whether the page ever lost focus")
    hidden_ms: _LongDuration = Field(default=None, description="how long the page was hidden")
    frames_dropped: _Count = Field(default=None, description="frames that were not painted")
    pixel_ratio: _Ratio = Field(default=None, description="the screen's pixels to a CSS pixel")
    round_trip_ms: _Duration = Field(default=None, description="round trip of the last answer")
    client_time: _Time = Field(default=None, description="the browser's clock")
    trace: Annotated[
        Annotated[str, Field(max_length=MOST_CHARACTERS, pattern=f"^(?:{MOMENT}(?:;{MOMENT})*)?$")]
        | None,
        _Lenient,
    ] = Field(default=None, description="what happened within the trial, moment by moment")
    premature: Annotated[
        Annotated[list[_Press], Field(max_length=_MOST_PREMATURE)] | None, _Lenient
    ] = Field(default=None, description="presses that were no choice")
    broken: Annotated[
        Annotated[list[Literal["text", "scroll", "zoom", "font"]], Field(max_length=_MOST_BROKEN)]
        | None,
        _Lenient,
    ] = Field(default=None, description="what the screen showed otherwise than it was sent")

    def columns(self) -> dict[str, object]:
        """Return the response's columns for these measurements."""
        return {name: getattr(self, name) for name in _COLUMNS}


# Fields that are stored as events, not as columns of the response.
EVENT_FIELDS = ("premature", "broken")
_COLUMNS = tuple(name for name in Measurements.model_fields if name not in EVENT_FIELDS)


def make_event_rows(
    participant_id: int, position: int, measured: Measurements, now: datetime
) -> list[Mapping[str, object]]:
    """Return event rows for irregularities in a trial.

    These are presses that came too early, and content that was not displayed as it was sent.
    """
    broken: list[Mapping[str, object]] = [
        {
            "participant_id": participant_id,
            "kind": EventKind.SHOWN_OTHERWISE,
            "detail": {"position": str(position), "what": fault},
            "at": now,
        }
        for fault in measured.broken or ()
    ]
    return broken + [
        {
            "participant_id": participant_id,
            "kind": EventKind.PREMATURE_PRESS,
            "detail": {
                "position": str(position),
                **{name: str(value) for name, value in press.model_dump(exclude_none=True).items()},
            },
            "at": now,
        }
        for press in measured.premature or ()
    ]


def make_events(
    participant_id: int, position: int, measured: Measurements, now: datetime
) -> list[Event]:
    """Return the same events as ``make_event_rows``, as records."""
    rows = make_event_rows(participant_id, position, measured, now)
    return [Event(**row) for row in rows]


_LONGEST_MS = 24 * 60 * 60 * 1000
_Ms = Annotated[float, Field(ge=0, le=_LONGEST_MS, allow_inf_nan=False)]
_Sequence = Field(max_length=MOST_STEPS)
# The only key of a stored JSON text that holds details, and the beginning of such a text.
_DETAILS = "details"
_DETAILS_BEGIN = f'{{"{_DETAILS}":'
# How long the details of an answer may be, as JSON.
MOST_DETAILS = 8000


class SentSteps(BaseModel):
    """The steps of one trial as sent by the browser; see ``experiment.records.Steps``."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    onset_ms: Annotated[tuple[_Ms, ...], _Sequence]
    rt_ms: Annotated[tuple[_Ms | None, ...], _Sequence]
    sources: str = Field(pattern="^[pf]*$", max_length=MOST_STEPS)
    uncertainty_ms: Annotated[tuple[_Ms, ...], _Sequence]
    wrong: Annotated[tuple[Annotated[int, Field(ge=0, le=1000)], ...], _Sequence] = ()
    done_ms: Annotated[tuple[_Ms | None, ...], _Sequence] = ()
    question_ms: _Ms | None = None
    wait_ms: _Ms | None = None

    @property
    def steps(self) -> Steps:
        """The steps in the form that response types read."""
        return Steps(
            self.onset_ms,
            self.rt_ms,
            self.sources,
            self.uncertainty_ms,
            self.wrong,
            self.done_ms,
            self.question_ms,
            self.wait_ms,
        )


def stored_steps(steps: Steps | None, details: Mapping[str, object] | None = None) -> str | None:
    """Return an answer's steps, or its details, as the JSON text that the database stores."""
    if details is not None:
        return json.dumps({_DETAILS: details}, separators=(",", ":"))
    if steps is None:
        return None
    present = {name: value for name, value in asdict(steps).items() if value not in ((), None)}
    return json.dumps(present, separators=(",", ":"))


def read_steps(stored: str | None) -> Steps | None:
    """Return steps from the JSON text that the database stores; None if it has details instead."""
    if stored is None or stored.startswith(_DETAILS_BEGIN):
        return None
    return SentSteps.model_validate_json(stored).steps


def read_details(stored: str | None) -> dict[str, object] | None:
    """Return an answer's details from the JSON text that the database stores; None without any."""
    if stored is None or not stored.startswith(_DETAILS_BEGIN):
        return None
    return cast("dict[str, object]", json.loads(stored)[_DETAILS])
