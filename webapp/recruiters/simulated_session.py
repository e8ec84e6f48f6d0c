"""The visit of a simulated participant: by the run's link, a platform's site or a panel."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html.parser import HTMLParser
from uuid import UUID

import httpx

from experiment.records import SIDES
from experiment.responses.base import Known
from experiment.responses.simulated import draw_reply, simulate_answer
from experiment.seeds import generator
from experiment.studies.question import ScreeningQuestion, is_asked
from webapp.core.clock import utc_now
from webapp.errors import WebappError
from webapp.recruiters.simulated_plan import Plan
from webapp.sessions.run_lists import ShownTrial


class ParsedPage(HTMLParser):
    """One parsed page of the server.

    Attributes:
        name: The page's name, from its body.
        action: The address to which its form is sent; empty for the page's own address.
        method: The method of its form.
        code: The displayed completion code of the platform; empty if there is none.
        hidden: The hidden fields of its form.
        fields: The names of all fields of its form.
        session: The JSON text of the trials; empty on other pages.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.name, self.action, self.session = "", "", ""
        self.method, self.code = "get", ""
        self.hidden: dict[str, str] = {}
        self.fields: set[str] = set()
        self._in_session = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Read the tag's attributes."""
        attributes = {name: value or "" for name, value in attrs}
        self._in_session = tag == "script" and attributes.get("id") == "session"
        if tag == "body":
            self.name = attributes.get("data-page", "")
        if tag == "form":
            self.action = attributes.get("action", "")
            self.method = attributes.get("method", "get")
        self.code = attributes.get("data-code", self.code)
        if tag in ("input", "select", "textarea") and "name" in attributes:
            self.fields.add(attributes["name"])
        if tag == "input" and attributes.get("type") == "hidden":
            self.hidden[attributes["name"]] = attributes["value"]

    def handle_endtag(self, tag: str) -> None:
        """Detect the end of the session's script."""
        self._in_session = False

    def handle_data(self, data: str) -> None:
        """Collect the text of the session's script."""
        if self._in_session:
            self.session += data


_SIMULATED_DEVICE = {"user_agent_family": "simulated", "time_zone_offset_min": 0}
INPUT_METHODS = ("key", "pointer", "touch")


class SimulatedSessionError(WebappError):
    """The server's behaviour differs from what a participant may expect."""


class SimulatedSession:
    """A simulated participant, from the run's link to the closing page.

    Args:
        client: The connection to the server.
        plan: The participant's advance knowledge.
        number: The participant's number in the run, from 1; with the plan's seed it determines
            every answer.
    """

    def __init__(self, client: httpx.Client, plan: Plan, number: int) -> None:
        self.number = number
        self.responder = plan.responders[(number - 1) % len(plan.responders)]
        self._client, self._plan = client, plan
        self._rng = generator(plan.seed, "responder", number)
        self._home = ""

    def arrive(self) -> None:
        """Open the consent page and consent; the server then assigns a place."""
        self._agree(f"/run/{self._plan.run_ref}")

    def take_part(self) -> None:
        """Answer every trial and the questionnaire, and reach the closing page.

        Raises:
            SimulatedSessionError: The server refused a request, or showed an unexpected page.
        """
        self._answer_everything()

    def _agree(self, link: str) -> None:
        form = {**self._open(link, "consent").hidden, "decision": "accept"}
        form["device"] = next(iter(self._plan.study.taking_part.devices), "")
        response = self._request(303, "POST", link, form=form)
        self._home = response.headers["location"]
        self._answer_before_start()

    def _answer_before_start(self) -> None:
        """Give the accepted answers to the pages between the consent and the first trial."""
        study = self._plan.study
        if study.taking_part.assent:
            form = {**self._open(self._home, "assent").hidden, "decision": "accept"}
            self._request(303, "POST", f"{self._home}assent", form=form)
        steps: dict[str, dict[str, str]] = {
            "screening": {question.name: _passing_answer(question) for question in study.screening},
            "comprehension": {
                question.name: question.correct[0]
                for question in (study.comprehension.questions if study.comprehension else [])
            },
        }
        for name, answers in steps.items():
            if answers:
                form = {**self._open(self._home, name).hidden, **answers}
                self._request(303, "POST", f"{self._home}{name}", form=form)

    def _answer_everything(self) -> ParsedPage:
        """Answer everything and return the closing page.

        Raises:
            SimulatedSessionError: The server refused a request, or showed an unexpected page.
        """
        trials: list[ShownTrial] = json.loads(self._open(self._home, "working").session)["trials"]
        self._request(200, "POST", f"{self._home}device", sent=_SIMULATED_DEVICE)
        for trial in trials:
            self._request(200, "POST", f"{self._home}answers", sent=self._answer(trial))
        if questions := self._plan.study.questionnaire:
            page = self._open(self._home, "questionnaire")
            # Participants of another level may be asked other questions.
            asked_questions = [question for question in questions if question.name in page.fields]
            form = page.hidden
            for question in asked_questions:
                if is_asked(question, form):
                    accepted = self._plan.accepted.get(question.name, ())
                    form[question.name] = draw_reply(question, accepted, self._rng)
            self._request(303, "POST", f"{self._home}questionnaire", form=form)
        return self._open(self._home, "closing")

    def _open(self, url: str, expected_page: str) -> ParsedPage:
        page = ParsedPage(self._request(200, "GET", url).text)
        if page.name != expected_page:
            raise SimulatedSessionError(
                f'the page "{page.name}" came', expected=f'"{expected_page}"'
            )
        return page

    def _answer(self, trial: ShownTrial) -> dict[str, object]:
        texts: Mapping[str, object] = {**trial}
        options = [str(texts[side]) for side in SIDES if side in texts]
        known_item = self._plan.items.get(
            (trial.get("task", ""), trial.get("prefix", ""), frozenset(options))
        )
        if known_item is None:
            raise SimulatedSessionError(
                f"the page shows {' against '.join(map(repr, options))}",
                expected="an item of the run's materials",
            )
        rng = self._rng
        return {
            "uuid": str(UUID(int=rng.getrandbits(128), version=4)),
            "position": trial["position"],
            **self._answer_fields(known_item, options),
            "input_method": rng.choice(INPUT_METHODS),
            "client_time": utc_now().isoformat(),
        }

    def _answer_fields(self, known: Known, options: Sequence[str]) -> dict[str, object]:
        """Return an answer in the format of the page."""
        answer, rt_ms = simulate_answer(
            self._plan.study, self._plan.response, self.responder, known, options, self._rng
        )
        fields = {name: value for name, value in asdict(answer).items() if value is not None}
        return fields | {"rt_ms": rt_ms}

    def _request(
        self,
        expected_status: int,
        method: str,
        url: str,
        *,
        form: dict[str, str] | None = None,
        sent: Mapping[str, object] | None = None,
    ) -> httpx.Response:
        response = self._client.request(method, url, data=form, json=sent)
        if response.status_code != expected_status:
            raise SimulatedSessionError(
                f"{method} {response.url.path} was answered with {response.status_code}:"
                f" {response.text[:200].strip()}",
                expected=f"the status {expected_status}",
            )
        return response


