"""Researchers of each role, signed in."""

from collections.abc import Callable

import pytest
from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.webapp.conftest import Clock
from webapp.core.addresses import RESEARCHER_PATH
from webapp.researcher.access import SESSION_COOKIE
from webapp.users.roles import Role
from webapp.users.sign_in import make_form_token
from webapp.users.users import add_user

PASSWORD = "correct horse battery"


@pytest.fixture(scope="session")
def password_hash() -> str:
    """A hash that is cheap to check; `parallax users` makes real ones in its own tests."""
    return PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)


class Researcher:
    """A browser in which somebody is signed in, or nobody."""

    def __init__(self, client: FlaskClient) -> None:
        self.client = client

    def sign_in(self, name: str, password: str = PASSWORD, **form: str) -> TestResponse:
        data = {"name": name, "password": password, **form}
        return self.client.post("/researcher/sign-in", data=data)

    def get(self, path: str) -> TestResponse:
        return self.client.get(f"/researcher{path}")

    def form_token(self) -> str:
        """What the forms of every page carry that this browser loads."""
        cookie = self.client.get_cookie(SESSION_COOKIE, path=RESEARCHER_PATH)
        return make_form_token(cookie.value) if cookie else ""

    def post(self, path: str, **data: str) -> TestResponse:
        body = {"form_token": self.form_token(), **data}
        return self.client.post(f"/researcher{path}", data=body)


@pytest.fixture
def browser(app: Flask) -> Callable[[], Researcher]:
    """Return a function that opens another browser."""
    return lambda: Researcher(app.test_client())


@pytest.fixture
def researcher(browser, sessions, clock: Clock, password_hash) -> Callable[[Role], Researcher]:
    """Return a function that signs somebody of a role in."""

    def of_role(role: Role) -> Researcher:
        with sessions.begin() as session:
            add_user(session, str(role), role, password_hash, by="a test", now=clock())
        here = browser()
        assert here.sign_in(str(role)).status_code == 303
        return here

    return of_role
