"""Calls about studies: drafts, changes, publishing, progress, and costs."""

from datetime import datetime
from typing import Any

from flask import request
from sqlalchemy import delete, func, select

from marketplace.prolific.api.middleware import API, ApiRouter, Reply, read_json_object
from marketplace.prolific.api.serializers import paginate, serialize_study, serialize_study_summary
from marketplace.prolific.documents import change_study, read_study
from marketplace.prolific.errors import RefusedError, UnknownError
from marketplace.prolific.money import Cost, cost_of, projected_cost
from marketplace.prolific.participation import count_places_by_link, public_key_set
from marketplace.prolific.people import check_filters, find_group
from marketplace.prolific.store import Moment, Payment, Project, Study, Submission
from marketplace.prolific.studies import ACTIONS, add_places, apply_action, update_status

_STUDY_PATH = f"{API}/studies/<ref>/"


def find_study(moment: Moment, ref: str) -> Study:
    """Return a study.

    Raises:
        UnknownError: No study has that identifier.
    """
    study = moment.session.scalar(select(Study).where(Study.ref == ref))
    if study is None:
        raise UnknownError("study")
    return study


def add_studies(router: ApiRouter) -> None:
    """Add the calls that create, show, change and publish studies."""

    @router.on("POST", f"{API}/studies/", "create-study", flat=True)
    def create_study(moment: Moment) -> Reply:
        document = read_json_object()
        fields = read_study(document, moment.account)
        _check_references(moment, fields)
        study = Study(
            fields=fields, project=_choose_project(moment, fields["project"]), created_at=moment.now
        )
        moment.session.add(study)
        moment.session.flush()
        return 201, serialize_study(moment, study)

    @router.on("GET", f"{API}/studies/", "get-studies", flat=True)
    def get_studies(moment: Moment) -> Reply:
        query = select(Study)
        if state := request.args.get("state"):
            query = query.where(Study.status == state)
        studies = moment.session.scalars(query.order_by(Study.id.desc()))
        return 200, paginate([serialize_study_summary(moment, study) for study in studies])

    @router.on("GET", _STUDY_PATH, "get-study")
    def get_study(moment: Moment, ref: str) -> Reply:
        return 200, serialize_study(moment, find_study(moment, ref))

    @router.on("PATCH", _STUDY_PATH, "update-study")
    def update_study(moment: Moment, ref: str) -> Reply:
        study = find_study(moment, ref)
        _change_study(moment, study, read_json_object())
        return 200, serialize_study(moment, study)

    @router.on("DELETE", _STUDY_PATH, "delete-study")
    def delete_study(moment: Moment, ref: str) -> Reply:
        study = find_study(moment, ref)
        if study.status not in ("UNPUBLISHED", "SCHEDULED"):
            raise RefusedError("Only a study that was never published can be deleted.")
        moment.session.execute(delete(Study).where(Study.id == study.id))
        return 200, {}

    @router.on("POST", f"{_STUDY_PATH}transition/", "publish-study")
    def publish_study(moment: Moment, ref: str) -> Reply:
        study, fields = find_study(moment, ref), read_json_object()
        if fields.get("action") not in ACTIONS:
            raise RefusedError({"action": [f"One of: {', '.join(ACTIONS)}."]})
        at = fields.get("publish_at")
        apply_action(moment, study, fields["action"], datetime.fromisoformat(at) if at else None)
        return 200, serialize_study(moment, study)

    @router.on("GET", f"{_STUDY_PATH}access-details-progress/", "get-study-access-details-progress")
    def get_study_access_details_progress(moment: Moment, ref: str) -> Reply:
        return 200, _serialize_link_progress(moment, find_study(moment, ref))


def add_costs(router: ApiRouter) -> None:
    """Add the calls that return costs, recommended pay and the public key set."""

    @router.on("GET", f"{_STUDY_PATH}cost/", "get-study-cost", flat=True)
    def get_study_cost(moment: Moment, ref: str) -> Reply:
        study, currency = find_study(moment, ref), moment.account.currency
        if request.args.get("is_projected", "").lower() in ("true", "1"):
            rewards = projected_cost(moment, study)
        else:
            rewards = _sum_payments(moment, study, ("reward", "partial", "screen_out"))
        bonuses = _sum_payments(moment, study, ("bonus",))
        return 200, {
            "rewards": _serialize_cost(rewards, currency),
            "bonuses": _serialize_cost(bonuses, currency),
        }

    @router.on("POST", f"{API}/study-cost-calculator/", "calculate-study-cost", flat=True)
    def calculate_study_cost(moment: Moment) -> Reply:
        fields = read_json_object()
        try:
            reward, places = int(fields["reward"]), int(fields["total_available_places"])
        except (KeyError, TypeError, ValueError) as error:
            raise RefusedError({"reward": ["Reward and places are needed."]}) from error
        return 200, {"total_cost": cost_of(moment.account, reward).times(places).total}

    @router.on(
        "GET", f"{API}/reward-recommendations/", "calculate-reward-recommendations", flat=True
    )
    def calculate_reward_recommendations(moment: Moment) -> Reply:
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

    @router.on("GET", "/.well-known/study/jwks.json", "get-study-jwks", open_=True)
    def get_study_jwks(moment: Moment) -> Reply:
        return 200, public_key_set(moment.account)


def _choose_project(moment: Moment, ref: str) -> str:
    projects = {project.ref for project in moment.session.scalars(select(Project))}
    if ref and ref not in projects:
        raise RefusedError({"project": ["There is no such project."]})
    first = select(Project.ref).order_by(Project.id)
    return ref or str(moment.session.scalars(first).first())


def _check_references(moment: Moment, fields: dict[str, Any]) -> None:
    check_filters(fields["filters"])
    for code in fields["completion_codes"]:
        for action in code["actions"]:
            if "participant_group" in action:
                find_group(moment, action["participant_group"])


def _change_study(moment: Moment, study: Study, changes: dict[str, Any]) -> None:
    published = study.status not in ("UNPUBLISHED", "SCHEDULED")
    fields = change_study(study.fields, changes, moment.account, published=published)
    _check_references(moment, fields)
    places = fields["total_available_places"]
    if published:
        fields["total_available_places"] = study.places
    study.fields = fields
    if published:
        add_places(moment, study, places)
        update_status(moment, study)


def _sum_payments(moment: Moment, study: Study, kinds: tuple[str, ...]) -> Cost:
    sums = (Payment.amount_minor, Payment.fee_minor, Payment.tax_minor)
    row = moment.session.execute(
        select(*(func.coalesce(func.sum(column), 0) for column in sums))
        .join(Submission, Submission.id == Payment.submission_id)
        .where(Submission.study_id == study.id, Payment.kind.in_(kinds))
    ).one()
    amount, fee, tax = map(int, row)
    return Cost(amount, fee, tax)


def _serialize_cost(cost: Cost, currency: str) -> dict[str, Any]:
    parts = {"rewards": cost.amount, "fees": cost.fee, "tax": cost.tax}
    return {name: {"amount": part, "currency": currency} for name, part in parts.items()}


def _serialize_link_progress(moment: Moment, study: Study) -> dict[str, Any]:
    taken_by_link = count_places_by_link(moment, study)
    links = study.fields.get("access_details", [])
    shares = [{**link, "allocated": taken_by_link.get(n, 0)} for n, link in enumerate(links)]
    return {"id": study.ref, "progress": shares}
