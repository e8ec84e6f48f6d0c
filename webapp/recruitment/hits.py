"""The life of a published run: how far its HITs have come, ending them early, extending them."""

from collections.abc import Iterator
from datetime import datetime

from webapp.database.engine import Sessions, reading
from webapp.recruiters.platform import OfferState, Platform
from webapp.recruitment.publish import move_expiry, published, recruitment_hits
from webapp.runs.runs import named_run


def hit_states(
    sessions: Sessions, platform: Platform, run_ref: str
) -> Iterator[tuple[str, OfferState]]:
    """Yield each posted HIT of a run, and how far it has come.

    Raises:
        RunError: The run was not published, or elsewhere.
    """
    with reading(sessions) as session:
        run = named_run(session, run_ref)
        published(session, run, platform.endpoint)
        hits = recruitment_hits(session, run)
    for hit in hits:
        if hit.platform_id is not None:
            yield hit.platform_id, platform.state(hit.platform_id)


def pause(sessions: Sessions, platform: Platform, run_ref: str, now: datetime) -> int:
    """Let no worker find a run any more, and return how many HITs that ended."""
    return _move(sessions, platform, run_ref, now, now)


def extend(
    sessions: Sessions, platform: Platform, run_ref: str, until: datetime, now: datetime
) -> int:
    """Let workers find a run's open HITs until then, and return how many there are."""
    return _move(sessions, platform, run_ref, until, now)


def _move(sessions: Sessions, platform: Platform, run_ref: str, at: datetime, now: datetime) -> int:
    found = [id_ for id_, state in hit_states(sessions, platform, run_ref) if state.is_open(now)]
    for hit_id in found:
        move_expiry(sessions, platform, hit_id, at)
    return len(found)
