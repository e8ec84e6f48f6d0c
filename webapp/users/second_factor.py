"""Second factor at sign-in: time-based one-time codes (RFC 6238), and recovery codes.

A code is accepted once: its time step is stored, and earlier steps are no longer accepted. The
secret is encrypted in the database, so that a backup alone cannot generate codes.
"""

import secrets
from base64 import b32decode, b32encode
from collections.abc import Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from hmac import compare_digest
from typing import Any, cast

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from sqlalchemy import CursorResult, delete, func, select, update
from sqlalchemy.orm import Session

from webapp.core.tokens import ALPHABET
from webapp.database.models import RecoveryCode, SecondFactor, User
from webapp.errors import RequestError
from webapp.users.audit_log import record_act
from webapp.users.roles import Role
from webapp.users.sign_in import hash_secret

# A guess hits one of three valid codes among a million.
MOST_GUESSES = 10
# The values that every authenticator app supports; some apps misread others.
_DIGITS, _STEP_S, _SECRET_BYTES = 6, 30, 20
# The tolerated clock error of the phone, in steps, in either direction.
_LEEWAY = 1
_CODES, _CODE_LETTERS, _GROUP = 10, 16, 4


class SecondFactorPolicy(StrEnum):
    """The users whose passwords need a second factor; the setting ``second_factor``."""

    NOBODY = "nobody"
    OWNERS = "owners"
    EVERYBODY = "everybody"

    def concerns(self, user: User) -> bool:
        """Return whether a user needs a second factor.

        Users who sign in through the institution have no password.
        """
        of_role = self is SecondFactorPolicy.EVERYBODY or (
            self is SecondFactorPolicy.OWNERS and user.role == Role.OWNER
        )
        return of_role and bool(user.password_hash)


def find_confirmed_factor(session: Session, user: User) -> SecondFactor | None:
    """Return a user's second factor, if a first code has confirmed it."""
    factor = find_factor(session, user)
    return factor if factor is not None and factor.confirmed_at is not None else None


def find_factor(session: Session, user: User) -> SecondFactor | None:
    """Return a user's second factor, confirmed or not."""
    return session.scalar(select(SecondFactor).where(SecondFactor.user_id == user.id))


def create_factor(session: Session, user: User, now: datetime) -> SecondFactor:
    """Return a new unconfirmed factor, which replaces an earlier unconfirmed one.

    Raises:
        RequestError: The user has one already.
    """
    if find_confirmed_factor(session, user) is not None:
        raise RequestError(
            "You have a second factor already. Remove it first, with one of its codes.",
            status=409,
            code="factor_exists",
        )
    session.execute(delete(SecondFactor).where(SecondFactor.user_id == user.id))
    secret = b32encode(secrets.token_bytes(_SECRET_BYTES)).decode()
    factor = SecondFactor(user_id=user.id, secret=secret, made_at=now, last_step=0)
    session.add(factor)
    session.flush()
    return factor


def make_app_address(factor: SecondFactor, user: User, installation: str) -> str:
    """Return the address in the QR code for the authenticator app."""
    return _make_generator(factor).get_provisioning_uri(f"{user.name}@{installation}", "Parallax")


def confirm_factor(session: Session, user: User, code: str, now: datetime) -> list[str]:
    """Confirm a user's new factor by its first code, and return the recovery codes.

    Raises:
        RequestError: There is no unconfirmed factor, or the code is wrong.
    """
    factor = find_factor(session, user)
    if factor is None or factor.confirmed_at is not None:
        raise RequestError(
            "There is no second factor to confirm. Start again.",
            status=409,
            code="no_factor",
        )
    if not _use_app_code(session, factor, code, now):
        raise _make_wrong_code_error()
    factor.confirmed_at = now
    record_act(session, user.name, "second factor set up", now, after={"user": user.name})
    return _store_new_codes(session, user)


