"""Planned faults: which calls fail, how, and how often, drawn from a seed."""

import random
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, ClassVar

from flask import request
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from marketplace.errors import MarketplaceError, describe_first_error

_ALL_OPERATIONS = "*"


class Fault(BaseModel):
    """One planned fault.

    Attributes:
        kind: The kind of fault.
        operation: The calls that it affects; ``*`` means all.
        count: The most times it occurs; null means no limit.
        probability: Its probability at each call.
        seconds: The delay of a slow answer.
    """

    model_config = ConfigDict(extra="forbid")

    kind: str
    operation: str = _ALL_OPERATIONS
    count: int | None = Field(default=None, ge=0)
    probability: float = Field(default=1.0, ge=0.0, le=1.0)
    seconds: float = Field(default=0.0, ge=0.0, le=600.0)


class Faults(BaseModel):
    """All planned faults in the order in which they are tried, and the seed of the random draws."""

    model_config = ConfigDict(extra="forbid")

    seed: int = 1
    faults: list[Fault] = []


class FaultPlan:
    """Decides at each call which fault occurs; starts without any.

    Attributes:
        kinds: The kinds of faults that the stand-in supports.

    Args:
        sleep: Delays a slow answer by some seconds.
    """

    kinds: ClassVar[tuple[str, ...]] = ()

    def __init__(self, sleep: Callable[[float], object] = time.sleep) -> None:
        self._lock, self._sleep = threading.Lock(), sleep
        self.replace({})

    def replace(self, fields: Mapping[str, Any]) -> None:
        """Replace the faults, and restart the random numbers.

        Args:
            fields: The fields of ``Faults``.

        Raises:
            MarketplaceError: They are not valid fields of ``Faults``.
        """
        try:
            plan = Faults.model_validate(fields)
        except ValidationError as error:
            raise MarketplaceError(
                f"these faults cannot be made: {describe_first_error(error)}"
            ) from error
        for fault in plan.faults:
            self._refuse_unknown(fault.kind)
        with self._lock:
            self._plan, self._random = plan, random.Random(plan.seed)
            self._made: dict[str, int] = {}

    def draw_fault(self, operation: str, *kinds: str) -> Fault | None:
        """Return and count the first fault of these kinds that occurs at this call, or None."""
        with self._lock:
            for fault in self._plan.faults:
                if fault.kind in kinds and self._occurs(fault, operation):
                    if fault.count is not None:
                        fault.count -= 1
                    self._made[fault.kind] = self._made.get(fault.kind, 0) + 1
                    return fault
        return None

    def delay(self, operation: str) -> None:
        """Delay the answer if a fault makes this call slow."""
        slow = self.draw_fault(operation, "slow")
        if slow is not None:
            self._sleep(slow.seconds)

    def _refuse_unknown(self, kind: str) -> None:
        if kind not in self.kinds:
            raise MarketplaceError(
                f'these faults cannot be made: there is no kind "{kind}"',
                where="faults",
                expected=f"one of {', '.join(self.kinds)}",
            )

    def _occurs(self, fault: Fault, operation: str) -> bool:
        if fault.operation not in (_ALL_OPERATIONS, operation) or fault.count == 0:
            return False
        return self._random.random() < fault.probability

    def to_json(self) -> dict[str, Any]:
        """Return the remaining faults, and how often each kind has occurred."""
        with self._lock:
            return {**self._plan.model_dump(), "made": dict(self._made)}


def close_connection() -> None:
    """Close the connection, so that the caller gets no answer whatever is written later."""
    connection = request.environ.get("werkzeug.socket") or request.environ.get("gunicorn.socket")
    if connection is not None:
        # The caller may have disconnected already.
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
