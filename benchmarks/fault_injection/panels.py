"""People of a panel whose browsers and networks fail, and the run that they come to."""

import json
import random
from collections.abc import Mapping
from contextlib import contextmanager
from uuid import UUID

import httpx
from werkzeug.test import TestResponse

from experiment.studies.files import study_files
from experiment.studies.load import frozen_study, load_study
from experiment.studies.study import Study
from fault_injection.environment import Clock
from fault_injection.operator import Death, ProcessDied
from marketplace.panels.records import derive_ids
from marketplace.panels.site import COOKIE
from webapp.recruiters.panel.demonstration import find_listing
from webapp.recruiters.panel.recruiter import PanelSettings
from webapp.recruiters.simulated_session import ParsedPage
from webapp.runs.launch import launch_run
from webapp.services import Services

CODE = "C0DE-WHEN-DONE"
_SCREENING = """
[[screening]]
name = "age"
label = "How old are you?"
type = "number"
at_least = 18
"""
_MOST_TRIES = 50
_JUMPS_MIN = (-30, -1, 5, 45)


class PanelRun:
    """A run that a panel of the stand-in lists.

    Args:
        services: The installation.
        environment: A client of the stand-in.
        panel: ``sona`` or ``prolific``.
        number: Another for each run.
        rng: Decides what the study is like.
        wrong_number: Whether the study's file names an experiment that SONA does not have.

    Attributes:
        study: As it was launched.
        run: The run.
        wrong_number: As given, where the panel wants such a number.
    """

    def __init__(
        self,
        services: Services,
        environment: httpx.Client,
        panel: str,
        number: int,
        rng: random.Random,
        *,
        wrong_number: bool,
    ) -> None:
        self.services, self.environment, self.panel, self.key = (
            services,
            environment,
            panel,
            f"s{number}",
        )
        self.wrong_number = wrong_number and panel == "sona"
        self._screened = rng.random() < 0.4
        self.study = self._study(panel)
        with services.sessions.begin() as session:
            self.run = launch_run(
                session, self.study, number, "panel", now=services.now(), code_version="0"
            )
        self.listed(services.recruiter("panel").posted_link("", self.run.ref, self.study))

    def listed(self, link: str, codes: Mapping[str, str] | None = None) -> None:
        """List the run on the panel, or change what is listed, as the researcher pastes it.

        Args:
            link: What people are sent to.
            codes: The completion codes entered there; by default those of the study.
        """
        outcomes = {CODE: "completed"} if codes is None else codes
        listed = find_listing(self.panel).listed(
            self.key, link, codes=outcomes, credit_token="t0ken"
        )
        self.environment.post("/control/studies", json=listed).raise_for_status()

    def other_panels_study(self) -> Study:
        """Return the same study for people of the other panel."""
        return self._study("sona" if self.panel == "prolific" else "prolific")

    def _study(self, panel: str) -> Study:
        site, folder = str(self.environment.base_url).rstrip("/"), load_study("minimal").folder
        files, number = study_files(load_study("minimal")), f"{self.key}{'x' * self.wrong_number}"
        own = f'experiment_id = "{number}"'
        if panel == "prolific":
            own = f'study_id = "{derive_ids(self.key, "", 1)["study"]}"'
        codes = f'codes = {{ completed = "{CODE}" }}\n' * (panel == "prolific")
        values = f'values = {{ site = "{site}", {own} }}'
        table = f'[panel]\npreset = "{panel}"\n{codes}{values}\nreport_tries = 100\n'
        toml = f"{files['study.toml'].decode()}{_SCREENING * self._screened}\n{table}"
        return frozen_study({**files, "study.toml": toml.encode()}, folder)

    def books(self) -> list[dict]:
        """Return the panel's books."""
        return self.environment.get(f"/control/books/{self.key}").json()["people"]

    @contextmanager
    def secret(self, *, lost: bool, wrong: bool):  # noqa: ANN201
        """Let the installation lose its secret for a while, or have another one."""
        recruiter = self.services.recruiter("panel")
        kept = recruiter._settings
        if lost:
            recruiter._settings = PanelSettings()
        elif wrong:
            recruiter._settings = PanelSettings(secrets={"credit_token": "0ther"})
        try:
            yield
        finally:
            recruiter._settings = kept


