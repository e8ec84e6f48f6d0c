"""Prolific's own document of its API: every exchange is checked against it where it is there."""

import json
import re
from functools import cache
from typing import Any

import httpx
import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from tests.published_data import FOLDER

FILE = FOLDER / "prolific" / "openapi_structure.yml"
# Statuses of the platform that its document leaves out of two of its own schemas.
_FORGOTTEN_STATUS = "PARTIALLY APPROVED"
# The document calls this answer an object; programs that call it read a table.
_TABLES = {"export-demographic-data"}


class Misfit(AssertionError):
    """An exchange is not what the document allows."""


@cache
def document() -> dict[str, Any]:
    """Return the document."""
    # Its alternatives overlap, as a whole number is also a number: one that fits is enough.
    text = FILE.read_text(encoding="utf-8").replace("oneOf:", "anyOf:")
    return yaml.load(text, Loader=yaml.CSafeLoader)


@cache
def operations() -> dict[str, tuple[str, re.Pattern[str], dict[str, Any]]]:
    """Return each operation by its name: method, pattern of its path, and what it says."""
    found = {}
    for path, methods in document()["paths"].items():
        pattern = re.compile(re.sub(r"\{\w+\}", r"[^/]+", path) + "/?")
        for method, operation in methods.items():
            found[operation["operationId"]] = (method.upper(), pattern, operation)
    return found


def operation_of(method: str, path: str) -> dict[str, Any] | None:
    """Return what the document says of a call; None where it has no such call."""
    fitting = [
        (pattern.pattern.count("[^/]+"), operation)
        for verb, pattern, operation in operations().values()
        if verb == method and pattern.fullmatch(path)
    ]
    return min(fitting, key=lambda each: each[0])[1] if fitting else None


def check(response: httpx.Response) -> None:
    """Check one exchange.

    Raises:
        Misfit: It is not what the document allows.
    """
    request = response.request
    operation = operation_of(request.method, request.url.path)
    if operation is None:
        if response.is_success:
            raise Misfit(f"no such call: {request.method} {request.url.path}")
        return
    if response.is_success:
        _check_request(operation, request)
        _check_success(operation, response)
    else:
        _check_error(operation, response)


def _check_request(operation: dict[str, Any], request: httpx.Request) -> None:
    for parameter in operation.get("parameters", []):
        name, given = parameter["name"], request.url.params
        if parameter["in"] != "query":
            continue
        # Filters as one JSON text are the one parameter that is no plain value.
        if parameter.get("required") and name not in given and name != "filter":
            raise Misfit(f"{operation['operationId']}: {name} is missing")
        schema = _resolved(parameter["schema"])
        if name in given and "enum" in schema and given[name] not in schema["enum"]:
            raise Misfit(f"{operation['operationId']}: {name}={given[name]}")
    body = operation.get("requestBody")
    if body is not None:
        _fits(body["content"]["application/json"]["schema"], json.loads(request.content), operation)


def _check_success(operation: dict[str, Any], response: httpx.Response) -> None:
    expected = operation["responses"].get(str(response.status_code))
    if expected is None:
        raise Misfit(f"{operation['operationId']}: no status {response.status_code}")
    if (
        operation["operationId"] in _TABLES
        or response.status_code == 204
        or "content" not in expected
    ):
        return
    answer = json.loads(response.text.replace(_FORGOTTEN_STATUS, "APPROVED"))
    _fits(expected["content"]["application/json"]["schema"], answer, operation)


def _check_error(operation: dict[str, Any], response: httpx.Response) -> None:
    if response.status_code == 400:
        schema = operation["responses"]["400"]["content"]["application/json"]["schema"]
        _fits(schema, response.json(), operation)
    else:
        body = response.json()
        _fits({"$ref": "#/components/schemas/ErrorDetail"}, body.get("error", body), operation)


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    return document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]


@cache
def _registry() -> Registry:
    resource = Resource.from_contents(document(), default_specification=DRAFT202012)
    return Registry().with_resource("urn:prolific", resource)


def _fits(schema: dict[str, Any], value: object, operation: dict[str, Any]) -> None:
    absolute = json.loads(json.dumps(schema).replace('"#/', '"urn:prolific#/'))
    validator = Draft202012Validator(absolute, registry=_registry())
    errors = validator.iter_errors(value)
    problems = [f"{error.json_path}: {error.message[:300]}" for error in errors]
    if problems:
        raise Misfit(f"{operation['operationId']}: {'; '.join(problems)}")
