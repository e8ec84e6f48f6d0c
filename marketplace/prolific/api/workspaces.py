"""Calls about the caller: the user, the workspace, its wallet and its projects."""

from typing import Any

from sqlalchemy import select

from marketplace.prolific.api.middleware import API, ApiRouter, Reply, read_json_object
from marketplace.prolific.api.serializers import paginate
from marketplace.prolific.errors import RefusedError, UnknownError
from marketplace.prolific.money import compute_balance
from marketplace.prolific.store import Moment, Project

_WORKSPACE_PATH = f"{API}/workspaces/<ref>/"


def add_workspaces(router: ApiRouter) -> None:
    """Add the calls about the user, the workspace, the wallet and the projects."""

    @router.on("GET", f"{API}/users/me/", "get-user")
    def get_user(moment: Moment) -> Reply:
        account = moment.account
        return 200, {
            "id": account.owner,
            "email": "researcher@example.org",
            "currency_code": account.currency,
        }

    @router.on("GET", f"{API}/workspaces/", "get-workspaces")
    def get_workspaces(moment: Moment) -> Reply:
        return 200, paginate([_serialize_workspace(moment)])

    @router.on("GET", f"{_WORKSPACE_PATH}balance/", "get-workspace-balance")
    def get_workspace_balance(moment: Moment, ref: str) -> Reply:
        _check_workspace(moment, ref)
        total, available = compute_balance(moment)
        return 200, {
            "currency_code": moment.account.currency,
            "total_balance": total,
            "balance_breakdown": {},
            "available_balance": available,
            "available_balance_breakdown": {},
        }

    @router.on("GET", f"{_WORKSPACE_PATH}projects/", "get-projects")
    def get_projects(moment: Moment, ref: str) -> Reply:
        _check_workspace(moment, ref)
        rows = moment.session.scalars(select(Project).order_by(Project.id))
        return 200, paginate([_serialize_project(moment, row) for row in rows])

    @router.on("POST", f"{_WORKSPACE_PATH}projects/", "create-project")
    def create_project(moment: Moment, ref: str) -> Reply:
        _check_workspace(moment, ref)
        title = read_json_object().get("title")
        if not isinstance(title, str) or not title:
            raise RefusedError({"title": ["A title is needed."]})
        new_project = Project(title=title)
        moment.session.add(new_project)
        moment.session.flush()
        return 201, {**_serialize_project(moment, new_project), "workspace": ref}


def _check_workspace(moment: Moment, ref: str) -> None:
    if ref != moment.account.workspace:
        raise UnknownError("workspace")


def _serialize_workspace(moment: Moment) -> dict[str, Any]:
    account = moment.account
    return {
        "id": account.workspace,
        "title": "My workspace",
        "description": "",
        "owner": account.owner,
        "users": [],
        "naivety_distribution_rate": None,
    }


def _serialize_project(moment: Moment, project: Project) -> dict[str, Any]:
    return {
        "id": project.ref,
        "title": project.title,
        "description": "",
        "owner": moment.account.owner,
        "type": "PRIVATE",
        "users": [],
        "naivety_distribution_rate": None,
    }
