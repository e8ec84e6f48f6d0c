"""Simulated participants who come from a platform's site, and those who go back to a panel's."""

import httpx

from webapp.simulation.page import Page
from webapp.simulation.plan import Plan
from webapp.simulation.visit import SimulatedSession, SimulatedSessionError

_TIMEOUT_S = 60.0


class SiteSession(SimulatedSession):
    """A simulated participant who comes by a platform's site for participants.

    Attributes:
        platform: What messages call it.

    Args:
        client: The connection to the study's server.
        plan: What the participant knows.
        number: Which of the run's participants this is, from 1.
        site: The platform's site.
    """

    platform = "platform"

    def __init__(self, client: httpx.Client, plan: Plan, number: int, *, site: str) -> None:
        super().__init__(client, plan, number)
        self._site = httpx.Client(
            base_url=site,
            headers={"Accept": "application/json"},
            timeout=_TIMEOUT_S,
            trust_env=False,
        )

    def _at_site(
        self,
        method: str,
        url: str,
        form: dict[str, str] | None = None,
        params: dict[str, str] | None = None,
    ) -> httpx.Response:
        response = self._site.request(method, url, data=form, params=params)
        if response.status_code not in (200, 303):
            raise SimulatedSessionError(
                f"the {self.platform} answered {method} {response.url.path} with"
                f" {response.status_code}: {response.text[:200].strip()}"
            )
        return response

    def _not_listed(self) -> SimulatedSessionError:
        return SimulatedSessionError(
            f"the {self.platform} does not list the study",
            where=str(self._site.base_url),
            remedy=f"Publish it with: parallax publish {self._plan.run_ref}",
        )


class StandInSession(SiteSession):
    """A simulated participant on the way from a panel's list to the panel's thanks.

    Args:
        client: The connection to the study's server.
        plan: What the participant knows.
        number: Which of the run's participants this is, from 1.
        listed: Where the stand-in lists the study: its address and the study's name there.
    """

    platform = "panel"

    def __init__(self, client: httpx.Client, plan: Plan, number: int, *, listed: str) -> None:
        site, _, self._study = listed.rpartition("/")
        super().__init__(client, plan, number, site=site)

    def arrive(self) -> None:
        """Choose the study on the panel, follow its link and agree."""
        person = {"study": self._study, "person": f"person {self.number}"}
        sent = self._at_site("POST", "/people", person)
        self._agree(sent.headers["location"])

    def take_part(self) -> None:
        """Answer everything and go back as the closing page says."""
        self._go_back(self._answer_everything())
        self._site.close()

    def _go_back(self, closing: Page) -> None:
        if closing.action:
            sent = {"params" if closing.method == "get" else "form": closing.hidden}
            self._at_site(closing.method.upper(), closing.action, **sent)
        elif closing.code:
            self._at_site("POST", "/code", {"code": closing.code})
