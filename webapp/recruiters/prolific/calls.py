"""HTTP calls of Prolific's API: which calls are repeated, and what their failures mean.

Calls that only read or are idempotent are repeated if the platform is busy or silent. Calls that
are not idempotent are made once: ``once``.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import httpx
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from webapp.recruiters.platform import PlatformError, PlatformUnreachable

_API = "/api/v1"
_BUSY = 429
_TOKEN = (
    "Set prolific_token to a token of the researcher's account (Prolific: Settings, Go to API token"
    " page): docs/prolific.md"
)
_AGAIN = "Run the same command again later; nothing is done twice"
_LONGEST_WAIT_S = 30.0


class Busy(PlatformUnreachable):
    """The wallet is in use by another call (429): certainly nothing was done."""


class NotSent(PlatformUnreachable):
    """There was no connection, so the call never reached the platform."""


class NotThere(PlatformError):
    """The platform has no object of that id, or none that belongs to us (404)."""


@dataclass(frozen=True, slots=True)
class Calls:
    """The API of one endpoint.

    Attributes:
        http: The connection, with the token.
        attempts: How often a repeatable call is made before it counts as unanswered.
        sleep: Waits for a number of seconds.
    """

    http: httpx.Client
    attempts: int
    sleep: Callable[[float], None]

    def read(self, path: str, params: Mapping[str, str | int] | None = None) -> Any:  # noqa: ANN401
        """Send a GET request and return the platform's answer.

        Raises:
            PlatformUnreachable: The platform does not answer.
            PlatformError: The platform refuses.
        """
        return self._repeated("GET", path, params=params)

    def say(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401
        """Send an idempotent call and return the answer.

        Raises:
            PlatformUnreachable: The outcome is unknown.
            PlatformError: The platform refuses.
        """
        return self._repeated(method, path, body=body)

    def once(self, path: str, body: object = None, method: str = "POST") -> Any:  # noqa: ANN401
        """Send a call exactly once, without repeating it, and return the answer.

        Raises:
            Busy: The platform is busy; nothing was done.
            NotSent: There was no connection; nothing was done.
            PlatformUnreachable: The outcome is unknown.
            PlatformError: The platform refuses.
        """
        return self._answered(method, path, body, None)[0]

    def once_with_headers(self, path: str, body: object = None) -> tuple[Any, Mapping[str, str]]:
        """Send a call exactly once, and return the answer and its headers.

        Raises:
            PlatformError: As for ``once``.
        """
        return self._answered("POST", path, body, None)

    def pages(self, path: str, params: Mapping[str, str | int]) -> Iterator[Any]:
        """Yield each entry of a paged list."""
        address: str | None = path
        wanted: Mapping[str, str | int] | None = params
        while address:
            answer = self.read(address, wanted)
            yield from answer["results"]
            # The link to the next page already holds the parameters.
            address, wanted = (answer.get("_links", {}).get("next") or {}).get("href"), None
            address = address and f"{address.partition(_API)[2]}"

    def _repeated(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        params: Mapping[str, str | int] | None = None,
    ) -> Any:  # noqa: ANN401 - JSON of any shape
        repeated = Retrying(
            retry=retry_if_exception_type(PlatformUnreachable),
            stop=stop_after_attempt(self.attempts),
            wait=wait_exponential(max=_LONGEST_WAIT_S),
            sleep=self.sleep,
            reraise=True,
        )
        return repeated(self._answered, method, path, body, params)[0]

    def _answered(
        self, method: str, path: str, body: object, params: Mapping[str, str | int] | None
    ) -> tuple[Any, Mapping[str, str]]:
        where = f"{method} {path.partition('?')[0]}"
        try:
            answer = self.http.request(method, f"{_API}{path}", json=body, params=params)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise NotSent(f"there is no connection: {error}", where=where, remedy=_AGAIN) from error
        except httpx.LocalProtocolError:
            # The exception's message quotes the header, and so the token.
            problem = "the request cannot be sent: prolific_token has characters that no token has"
            raise PlatformError(problem, where=where, remedy=_TOKEN) from None
        except httpx.HTTPError as error:
            problem = f"there was no answer ({str(error) or 'it took too long'})"
            raise PlatformUnreachable(problem, where=where, remedy=_AGAIN) from error
        if not answer.is_success:
            raise _refusal(answer, where)
        return _content(answer, where), answer.headers


def _content(answer: httpx.Response, where: str) -> Any:  # noqa: ANN401 - JSON of any shape
    if not answer.headers.get("Content-Type", "").startswith("application/json"):
        return answer.text
    if not answer.content.strip():
        return None
    try:
        return answer.json()
    except ValueError as error:
        # The answer was cut off: the platform may have carried out the call.
        problem = "the answer cannot be read"
        raise PlatformUnreachable(problem, where=where, remedy=_AGAIN) from error


def _refusal(answer: httpx.Response, where: str) -> PlatformError:
    code, words = _error(answer)
    status = answer.status_code
    if status == _BUSY:
        problem = f"the platform is busy with another call ({words})"
        return Busy(problem, code=code, where=where, remedy=_AGAIN)
    if status >= 500 or status == 408:
        problem = f"the platform has a fault ({status} {words})"
        return PlatformUnreachable(problem, code=code, where=where, remedy=_AGAIN)
    if status in (401, 403):
        problem = f"the platform does not accept the token ({words})"
        return PlatformError(problem, code=code, where=where, remedy=_TOKEN)
    kind = NotThere if status == HTTPStatus.NOT_FOUND else PlatformError
    return kind(f"the platform refused: {words}", code=code or str(status), where=where)


def _error(answer: httpx.Response) -> tuple[str, str]:
    """Return the platform's error code and message; only some calls wrap them."""
    try:
        error = answer.json()
        error = error.get("error", error)
        return str(error.get("error_code", "")), _words(error.get("detail", ""))
    except (ValueError, AttributeError):
        return "", answer.reason_phrase


def _words(detail: object) -> str:
    if isinstance(detail, dict):
        return "; ".join(f"{name}: {_words(part)}" for name, part in detail.items())
    if isinstance(detail, list):
        return " ".join(map(_words, detail))
    return str(detail)[:500]
