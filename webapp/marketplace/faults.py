"""Faults on demand: what goes wrong with which calls, how often, by a seed."""

import random
import threading
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from webapp.marketplace.errors import MarketplaceError

_EVERY = "*"

Kind = Literal[
    "throttled",  # ThrottlingException; nothing is done
    "server_error",  # ServiceFault; nothing is done
    "server_error_after",  # ServiceFault, but the deed is done
    "request_lost",  # the connection closes; nothing is done
    "reply_lost",  # the connection closes, but the deed is done
    "slow",  # the answer comes after a while
    "duplicated",  # a message stays in the queue when it is received
    "reordered",  # messages are received in another order
    "id_reused",  # an accepted assignment gets the identifier of one that was returned
]


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

    kind: Kind
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
    """Decides at each call what goes wrong with it; begins with nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
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
            raise MarketplaceError(
                f"these faults cannot be made: {error.errors(include_url=False)[0]['msg']}",
                where=".".join(str(part) for part in error.errors()[0]["loc"]),
            ) from error
        with self._lock:
            self._plan, self._random = plan, random.Random(plan.seed)
            self._made: dict[str, int] = {}

    def strike(self, operation: str, *kinds: Kind) -> Fault | None:
        """Return the first fault of these kinds that strikes this call, and count it."""
        with self._lock:
            for fault in self._plan.faults:
                if fault.kind in kinds and self._strikes(fault, operation):
                    if fault.count is not None:
                        fault.count -= 1
                    self._made[fault.kind] = self._made.get(fault.kind, 0) + 1
                    return fault
        return None

    def _strikes(self, fault: Fault, operation: str) -> bool:
        if fault.operation not in (_EVERY, operation) or fault.count == 0:
            return False
        return self._random.random() < fault.probability

    def told(self) -> dict[str, Any]:
        """Return the faults that are left, and how many were made of each kind."""
        with self._lock:
            return {**self._plan.model_dump(), "made": dict(self._made)}
