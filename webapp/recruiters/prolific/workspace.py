"""The paying workspace: currency, wallet, fees, recommended pay, and bonuses in major units."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiment.money import written
from experiment.payment.cost import Charge
from webapp.recruiters.platform import PlatformError
from webapp.recruiters.prolific.answers import BalanceAnswer, Recommendation, member, read
from webapp.recruiters.prolific.calls import Calls


@dataclass(slots=True)
class Workspace:
    """One workspace; constant values are read once.

    Attributes:
        calls: The API.
        ref: The workspace's id; empty for the first workspace that the token may use.
    """

    calls: Calls
    ref: str = ""
    _currency: str = ""
    _fees: dict[tuple[int, int], int] = field(default_factory=dict)

    def id(self) -> str:
        """Return the workspace's id.

        Raises:
            PlatformError: The token may use no workspace.
        """
        if not self.ref:
            first = next(iter(self.calls.pages("/workspaces/", {})), None)
            if first is None:
                raise PlatformError(
                    "the token has access to no workspace", where="GET /workspaces/"
                )
            self.ref = str(member(first, "id", "GET /workspaces/"))
        return self.ref

    def currency(self) -> str:
        """Return the code of the workspace's currency."""
        if not self._currency:
            self._currency = self._balance().currency_code
        return self._currency

    def balance_minor(self) -> int:
        """Return the balance that no study has reserved."""
        return self._balance().available_balance

    def fees_minor(self, charges: Sequence[Charge]) -> int:
        """Return fees and taxes on payments, from the platform's calculator."""
        return sum(map(self._fee, charges))

    def recommendation(self) -> Recommendation | None:
        """Return the platform's recommended pay; None if it recommends nothing."""
        wanted = {"workspace_id": self.id(), "currency": self.currency()}
        found = self.calls.read("/reward-recommendations/", wanted)
        return read(Recommendation, found[0], "GET /reward-recommendations/") if found else None

    def eligible(self, filters: Sequence[Mapping[str, Any]]) -> int | None:
        """Return how many people pass the filters.

        None below 25, which the platform does not tell.
        """
        where = "/eligibility-count/"
        asked = {"filters": list(filters), "workspace_id": self.id()}
        return int(member(self.calls.say("POST", where, asked), "count", where)) or None

    def _fee(self, charge: Charge) -> int:
        if not (charge.amount_minor and charge.payments):
            return 0
        key = charge.amount_minor, charge.payments
        if key not in self._fees:
            asked = {"reward": charge.amount_minor, "total_available_places": charge.payments}
            where = "/study-cost-calculator/"
            total = int(member(self.calls.say("POST", where, asked), "total_cost", where))
            self._fees[key] = total - charge.amount_minor * charge.payments
        return self._fees[key]

    def _balance(self) -> BalanceAnswer:
        where = f"/workspaces/{self.id()}/balance/"
        return read(BalanceAnswer, self.calls.read(where), f"GET {where}")


def csv_bonuses(submission_id: str, amount_minor: int, currency: str) -> str:
    """Return the CSV line that sets up one bonus.

    30 minor units of GBP are ``0.30``, never ``30``.
    """
    return f"{submission_id},{written(amount_minor, currency)}"
