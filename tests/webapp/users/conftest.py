"""A project with a manager and a reader."""

import pytest

from tests.webapp.conftest import LAUNCHED
from tests.webapp.researcher.conftest import *  # noqa: F403 - the fixtures of signed-in people
from webapp.users.members import set_member
from webapp.users.projects import add_project, find_project
from webapp.users.roles import ProjectRole, Role
from webapp.users.users import add_user, find_user


@pytest.fixture
def project(sessions, password_hash) -> str:
    """The name of a project with the manager mia and the reader rob."""
    with sessions.begin() as session:
        project = add_project(session, "lab", by="a test", now=LAUNCHED)
        for name, role in (("mia", ProjectRole.MANAGER), ("rob", ProjectRole.READER)):
            user = add_user(session, name, Role.MEMBER, password_hash, by="a test", now=LAUNCHED)
            set_member(session, project, user, role, by="a test", now=LAUNCHED)
    return "lab"


@pytest.fixture
def change(sessions):
    """Return a function that changes somebody's role in the project, as a command does."""

    def to(name: str, role: ProjectRole | None, seen: str | None = None) -> None:
        with sessions.begin() as session:
            project = find_project(session, "lab", change=True)
            user = find_user(session, name)
            set_member(session, project, user, role, by="a test", now=LAUNCHED, shown_role=seen)

    return to
