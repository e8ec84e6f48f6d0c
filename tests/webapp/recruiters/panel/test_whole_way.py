"""From every panel's list to its thanks, over real HTTP: links, pages, endings, credit."""

from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from sqlalchemy import func, select

from experiment.studies.files import study_files
from experiment.studies.load import frozen_study
from marketplace.panels import create_panels
from marketplace.serving import serve_in_thread
from tests.experiment.panels.test_panel import OWN
from tests.patience import PATIENCE_S
from tests.webapp.conftest import start_run
from webapp import create_app
from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.database.models import OutgoingReport, Participant, Place
from webapp.jobs.platforms import send_reports
from webapp.recruiters.demonstration import Listing
from webapp.recruiters.panel.demonstration import find_listing
from webapp.recruiters.simulated_plan import make_plan
from webapp.recruiters.simulated_session import SimulatedSessionError, StandInSession
from webapp.runs.links import make_links
from webapp.services import EXTENSION, Services

pytestmark = [pytest.mark.one_database]
KEY, CODE = "101", "DONE101"
NAMES = [*OWN, "direct"]
VALUES = {
    "site": "{site}", "experiment_id": KEY, "completed_address": "{site}/back/101/completed",
}  # fmt: skip


@pytest.fixture(scope="module")
def site():
    with serve_in_thread(create_panels()) as url:
        yield url


class Installation:
    """An installation and a run whose people come from a panel of the stand-in."""

    def __init__(self, folder: Path, site: str, panel: str) -> None:
        folder.mkdir()
        (folder / "parallax.toml").write_text('[panel.secrets]\ncredit_token = "t0ken"\n')
        self.app, self.site, self.panel = create_app(folder), site, panel
        self.services: Services = self.app.extensions[EXTENSION]

    def launch(self, study) -> None:
        recruiter = "direct" if self.panel == "direct" else "panel"
        if recruiter == "panel":
            study = self._with_panel(study)
        self.study = study
        self.run = start_run(self.services.sessions, study, recruiter)
        self.run.simulated = True

    def _with_panel(self, study):
        own = OWN[self.panel]
        lines = [f'[panel]\npreset = "{self.panel}"']
        if "codes" in own:
            lines.append(f'codes = {{ completed = "{CODE}" }}')
        values = set(own.get("values", {})) | (
            {"site"} if self.panel in ("prolific", "respondent") else set()
        )
        pairs = ", ".join(f'{name} = "{VALUES[name].format(site=self.site)}"' for name in values)
        lines.append(f"values = {{ {pairs} }}")
        files = study_files(study)
        toml = files["study.toml"].decode() + "\n" + "\n".join(lines) + "\n"
        return frozen_study({**files, "study.toml": toml.encode()}, study.folder)

    def list_study(self, url: str) -> None:
        codes = []
        if self.panel in ("direct", "classroom"):
            with self.services.sessions.begin() as session:
                new = make_links(session, self.run, "code", ["a", "b"], [None], utc_now())
                codes = [link.token for link in new]
        recruiter = self.services.recruiter(self.run.recruiter)
        link = recruiter.posted_link(url, self.run.ref, self.study)
        if self.panel == "direct":
            shown = Listing("direct", {"link": "code"}, "code", access_codes=True)
        else:
            shown = find_listing(self.panel)
        listed = shown.listed(KEY, link, access_codes=codes, credit_token="t0ken")
        httpx.post(
            f"{self.site}/control/studies", json=listed, trust_env=False, timeout=PATIENCE_S
        ).raise_for_status()

    def books(self) -> list[dict]:
        return httpx.get(
            f"{self.site}/control/books/{KEY}", trust_env=False, timeout=PATIENCE_S
        ).json()["people"]


@pytest.fixture(params=NAMES)
def there(request, tmp_path, site, study):
    with serve_in_thread(create_panels()) as own_site:
        installation = Installation(tmp_path / "i", own_site, request.param)
        installation.launch(study)
        with serve_in_thread(installation.app) as url:
            installation.list_study(url)
            yield installation, url
        installation.services.engine.dispose()


def visitor(installation: Installation, client: httpx.Client, number: int) -> StandInSession:
    with reading(installation.services.sessions) as session:
        known = make_plan(session, installation.run, installation.study)
    return StandInSession(client, known, number, listed=f"{installation.site}/{KEY}")


def test_a_panels_person_comes_works_and_is_thanked_once(there):
    installation, url = there
    with httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_S) as client:
        first = visitor(installation, client, 1)
        first.arrive()
        again = visitor(installation, client, 1)
        again.arrive()
        first.take_part()
        # Nobody is shown a session that has ended without its code.
        with pytest.raises(SimulatedSessionError, match="409"):
            visitor(installation, client, 1).arrive()
        visitor(installation, client, 2).arrive()
    send_reports(installation.services)
    send_reports(installation.services)
    one, other = installation.books()
    expected = {"classroom": [], "direct": []}.get(installation.panel, ["completed"])
    assert (one["visits"], one["outcomes"]) == (3, expected)
    assert one["granted"] == len(expected)
    assert other["outcomes"] == []
    with reading(installation.services.sessions) as session:
        assert session.scalar(select(func.count(Participant.id))) == 2
        assert session.scalar(select(func.count(Place.participant_id))) == 2
        reports = session.scalars(select(OutgoingReport.state)).all()
    assert reports == (["done"] if installation.panel == "sona" else [])


@pytest.mark.parametrize("there", ["sona"], indirect=True)
def test_a_credit_whose_answers_are_lost_or_cut_off_is_granted_once(there):
    installation, url = there
    services = installation.services
    with httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_S) as client:
        person = visitor(installation, client, 1)
        person.arrive()
        person.take_part()
    faults = [{"kind": kind, "count": 1} for kind in ("reply_lost", "truncated")]
    answers = []
    for fault in (*faults, None):
        httpx.post(
            f"{installation.site}/control/faults",
            json={"faults": [fault] if fault else []},
            trust_env=False,
            timeout=PATIENCE_S,
        ).raise_for_status()
        send_reports(services)
        answers.append(installation.books()[0]["asked"])
        services.now = lambda now=services.now: now() + timedelta(minutes=5)
    assert answers == [1, 2, 3]
    [books] = installation.books()
    assert (books["outcomes"], books["granted"]) == (["completed"], 1)
    with reading(services.sessions) as session:
        assert session.scalars(select(OutgoingReport.state)).all() == ["done"]


def test_the_code_of_ones_own_never_goes_to_the_panel_and_its_code_opens_nothing(there):
    installation, url = there
    sent: list[str] = []
    with httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_S) as client:
        first = visitor(installation, client, 1)
        first._site.event_hooks["request"] = [
            lambda request: sent.append(f"{request.url} {request.read().decode()}")
        ]
        first.arrive()
        closing = first._answer_everything()
        first._go_back(closing)
        first._site.close()
        with reading(installation.services.sessions) as session:
            person = session.scalars(select(Participant)).one()
        assert person.code in client.get(first._home).text
        assert len(sent) > (installation.panel not in ("classroom", "direct", "sona"))
        assert not [each for each in sent if person.code in each]
        known_to_panel = {closing.code, *closing.hidden.values(), person.platform_id or ""} - {""}
        for value in known_to_panel:
            asked = client.post(f"/run/{installation.run.ref}/data", data={"code": value})
            assert asked.status_code == 404, value
