"""What no answer may be, whatever was sent."""

import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from werkzeug.datastructures import Headers

ROOT = Path(__file__).parents[2]
# Pages of the room's tables are the longest.
_LONGEST_BYTES = 2 * 1024 * 1024
MOST_CPU_S = 3.0
# What one request may call in the thread that answers: others wait for it meanwhile, for some 50
# ms. Work in another thread or process is not counted.
MOST_CALLS = 250_000
# What would be markup of ours, were it not shown as text.
MARK = b"<script>a</script>"


class TooLongError(BaseException):
    """A request kept the processor for longer than one may.

    It is no Exception, so that nothing in the app answers it.
    """


@contextmanager
def bounded() -> Iterator[None]:
    """Let what is done keep the processor for ``MOST_CPU_S``, however busy the machine is.

    Raises:
        TooLongError: It wanted more.
    """

    def end(_signal: int, _frame: FrameType | None) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_CPU_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def wrong_with(status: int, headers: Headers, content: bytes, instance: Path) -> str:
    """Return what is wrong with an answer; empty where nothing is.

    Args:
        status: The answer's.
        headers: Its headers.
        content: Its body, unpacked.
        instance: The instance folder, whose place on the disk no answer may tell.
    """
    # Who asks for another version's files, or comes while a place is busy, is told to come again.
    if status >= 500 and not (status == 503 and "Retry-After" in headers):
        return f"status {status}"
    told = str(headers).encode("latin-1", "replace") + content
    if len(content) > _LONGEST_BYTES:
        return f"{len(content):,} bytes"
    if b"Traceback" in content or b"unexpectedly" in content:
        return "a trace"
    places = {str(instance), str(ROOT), sys.prefix, tempfile.gettempdir(), "site-packages"}
    for place in places:
        if place.encode() in told:
            at = told.index(place.encode())
            return f"the server's path: {told[max(0, at - 60) : at + 200]!r}"
    if MARK in content and headers.get("Content-Type", "").startswith("text/html"):
        at = content.index(MARK)
        return f"markup that was sent: {content[max(0, at - 60) : at + 60]!r}"
    if "Set-Cookie: a=b" in str(headers):
        return "a header that was sent"
    return ""
