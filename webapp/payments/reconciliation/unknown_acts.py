"""Acts that the platforms show and this copy's database lacks: signs of another copy.

Another copy of the installation that pays may be out of reach: behind another address, or without
a server. What it did since this database was copied is visible on the platform: payments,
decisions, offers, places, and submissions of people who took part there. A person's acts on the
platform's own site look the same. An act whose time the platform does not tell counts from the
moment at which this copy first saw it.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import or_, select

from experiment.errors import ParallaxError
from experiment.money import in_words
from experiment.payment.payment import PaymentKind, PaymentState
from webapp.core.settings import Settings
from webapp.core.tokens import Tokens
from webapp.database.engine import Sessions, reading
from webapp.database.models import Hit, Recruitment, Run
from webapp.database.models.installation import set_stamp, stamp_of
from webapp.payments.reconciliation.payment_checks import (
    find_unrecorded_bonuses,
    find_unrecorded_decisions,
)
from webapp.payments.reconciliation.snapshot import PaymentSnapshot, take_snapshot
from webapp.recruiters.base import PayingRecruiter, Recruiter, ReportingRecruiter
from webapp.recruiters.platform import OfferState, Platform
from webapp.recruiters.registry import load_recruiter, open_platform
from webapp.recruitment.open_offers import find_lost_offers
from webapp.recruitment.poll import poll_hits
from webapp.recruitment.published import RECRUITMENT, find_recruitment, refuse_other_endpoint
from webapp.recruitment.terms import refuse_other_owner
from webapp.runs.runs import load_launched_study

RECENT = timedelta(hours=1)
# Runs are usually paid within this time after they were closed.
_PAYING_TIME = timedelta(days=30)
_STAMP = "unknown acts"
_KEY_LENGTH = 16
# Our own time of posting is later than the platform's by the duration of a call.
_EXPIRY_TOLERANCE = timedelta(minutes=5)
_DECISIONS = {PaymentKind.REWARD: "approved", PaymentKind.REJECTION: "rejected"}
_RECORDED = frozenset({*_DECISIONS, PaymentKind.BONUS})


@dataclass(frozen=True, slots=True)
class UnknownAct:
    """An act that a platform shows and this copy's database lacks.

    Attributes:
        run_ref: The run.
        text: What the platform shows, as a sentence without a full stop.
        page: Where a researcher sees it.
        at: Its time, or the time at which this copy first saw it.
        is_dated: Whether the platform tells the time.
        is_certain: Whether a copy or a researcher did it, neither a participant nor the platform.
    """

    run_ref: str
    text: str
    page: str
    at: datetime
    is_dated: bool
    is_certain: bool

    def shows_activity(self, now: datetime) -> bool:
        """Return whether a copy or a researcher acted less than an hour ago."""
        return self.is_certain and now - self.at < RECENT


@dataclass(frozen=True, slots=True)
class UnknownActs:
    """What the platforms answered.

    Attributes:
        acts: The unknown acts, the newest first.
        unasked: The runs whose platform did not answer, each with the reason.
        silent: The references of the runs whose platform takes reports and answers nothing.
    """

    acts: Sequence[UnknownAct]
    unasked: Sequence[str]
    silent: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Sign:
    """A sign of an act on a platform, not dated yet.

    Attributes:
        key: What distinguishes it from the run's other signs.
        text: As of ``UnknownAct``.
        offer: The platform's id of the offer.
        at: Its time; None if the platform does not tell.
        is_dated: Whether the platform tells the time.
        is_certain: As of ``UnknownAct``.
    """

    key: str
    text: str
    offer: str
    at: datetime | None
    is_dated: bool = True
    is_certain: bool = True


def find_unknown_acts(
    settings: Settings, sessions: Sessions, tokens: Tokens, now: datetime
) -> UnknownActs:
    """Ask the platform of each run that is open, or was lately closed, for acts unknown here.

    The platforms are only read.

    Args:
        settings: The installation's settings.
        sessions: Its session factory.
        tokens: Its tokens.
        now: The time.
    """
    is_asked = or_(Run.closed_at.is_(None), Run.closed_at > now - _PAYING_TIME)
    with reading(sessions) as session:
        runs = session.scalars(select(Run).where(is_asked).order_by(Run.id)).all()
    acts, unasked, silent = list[UnknownAct](), list[str](), list[str]()
    for run in runs:
        try:
            recruiter = load_recruiter(run.recruiter, settings)
            if isinstance(recruiter, PayingRecruiter):
                # Reading costs nothing, so it is allowed on a live platform too.
                platform = open_platform(run.recruiter, settings, live=True)
                signs = list(_ask_platform(sessions, recruiter, platform, run, tokens, now))
                acts += _date_signs(sessions, recruiter, run, signs, now)
            elif isinstance(recruiter, ReportingRecruiter):
                silent.append(run.ref)
        except ParallaxError as error:
            if run.simulated:
                continue  # A rehearsal's stand-in is gone, and its money was play money.
            unasked.append(f"run {run.ref}: {error}")
    acts.sort(key=lambda act: act.at, reverse=True)
    return UnknownActs(acts, unasked, silent)


def _ask_platform(
    sessions: Sessions,
    recruiter: Recruiter,
    platform: Platform,
    run: Run,
    tokens: Tokens,
    now: datetime,
) -> Iterator[_Sign]:
    with reading(sessions) as session:
        publication = find_recruitment(session, run)
        pays_after = recruiter.pays_after(load_launched_study(session, run))
    if publication is not None:
        refuse_other_endpoint(run, publication, platform.endpoint)
        refuse_other_owner(run, publication, platform)
    poll_hits(sessions, platform, run.ref, now)
    snapshot = take_snapshot(sessions, platform, run, tokens, now)
    hits = {hit.id: hit.platform_id for hit in snapshot.hits}
    offers = {a.platform_id: hits.get(a.hit_id or 0) or "" for a in snapshot.assignments}
    yield from _find_bonuses(snapshot, offers)
    yield from _find_decisions(platform, snapshot, offers, pays_after)
    yield from _find_recorded_payments(snapshot, offers)
    yield from _find_submissions(snapshot, offers)
    yield from _find_offers(platform, snapshot, publication)


def _find_bonuses(snapshot: PaymentSnapshot, offers: Mapping[str, str]) -> Iterator[_Sign]:
    """Yield bonuses that the ledger lacks."""
    for bonus, item in find_unrecorded_bonuses(snapshot):
        who = snapshot.ref(snapshot.participant_of(bonus.assignment_id), bonus.assignment_id)
        text = _describe_payment(PaymentKind.BONUS, who, bonus.amount_minor, snapshot.currency)
        offer = offers.get(bonus.assignment_id, "")
        yield _Sign(item.token(snapshot.run_ref), text, offer, bonus.granted_at)


def _find_decisions(
    platform: Platform,
    snapshot: PaymentSnapshot,
    offers: Mapping[str, str],
    pays_after: timedelta | None,
) -> Iterator[_Sign]:
    """Yield approvals and rejections that the ledger lacks.

    Args:
        platform: The platform.
        snapshot: The run's records and the platform's lists.
        offers: The platform's id of each assignment's offer.
        pays_after: How long after a submission the platform approves it by itself; None if never.
    """
    decisions = [
        (assignment, kind)
        for assignment, kind, _ in find_unrecorded_decisions(snapshot)
        if kind in _DECISIONS  # Screen-outs and partial pay follow from reports of endings.
    ]
    decided_at = {
        submission.assignment_id: submission.decided_at
        for offer in sorted({offers[assignment.platform_id] for assignment, _ in decisions})
        if offer
        for submission in platform.submissions(offer)
    }
    for assignment, kind in decisions:
        id_ = assignment.platform_id
        text = _describe_payment(kind, snapshot.ref(assignment.participant_id, id_))
        at = decided_at.get(id_)
        waited = (at or snapshot.at) - (assignment.submitted_at or snapshot.at)
        is_automatic = (
            kind is PaymentKind.REWARD and pays_after is not None and waited >= pays_after
        )
        if is_automatic:
            text += ", perhaps by the platform itself after its delay"
        yield _Sign(f"{id_} {kind}", text, offers[id_], at, is_certain=not is_automatic)


def _find_recorded_payments(
    snapshot: PaymentSnapshot, offers: Mapping[str, str]
) -> Iterator[_Sign]:
    """Yield payments that reconciling lately read from the platform into the ledger."""
    for line in snapshot.payments:
        is_read = line.state == PaymentState.DONE and line.called_at is None
        kind = PaymentKind(line.kind)
        if is_read and snapshot.at - line.made_at < RECENT and kind in _RECORDED:
            who = snapshot.ref(line.participant_id, line.assignment or line.token[:12])
            text = _describe_payment(kind, who, line.amount_minor, line.currency)
            offer = offers.get(line.assignment or "", "")
            yield _Sign(line.token, text, offer, line.made_at, is_dated=False)


def _describe_payment(
    kind: PaymentKind, who: str, amount_minor: int = 0, currency: str = ""
) -> str:
    if kind in _DECISIONS:
        return f"the work of {who} was {_DECISIONS[kind]}"
    return f"a {kind} of {in_words(amount_minor, currency)} was paid to {who}"


def _find_submissions(snapshot: PaymentSnapshot, offers: Mapping[str, str]) -> Iterator[_Sign]:
    """Yield submissions of people who never took part here, and on whom nobody decided here."""
    for assignment in snapshot.assignments:
        id_ = assignment.platform_id
        if assignment.participant_id is None and not snapshot.ledger.get(id_):
            text = f"{id_} was submitted by somebody who never took part in this copy"
            # Only a copy with our keys signs receipts; without one, perhaps nobody took part.
            is_signed = snapshot.receipts.get(id_) is not None
            at = assignment.submitted_at
            yield _Sign(f"{id_} submitted", text, offers[id_], at, is_certain=is_signed)


def _find_offers(
    platform: Platform, snapshot: PaymentSnapshot, publication: Recruitment | None
) -> Iterator[_Sign]:
    """Yield offers that are missing here, or have more places or more time than here."""
    hits = [hit for hit in snapshot.hits if hit.purpose == RECRUITMENT]
    posted = {hit.platform_id: hit for hit in hits if hit.platform_id and hit.posted_at}
    n_stored = next((n for n, hit in enumerate(hits) if hit.posted_at is None), len(hits))
    qualification = publication.qualification_id if publication is not None else None
    for lost in find_lost_offers(platform, snapshot.run_ref, n_stored, qualification):
        is_published = lost.state.posted_at is not None or lost.state.is_open(snapshot.at)
        if is_published and lost.offer_id not in posted:
            text = f"an offer with {lost.state.places} places was published"
            yield _Sign(f"{lost.offer_id} posted", text, lost.offer_id, lost.state.posted_at)
    for offer_id, hit in posted.items():
        yield from _find_changes(hit, offer_id, platform.state(offer_id))


def _find_changes(hit: Hit, offer_id: str, state: OfferState) -> Iterator[_Sign]:
    # Without free places, the number may only show that more people submitted than had places.
    if state.available and state.places > hit.places:
        text = f"an offer has {state.places} places instead of {hit.places}"
        yield _Sign(f"{offer_id} {state.places} places", text, offer_id, None)
    ours, theirs = hit.expires_at, state.expires_at
    if ours is not None and theirs is not None and theirs - ours > _EXPIRY_TOLERANCE:
        text = f"an offer ends at {theirs:%Y-%m-%d %H:%M} instead of {ours:%Y-%m-%d %H:%M} UTC"
        yield _Sign(f"{offer_id} until {theirs.isoformat()}", text, offer_id, None)


def _date_signs(
    sessions: Sessions, recruiter: Recruiter, run: Run, signs: Sequence[_Sign], now: datetime
) -> Iterator[UnknownAct]:
    """Yield the acts, dated by the platform or else by the first time that this copy saw them."""
    keys = {
        sign.key: hashlib.sha256(f"{run.ref}\x1f{sign.key}".encode()).hexdigest()[:_KEY_LENGTH]
        for sign in signs
        if sign.at is None
    }
    with reading(sessions) as session:
        first_seen = json.loads(stamp_of(session.connection(), _STAMP) or "{}")
    if not first_seen.keys() >= set(keys.values()):
        first_seen = {**dict.fromkeys(keys.values(), now.isoformat()), **first_seen}
        with sessions.begin() as session:
            set_stamp(session.connection(), _STAMP, json.dumps(first_seen))
    for sign in signs:
        at = sign.at or datetime.fromisoformat(first_seen[keys[sign.key]])
        page = recruiter.offer_page(sign.offer) if sign.offer else run.recruiter
        is_dated = sign.is_dated and sign.at is not None
        yield UnknownAct(run.ref, sign.text, page, at, is_dated, sign.is_certain)
