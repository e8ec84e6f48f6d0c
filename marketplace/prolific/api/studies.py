"""Calls about studies: drafts, changes, publishing, progress, and costs."""

from datetime import datetime
from typing import Any

from flask import request
from sqlalchemy import delete, func, select

from marketplace.prolific.api.middleware import API, Door, Reply, given
from marketplace.prolific.api.serializers import page_of, study, study_short
from marketplace.prolific.arrivals import key_set
from marketplace.prolific.documents import change_study, read_study
from marketplace.prolific.errors import RefusedError, UnknownError
from marketplace.prolific.money import TAKING, Cost, cost_of, projected
from marketplace.prolific.people import find_group, refuse_unknown
from marketplace.prolific.store import Moment, Payment, Project, Study, Submission
from marketplace.prolific.studies import ACTIONS, grow, settle, transition

_ONE = f"{API}/studies/<ref>/"
_BOOL = {"true": True, "false": False, "1": True, "0": False}


def find_study(moment: Moment, ref: str) -> Study:
    """Return a study.

    Raises:
        UnknownError: No study has that identifier.
    """
    found = moment.session.scalar(select(Study).where(Study.ref == ref))
    if found is None:
        raise UnknownError("study")
    return found


def add_studies(door: Door) -> None:
    """Add the calls that create, show, change and publish studies."""

    @door.on("POST", f"{API}/studies/", "create-study", flat=True)
    def create(moment: Moment) -> Reply:
        asked = given()
        fields = read_study(asked, moment.account)
        _refuse_dangling(moment, fields)
        made = Study(
            fields=fields, project=_project(moment, fields["project"]), created_at=moment.now
        )
        moment.session.add(made)
        moment.session.flush()
        return 201, study(moment, made)

    @door.on("GET", f"{API}/studies/", "get-studies", flat=True)
    def listed(moment: Moment) -> Reply:
        return 200, _listed(moment, select(Study))

    @door.on("GET", f"{API}/projects/<ref>/studies/", "get-project-studies", flat=True)
    def of_project(moment: Moment, ref: str) -> Reply:
        return 200, _listed(moment, select(Study).where(Study.project == ref))

    @door.on("GET", _ONE, "get-study")
    def shown(moment: Moment, ref: str) -> Reply:
        return 200, study(moment, find_study(moment, ref))

    @door.on("PATCH", _ONE, "update-study")
    def changed(moment: Moment, ref: str) -> Reply:
        found = find_study(moment, ref)
        _change(moment, found, given())
        return 200, study(moment, found)

    @door.on("DELETE", _ONE, "delete-study")
    def deleted(moment: Moment, ref: str) -> Reply:
        found = find_study(moment, ref)
        if found.status not in ("UNPUBLISHED", "SCHEDULED"):
            raise RefusedError("Only a study that was never published can be deleted.")
        moment.session.execute(delete(Study).where(Study.id == found.id))
        return 200, {}

    @door.on("POST", f"{_ONE}transition/", "publish-study")
    def move(moment: Moment, ref: str) -> Reply:
        found, asked = find_study(moment, ref), given()
        if asked.get("action") not in ACTIONS:
            raise RefusedError({"action": [f"One of: {', '.join(ACTIONS)}."]})
        at = asked.get("publish_at")
        transition(moment, found, asked["action"], datetime.fromisoformat(at) if at else None)
        return 200, study(moment, found)

    @door.on("GET", f"{_ONE}access-details-progress/", "get-study-access-details-progress")
    def progress(moment: Moment, ref: str) -> Reply:
        return 200, _links_progress(moment, find_study(moment, ref))