def _passing_answer(question: ScreeningQuestion) -> str:
    if question.accept:
        return question.accept[0]
    return str(question.at_least if question.at_least is not None else question.at_most)


_SITE_TIMEOUT_S = 60.0


class SiteSession(SimulatedSession):
    """A simulated participant who comes by a platform's site for participants.

    Attributes:
        platform: The platform's name in messages.

    Args:
        client: The connection to the study's server.
        plan: The participant's advance knowledge.
        number: The participant's number in the run, from 1.
        site: The platform's site.
    """

    platform = "platform"

    def __init__(self, client: httpx.Client, plan: Plan, number: int, *, site: str) -> None:
        super().__init__(client, plan, number)
        self._site = httpx.Client(
            base_url=site,
            headers={"Accept": "application/json"},
            timeout=_SITE_TIMEOUT_S,
            trust_env=False,
        )

    def _request_site(
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

    def _make_not_listed_error(self) -> SimulatedSessionError:
        return SimulatedSessionError(
            f"the {self.platform} does not list the study",
            where=str(self._site.base_url),
            remedy=f"Publish it with: parallax publish {self._plan.run_ref}",
        )


class StandInSession(SiteSession):
    """A simulated participant, from a panel's list to the panel's closing page.

    Args:
        client: The connection to the study's server.
        plan: The participant's advance knowledge.
        number: The participant's number in the run, from 1.
        listed: The stand-in's listing of the study: its address and the study's name there.
    """

    platform = "panel"

    def __init__(self, client: httpx.Client, plan: Plan, number: int, *, listed: str) -> None:
        site, _, self._study = listed.rpartition("/")
        super().__init__(client, plan, number, site=site)

    def arrive(self) -> None:
        """Choose the study on the panel, follow its link and consent."""
        person = {"study": self._study, "person": f"person {self.number}"}
        response = self._request_site("POST", "/people", person)
        self._agree(response.headers["location"])

    def take_part(self) -> None:
        """Answer everything and go back as the closing page says."""
        self._go_back(self._answer_everything())
        self._site.close()

    def _go_back(self, closing: ParsedPage) -> None:
        if closing.action:
            sent = {"params" if closing.method == "get" else "form": closing.hidden}
            self._request_site(closing.method.upper(), closing.action, **sent)
        elif closing.code:
            self._request_site("POST", "/code", {"code": closing.code})
