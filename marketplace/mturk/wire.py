"""The protocol, read from botocore's own models: which call it is, what it holds, how to answer.

No shape stands here: every request is checked and read, and every answer checked and written, by
the service model that boto3 itself uses.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from botocore.loaders import Loader
from botocore.model import OperationModel, ServiceModel, Shape
from botocore.parsers import create_parser
from botocore.validate import ParamValidator

from marketplace.mturk.constraints import broken_constraints
from marketplace.mturk.errors import WireError

Request = Mapping[str, Any]
Reply = dict[str, Any]

_SERVICES = ("mturk", "sqs")
_KEY = re.compile(r"^AWS4-HMAC-SHA256 .*\bCredential=([^/,\s]+)/")


@dataclass(frozen=True, slots=True)
class Call:
    """One call as it came over the wire.

    Attributes:
        service: botocore's name of the service.
        model: The operation's model.
        request: What it holds, read by the model.
    """

    service: str
    model: OperationModel
    request: Request

    @property
    def operation(self) -> str:
        """The operation's name."""
        return str(self.model.name)


@cache
def _models() -> dict[str, tuple[str, ServiceModel]]:
    """Return each service's name and model by the prefix of its targets."""
    loader, found = Loader(), {}
    for service in _SERVICES:
        model = ServiceModel(loader.load_service_model(service, "service-2"), service)
        found[str(model.metadata["targetPrefix"])] = (service, model)
    return found


def content_type(service: str) -> str:
    """Return the media type of a service's answers."""
    versions = {name: model.metadata["jsonVersion"] for name, model in _models().values()}
    return f"application/x-amz-json-{versions[service]}"


def read_call(target: str, body: bytes) -> Call:
    """Return the call that a target and a body stand for.

    Args:
        target: The header ``X-Amz-Target``.
        body: JSON.

    Raises:
        WireError: There is no such operation, or the body does not fit its model.
    """
    prefix, _, name = target.partition(".")
    service, model = _models().get(prefix, ("", None))
    if model is None or name not in model.operation_names:
        raise WireError("UnknownOperationException", f"There is no operation {target!r}.")
    operation = model.operation_model(name)
    given = _without_nulls(_json_object(body))
    shape = operation.input_shape
    problems = _misfits(given, shape) or list(broken_constraints(given, shape))
    if problems:
        count = f"{len(problems)} validation error{'s' if len(problems) > 1 else ''} detected"
        raise WireError("ValidationException", f"{count}: {'; '.join(problems)}")
    return Call(service, operation, _read(given, shape))


def _misfits(given: dict[str, Any], shape: Shape) -> list[str]:
    try:
        wrong = ParamValidator().validate(given, shape)
    except RuntimeError as error:  # what botocore makes of a time beyond all calendars
        return [str(error)]
    return str(wrong.generate_report()).splitlines() if wrong.has_errors() else []


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body or b"{}")
        # Half of a character can be written in JSON, but nowhere else.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise WireError("SerializationException", "The body is not JSON.") from error
    if not isinstance(value, dict):
        raise WireError("SerializationException", "The body is not a JSON object.")
    return value


def _without_nulls(value: object) -> Any:  # noqa: ANN401 - JSON of any shape
    if isinstance(value, dict):
        return {name: _without_nulls(part) for name, part in value.items() if part is not None}
    return [_without_nulls(part) for part in value] if isinstance(value, list) else value


def _read(given: dict[str, Any], shape: Shape) -> Request:
    response = {"status_code": 200, "headers": {}, "body": json.dumps(given).encode()}
    read: dict[str, Any] = create_parser("json").parse(response, shape)
    read.pop("ResponseMetadata", None)
    return read


def read_key(authorization: str | None) -> str:
    """Return the access key id that a call is signed with; the signature itself is not checked.

    Raises:
        WireError: The call is not signed.
    """
    found = _KEY.match(authorization or "")
    if not found:
        raise WireError(
            "MissingAuthenticationTokenException", "Missing Authentication Token", status=403
        )
    return found[1]


def written(reply: Reply, call: Call) -> bytes:
    """Return an answer as the model writes it.

    Raises:
        TypeError: The answer does not fit the model.
    """
    shape = call.model.output_shape
    if shape is None:
        return b""
    wrong = ParamValidator().validate(reply, shape)
    if wrong.has_errors():
        raise TypeError(f"{call.operation}: {wrong.generate_report()}")
    return json.dumps(reply, default=_plain).encode()


def _plain(value: object) -> float:
    if isinstance(value, datetime):
        return value.timestamp()
    raise TypeError(f"{value!r} has no place in an answer")


def written_error(error: WireError) -> bytes:
    """Return an error as the protocol writes it."""
    body = {"__type": error.kind, "message": error.message, "Message": error.message}
    if error.code:
        body["TurkErrorCode"] = error.code
    return json.dumps(body).encode()