def use_code(session: Session, user: User, code: str, now: datetime) -> None:
    """Use up a code of the app, or a recovery code; neither is accepted twice.

    Raises:
        RequestError: The code is neither, or was used before.
    """
    factor = find_confirmed_factor(session, user)
    if factor is not None and _use_app_code(session, factor, code, now):
        return
    unused = RecoveryCode.user_id == user.id, RecoveryCode.used_at.is_(None)
    used = session.execute(
        update(RecoveryCode)
        .where(*unused, RecoveryCode.digest == _digest_recovery_code(user, code))
        .values(used_at=now)
    )
    if not cast(CursorResult[Any], used).rowcount:
        raise _make_wrong_code_error()
    n_left = str(count_unused_codes(session, user))
    record_act(session, user.name, "recovery code used", now, after={"codes left": n_left})


def count_unused_codes(session: Session, user: User) -> int:
    """Return how many recovery codes a user has left."""
    unused = RecoveryCode.user_id == user.id, RecoveryCode.used_at.is_(None)
    return session.scalar(select(func.count()).select_from(RecoveryCode).where(*unused)) or 0


def replace_codes(session: Session, user: User, code: str, now: datetime) -> list[str]:
    """Return new recovery codes, which replace all earlier ones.

    Raises:
        RequestError: The code that authenticates the request is wrong.
    """
    use_code(session, user, code, now)
    record_act(session, user.name, "recovery codes made anew", now, after={"user": user.name})
    return _store_new_codes(session, user)


def remove_factor(session: Session, user: User, *, by: str, now: datetime) -> bool:
    """Remove a user's second factor with its recovery codes; return whether there was one."""
    had_factor = find_confirmed_factor(session, user) is not None
    for table in (SecondFactor, RecoveryCode):
        session.execute(delete(table).where(table.user_id == user.id))
    if had_factor:
        record_act(session, by, "second factor removed", now, after={"user": user.name})
    return had_factor


def _use_app_code(session: Session, factor: SecondFactor, code: str, now: datetime) -> bool:
    """Use up a code of the app if it is valid; of two simultaneous uses, one succeeds."""
    typed_code = "".join(code.split()).encode("utf-8", "replace")
    for step, right in _generate_valid_codes(factor, now):
        if compare_digest(right, typed_code):
            later = SecondFactor.id == factor.id, SecondFactor.last_step < step
            claimed = session.execute(
                update(SecondFactor)
                .where(*later)
                .values(last_step=step)
                .execution_options(synchronize_session=False)
            )
            return bool(cast(CursorResult[Any], claimed).rowcount)
    return False


def _generate_valid_codes(factor: SecondFactor, now: datetime) -> Iterator[tuple[int, bytes]]:
    generator = _make_generator(factor)
    for steps in range(-_LEEWAY, _LEEWAY + 1):
        at = int((now + timedelta(seconds=steps * _STEP_S)).timestamp())
        yield at // _STEP_S, generator.generate(at)


def _make_generator(factor: SecondFactor) -> TOTP:
    return TOTP(b32decode(factor.secret), _DIGITS, SHA1(), _STEP_S)


def _store_new_codes(session: Session, user: User) -> list[str]:
    session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user.id))
    letters = ["".join(map(secrets.choice, [ALPHABET] * _CODE_LETTERS)) for _ in range(_CODES)]
    session.add_all(
        RecoveryCode(user_id=user.id, digest=_digest_recovery_code(user, code)) for code in letters
    )
    return ["-".join(code[i : i + _GROUP] for i in range(0, len(code), _GROUP)) for code in letters]


def _digest_recovery_code(user: User, code: str) -> str:
    normalised = "".join(letter for letter in code.lower() if letter.isalnum())
    return hash_secret(f"recovery code of {user.id}: {normalised}")


def _make_wrong_code_error() -> RequestError:
    return RequestError(
        "The code is not right, or was used before. The app shows a new one every 30 "
        "seconds; if no code is accepted, check the telephone's clock.",
        status=401,
        code="wrong_code",
    )