class Person:
    """Somebody with a bad network.

    Args:
        run: The run they come to.
        name: As the stand-in calls them.
        rng: Decides what fails.
        death: Ends the server's process.
        clock: Jumps between their requests; it stands where there is none.

    Attributes:
        again: How many requests were sent again.
        early: How many pages showed the completion code before the end.
        finished: Whether they handed everything in.
        way_back: Whether their last page had their panel's way back.
        jumps: How often the clock jumped.
    """

    def __init__(
        self,
        run: PanelRun,
        name: str,
        rng: random.Random,
        death: Death,
        clock: Clock | None = None,
    ) -> None:
        self.run, self.name, self._rng, self._death, self._clock = run, name, rng, death, clock
        self._browser, self._home = run.services.app.test_client(), ""
        self.again, self.early, self.finished, self.way_back, self.jumps = 0, 0, False, False, 0

    def arrive(self, *, fits: bool = True, tries: int = _MOST_TRIES) -> bool:
        """Follow the panel's link, agree, answer what is asked; return whether a place was got.

        Args:
            fits: Whether they answer as the screening wants.
            tries: How often they open a link that the study refuses.
        """
        for _ in range(tries):
            sent = {"study": self.run.key, "person": self.name}
            link = self.run.environment.post("/people", data=sent).headers["location"]
            opened = self._ask("GET", link)
            if opened.status_code in (200, 409):
                break
        if opened.status_code != 200 or "decision" not in opened.text:
            return False
        agreed = self._ask(
            "POST", link, data={**ParsedPage(opened.text).hidden, "decision": "accept"}
        )
        if agreed.status_code != 303:
            return False
        self._home = agreed.headers["location"]
        if ParsedPage(self._ask("GET", self._home).text).name == "screening":
            self._ask("POST", f"{self._home}screening", data={"age": "30" if fits else "12"})
        return ParsedPage(self._ask("GET", self._home).text).name == "working"

    def answer(self, number: int) -> None:
        """Answer so many trials, in any order, each once or more often, some cut off at first."""
        page = ParsedPage(self._ask("GET", self._home).text)
        if page.name != "working":
            return
        work = json.loads(page.session)
        left = [
            one["position"] for one in work["trials"] if one["position"] not in work["answered"]
        ]
        self._rng.shuffle(left)
        for position in left[:number]:
            body = {
                "uuid": str(UUID(int=self._rng.getrandbits(128), version=4)),
                "position": position, "side": "first", "input_method": "key",
            }  # fmt: skip
            if self._rng.random() < 0.1:
                self._ask("POST", f"{self._home}answers", data=json.dumps(body)[:-9])
            for _ in range(1 + (self._rng.random() < 0.1)):
                self._ask("POST", f"{self._home}answers", data=json.dumps(body))

    def leave(self) -> None:
        """Withdraw."""
        self._ask("POST", f"{self._home}leave")

    def finish(self) -> None:
        """Answer everything, ask for the end out of turn, and go back as the page says."""
        form = {"native_language": "English"}
        for early in (True, False, True):
            self.answer(self._rng.randint(0, 2))
            self._ask("POST", f"{self._home}questionnaire", data={} if early else form)
        self.answer(8)
        if ParsedPage(self._ask("GET", self._home).text).name != "questionnaire":
            return
        self.finished = True
        for _ in range(1 + (self._rng.random() < 0.2)):
            self._ask("POST", f"{self._home}questionnaire", data=form)
        closing = self._closing()
        self.finished = closing.name == "closing"
        self.way_back = self.finished and (
            self.run.panel == "sona" or bool(closing.action and closing.code)
        )

    def go_back(self) -> bool:
        """Return to the panel as the last page says, twice perhaps, and whether it took them."""
        if not self._home or not (closing := self._closing()).action:
            return True
        for _ in range(1 + (self._rng.random() < 0.3)):
            # Everybody has a browser of their own, in which the panel knows them.
            self.run.environment.cookies.clear()
            known = {"Cookie": f'{COOKIE}="{self.run.key}/{self.name}"'}
            back = self.run.environment.get(closing.action, params=closing.hidden, headers=known)
            taken = back.status_code == 200
        return taken

    def erase(self) -> None:
        """Have everything erased that they gave."""
        self._ask("POST", f"{self._home}withdraw", data={"wish": "erase"})

    def _closing(self) -> ParsedPage:
        return ParsedPage(self._ask("GET", self._home).text)

    def _ask(self, method: str, url: str, **sent: object) -> TestResponse:
        for _ in range(_MOST_TRIES):
            if self._clock is not None and self._rng.random() < 0.02:
                self._clock.go_on(minutes=self._rng.choice(_JUMPS_MIN))
                self.jumps += 1
            self._death.on = True
            try:
                reply = self._browser.open(url, method=method, **sent)
            except ProcessDied:
                self.again += 1
                continue
            finally:
                self._death.on = False
            if not self.finished:
                self.early += CODE in reply.text
            if reply.status_code < 500 and self._rng.random() > 0.05:
                return reply
            self.again += 1  # the reply was lost, or the server is in trouble
        return reply
