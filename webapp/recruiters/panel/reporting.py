"""The request with which our server reports the end of a session to a panel."""

import json
from collections.abc import Collection, Mapping

import httpx

from experiment.panels.signing import UnfilledError, add_signatures, fill, signed_address
from experiment.panels.table import OwnSignature, Report
from experiment.untrusted import matches_within
from webapp.core.subprocesses import run_in_thread
from webapp.recruiters.platform import PlatformError, PlatformUnreachable

_TIMEOUT_S = 20.0
_LARGEST_ANSWER_BYTES = 64 * 1024


def send_report(
    report: Report,
    signatures: Mapping[str, OwnSignature],
    known: Mapping[str, str],
    secrets: Collection[str],
) -> str:
    """Send a report and return the answer, with all secrets removed.

    Args:
        report: The call, and the text that its answer must contain.
        signatures: The panel's own signatures, by their names in templates.
        known: The values that the panel's templates may contain.
        secrets: The texts that no record may contain.

    Raises:
        PlatformUnreachable: There was no answer or a server fault: the outcome is unknown.
        PlatformError: The panel refused, or the call's template cannot be filled in.
    """
    try:
        address = signed_address(report.address, signatures, known)
        signed = add_signatures(signatures, known)
        fields = {name: fill(template, signed) for name, template in report.fields.items()}
        headers = {name: fill(template, signed) for name, template in report.headers.items()}
    except UnfilledError as error:
        raise PlatformError(
            f'the request to the panel cannot be put together: "{error.name}" is not known'
        ) from error
    posted = fields if report.method == "POST" else None
    as_json = report.format == "json"
    try:
        # Redirects are not followed, so that a secret is sent only to the site that the study
        # names.
        with (
            httpx.Client(timeout=_TIMEOUT_S, trust_env=False) as client,
            client.stream(
                report.method,
                address,
                headers=headers,
                json=posted if as_json else None,
                data=None if as_json else posted,
            ) as response,
        ):
            status, text = response.status_code, _read_text(response)
    except httpx.HTTPError as error:
        # The exception's message contains the address, and so the secret.
        is_timeout = isinstance(error, httpx.TimeoutException)
        reason = "it took too long" if is_timeout else "the connection failed"
        raise PlatformUnreachable(f"no answer: {reason}") from error
    return _judge_answer(report, status, _mask_secrets(text, secrets))


def _judge_answer(report: Report, status: int, text: str) -> str:
    answer = f"{status} {text}".strip()
    if status >= 500 or status in (408, 425, 429):
        raise PlatformUnreachable(answer)
    if report.done_before and _search_in_thread(report.done_before, text):
        return answer
    if status >= 300:
        raise PlatformError(answer)
    if _search_in_thread(report.done, text):
        return answer
    if not _is_complete(text.strip()):
        # The answer was cut off, so the outcome is unknown.
        raise PlatformUnreachable(f"{answer} (incomplete)")
    raise PlatformError(answer)


def _search_in_thread(pattern: str, text: str) -> bool:
    """Return whether a text contains a pattern; other requests are served during the search."""
    return run_in_thread(lambda: matches_within(pattern, text))


def _is_complete(text: str) -> bool:
    if text.startswith(("{", "[")):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return False
    return bool(text) and text.startswith("<") == text.endswith(">")


def _read_text(response: httpx.Response) -> str:
    content = b""
    for chunk in response.iter_bytes():
        content += chunk
        if len(content) > _LARGEST_ANSWER_BYTES:
            break
    return content[:_LARGEST_ANSWER_BYTES].decode(response.encoding or "utf-8", "replace")


def _mask_secrets(text: str, secrets: Collection[str]) -> str:
    for secret in filter(None, secrets):
        text = text.replace(secret, "(secret)")
    return text
