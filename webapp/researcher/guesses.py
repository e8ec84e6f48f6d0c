"""Attempts to sign in: what they are counted by, and how a list names their browser."""

from collections.abc import Callable
from datetime import datetime

from flask import request
from sqlalchemy.orm import Session

from webapp.database.engine import reading
from webapp.database.models import User
from webapp.researcher.access import COOKIE
from webapp.services import current_services
from webapp.users.guessing import Guess, count_guess, take_back
from webapp.users.passwords import is_password
from webapp.users.second_factor import GUESSES_OF_NAME
from webapp.users.sign_in import known_browser

_FAMILIES = ("Firefox", "Edg", "OPR", "Chrome", "Safari")


def guess_of(name: str) -> Guess:
    """Return what an attempt at somebody's password is counted by.

    A browser in which they were signed in is counted for itself: however many strangers guess, it
    is let in.
    """
    services = current_services()
    digest = services.tokens.digest
    with reading(services.sessions) as session:
        known = known_browser(session, name, request.cookies.get(COOKIE, ""))
    of = f"sign-in name {name}" if known is None else f"sign-in in the browser {known}"
    return Guess(digest(of), digest(f"sign-in from {_address()}"))


def with_code_counted(user: User, work: Callable[[Session, User, datetime], object]) -> None:
    """Do what takes a code of the second factor; the attempt counts before the code is looked at.

    Raises:
        RequestError: The code is not right, or too many wrong ones came before.
    """
    services, now = current_services(), current_services().now()
    digest = services.tokens.digest
    guess = Guess(
        digest(f"code of {user.name}"), digest(f"sign-in from {_address()}"), GUESSES_OF_NAME
    )
    with services.sessions.begin() as session:
        counted = count_guess(session, guess, now)
    with services.sessions.begin() as session:
        work(session, session.get_one(User, user.id), now)
        take_back(session, counted)


def is_own_password(user: User, password: str) -> bool:
    """Return whether a signed-in user typed their own password; the attempt counts."""
    services, now = current_services(), current_services().now()
    guess = guess_of(user.name)
    with services.sessions.begin() as session:
        counted = count_guess(session, guess, now)
    right = is_password(user.password_hash, password)
    if right:
        with services.sessions.begin() as session:
            take_back(session, counted)
    return right


def _address() -> str:
    return current_services().addresses.of(request.environ) or request.remote_addr or ""


def browser_family() -> str:
    """Return the family of the browser that asks."""
    said = request.user_agent.string
    family = next((family for family in _FAMILIES if family in said), "another browser")
    return {"Edg": "Edge", "OPR": "Opera"}.get(family, family)
