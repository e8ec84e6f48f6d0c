"""The boundary of projects: whose run, project or upload a request is about, and who may do it.

Who may not see something is told the same as about what does not exist.
"""

from flask import g, request
from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.database.engine import reading
from webapp.database.models import Project, Run, User
from webapp.errors import RequestError
from webapp.projects.projects import rights_in
from webapp.projects.rights import Right, lowest_in_common
from webapp.services import current_services
from webapp.users.roles import Role

NO_RUN = "There is no study at this address. Please check the link you were given."


def refuse_outside(user: User, needed: Right, only: int | None = None) -> None:
    """Let pass only who has the right, and note all the rights that they have there.

    Args:
        user: Who is signed in, or whose token it is.
        needed: The right that the view needs.
        only: The project to which a token is bound; None for any.

    Raises:
        RequestError: They may not see it, or may not do this.
    """
    with reading(current_services().sessions) as session:
        place = _place(session)
        g.project_id = place
        g.rights = rights_in(session, user, place)
    if Right.SEE not in g.rights or (only is not None and place != only):
        raise _nothing_there()
    if needed in g.rights:
        return
    if place is None:
        raise not_allowed(user, lowest_in_common(needed))
    raise RequestError(
        f'Your role in this project does not include the right to "{needed}". Ask a '
        "manager of the project.",
        status=403,
        code="not_allowed",
    )


def not_allowed(user: User, needed: Role) -> RequestError:
    """Return the refusal of what needs another role in the installation."""
    return RequestError(
        f"Your role is {user.role}; this needs the role {needed}. Ask an "
        "owner of this installation.",
        status=403,
        code="not_allowed",
    )


def present_project() -> int | None:
    """Return the project that the request is about; None for what belongs to none."""
    found: int | None = g.get("project_id")
    return found


def _place(session: Session) -> int | None:
    """Return the project of the run, or the project, that the request names."""
    names = request.view_args or {}
    if "ref" in names:
        run = session.execute(select(Run.project_id).where(Run.ref == names["ref"])).first()
        if run is None:
            raise _nothing_there()
        return run[0]
    name = names.get("project", request.values.get("project", ""))
    if not name:
        return None
    found = session.scalar(select(Project.id).where(Project.name == name))
    if found is None:
        raise _nothing_there()
    return found


def _nothing_there() -> RequestError:
    if "ref" in (request.view_args or {}):
        return RequestError(NO_RUN, status=404, code="unknown_run")
    name = (request.view_args or {}).get("project", request.values.get("project", ""))
    if not name:
        # What belongs to no project is open to roles of the installation alone.
        return not_allowed(g.user, Role.VIEWER)
    return RequestError(
        "There is no project at this address, or you are no member of it.",
        status=404,
        code="unknown_project",
    )
