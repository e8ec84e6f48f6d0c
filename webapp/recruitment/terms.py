"""A run's terms on a paying platform: its task, its offers, and whether it may be published."""

from collections.abc import Sequence
from datetime import timedelta
from urllib.parse import urlsplit

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from experiment.money import in_words
from experiment.participation import State
from experiment.studies.recruitment import Recruitment as Terms
from experiment.studies.study import Study
from webapp.core.addresses import is_loopback
from webapp.database.models import Hit, Participant, Place, Recruitment, Run
from webapp.errors import RunError
from webapp.recruiters.capabilities import Accounts
from webapp.recruiters.platform import Audience, Offer, Platform, Task
from webapp.recruitment.published import refuse_other_endpoint

QUALIFICATION_DESCRIPTION = "Has taken part in a study on how sentences sound"


def get_terms(study: Study) -> Terms:
    """Return the terms on which a study is offered.

    Raises:
        RunError: The study has no terms.
    """
    if study.recruitment is None:
        raise RunError(
            "the study does not define the task and the pay that workers are offered",
            where=f"{study.name}/study.toml",
            expected="a table [recruitment]",
            remedy="docs/studies.md lists its keys. Add the table and launch the study again",
        )
    return study.recruitment


def refuse_unpublishable(
    run: Run, endpoint: str, link: str, publication: Recruitment | None
) -> None:
    """Check that a run may be published on a platform.

    Args:
        run: The run.
        endpoint: The platform's endpoint.
        link: The address shown to workers.
        publication: The run's earlier publication; None if it was not published.

    Raises:
        RunError: The run is closed or published elsewhere, workers' browsers would refuse to show
            its pages, or the run is for programs and the platform for real participants.
    """
    is_local = is_loopback(endpoint)
    if run.closed_at is not None:
        raise RunError(
            f'the run "{run.ref}" is closed', remedy=f"Open it with: parallax open {run.ref}"
        )
    if publication is not None:
        refuse_other_endpoint(run, publication, endpoint)
    if run.simulated and not is_local:
        raise RunError(
            f'the run "{run.ref}" is for simulated participants, and "{endpoint}" is for people',
            expected="a marketplace on this machine",
            remedy="Launch a run for people, without --simulated",
        )
    if urlsplit(link).scheme != "https" and not (is_local and is_loopback(link)):
        raise RunError(
            f"workers' browsers would not show \"{link}\" in the marketplace's frame",
            where="public_url",
            expected="an address that begins with https://",
            remedy="Run Parallax behind a web server with a certificate: docs/settings.md",
        )


def refuse_other_account(run: Run, publication: Recruitment | None, account: str | None) -> None:
    """Check that the run was published from this account.

    Raises:
        RunError: It was published from another account. This account would find nothing of the run,
            and would offer it a second time.
    """
    published_from = publication.account if publication is not None else None
    if account is not None and published_from not in (None, account):
        raise RunError(
            f'the run "{run.ref}" was published from the account {published_from}, and the'
            f" settings now choose {account}",
            where=f"the settings of {run.recruiter}",
            expected="the token and the workspace with which it was published",
            remedy="Nothing was done. Restore those settings, or launch another run",
        )


def refuse_other_account_or_currency(
    run: Run, study: Study, publication: Recruitment, platform: Platform
) -> None:
    """Check that the platform's account and currency are those of the published run.

    Raises:
        RunError: The account is another, or its currency is not the study's.
        PlatformError: The platform cannot be asked.
    """
    refuse_other_account(run, publication, get_account(platform))
    refuse_other_currency(study, platform)


def refuse_other_owner(run: Run, publication: Recruitment | None, platform: Platform) -> None:
    """Check that a published run belongs to the platform's account.

    Raises:
        RunError: It is another account.
        PlatformError: The platform cannot be asked.
    """
    if publication is not None:
        refuse_other_account(run, publication, get_account(platform))


def refuse_changed_reward(
    study: Study, where: str, platform_minor: int | None, consequence: str, remedy: str
) -> None:
    """Check that the reward on the platform is the study's reward.

    Args:
        study: The study, as it was launched.
        where: The run and the offer.
        platform_minor: The offer's reward on the platform; None if it does not tell.
        consequence: The act that would pay another reward, such as "an approval would pay".
        remedy: What to do.

    Raises:
        RunError: The reward was changed on the platform.
    """
    if platform_minor not in (None, study.reward_minor):
        raise RunError(
            f"{consequence} {in_words(platform_minor, study.currency)}, because the reward was "
            "changed on"
            " the platform",
            where=where,
            expected=f"{in_words(study.reward_minor, study.currency)}, as it was published",
            remedy=remedy,
        )


def get_account(platform: Platform) -> str | None:
    """Return the platform's id of the paying account; None if it has none."""
    return platform.account() if isinstance(platform, Accounts) else None


def refuse_other_currency(study: Study, platform: Platform) -> None:
    """Check that the study's amounts are in the platform's currency.

    Raises:
        RunError: They are in another currency; amounts are never converted.
    """
    if study.currency != platform.currency:
        raise RunError(
            f"the study pays in {study.currency}, and the platform in {platform.currency}",
            where=f"{study.name}/study.toml, payment, currency",
            expected=f'currency = "{platform.currency}"',
            remedy=(
                f"Nothing was done. Choose an account that pays in {study.currency}, or write the"
                f" study's amounts in {platform.currency} and launch it again"
            ),
        )


