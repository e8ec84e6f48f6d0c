"""Convert botocore's exceptions into platform errors, each with a remedy."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, ParamValidationError
from botocore.parsers import ResponseParserError

from webapp.recruiters.platform import PlatformError, PlatformUnreachable

HIT_EXISTS = "HitAlreadyExists"
_PREFIX = "AWS.MechanicalTurk."
_FAULT_CODES = {"ServiceFault", "InternalFailure", "InternalServerError", "ServiceUnavailable"}
_SIGNATURE_CODES = {
    "AccessDeniedException",
    "IncompleteSignature",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "MissingAuthenticationToken",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
_CREDENTIALS_REMEDY = (
    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to keys of the AWS account that is linked to"
    " the requester's, or name a profile in AWS_PROFILE: docs/mturk.md"
)
# Exceptions from reading an answer that was cut off or does not come from the service.
_READ_ERRORS = (ResponseParserError, LookupError, ValueError, TypeError, ArithmeticError)
_REMEDIES = {
    "InsufficientFunds": "Add money on the requester's site, or publish fewer places",
    "HITDoesNotExist": "Set mturk_endpoint to the marketplace where the run was published",
    "QualificationTypeAlreadyExists": (
        "Run the same command again in a minute: the platform does not yet list what an "
        "earlier attempt created"
    ),
    "AssignmentDoesNotExist": (
        "The worker has not submitted it: parallax reconcile shows its state"
    ),
}


@contextmanager
def platform_errors(operation: str) -> Iterator[None]:
    """Raise every failure of one call as a ``PlatformError``."""
    try:
        yield
    except ClientError as error:
        raise _make_refusal_error(operation, error) from error
    except NoCredentialsError as error:
        raise no_credentials_error(operation) from error
    except ParamValidationError as error:
        problem = " ".join(str(error).split())
        raise PlatformError(f"the request was not sent: {problem}", where=operation) from error
    except BotoCoreError as error:
        # The connection was lost: the platform may have carried out the call.
        raise _make_unreachable_error(f"there was no answer: {error}", operation) from error
    except _READ_ERRORS as error:
        # The platform may also have carried out a call whose answer was cut off or is incomplete.
        raise _make_unreachable_error(
            "the answer was cut off, or did not come from the platform", operation
        ) from error


def _make_unreachable_error(problem: str, operation: str) -> PlatformUnreachable:
    return PlatformUnreachable(
        problem,
        where=operation,
        remedy=(
            "Run the same command again later; nothing is done twice. If the error remains, "
            "check the setting mturk_endpoint. To start a local marketplace: parallax "
            "marketplace"
        ),
    )


def no_credentials_error(operation: str = "") -> PlatformError:
    """Return the error for an installation without credentials."""
    return PlatformError(
        "there are no AWS credentials", where=operation, remedy=_CREDENTIALS_REMEDY
    )


def _make_refusal_error(operation: str, error: ClientError) -> PlatformError:
    answer = error.response
    kind, message = answer["Error"]["Code"], answer["Error"]["Message"]
    status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    code = str(answer.get("TurkErrorCode", "")).removeprefix(_PREFIX)
    if kind in _FAULT_CODES or status >= 500 or "Throttl" in kind:
        return PlatformUnreachable(
            f"the platform has a fault or received too many requests ({kind}: {message})",
            code=kind,
            where=operation,
            remedy="Run the same command again later; nothing is done twice",
        )
    if not kind or kind.isdigit():
        # The error message itself was cut off, so its kind is unknown.
        return _make_unreachable_error(f"the answer with status {status} cannot be read", operation)
    if kind in _SIGNATURE_CODES:
        return PlatformError(
            f"the platform does not accept the AWS credentials ({kind}: {message})",
            code=kind,
            where=operation,
            remedy=_CREDENTIALS_REMEDY,
        )
    return PlatformError(
        f"the platform refused: {message}",
        code=code or kind,
        where=operation,
        remedy=_REMEDIES.get(code, ""),
    )
