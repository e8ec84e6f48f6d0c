"""Faults on demand: what goes wrong with which calls, how often, by a seed."""

import random
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, ClassVar

from flask import request
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from marketplace.errors import MarketplaceError, wrong_key

_EVERY = "*"


class Fault(BaseModel):
    """One thing that goes wrong.

    Attributes:
        kind: What.
        operation: With which calls; ``*`` means all.
        count: How often at most; null means without end.
        probability: How likely it is at each call.
        seconds: How long a slow answer takes.
    """

    model_config = ConfigDict(extra="forbid")

    kind: str
    operation: str = _EVERY
    count: int | None = Field(default=None, ge=0)
    probability: float = Field(default=1.0, ge=0.0, le=1.0)
    seconds: float = Field(default=0.0, ge=0.0, le=600.0)


class Faults(BaseModel):
    """Everything that goes wrong, in the order it is tried, and the seed of the chances."""

    model_config = ConfigDict(extra="forbid")

    seed: int = 1
    faults: list[Fault] = []


class FaultPlan:
    """Decides at each call what goes wrong with it; begins with nothing.

    Attributes:
        kinds: The kinds of faults that a stand-in can make.

    Args:
        sleep: Holds a slow answer back for so many seconds.
    """

    kinds: ClassVar[tuple[str, ...]] = ()

    def __init__(self, sleep: Callable[[float], object] = time.sleep) -> None:
        self._lock, self._sleep = threading.Lock(), sleep
        self.set({})

    def set(self, wanted: Mapping[str, Any]) -> None:
        """Replace the faults, and begin the chances anew.

        Args:
            wanted: The fields of ``Faults``.

        Raises:
            MarketplaceError: They are not.
        """
        try:
            plan = Faults.model_validate(wanted)
        except ValidationError as error:
            raise MarketplaceError(f"these faults cannot be made: {wrong_key(error)}") from error
        for fault in plan.faults:
            self._refuse_unknown(fault.kind)
        with self._lock:
            self._plan, self._random = plan, random.Random(plan.seed)
            self._made: dict[str, int] = {}

    def strike(self, operation: str, *kinds: str) -> Fault | None:
        """Return the first fault of these kinds that strikes this call, and count it."""
        with self._lock:
            for fault in self._plan.faults:
                if fault.kind in kinds and self._strikes(fault, operation):
                    if fault.count is not None:
                        fault.count -= 1
                    self._made[fault.kind] = self._made.get(fault.kind, 0) + 1
                    return fault
        return None

    def delay(self, operation: str) -> None:
        """Hold an answer back where a fault makes it slow."""
        slow = self.strike(operation, "slow")
        if slow is not None:
            self._sleep(slow.seconds)

    def _refuse_unknown(self, kind: str) -> None:
        if kind not in self.kinds:
            raise MarketplaceError(
                f'these faults cannot be made: there is no kind "{kind}"',
                where="faults",
                expected=f"one of {', '.join(self.kinds)}",
            )

    def _strikes(self, fault: Fault, operation: str) -> bool:
        if fault.operation not in (_EVERY, operation) or fault.count == 0:
            return False
        return self._random.random() < fault.probability

    def to_json(self) -> dict[str, Any]:
        """Return the faults that are left, and how many were made of each kind."""
        with self._lock:
            return {**self._plan.model_dump(), "made": dict(self._made)}


def hang_up() -> None:
    """Close the connection, so that the caller gets no answer, whatever is written afterwards."""
    connection = request.environ.get("werkzeug.socket") or request.environ.get("gunicorn.socket")
    if connection is not None:
        # A caller who did not wait is gone already.
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
