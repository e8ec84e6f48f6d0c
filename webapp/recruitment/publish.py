"""Publish a run's open places (participant slots), posting each offer exactly once.

Each offer is committed as a row with a token before the platform is called. After a crash, a lost
reply or a simultaneous publication, publishing again continues with the same rows: the token finds
an offer that was posted; any other offer is posted now. Every time, the platform is first asked for
the token and for offers that are missing in the database, which may come from an older backup.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from experiment.payment.cost import Cost, cost, split_places
from experiment.studies.study import Study
from webapp.core.clock import Clock
from webapp.database.engine import Sessions, reading
from webapp.database.models import Hit, Recruitment, Run
from webapp.database.retry import run_in_transaction
from webapp.gate.gate import begin_ledger_entry, refuse_if_blocked, store_ledger_state
from webapp.gate.installation import Operation
from webapp.recruiters.capabilities import (
    Drafts,
    GrowingOffers,
    ListQuotas,
    Qualifications,
    ScreenOuts,
)
from webapp.recruiters.platform import Offer, OfferState, Platform, Task
from webapp.recruitment.open_offers import (
    LostOffer,
    Quotas,
    compute_offer_token,
    compute_quotas,
    count_free_places,
    count_offered_places,
    describe_own_qualification,
    find_lost_offers,
    find_place_sources,
    make_list_links,
    store_lost_offer,
)
from webapp.recruitment.published import RECRUITMENT, find_recruitment, load_recruitment_hits
from webapp.recruitment.terms import (
    build_offer,
    build_task,
    count_unfilled_places,
    find_earlier_offers,
    find_qualifications,
    find_required_parts,
    get_account,
    get_lifetime,
    get_terms,
    refuse_changed_reward,
    refuse_other_account,
    refuse_other_currency,
    refuse_unpublishable,
)
from webapp.runs.runs import find_named_run, load_launched_study

_PENDING_QUALIFICATION = "(the id of the qualification)"


@dataclass(frozen=True, slots=True)
class PublishPlan:
    """What publishing a run now would do.

    Attributes:
        run_ref: The run.
        study: Its study.
        qualification: Name and description of the run's own qualification if it has to be created;
            None if it exists.
        task: The task offered to workers; it has no id for a qualification yet to be created.
        unfilled: The number of the run's unfilled places.
        open: How many of these are already offered or being worked on at the platform.
        reopen: Expired offers with free places to open again, by the platform's ids.
        grow: Offers that get more places: their ids, and their new numbers of places.
        lost: Offers that are posted but missing in the database, to be added to it.
        offers: The offers to post, those that already have a row first.
        cost: The maximum cost of all of these; the platform reserved nothing for expired offers.
        quotas: How many more places each list's address gets, if each list has an address.
    """

    run_ref: str
    study: Study
    qualification: tuple[str, str] | None
    task: Task
    unfilled: int
    open: int
    reopen: tuple[str, ...]
    grow: tuple[tuple[str, int], ...]
    lost: tuple[LostOffer, ...]
    offers: tuple[Offer, ...]
    cost: Cost
    quotas: Quotas = ()

    @property
    def is_empty(self) -> bool:
        """Whether the plan has no effect."""
        return not (self.reopen or self.grow or self.lost or self.offers)


def draft_plan(
    sessions: Sessions, platform: Platform, run_ref: str, link: str, now: datetime
) -> PublishPlan:
    """Return the plan of a publication; the platform is only read.

    Raises:
        RunError: The run may not be published there.
        PlatformError: The platform cannot report the progress of the run's HITs.
    """
    plan, posted = _draft_without_quotas(sessions, platform, run_ref, link, now)
    if not plan.task.list_quotas:
        return plan
    with reading(sessions) as session:
        free = count_free_places(session, find_named_run(session, run_ref))
    list_quotas = compute_quotas(run_ref, link, platform, posted, free, plan.unfilled - plan.open)
    places = sum(n for _, n in list_quotas)
    offers = [
        replace(offer, places=places, quotas=list_quotas)
        for offer in plan.offers[:1]
        if list_quotas
    ]
    grow = plan.grow if list_quotas else ()
    return replace(plan, quotas=list_quotas, offers=tuple(offers), grow=grow)


def _draft_without_quotas(
    sessions: Sessions, platform: Platform, run_ref: str, link: str, now: datetime
) -> tuple[PublishPlan, list[str]]:
    """Return the plan without list quotas, and the offers that were posted."""
    with reading(sessions) as session:
        run = find_named_run(session, run_ref)
        study = load_launched_study(session, run)
        terms = get_terms(study)
        recruitment = find_recruitment(session, run)
        refuse_unpublishable(run, platform.endpoint, link, recruitment)
        refuse_other_account(run, recruitment, get_account(platform))
        refuse_other_currency(study, platform)
        hits = load_recruitment_hits(session, run)
        unfilled = count_unfilled_places(session, run)
        not_again = find_qualifications(session, run, study, platform.endpoint)
        not_of = find_earlier_offers(session, run, study, platform.endpoint)
        one_of = find_required_parts(session, study, platform.endpoint)
    own_qualification = recruitment.qualification_id if recruitment is not None else None
    is_new = isinstance(platform, Qualifications) and own_qualification is None
    if is_new:
        not_again.append(_PENDING_QUALIFICATION)
    unposted_offers = [(hit.places, hit.token) for hit in hits if hit.posted_at is None]
    lost_offers = tuple(find_lost_offers(platform, run_ref, len(hits), own_qualification))
    posted = [hit.platform_id for hit in hits if hit.platform_id and hit.posted_at]
    posted += [lost_offer.offer_id for lost_offer in lost_offers]
    states = {hit_id: platform.state(hit_id) for hit_id in posted}
    open_, expired = count_offered_places(states, now)
    missing = unfilled - open_ - sum(places for places, _ in unposted_offers)
    sources = find_place_sources(platform, states, expired, missing)
    for hit_id in (*sources.reopen, *dict(sources.grow)):
        _refuse_more_places(study, f"run {run_ref}, offer {hit_id}", states[hit_id])
    sizes = split_places(sources.post, platform.most_places)
    n_stored = len(hits) + len(lost_offers)
    new_offers = [
        (places, compute_offer_token(run_ref, n_stored + n))
        for n, places in enumerate(sizes, start=1)
    ]
    offers = tuple(
        build_offer(terms, link, places, token) for places, token in (*unposted_offers, *new_offers)
    )
    task = build_task(study, not_again=not_again, not_of=not_of, one_of=one_of)
    sizes = [*sources.reopen.values(), sources.grown, *(offer.places for offer in offers)]
    fees = partial(platform.fees_minor, audience=task.audience)
    n_screened = len(offers) if isinstance(platform, ScreenOuts) else 0
    plan = PublishPlan(
        run_ref=run_ref,
        study=study,
        qualification=describe_own_qualification(run_ref) if is_new else None,
        task=task,
        unfilled=unfilled,
        open=open_,
        reopen=tuple(sources.reopen),
        grow=sources.grow,
        lost=lost_offers,
        offers=offers,
        cost=cost(study, sizes, fees, screening=n_screened),
    )
    return plan, posted


def _refuse_more_places(study: Study, where: str, state: OfferState) -> None:
    """Check before adding places that an offer still pays the study's reward.

    Raises:
        RunError: The reward was changed on the platform.
    """
    refuse_changed_reward(
        study,
        where,
        state.reward_minor,
        "more places would be offered for",
        "Nothing was published. Restore the reward on the platform's own site, or launch another"
        " run",
    )


def carry_out_plan(
    sessions: Sessions, platform: Platform, plan: PublishPlan, now: Clock
) -> Iterator[tuple[str, int]]:
    """Carry out a plan, and yield the id and the free places of each posted offer.

    Raises:
        PlatformError: A call was refused or not answered; publishing again continues from there.
        GateError: A fault blocks publishing until it is repaired.
    """
    with reading(sessions) as session:
        refuse_if_blocked(Operation.PUBLISH, session.connection())
    _record_hits(sessions, platform, get_account(platform), plan, now())
    with reading(sessions) as session:
        store_ledger_state(session.connection())
    own_qualification = _ensure_own_qualification(sessions, platform, plan.run_ref)
    opened_offers = dict.fromkeys((*plan.reopen, *dict(plan.grow)))
    if isinstance(platform, Drafts):
        # An offer that was added to the database but never launched is still closed. The plan's
        # price does not include offers that it does not open.
        for offer_id in opened_offers:
            platform.launch(offer_id)
    for lost_offer in plan.lost:
        if lost_offer.offer_id not in opened_offers:
            state = platform.state(lost_offer.offer_id)
            yield lost_offer.offer_id, state.available if state.is_open(now()) else 0
    for hit_id in plan.reopen:
        move_expiry(sessions, platform, hit_id, now() + get_lifetime(get_terms(plan.study)))
        yield hit_id, platform.state(hit_id).available
    for offer_id, places in plan.grow:
        yield offer_id, _grow_offer(sessions, platform, offer_id, places, plan.quotas)
    lacking = [own_qualification or id_ if id_ == _PENDING_QUALIFICATION else id_
               for id_ in plan.task.audience.lacking]  # fmt: skip
    task = replace(plan.task, audience=replace(plan.task.audience, lacking=tuple(lacking)))
    for offer in plan.offers:
        yield post_hit(sessions, platform, task, own_qualification, offer, now), offer.places


def move_expiry(sessions: Sessions, platform: Platform, hit_id: str, at: datetime) -> None:
    """Set the time until which workers can find a posted HIT."""
    platform.expire(hit_id, at)
    with sessions.begin() as session:
        hit = session.scalars(select(Hit).where(Hit.platform_id == hit_id)).one()
        hit.expires_at = at


def _record_hits(
    sessions: Sessions, platform: Platform, account: str | None, plan: PublishPlan, now: datetime
) -> None:
    with sessions.begin() as session:
        begin_ledger_entry(session.connection())
        run = find_named_run(session, plan.run_ref)
        # Lock against a simultaneous publication: the second finds the first's rows and adds none.
        session.execute(select(Run.id).where(Run.id == run.id).with_for_update())
        recruitment = find_recruitment(session, run)
        if recruitment is None:
            recruitment = Recruitment(run_id=run.id, endpoint=platform.endpoint, published_at=now)
            session.add(recruitment)
        # Another publisher may have published in between, with other credentials.
        refuse_other_account(run, recruitment, account)
        recruitment.account = account
        if plan.task.list_quotas:
            make_list_links(session, run, now)
        for lost_offer in plan.lost:
            store_lost_offer(session, run, lost_offer, now)
        stored_tokens = {hit.token for hit in load_recruitment_hits(session, run)}
        session.add_all(
            Hit(run_id=run.id, token=offer.token, purpose=RECRUITMENT, places=offer.places)
            for offer in plan.offers
            if offer.token not in stored_tokens
        )


def _grow_offer(
    sessions: Sessions, platform: Platform, offer_id: str, places: int, list_quotas: Quotas
) -> int:
    if list_quotas and isinstance(platform, ListQuotas):
        platform.grow_lists(offer_id, list_quotas)
        places = platform.state(offer_id).places
    else:
        assert isinstance(platform, GrowingOffers)
        platform.grow(offer_id, places)
    with sessions.begin() as session:
        session.scalars(select(Hit).where(Hit.platform_id == offer_id)).one().places = places
    return platform.state(offer_id).available


def _ensure_own_qualification(sessions: Sessions, platform: Platform, run_ref: str) -> str | None:
    if not isinstance(platform, Qualifications):
        return None
    with reading(sessions) as session:
        known_recruitment = find_recruitment(session, find_named_run(session, run_ref))
        if known_recruitment is not None and known_recruitment.qualification_id is not None:
            return known_recruitment.qualification_id
    qualification_id = platform.make_qualification(*describe_own_qualification(run_ref))
    with sessions.begin() as session:
        recruitment = find_recruitment(session, find_named_run(session, run_ref))
        assert recruitment is not None
        recruitment.qualification_id = qualification_id
    return qualification_id


def post_hit(
    sessions: Sessions,
    platform: Platform,
    task: Task,
    own_qualification: str | None,
    offer: Offer,
    now: Clock,
) -> str:
    """Post the offer of a stored HIT unless it is posted, and return its id on the platform.

    Args:
        sessions: The installation's session factory.
        platform: The platform.
        task: The offered task.
        own_qualification: One of our qualifications in the task's audience, by which the offer is
            found again; None on a platform without qualifications.
        offer: The offer; its token is the HIT's.
        now: The clock.
    """
    with sessions.begin() as session:
        hit = _load_hit(session, offer.token)
        if hit.platform_id is not None and hit.posted_at is not None:
            return hit.platform_id
        platform_id, hit.called_at = hit.platform_id, now()
    if platform_id is None:
        # The platform forgets tokens after a day, and the row may come from an older backup, so an
        # existing offer is searched for first.
        platform_id = platform.find_posted(offer.token, own_qualification)
        platform_id = platform_id or platform.post(task, offer)
        _update_hit(sessions, offer.token, platform_id=platform_id)
    if isinstance(platform, Drafts):
        platform.launch(platform_id)
    _update_hit(sessions, offer.token, posted_at=now(), expires_at=now() + offer.lifetime)
    return platform_id


def _update_hit(sessions: Sessions, token: str, **values: object) -> None:
    """Store what the platform did; repeated if the connection is lost."""
    statement = update(Hit).where(Hit.token == token).values(values)
    run_in_transaction(sessions, lambda session: session.execute(statement))


def _load_hit(session: Session, token: str) -> Hit:
    return session.scalars(select(Hit).where(Hit.token == token).with_for_update()).one()
