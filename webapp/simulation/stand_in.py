"""Simulated participants who come from a panel's stand-in and go back to it."""

import httpx

from webapp.simulation.page import Page
from webapp.simulation.plan import Plan
from webapp.simulation.visit import SimulatedSession, SimulatedSessionError

_TIMEOUT_S = 60.0


class StandInSession(SimulatedSession):
    """A simulated participant on the way from a panel's list to the panel's thanks.

    Args:
        client: The connection to the study's server.
        plan: What the participant knows.
        number: Which of the run's participants this is, from 1.
        listed: Where the stand-in lists the study: its address and the study's name there.
    """

    def __init__(self, client: httpx.Client, plan: Plan, number: int, *, listed: str) -> None:
        super().__init__(client, plan, number)
        site, _, self._study = listed.rpartition("/")
        self._site = httpx.Client(base_url=site, timeout=_TIMEOUT_S, trust_env=False)

    def arrive(self) -> None:
        """Choose the study on the panel, follow its link and agree."""
        person = {"study": self._study, "person": f"person {self.number}"}
        sent = self._at_panel(303, "POST", "/people", data=person)
        self._agree(sent.headers["location"])

    def take_part(self) -> None:
        """Answer everything and go back as the closing page says."""
        self._go_back(self._answer_everything())
        self._site.close()

    def _go_back(self, closing: Page) -> None:
        if closing.action:
            sent = {"params" if closing.method == "get" else "data": closing.hidden}
            self._at_panel(200, closing.method.upper(), closing.action, **sent)
        elif closing.code:
            self._at_panel(200, "POST", "/code", data={"code": closing.code})

    def _at_panel(
        self,
        expected: int,
        method: str,
        url: str,
        *,
        data: dict[str, str] | None = None,
        params: dict[str, str] | None = None,
    ) -> httpx.Response:
        response = self._site.request(method, url, data=data, params=params)
        if response.status_code != expected:
            raise SimulatedSessionError(
                f"the panel answered {method} {response.url.path} with {response.status_code}:"
                f" {response.text[:200].strip()}"
            )
        return response
