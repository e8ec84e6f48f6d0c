"""Whether the keys are those under which the people in the database came."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from sqlalchemy import Connection

from webapp.core.instance import key_file
from webapp.core.keys import Purpose, read_keys
from webapp.database.key_identity import (
    REMEDY,
    Fingerprints,
    fingerprints,
    key_problems,
    known_keys,
)
from webapp.database.models.identity import keys_of
from webapp.errors import WebappError
from webapp.gate.premises import EVERY_ACT, Act, Objection, Premises

# With these, who is there goes on, and whoever comes is recognised.
_LITTLE = frozenset({Act.PUBLISH})


def check(connection: Connection, premises: Premises) -> Iterator[Objection]:
    """Object where the keys in use, or those in the file, are not the database's."""
    known = known_keys(connection)
    if not known:
        return
    used = keys_of(connection.dialect)
    said = set[str]()
    for purpose, problem in key_problems(known, _of(used)) if used else ():
        said.add(problem)
        # Links that another machine gave out since are not understood here, and no more.
        lacks = purpose is Purpose.SIGNING and "lacks" in problem
        yield Objection(problem, REMEDY, _LITTLE if lacks else EVERY_ACT)
    # What is in the file counts at the next start.
    for problem in _problems_of_file(known, premises):
        if problem not in said:
            yield Objection(problem, REMEDY, _LITTLE if used else EVERY_ACT)


def _problems_of_file(known: Fingerprints, premises: Premises) -> Iterator[str]:
    given = premises.settings.secret_key_file
    path = key_file(premises.instance, given)
    try:
        state = path.stat()
        held = _in_file(premises.instance, given, (state.st_mtime_ns, state.st_size, state.st_ino))
    except OSError as error:
        yield f"the keys file {path} cannot be read ({error.strerror})"
    except WebappError as error:
        yield str(error)
    else:
        yield from (problem for _, problem in key_problems(known, held))


@lru_cache(8)
def _in_file(instance: Path, given: str, _state: tuple[int, int, int]) -> Fingerprints:
    return fingerprints(read_keys(instance, given))


_of = lru_cache(8)(fingerprints)
