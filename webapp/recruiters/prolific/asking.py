"""Check with the platform whether the ids in a link belong together, once for each submission."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta

from webapp.recruiters.platform import PlatformError, PlatformUnreachable, Submission
from webapp.recruiters.prolific.calls import NotThere

# New submissions may appear with a delay, so "not found" is cached for this time only.
_NOT_THERE_FOR = timedelta(minutes=1)
_MOST_KEPT = 10_000

# (participant, study); None if the submission does not exist
_Facts = tuple[str, str] | None


class Asking:
    """Asks for submissions and caches the answers.

    Args:
        submission: Returns a submission as the platform describes it, with a short timeout.
    """

    def __init__(self, submission: Callable[[str], Submission]) -> None:
        self._submission = submission
        self._known = OrderedDict[str, tuple[_Facts, datetime]]()
        self._lock = threading.Lock()

    def belongs(self, session: str, person: str, study: str, now: datetime) -> bool | None:
        """Return whether a submission belongs to that person and study; None if unanswered."""
        with self._lock:
            facts, until = self._known.get(session, (None, now))
        if now >= until:
            try:
                facts = self._ask(session)
            except (PlatformUnreachable, PlatformError):
                # This includes a refused token: that is the installation's fault, so participants
                # are admitted.
                return None
            self._keep(session, facts, now)
        return facts == (person, study)

    def _ask(self, session: str) -> _Facts:
        try:
            found = self._submission(session)
        except NotThere:
            return None
        return found.worker_id, found.offer_id

    def _keep(self, session: str, facts: _Facts, now: datetime) -> None:
        # A submission's owner never changes.
        until = now + _NOT_THERE_FOR if facts is None else datetime.max.replace(tzinfo=now.tzinfo)
        with self._lock:
            self._known[session] = facts, until
            while len(self._known) > _MOST_KEPT:
                self._known.popitem(last=False)
