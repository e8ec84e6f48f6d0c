"""Webhooks: which calls are accepted, and which submission each is about."""

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from webapp.core.i18n import gettext
from webapp.errors import RequestError

_SIGNATURE, _TIME = "X-Prolific-Request-Signature", "X-Prolific-Request-Timestamp"
_SUBMISSION = "submission.status.change"
_SECONDS = re.compile(r"[0-9]{1,11}", re.ASCII)
# An older call is somebody's who kept it.
_OLDEST = timedelta(minutes=15)


def submission_of_hook(
    secret: str, headers: Mapping[str, str], body: bytes, at: datetime
) -> str | None:
    """Return the id of the submission that an event is about; None for other events.

    Raises:
        RequestError: The platform did not make the call, or long ago, or nobody set a secret.
    """
    stamp = headers.get(_TIME, "")
    digest = hmac.new(secret.encode(), stamp.encode() + body, hashlib.sha256).digest()
    ours = base64.b64encode(digest)
    if not secret or not hmac.compare_digest(ours, headers.get(_SIGNATURE, "").encode()):
        raise _refused("bad_signature")
    if not _SECONDS.fullmatch(stamp) or abs(at - datetime.fromtimestamp(int(stamp), UTC)) > _OLDEST:
        raise _refused("too_old")
    try:
        event = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _refused("unreadable") from error
    if not isinstance(event, dict) or event.get("event_type") != _SUBMISSION:
        return None
    return str(event.get("resource_id", "")) or None


def _refused(code: str) -> RequestError:
    return RequestError(gettext("This call was not made by the platform."), status=403, code=code)
