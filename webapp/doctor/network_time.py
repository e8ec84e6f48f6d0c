"""Whether anything keeps this machine's clock by the network's time, as its kernel says."""

import ctypes
import struct
import sys
from collections.abc import Iterator

from webapp.doctor.findings import Finding, Installation, Level

_CHECK = "network_time"
# The beginning of Linux' struct timex: modes, offset, freq, maxerror, esterror, status.
_TIMEX = struct.Struct("@I4l i")
_ROOM_FOR_TIMEX = 256
_UNSYNCHRONISED = 0x40
_FAILED = -1
_WIDE_S = 2.0


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
