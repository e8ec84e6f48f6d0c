"""Presentations, as packages made them before there were types of response: they still load."""

from typing import Any, cast

from experiment.responses.base import ResponseType
from experiment.responses.choice.option_list import Options
from experiment.responses.rating.rating import Scale


def adapted(found: type[object]) -> type[ResponseType]:
    """Return a type of response, or an earlier presentation as one.

    A presentation showed a pair; one with ``show_options`` showed several options or, where it
    had ``points``, a scale.
    """
    if isinstance(found, type) and issubclass(found, ResponseType):
        return found
    members: dict[str, Any] = {"__module__": found.__module__, "__doc__": found.__doc__}
    return cast(type[ResponseType], type(found.__name__, (found, _base(found)), members))


def _base(found: type[object]) -> type[ResponseType]:
    if not hasattr(found, "show_options"):
        return ResponseType
    points = getattr(found, "points", None)
    if isinstance(points, property):
        has_scale = getattr(points.fget, "__annotations__", {}).get("return") not in (None, "None")
    else:
        has_scale = "points" in getattr(found, "model_fields", {}) or points is not None
    return Scale if has_scale else Options
