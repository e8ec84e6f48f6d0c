"""People of a panel whose browsers and networks fail, and the run that they come to."""

import json
import random
from contextlib import contextmanager
from uuid import UUID

import httpx
from werkzeug.test import TestResponse

from experiment.studies.files import study_files
from experiment.studies.load import frozen_study, load_study
from fault_injection.operator import Death, ProcessDied
from webapp.recruiters.panel.settings import PanelSettings
from webapp.runs.launch import launch
from webapp.services import Services
from webapp.simulation.page import Page

CODE = "C0DE-WHEN-DONE"
_SCREENING = """
[[screening]]
name = "age"
label = "How old are you?"
type = "number"
at_least = 18
"""
_MOST_TRIES = 50


class PanelRun:
    """A run that a panel of the town lists.

    Args:
        services: The installation.
        town: The town's address.
        panel: ``sona`` or ``prolific``.
        number: Another for each run.
        rng: Decides what the study is like.
    """

    def __init__(
        self, services: Services, town: httpx.Client, panel: str, number: int, rng: random.Random
    ) -> None:
        self.services, self.town, self.panel, self.key = services, town, panel, f"s{number}"
        site = str(town.base_url).rstrip("/")
        files = study_files(load_study("minimal"))
        values = f'site = "{site}"' + f', experiment_id = "{self.key}"' * (panel == "sona")
        codes = f'codes = {{ completed = "{CODE}" }}\n' * (panel == "prolific")
        table = f'[panel]\npreset = "{panel}"\n{codes}values = {{ {values} }}\nreport_tries = 100\n'
        self.screened = rng.random() < 0.4
        more = f"{_SCREENING * self.screened}\n{table}"
        toml = files["study.toml"].decode() + more
        folder = load_study("minimal").folder
        self.study = frozen_study({**files, "study.toml": toml.encode()}, folder)
        with services.sessions.begin() as session:
            self.run = launch(
                session, self.study, number, "panel", now=services.now(), code_version="0"
            )
        link = services.recruiter("panel").posted_link("", self.run.ref, self.study)
        told = {CODE: "completed"} if panel == "prolific" else {}
        listing = {
            "key": self.key, "platform": panel, "link": link, "codes": told,
            "credit_token": "t0ken",
        }  # fmt: skip
        town.post("/control/studies", json=listing).raise_for_status()

    def books(self) -> list[dict]:
        """Return the panel's books."""
        return self.town.get(f"/control/books/{self.key}").json()["people"]

    @contextmanager
    def secret(self, *, lost: bool):  # noqa: ANN201
        """Let the installation lose its secret for a while, perhaps."""
        recruiter = self.services.recruiter("panel")
        kept = recruiter._settings
        recruiter._settings = PanelSettings() if lost else kept
        try:
            yield
        finally:
            recruiter._settings = kept


class Person:
    """Somebody with a bad network.

    Args:
        run: The run they come to.
        name: As the town calls them.
        rng: Decides what fails.
        death: Ends the server's process.
    """

    def __init__(self, run: PanelRun, name: str, rng: random.Random, death: Death) -> None:
        self.run, self.name, self._rng, self._death = run, name, rng, death
        self._browser, self._home = run.services.app.test_client(), ""
        self.again, self.early, self.finished, self.way_back = 0, 0, False, False

    def arrive(self, *, fits: bool = True) -> bool:
        """Follow the panel's link, agree, answer what is asked; return whether a place was got."""
        for _ in range(_MOST_TRIES):
            sent = {"study": self.run.key, "person": self.name}
            link = self.run.town.post("/people", data=sent).headers["location"]
            opened = self._ask("GET", link)
            if opened.status_code in (200, 409):
                break
        if opened.status_code != 200:
            return False
        agreed = self._ask("POST", link, data={**Page(opened.text).hidden, "decision": "accept"})
        if agreed.status_code != 303:
            return False
        self._home = agreed.headers["location"]
        if Page(self._ask("GET", self._home).text).name == "screening":
            self._ask("POST", f"{self._home}screening", data={"age": "30" if fits else "12"})
        return Page(self._ask("GET", self._home).text).name == "working"

    def answer(self, number: int) -> None:
        """Answer so many trials, in any order, each once or more often, some cut off at first."""
        page = Page(self._ask("GET", self._home).text)
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
        if Page(self._ask("GET", self._home).text).name != "questionnaire":
            return
        self.finished = True
        for _ in range(1 + (self._rng.random() < 0.2)):
            self._ask("POST", f"{self._home}questionnaire", data=form)
        closing = Page(self._ask("GET", self._home).text)
        self.way_back = closing.name == "closing" and (
            self.run.panel == "sona" or bool(closing.action and closing.code)
        )
        while closing.action:
            reply = self.run.town.get(closing.action, params=closing.hidden)
            if reply.status_code == 200 and self._rng.random() < 0.7:
                break

    def _ask(self, method: str, url: str, **sent: object) -> TestResponse:
        for _ in range(_MOST_TRIES):
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
