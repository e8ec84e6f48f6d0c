"""The wire protocol, from botocore's own models: identify, parse and answer calls.

This module defines no formats: the service model that boto3 itself uses validates and parses every
request, and validates and serialises every answer.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from botocore.loaders import Loader
from botocore.model import ListShape, OperationModel, ServiceModel, Shape, StructureShape
from botocore.parsers import create_parser
from botocore.validate import ParamValidator

from marketplace.mturk.errors import WireError

_LATEST_S = 250_000_000_000


def find_violations(value: Any, shape: Shape, name: str = "") -> Iterator[str]:  # noqa: ANN401
    """Yield every violated enumeration, pattern and upper limit, in the service's wording.

    Args:
        value: The value sent; its types are already valid for the shape.
        shape: The shape from the model.
        name: The path of the value in the request.
    """
    if isinstance(shape, StructureShape):
        for member, part in value.items():
            below = f"{name}.{_lower_first_letter(member)}" if name else _lower_first_letter(member)
            yield from find_violations(part, shape.members[member], below)
    elif isinstance(shape, ListShape):
        for index, part in enumerate(value, 1):
            yield from find_violations(part, shape.member, f"{name}.{index}.member")
    else:
        for rule in _violated_rules(value, shape):
            yield f"Value '{value}' at '{name}' failed to satisfy constraint: Member must {rule}"


def _violated_rules(value: Any, shape: Shape) -> Iterator[str]:  # noqa: ANN401 - a scalar of any kind
    maximum = shape.metadata.get("max")
    if shape.type_name == "string":
        enumeration, pattern = shape.metadata.get("enum"), shape.metadata.get("pattern")
        if enumeration and value not in enumeration:
            yield f"satisfy enum value set: [{', '.join(enumeration)}]"
        # The models' patterns are anchored; a newline at the end must not match.
        if pattern and not re.fullmatch(pattern, value):
            yield f"satisfy regular expression pattern: {pattern}"
        if maximum is not None and len(value) > maximum:
            yield f"have length less than or equal to {maximum}"
    elif shape.type_name == "timestamp":
        if isinstance(value, bool | str) or not 0 <= value <= _LATEST_S:
            yield f"be a time in seconds since 1970, up to {_LATEST_S}"
    elif shape.type_name in ("integer", "long"):
        bits = 31 if shape.type_name == "integer" else 63
        if isinstance(value, bool) or not -(2**bits) <= value < 2**bits:
            yield f"be a whole number of {bits + 1} bits"
        elif maximum is not None and value > maximum:
            yield f"have value less than or equal to {maximum}"


def _lower_first_letter(name: str) -> str:
    return name[:1].lower() + name[1:]


Request = Mapping[str, Any]
Reply = dict[str, Any]

_SERVICES = ("mturk", "sqs")
_KEY_PATTERN = re.compile(r"^AWS4-HMAC-SHA256 .*\bCredential=([^/,\s]+)/")


@dataclass(frozen=True, slots=True)
class Call:
    """One parsed call.

    Attributes:
        service: botocore's name for the service.
        model: botocore's model of the operation.
        request: The parameters, parsed by the model.
    """

    service: str
    model: OperationModel
    request: Request

    @property
    def operation(self) -> str:
        """The operation's name."""
        return str(self.model.name)


@cache
def _load_models() -> dict[str, tuple[str, ServiceModel]]:
    """Return each service's name and model, keyed by the prefix of its targets."""
    loader, models = Loader(), {}
    for service in _SERVICES:
        model = ServiceModel(loader.load_service_model(service, "service-2"), service)
        models[str(model.metadata["targetPrefix"])] = (service, model)
    return models


def content_type(service: str) -> str:
    """Return the media type of a service's answers."""
    versions = {name: model.metadata["jsonVersion"] for name, model in _load_models().values()}
    return f"application/x-amz-json-{versions[service]}"


def read_call(target: str, body: bytes) -> Call:
    """Return the call that a target and a body describe.

    Args:
        target: The header ``X-Amz-Target``.
        body: JSON.

    Raises:
        WireError: The operation does not exist, or the body is invalid for its model.
    """
    prefix, _, name = target.partition(".")
    service, model = _load_models().get(prefix, ("", None))
    if model is None or name not in model.operation_names:
        raise WireError("UnknownOperationException", f"There is no operation {target!r}.")
    operation = model.operation_model(name)
    parameters = _remove_nulls(_parse_json_object(body))
    shape = operation.input_shape
    problems = _find_type_errors(parameters, shape) or list(find_violations(parameters, shape))
    if problems:
        count = f"{len(problems)} validation error{'s' if len(problems) > 1 else ''} detected"
        raise WireError("ValidationException", f"{count}: {'; '.join(problems)}")
    return Call(service, operation, _parse_request(parameters, shape))


def _find_type_errors(parameters: dict[str, Any], shape: Shape) -> list[str]:
    try:
        report = ParamValidator().validate(parameters, shape)
    except RuntimeError as error:  # botocore's value for a time outside the calendar
        return [str(error)]
    return str(report.generate_report()).splitlines() if report.has_errors() else []


def _parse_json_object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body or b"{}")
        # JSON can contain half of a surrogate pair; other formats cannot.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise WireError("SerializationException", "The body is not JSON.") from error
    if not isinstance(value, dict):
        raise WireError("SerializationException", "The body is not a JSON object.")
    return value


def _remove_nulls(value: object) -> Any:  # noqa: ANN401 - JSON of any shape
    if isinstance(value, dict):
        return {name: _remove_nulls(part) for name, part in value.items() if part is not None}
    return [_remove_nulls(part) for part in value] if isinstance(value, list) else value


def _parse_request(parameters: dict[str, Any], shape: Shape) -> Request:
    response = {"status_code": 200, "headers": {}, "body": json.dumps(parameters).encode()}
    parsed: dict[str, Any] = create_parser("json").parse(response, shape)
    parsed.pop("ResponseMetadata", None)
    return parsed


def read_key(authorization: str | None) -> str:
    """Return the access key id that signed a call; the signature itself is not verified.

    Raises:
        WireError: The call is not signed.
    """
    match = _KEY_PATTERN.match(authorization or "")
    if not match:
        raise WireError(
            "MissingAuthenticationTokenException", "Missing Authentication Token", status=403
        )
    return match[1]


def serialize_reply(reply: Reply, call: Call) -> bytes:
    """Return an answer serialised by the model.

    Raises:
        TypeError: The answer is invalid for the model.
    """
    shape = call.model.output_shape
    if shape is None:
        return b""
    report = ParamValidator().validate(reply, shape)
    if report.has_errors():
        raise TypeError(f"{call.operation}: {report.generate_report()}")
    return json.dumps(reply, default=_to_timestamp).encode()


def _to_timestamp(value: object) -> float:
    if isinstance(value, datetime):
        return value.timestamp()
    raise TypeError(f"{value!r} has no place in an answer")


def serialize_error(error: WireError) -> bytes:
    """Return an error serialised by the protocol."""
    body = {"__type": error.kind, "message": error.message, "Message": error.message}
    if error.code:
        body["TurkErrorCode"] = error.code
    return json.dumps(body).encode()
