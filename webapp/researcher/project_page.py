"""What is shown of projects: the list of them, and one of them."""

from pathlib import Path

from flask import current_app, render_template
from sqlalchemy.orm import Session

from webapp.database.engine import reading
from webapp.database.models import Project
from webapp.projects import limits
from webapp.projects.invitations import open_invitations
from webapp.projects.members import members
from webapp.projects.projects import named_project, projects_of
from webapp.projects.rights import ProjectRole
from webapp.researcher.access import current_user
from webapp.researcher.uploads import uploaded_bytes, uploads_of
from webapp.services import current_services


def project_list(problem: str = "") -> str:
    """Return the list of the projects that one sees.

    Args:
        problem: Why what was asked for was not done; empty where nothing was.
    """
    with reading(current_services().sessions) as session:
        found = projects_of(session, current_user())
    return render_template("researcher/projects.html", projects=found, problem=problem)


def project_page(name: str, problem: str = "") -> str:
    """Return the page of a project.

    Args:
        name: Its name.
        problem: As above.
    """
    services = current_services()
    with reading(services.sessions) as session:
        project = named_project(session, name)
        facts = {
            "members": members(session, project),
            "invitations": open_invitations(session, project, services.now()),
            "used": _used(session, project),
        }
    return render_template(
        "researcher/project.html",
        project=project,
        roles=list(ProjectRole),
        problem=problem,
        **facts,
    )


def _used(session: Session, project: Project) -> list[tuple[str, str, int, str]]:
    """Return of each limit its field, what it is of, what it is, and what is used."""
    stored = uploaded_bytes(uploads_of(Path(current_app.instance_path), project.id)) / 1_000_000
    used = {
        "most_runs": ("open runs", f"{limits.open_runs(session, project)}"),
        "most_participants": ("people at work at once", f"{limits.at_work(session, project)}"),
        "most_upload_mb": ("MB of uploaded studies", f"{stored:.1f}"),
        "most_jobs": ("checks, launches and reports at once", f"{limits.jobs(session, project)}"),
    }
    return [(name, what, getattr(project, name), now) for name, (what, now) in used.items()]
