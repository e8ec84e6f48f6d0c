"""Where the studies of the present request lie: in its project, or in none."""

from contextlib import AbstractContextManager
from pathlib import Path

from flask import current_app

from webapp.database.engine import reading
from webapp.database.models import Project
from webapp.projects.limits import job_of, refuse_upload
from webapp.researcher.access import current_user
from webapp.researcher.boundary import present_project
from webapp.researcher.uploads import known_studies, uploaded_bytes, uploads_of
from webapp.services import current_services
from webapp.users.audit_log import record_act


def instance() -> Path:
    """Return the instance folder."""
    return Path(current_app.instance_path)


def uploads() -> Path:
    """Return the folder of the studies of the present project, or of none."""
    return uploads_of(instance(), present_project())


def known() -> dict[str, str]:
    """Return what can be launched here, by what the pages call it."""
    return known_studies(instance(), present_project())


def project_name() -> str:
    """Return the name of the project that the request is about; empty for none."""
    project_id = present_project()
    if project_id is None:
        return ""
    with reading(current_services().sessions) as session:
        return session.get_one(Project, project_id).name


def in_project(**after: str) -> dict[str, str]:
    """Return what the audit log keeps, with the project where there is one."""
    return after | ({"project": project} if (project := project_name()) else {})


def note(act: str, **after: str) -> None:
    """Note in the audit log what was done with a study."""
    services = current_services()
    with services.sessions.begin() as session:
        record_act(session, current_user().name, act, services.now(), after=in_project(**after))


def counted() -> AbstractContextManager[None]:
    """Count long work of the present project while it is done."""
    services = current_services()
    return job_of(services.sessions, present_project(), services.now())


def refuse_large(more_bytes: int) -> None:
    """Let pass only where the present project may store as many bytes more.

    Raises:
        ProjectError: It may not.
    """
    project_id = present_project()
    if project_id is None:
        return
    with reading(current_services().sessions) as session:
        project = session.get_one(Project, project_id)
    refuse_upload(project, uploaded_bytes(uploads()), more_bytes)
