"""Passwords, hashed by argon2id outside the thread that serves requests."""

from collections.abc import Callable
from functools import cache
from threading import BoundedSemaphore
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from gevent.monkey import is_module_patched
from gevent.threadpool import ThreadPool

from webapp.errors import RequestError, WebappError

Result = TypeVar("Result")

SHORTEST_PASSWORD = 12
# Hashing a megabyte takes almost as long as hashing a sentence.
_LONGEST_PASSWORD = 1024
_HASHER = PasswordHasher()
_MOST_AT_WORK, _MOST_WAITING = 2, 32
_AT_WORK, _WAITING = BoundedSemaphore(_MOST_AT_WORK), BoundedSemaphore(_MOST_WAITING)


def hash_password(password: str) -> str:
    """Return the hash under which a new password is stored.

    Raises:
        WebappError: The password is too short or too long.
    """
    if not SHORTEST_PASSWORD <= len(password) <= _LONGEST_PASSWORD:
        raise WebappError(
            f"the password has {len(password)} characters",
            expected=f"{SHORTEST_PASSWORD} to {_LONGEST_PASSWORD}",
            remedy="Choose a longer one: several words that do not belong together are easy to"
            " remember and hard to guess",
        )
    return _run_in_worker_thread(lambda: _HASHER.hash(password))


def verify_password(stored: str, password: str) -> bool:
    """Return whether a password matches a stored hash.

    For a user who does not exist, a dummy hash is verified, so that both cases take equally long.

    Args:
        stored: The stored hash; empty for a user who has no password.
        password: The typed password.
    """
    if len(password) > _LONGEST_PASSWORD:
        return False
    return _run_in_worker_thread(
        lambda: _verify_hash(stored or _get_dummy_hash(), password)
    ) and bool(stored)


def _verify_hash(stored: str, password: str) -> bool:
    try:
        return _HASHER.verify(stored, password)
    except (Argon2Error, InvalidHashError):
        return False


@cache
def _get_dummy_hash() -> str:
    return _HASHER.hash("")


def _run_in_worker_thread(work: Callable[[], Result]) -> Result:
    # Hashing takes tens of milliseconds in native code: in gevent's own thread it would block every
    # participant. Each hash takes 64 MiB, so only few are computed at a time.
    if not _WAITING.acquire(blocking=False):
        raise RequestError(
            "Many people are signing in right now. Please try again in a few seconds.",
            status=429,
            code="busy",
        )
    try:
        if not is_module_patched("threading"):
            with _AT_WORK:
                return work()
        result: Result = _get_thread_pool().apply(work)
        return result
    finally:
        _WAITING.release()


@cache
def _get_thread_pool() -> ThreadPool:
    # A separate pool: other work in threads does not wait for passwords.
    return ThreadPool(_MOST_AT_WORK)