def add_costs(door: Door) -> None:
    """Add the calls that return costs, recommended pay and the public key set."""

    @door.on("GET", f"{_ONE}cost/", "get-study-cost", flat=True)
    def cost(moment: Moment, ref: str) -> Reply:
        found, currency = find_study(moment, ref), moment.account.currency
        if request.args.get("is_projected", "").lower() in ("true", "1"):
            rewards = projected(moment, found)
        else:
            rewards = _spent(moment, found, ("reward", "partial", "screen_out"))
        bonuses = _spent(moment, found, ("bonus",))
        return 200, {"rewards": _cost(rewards, currency), "bonuses": _cost(bonuses, currency)}

    @door.on("POST", f"{API}/study-cost-calculator/", "calculate-study-cost", flat=True)
    def calculated(moment: Moment) -> Reply:
        asked = given()
        try:
            reward, places = int(asked["reward"]), int(asked["total_available_places"])
        except (KeyError, TypeError, ValueError) as error:
            raise RefusedError({"reward": ["Reward and places are needed."]}) from error
        return 200, {"total_cost": cost_of(moment.account, reward).times(places).total}

    @door.on("GET", f"{API}/reward-recommendations/", "calculate-reward-recommendations", flat=True)
    def recommended(moment: Moment) -> Reply:
        account = moment.account
        if request.args.get("workspace_id") != account.workspace:
            raise UnknownError("workspace")
        if request.args.get("currency") != account.currency:
            return 200, []
        return 200, [
            {
                "currency": account.currency,
                "min_reward_per_hour": account.least_per_hour_minor,
                "recommended_reward_per_hour": account.recommended_per_hour_minor,
            }
        ]

    @door.on("GET", "/.well-known/study/jwks.json", "get-study-jwks", open_=True)
    def keys(moment: Moment) -> Reply:
        return 200, key_set(moment.account)


def _project(moment: Moment, ref: str) -> str:
    projects = {each.ref for each in moment.session.scalars(select(Project))}
    if ref and ref not in projects:
        raise RefusedError({"project": ["There is no such project."]})
    first = select(Project.ref).order_by(Project.id)
    return ref or str(moment.session.scalars(first).first())


def _refuse_dangling(moment: Moment, fields: dict[str, Any]) -> None:
    refuse_unknown(fields["filters"])
    for code in fields["completion_codes"]:
        for action in code["actions"]:
            if "participant_group" in action:
                find_group(moment, action["participant_group"])


def _listed(moment: Moment, wanted: Any) -> dict[str, Any]:  # noqa: ANN401 - SQLAlchemy's own
    state = request.args.get("state")
    if state:
        wanted = wanted.where(Study.status == state)
    found = moment.session.scalars(wanted.order_by(Study.id.desc()))
    return page_of([study_short(moment, each) for each in found])


def _change(moment: Moment, found: Study, asked: dict[str, Any]) -> None:
    published = found.status not in ("UNPUBLISHED", "SCHEDULED")
    fields = change_study(found.fields, asked, moment.account, published=published)
    _refuse_dangling(moment, fields)
    places = fields["total_available_places"]
    if published:
        fields["total_available_places"] = found.places
    found.fields = fields
    if published:
        grow(moment, found, places)
        settle(moment, found)


def _spent(moment: Moment, found: Study, kinds: tuple[str, ...]) -> Cost:
    sums = (Payment.amount_minor, Payment.fee_minor, Payment.tax_minor)
    row = moment.session.execute(
        select(*(func.coalesce(func.sum(each), 0) for each in sums))
        .join(Submission, Submission.id == Payment.submission_id)
        .where(Submission.study_id == found.id, Payment.kind.in_(kinds))
    ).one()
    amount, fee, tax = map(int, row)
    return Cost(amount, fee, tax)


def _cost(cost: Cost, currency: str) -> dict[str, Any]:
    parts = {"rewards": cost.amount, "fees": cost.fee, "tax": cost.tax}
    return {name: {"amount": part, "currency": currency} for name, part in parts.items()}


def _links_progress(moment: Moment, found: Study) -> dict[str, Any]:
    taken = dict(
        moment.session.execute(
            select(Submission.link, func.count())
            .where(Submission.study_id == found.id, Submission.status.in_(TAKING))
            .group_by(Submission.link)
        ).all()
    )
    links = found.fields.get("access_details", [])
    shares = [{**link, "allocated": taken.get(n, 0)} for n, link in enumerate(links)]
    return {"id": found.ref, "progress": shares}
