"""Calls about the caller: the user, the workspace, its wallet and its projects."""

from typing import Any

from sqlalchemy import select

from marketplace.prolific.api.middleware import API, Door, Reply, given
from marketplace.prolific.api.serializers import page_of
from marketplace.prolific.errors import RefusedError, UnknownError
from marketplace.prolific.money import balance
from marketplace.prolific.store import Moment, Project

_WORKSPACE = f"{API}/workspaces/<ref>/"


def add_workspaces(door: Door) -> None:
    """Add the calls about the user, the workspace, the wallet and the projects."""

    @door.on("GET", f"{API}/users/me/", "get-user")
    def me(moment: Moment) -> Reply:
        account = moment.account
        return 200, {
            "id": account.owner,
            "email": "researcher@example.org",
            "currency_code": account.currency,
        }

    @door.on("GET", f"{API}/workspaces/", "get-workspaces")
    def workspaces(moment: Moment) -> Reply:
        return 200, page_of([_workspace(moment)])

    @door.on("GET", _WORKSPACE, "get-workspace")
    def workspace(moment: Moment, ref: str) -> Reply:
        _refuse_other(moment, ref)
        return 200, _workspace(moment)

    @door.on("GET", f"{_WORKSPACE}balance/", "get-workspace-balance")
    def wallet(moment: Moment, ref: str) -> Reply:
        _refuse_other(moment, ref)
        total, available = balance(moment)
        return 200, {
            "currency_code": moment.account.currency,
            "total_balance": total,
            "balance_breakdown": {},
            "available_balance": available,
            "available_balance_breakdown": {},
        }

    @door.on("GET", f"{_WORKSPACE}projects/", "get-projects")
    def projects(moment: Moment, ref: str) -> Reply:
        _refuse_other(moment, ref)
        found = moment.session.scalars(select(Project).order_by(Project.id))
        return 200, page_of([_project(moment, each) for each in found])

    @door.on("POST", f"{_WORKSPACE}projects/", "create-project")
    def make_project(moment: Moment, ref: str) -> Reply:
        _refuse_other(moment, ref)
        title = given().get("title")
        if not isinstance(title, str) or not title:
            raise RefusedError({"title": ["A title is needed."]})
        made = Project(title=title)
        moment.session.add(made)
        moment.session.flush()
        return 201, {**_project(moment, made), "workspace": ref}

    @door.on("GET", f"{API}/projects/<ref>/", "get-project")
    def project(moment: Moment, ref: str) -> Reply:
        found = moment.session.scalar(select(Project).where(Project.ref == ref))
        if found is None:
            raise UnknownError("project")
        return 200, {**_project(moment, found), "workspace": moment.account.workspace}


def _refuse_other(moment: Moment, ref: str) -> None:
    if ref != moment.account.workspace:
        raise UnknownError("workspace")


def _workspace(moment: Moment) -> dict[str, Any]:
    account = moment.account
    return {
        "id": account.workspace,
        "title": "My workspace",
        "description": "",
        "owner": account.owner,
        "users": [],
        "naivety_distribution_rate": None,
    }


def _project(moment: Moment, found: Project) -> dict[str, Any]:
    return {
        "id": found.ref,
        "title": found.title,
        "description": "",
        "owner": moment.account.owner,
        "type": "PRIVATE",
        "users": [],
        "naivety_distribution_rate": None,
    }
