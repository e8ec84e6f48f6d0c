"""Checks of this machine's system: its clock, and whether the service's user can write."""

import ctypes
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from experiment.machine import user_name, user_number
from webapp.database.remedies import remedy_for
from webapp.database.schema import revisions, stored_revision
from webapp.database.write_trial import of_others, why_nothing_is_stored
from webapp.doctor.findings import Finding, Installation, Level

_CHECK = "network_time"
# The beginning of Linux' struct timex: modes, offset, freq, maxerror, esterror, status.
_TIMEX = struct.Struct("@I4l i")
_ROOM_FOR_TIMEX = 256
_UNSYNCHRONISED = 0x40
_FAILED = -1
_WIDE_S = 2.0
_SHOWN = 5


def network_time(_at: Installation) -> Iterator[Finding]:
    """Ask the kernel, which is kept informed by chrony, ntpd and systemd-timesyncd."""
    if (said := kernel_says()) is None:
        yield Finding(_CHECK, Level.GOOD, "this system does not say who sets its clock")
        return
    synchronised, most_s = said
    remedy = "Start chrony or systemd-timesyncd; in a container, start it on the host"
    if not synchronised:
        yield Finding(_CHECK, Level.WARNING, "nothing synchronises this machine's clock", remedy)
    elif most_s > _WIDE_S:
        say = (
            f"the clock may be {most_s:.1f} s off: its time servers have not answered for a "
            "long time"
        )
        yield Finding(_CHECK, Level.WARNING, say, remedy)
    else:
        yield Finding(_CHECK, Level.GOOD, f"the clock is synchronised, at most {most_s:.2f} s off")


def kernel_says() -> tuple[bool, float] | None:
    """Return whether the clock is synchronised and its largest error in seconds.

    Returns:
        None where the kernel cannot be asked: it is not Linux, or forbids it.
    """
    if not sys.platform.startswith("linux"):
        return None
    timex = ctypes.create_string_buffer(_ROOM_FOR_TIMEX)
    # No mode is set, so nothing is changed: adjtimex(2).
    if ctypes.CDLL(None).adjtimex(timex) == _FAILED:
        return None
    _, _, _, most_us, _, status = _TIMEX.unpack_from(timex)
    return not status & _UNSYNCHRONISED, most_us / 1e6


def writes(at: Installation) -> Iterator[Finding]:
    """Store something and take it back, as the user who asks."""
    if at.engine is None or stored_revision(at.engine) != revisions()[-1]:
        yield Finding("writes", Level.GOOD, "not tried: the database cannot be used yet")
    elif problem := why_nothing_is_stored(at.engine, at.folder):
        remedy = (
            "Free some space, or give the files back to the user of the service: "
            f"chown -R {_owner(at.folder)}: {at.folder}"
        )
        if "the database" in problem:
            remedy = f"{remedy_for(problem)}. Where the files are another user's: {remedy}"
        yield Finding("writes", Level.FAULT, problem, remedy)
    else:
        yield Finding("writes", Level.GOOD, "a trial row and a trial file could be written")


def owners(at: Installation) -> Iterator[Finding]:
    """Look for files of other users, which the server cannot write to."""
    found = list(of_others(at.folder, _database(at)))
    if not found:
        yield Finding("owners", Level.GOOD, "every file belongs to the user of the service")
        return
    names = ", ".join(str(path) for path in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    whose = _owner(found[0])
    say = f"{names}{more} belong to another user ({whose}), so the server cannot write to them"
    paths = " ".join(str(path) for path in found[:_SHOWN])
    remedy = f"chown {user_name(user_number())}: {paths}"
    yield Finding("owners", Level.FAULT, say, remedy)


def _database(at: Installation) -> Path | None:
    if at.engine is None or at.engine.dialect.name != "sqlite":
        return None
    return Path(str(at.engine.url.database)).resolve()


def _owner(path: Path) -> str:
    return user_name(path.lstat().st_uid)
