"""Parallax itself, on SQLite or PostgreSQL."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from urllib.parse import urlencode

from sqlalchemy import select

from experiment.participation import State
from experiment.studies.load import STUDIES_FOLDER, load_study
from experiment.studies.question import Question
from load_platforms.answer import answer, new_uuid
from load_platforms.browser import Reply
from load_platforms.platform import Participant, Site, Stored, spread
from load_platforms.viewers import Viewers
from webapp.core.clock import utc_now
from webapp.database.engine import make_sessions, open_database, reading
from webapp.database.models import Participant as Row
from webapp.database.models import Response, Trial
from webapp.recruiters.settings import load_settings
from webapp.researcher.access import SESSION_COOKIE
from webapp.runs.launch import launch_run
from webapp.server import server_control as server
from webapp.users.roles import Role
from webapp.users.sign_in import open_session
from webapp.users.users import add_user

_SESSION = re.compile(rb'id="session">(.*?)</script>', re.DOTALL)
_MARK = re.compile(rb'name="visit" value="(\w+)"')
_PER_LIST = re.compile(r"(?m)^participants_per_list = \d+")
_FORM = "application/x-www-form-urlencoded"
_LEAST_PLACES = 10


class Parallax:
    """Parallax with one of its built-in studies.

    Args:
        study: The study's name.
        database_url: Where the data are kept; SQLite in the folder when empty.
        workers: How many server processes answer.
        viewers: How many researchers watch the run meanwhile.
        settings: Further lines of parallax.toml.
    """

    name = "parallax"

    def __init__(
        self, study: str, database_url: str, workers: int, viewers: int = 0, settings: str = ""
    ) -> None:
        self._study, self._url, self._settings = study, database_url, settings
        self._workers, self._viewers = workers, viewers

    @property
    def run(self) -> str:
        """The run's reference, once it is served."""
        return self._run

    @property
    def questionnaire(self) -> bytes:
        """A form that answers every question, once the run is served."""
        return self._questionnaire

    @property
    def room(self) -> Viewers:
        """Who watches the run once it is served."""
        return self._room

    def start(self, folder: Path, participants: int) -> Site:
        """Launch the study with room for everybody and serve it."""
        self._instance = folder / "instance"
        self._instance.mkdir()
        if self._url:
            setting = f'database_url = "{self._url}"\n{self._settings}'
            (self._instance / "parallax.toml").write_text(setting, encoding="utf-8")
        self._run = self._launch(folder, participants)
        started = server.start(self._instance, workers=self._workers)
        return Site("127.0.0.1", int(started.url.rpartition(":")[2]), started.pid)

    def _launch(self, folder: Path, participants: int) -> str:
        study = folder / self._study
        shutil.copytree(STUDIES_FOLDER / self._study, study)
        toml, loaded = (study / "study.toml").read_text(encoding="utf-8"), load_study(str(study))
        lists = self._lists = loaded.design.lists
        self._questionnaire = urlencode({q.name: _reply(q) for q in loaded.questionnaire}).encode()
        # Whole tens, because the sides are balanced over the ten participants of a list.
        places = max(_LEAST_PLACES, -(-participants // lists // _LEAST_PLACES) * _LEAST_PLACES)
        toml = _PER_LIST.sub(f"participants_per_list = {places}", toml)
        (study / "study.toml").write_text(toml, encoding="utf-8")
        engine = open_database(load_settings(self._instance).database_url)
        with make_sessions(engine)() as session:
            run = launch_run(
                session, load_study(str(study)), 1, "direct", now=utc_now(), code_version="0"
            )
            user = add_user(session, "viewer", Role.VIEWER, "", by="bench", now=utc_now())
            token = open_session(session, user, "", utc_now())
            session.commit()
        engine.dispose()
        live = f"/researcher/runs/{run.ref}/live"
        self._room = Viewers(live, f"{SESSION_COOKIE}={token}", self._viewers)
        return run.ref

    async def arrive(self, participant: Participant, query: str = "") -> tuple[str, Reply]:
        """Go from the study's link to the first trial; return the session's URL and its page.

        Args:
            participant: Who arrives.
            query: What the platform adds to the link.
        """
        browser = participant.browser
        consent = await browser.get(f"/run/{self._run}{query}")
        mark = _MARK.search(consent.content)
        form = b"decision=accept&visit=" + (mark[1] if mark else b"")
        home = (await browser.post(f"/run/{self._run}{query}", form, _FORM, 303)).location
        page = await browser.get(home)
        await browser.get_parts(consent, page)
        return home, page

    async def take_part(self, participant: Participant) -> None:
        """Do what the page's program does, request by request."""
        browser, rng = participant.browser, participant.rng
        home, page = await self.arrive(participant)
        await browser.post(f"{home}device", b'{"user_agent_family": "Chrome"}', "application/json")
        participant.name = home.removeprefix("/p/").partition(".")[0]
        session = _SESSION.search(page.content)
        assert session is not None
        for trial in json.loads(session[1])["trials"]:
            await participant.think()
            position, uuid = trial["position"], new_uuid(rng)
            body = answer(position, uuid, rng.choice(("first", "second")))
            reply = await browser.save(f"{home}answers", body, "application/json")
            assert json.loads(reply.body)["saved"] == position
            participant.acknowledged[position] = uuid
        await browser.get(home)
        await browser.post(f"{home}questionnaire", self._questionnaire, _FORM, 303)
        await browser.get(home)

    def stop(self) -> None:
        """Stop the server; it finishes its requests."""
        server.stop(self._instance)

    def stored(self) -> Stored:
        """Return every response's UUID, and how evenly the lists were finished."""
        engine = open_database(load_settings(self._instance).database_url)
        answers: dict[str, dict[int, str]] = {}
        with reading(make_sessions(engine)) as session:
            for ref, position, uuid in session.execute(
                select(Row.ref, Trial.position, Response.client_uuid)
                .join(Trial, Trial.participant_id == Row.id)
                .join(Response, Response.trial_id == Trial.id)
            ):
                answers.setdefault(ref, {})[position] = uuid
            people = session.execute(select(Row.list, Row.state)).all()
        engine.dispose()
        finished = Counter(dict.fromkeys(range(self._lists), 0))
        finished.update(list_ for list_, state in people if state == State.FINISHED)
        return Stored(answers, spread(list(finished.values())))


def _reply(question: Question) -> str:
    return {"number": "30", "text": "x"}.get(question.type) or question.offered[0]