def build_task(
    study: Study,
    *,
    not_again: Sequence[str],
    not_of: Sequence[str] = (),
    one_of: Sequence[Sequence[str]] = (),
) -> Task:
    """Return the task that is offered to workers of a platform.

    Args:
        study: The study, which defines the terms.
        not_again: The qualifications of participants who took part before.
        not_of: The offers of earlier runs whose participants may not take part.
        one_of: The offers of each earlier part that participants must have finished.
    """
    terms = get_terms(study)
    return Task(
        title=terms.title or study.study.title,
        description=terms.description,
        keywords=tuple(terms.keywords),
        reward_minor=study.reward_minor,
        currency=study.currency,
        duration=timedelta(minutes=terms.duration_minutes),
        approve_after=timedelta(days=terms.auto_approve_days),
        audience=Audience(
            countries=tuple(terms.countries),
            min_approval_percent=terms.min_approval_percent,
            min_approved=terms.min_approved,
            masters=terms.masters,
            having=tuple(terms.require),
            lacking=(*not_again, *terms.refuse),
            not_of=tuple(not_of),
            one_of=tuple(map(tuple, one_of)),
        ),
        median_minutes=terms.median_minutes,
        screen_out_minor=study.screen_out_minor,
        screen_out_places=terms.screen_out_places,
        withdrawn_percent=terms.withdrawn_percent,
        devices=tuple(terms.devices),
        filters=tuple(terms.filters),
        filter_set=terms.filter_set,
        filter_set_version=terms.filter_set_version,
        peripherals=tuple(terms.peripherals),
        naivety=terms.naivety,
        most_at_once=terms.most_at_once,
        list_quotas=terms.list_quotas,
        label=terms.label,
        group=terms.group,
        content_warning=terms.content_warning,
        content_warning_details=terms.content_warning_details,
    )


def build_offer(terms: Terms, link: str, places: int, token: str) -> Offer:
    """Return an offer of a number of places on a study's terms."""
    return Offer(link, places, get_lifetime(terms), token, terms.frame_height_px)


def get_lifetime(terms: Terms) -> timedelta:
    """Return for how long workers can find the offer."""
    return timedelta(hours=terms.lifetime_hours)


def find_qualifications(session: Session, run: Run, study: Study, endpoint: str) -> list[str]:
    """Return the qualifications of past participants of this run and of runs it excludes.

    The run's own qualification is included once the run was published.
    """
    query = select(Recruitment.qualification_id).join(Run, Run.id == Recruitment.run_id)
    if get_terms(study).exclude_earlier_runs:
        query = query.where(
            Run.study == run.study, Run.id <= run.id, Recruitment.endpoint == endpoint
        )
    else:
        query = query.where(Run.id == run.id)
    return [id_ for id_ in session.scalars(query.order_by(Run.id)) if id_ is not None]


def find_earlier_offers(session: Session, run: Run, study: Study, endpoint: str) -> list[str]:
    """Return the platform's ids of offers of earlier runs whose participants the study excludes."""
    if not get_terms(study).exclude_earlier_runs:
        return []
    query = (
        select(Hit.platform_id)
        .join(Recruitment, Recruitment.run_id == Hit.run_id)
        .join(Run, Run.id == Hit.run_id)
        .where(Run.study == run.study, Run.id < run.id, Recruitment.endpoint == endpoint)
        .where(Hit.posted_at.is_not(None), Hit.platform_id.is_not(None))
    )
    return [str(offer) for offer in session.scalars(query.order_by(Hit.id))]


def find_required_parts(session: Session, study: Study, endpoint: str) -> list[list[str]]:
    """Return the platform's ids of the offers of each part that participants must have finished.

    Raises:
        RunError: A part was never published there, so nobody could take part.
    """
    parts = []
    for name in get_terms(study).after:
        query = (
            select(Hit.platform_id)
            .join(Recruitment, Recruitment.run_id == Hit.run_id)
            .join(Run, Run.id == Hit.run_id)
            .where(Run.study == name, Recruitment.endpoint == endpoint)
            .where(Hit.posted_at.is_not(None), Hit.platform_id.is_not(None))
        )
        offers = [str(offer) for offer in session.scalars(query.order_by(Hit.id))]
        if not offers:
            raise RunError(
                f'nobody can have finished "{name}": no run of it was published there',
                where=f"{study.name}/study.toml, recruitment, after",
                expected="the name of a study whose run was published on the same platform",
                remedy="Publish that part first, or correct the name",
            )
        parts.append(offers)
    return parts


def count_unfilled_places(session: Session, run: Run) -> int:
    """Return how many of a run's places no finished participant holds."""
    return session.execute(
        select(func.count(Place.id))
        .outerjoin(Participant, Participant.id == Place.participant_id)
        .where(
            Place.run_id == run.id,
            or_(Participant.id.is_(None), Participant.state != State.FINISHED),
        )
    ).scalar_one()
