"""Publishing: a run's open places are offered on its platform, each offer exactly once.

An offer is a committed row with a token before the platform is asked for it. Whatever happens in
between - a crash, a lost reply, two publishers at once - publishing again goes on with the same
rows: what was posted is found by its token, what was not is posted now.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.recruitment_cost import Cost, cost, split_places
from experiment.studies.study import Study
from webapp.clock import Clock
from webapp.db import Sessions, reading
from webapp.errors import RunError
from webapp.flow.offer import (
    TAKEN_PART,
    lifetime_of,
    offer_of,
    qualifications,
    refuse_elsewhere,
    refuse_unpublishable,
    task_of,
    terms_of,
    unfilled_places,
)
from webapp.flow.runs import named_run, study_as_launched
from webapp.models import Hit, Recruitment, Run
from webapp.recruiters.platform import Offer, Platform, Task

RECRUITMENT = "recruitment"
_YET_TO_BE_MADE = "(the id of the qualification)"


@dataclass(frozen=True, slots=True)
class Draft:
    """What publishing a run would do now.

    Attributes:
        run_ref: The run.
        study: Its study.
        qualification: Name and description of the run's own, which is yet to be made; None where
            it was made before.
        task: What workers are offered; a qualification yet to be made stands in it without its id.
        unfilled: How many of the run's places nobody has filled yet.
        open: How many of them are offered or being worked on at the platform already.
        reopen: HITs that have expired with free places, to be offered anew (their ids there).
        offers: The HITs to be posted, those first that were written down before.
        cost: What all of these cost at most; the platform set nothing aside for what expired.
    """

    run_ref: str
    study: Study
    qualification: tuple[str, str] | None
    task: Task
    unfilled: int
    open: int
    reopen: tuple[str, ...]
    offers: tuple[Offer, ...]
    cost: Cost


def draft(sessions: Sessions, platform: Platform, run_ref: str, link: str, now: datetime) -> Draft:
    """Return what publishing would do, without doing it; the platform is only read.

    Raises:
        RunError: The run may not be published there.
        PlatformError: The platform cannot tell how far the run's HITs have come.
    """
    with reading(sessions) as session:
        run = named_run(session, run_ref)
        study = study_as_launched(session, run)
        terms = terms_of(study)
        recruitment = recruitment_of(session, run)
        refuse_unpublishable(run, platform.endpoint, link, recruitment)
        hits = recruitment_hits(session, run)
        unfilled = unfilled_places(session, run)
        not_again = qualifications(session, run, study, platform.endpoint)
    is_new = recruitment is None or recruitment.qualification_id is None
    if is_new:
        not_again.append(_YET_TO_BE_MADE)
    waiting = [(hit.places, hit.token) for hit in hits if hit.platform_id is None]
    open_, reopen = _standing(platform, [hit.platform_id for hit in hits if hit.platform_id], now)
    missing = unfilled - open_ - sum(places for places, _ in waiting)
    reopened = dict[str, int]()
    for hit_id, available in reopen.items():
        if available <= missing:
            reopened[hit_id] = available
            missing -= available
    sizes = split_places(max(0, missing))
    new = [(places, _token(run_ref, len(hits) + n)) for n, places in enumerate(sizes, start=1)]
    offers = tuple(offer_of(terms, link, places, token) for places, token in (*waiting, *new))
    return Draft(
        run_ref=run_ref,
        study=study,
        qualification=_named(run_ref) if is_new else None,
        task=task_of(study, not_again=not_again),
        unfilled=unfilled,
        open=open_,
        reopen=tuple(reopened),
        offers=offers,
        cost=cost(study, terms, [*reopened.values(), *(offer.places for offer in offers)]),
    )


def _standing(
    platform: Platform, hit_ids: Sequence[str], now: datetime
) -> tuple[int, dict[str, int]]:
    """Return how many places are open, and the free places of each HIT that has expired."""
    open_, expired = 0, dict[str, int]()
    for hit_id in hit_ids:
        state = platform.state(hit_id)
        open_ += state.pending
        if state.expires_at > now:
            open_ += state.available
        elif state.available:
            expired[hit_id] = state.available
    return open_, expired


def publish(
    sessions: Sessions, platform: Platform, plan: Draft, now: Clock
) -> Iterator[tuple[str, int]]:
    """Carry out a draft, and yield each HIT as it is there: its id and its free places.

    Raises:
        PlatformError: A call was refused or not answered; publishing again goes on from there.
    """
    _write_down(sessions, platform.endpoint, plan, now())
    own = _own_qualification(sessions, platform, plan.run_ref)
    for hit_id in plan.reopen:
        move_expiry(sessions, platform, hit_id, now() + lifetime_of(terms_of(plan.study)))
        yield hit_id, platform.state(hit_id).available
    if not plan.offers:
        return
    lacking = [own if id_ == _YET_TO_BE_MADE else id_ for id_ in plan.task.audience.lacking]
    audience = replace(plan.task.audience, lacking=tuple(lacking))
    type_id = platform.make_type(replace(plan.task, audience=audience))
    for offer in plan.offers:
        yield post_hit(sessions, platform, type_id, own, offer, now), offer.places


def published(session: Session, run: Run, endpoint: str) -> Recruitment:
    """Return where a run was published, which must be there.

    Raises:
        RunError: It was not published, or elsewhere.
    """
    recruitment = recruitment_of(session, run)
    if recruitment is None:
        raise RunError(
            f'the run "{run.ref}" is not published', remedy=f"parallax publish {run.ref}"
        )
    refuse_elsewhere(run, recruitment, endpoint)
    return recruitment


def recruitment_of(session: Session, run: Run) -> Recruitment | None:
    """Return where a run was published; None if it was not."""
    return session.scalar(select(Recruitment).where(Recruitment.run_id == run.id))


def recruitment_hits(session: Session, run: Run) -> Sequence[Hit]:
    """Return the HITs through which a run finds its participants, in the order they were made."""
    return session.scalars(
        select(Hit).where(Hit.run_id == run.id, Hit.purpose == RECRUITMENT).order_by(Hit.id)
    ).all()


def move_expiry(sessions: Sessions, platform: Platform, hit_id: str, at: datetime) -> None:
    """Let workers find a posted HIT until another time."""
    platform.expire(hit_id, at)
    with sessions.begin() as session:
        hit = session.scalars(select(Hit).where(Hit.platform_id == hit_id)).one()
        hit.expires_at = at


def _write_down(sessions: Sessions, endpoint: str, plan: Draft, now: datetime) -> None:
    with sessions.begin() as session:
        run = named_run(session, plan.run_ref)
        # Two publishers at once: the second finds the rows of the first, and adds none.
        session.execute(select(Run.id).where(Run.id == run.id).with_for_update())
        if recruitment_of(session, run) is None:
            session.add(Recruitment(run_id=run.id, endpoint=endpoint, published_at=now))
        written = {hit.token for hit in recruitment_hits(session, run)}
        session.add_all(
            Hit(run_id=run.id, token=offer.token, purpose=RECRUITMENT, places=offer.places)
            for offer in plan.offers
            if offer.token not in written
        )


def _token(run_ref: str, number: int) -> str:
    return hashlib.sha256(f"{run_ref}\x1f{RECRUITMENT}\x1f{number}".encode()).hexdigest()


def _named(run_ref: str) -> tuple[str, str]:
    return f"parallax run {run_ref}", TAKEN_PART


def _own_qualification(sessions: Sessions, platform: Platform, run_ref: str) -> str:
    with reading(sessions) as session:
        known = recruitment_of(session, named_run(session, run_ref))
        if known is not None and known.qualification_id is not None:
            return known.qualification_id
    made = platform.make_qualification(*_named(run_ref))
    with sessions.begin() as session:
        recruitment = recruitment_of(session, named_run(session, run_ref))
        assert recruitment is not None
        recruitment.qualification_id = made
    return made


def post_hit(
    sessions: Sessions, platform: Platform, type_id: str, own: str, offer: Offer, now: Clock
) -> str:
    """Post the offer of a written-down HIT unless it is posted, and return its id there.

    Args:
        sessions: The installation's.
        platform: Where it is posted.
        type_id: The type of its task.
        own: A qualification of ours in the task's audience, by which the offer is found again.
        offer: The offer; its token is the HIT's.
        now: The clock.
    """
    with sessions.begin() as session:
        hit = _written(session, offer.token)
        if hit.platform_id is not None:
            return hit.platform_id
        tried, hit.called_at = hit.called_at is not None, now()
    # The platform forgets tokens after a day, so what may be there already is looked for.
    posted = platform.find_posted(own, offer.token) if tried else None
    posted = posted or platform.post(type_id, offer)
    with sessions.begin() as session:
        hit = _written(session, offer.token)
        hit.platform_id, hit.hit_type_id, hit.posted_at = posted, type_id, now()
        hit.expires_at = now() + offer.lifetime
    return posted


def _written(session: Session, token: str) -> Hit:
    return session.scalars(select(Hit).where(Hit.token == token).with_for_update()).one()
