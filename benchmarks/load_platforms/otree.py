"""oTree with the smallest app of 76 rounds: one page with two buttons, one answer each."""

import json
import re
import sqlite3
import urllib.request
from pathlib import Path

from load_platforms.peers import OTREE, TRIALS, environment
from load_platforms.platform import Participant, Site, Stored
from load_platforms.processes import end, free_port, spawn, wait_until_listening

_KEY = "only-on-this-machine"
_CODE = re.compile(r"^/p/(\w+)/")
_FORM = "application/x-www-form-urlencoded"
_FILES = {
    "settings.py": f'''\
SESSION_CONFIGS = [{{"name": "choices", "app_sequence": ["choices"], "num_demo_participants": 1}}]
SESSION_CONFIG_DEFAULTS = {{"real_world_currency_per_point": 1, "participation_fee": 0}}
LANGUAGE_CODE, REAL_WORLD_CURRENCY_CODE, USE_POINTS = "en", "USD", False
ADMIN_USERNAME, ADMIN_PASSWORD, SECRET_KEY = "admin", "{_KEY}", "{_KEY}"
''',
    "_static/choices/empty.css": "",  # oTree does not start without the folder
    "choices/__init__.py": f"""\
from otree.api import *


class C(BaseConstants):
    NAME_IN_URL, PLAYERS_PER_GROUP, NUM_ROUNDS = "choices", None, {TRIALS}


class Subsession(BaseSubsession):
    pass


class Group(BaseGroup):
    pass


class Player(BasePlayer):
    choice = models.StringField(choices=["first", "second"])


class Trial(Page):
    form_model, form_fields = "player", ["choice"]


page_sequence = [Trial]
""",
    "choices/Trial.html": """\
{{ block content }}
<button name="choice" value="first">The authors laugh.</button>
<button name="choice" value="second">The authors laughs.</button>
{{ endblock }}
""",
}


class OTree:
    """oTree as it is installed: production mode, its database in memory until it stops.

    Args:
        peers: The folder of the peers' environments.
    """

    name = "otree"

    def __init__(self, peers: Path) -> None:
        self._programs = environment(peers, "otree", OTREE)

    def start(self, folder: Path, participants: int) -> Site:
        """Serve the app and make a session for so many participants."""
        for name, text in _FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        self._folder, port = folder, free_port()
        path = {"PATH": f"{self._programs}:/usr/bin:/bin"}
        serious = {"OTREE_PRODUCTION": "1", "OTREE_AUTH_LEVEL": "STUDY", "OTREE_REST_KEY": _KEY}
        command = [str(self._programs / "otree"), "prodserver1of2", f"127.0.0.1:{port}"]
        self._process = spawn(command, folder, path | serious)
        wait_until_listening(port)
        self._link = _session(port, participants)
        return Site("127.0.0.1", port, self._process.pid)

    async def take_part(self, participant: Participant) -> None:
        """Follow the session's link, then send each round's form and open the next page."""
        browser = participant.browser
        welcome = (await browser.get(self._link, 302)).location
        page = (await browser.get(welcome, 302)).location
        shown = await browser.get(page)
        await browser.get_parts(shown)
        code = _CODE.match(page)
        assert code is not None
        participant.name = code[1]
        for round_ in range(1, TRIALS + 1):
            await participant.think()
            choice = participant.rng.choice(("first", "second"))
            reply = await browser.save(page, f"choice={choice}".encode(), _FORM, 302)
            participant.acknowledged[round_] = choice
            page = reply.location
            await browser.get(page)

    def stop(self) -> None:
        """Stop the server; it writes its database now."""
        end(self._process)

    def stored(self) -> Stored:
        """Return the choices of the rounds; there are no lists, so their balance is even."""
        answers: dict[str, dict[int, str]] = {}
        connection = sqlite3.connect(self._folder / "db.sqlite3")
        for code, round_, choice in connection.execute(
            "SELECT p.code, c.round_number, c.choice FROM choices_player c"
            " JOIN otree_participant p ON p.id = c.participant_id WHERE c.choice IS NOT NULL"
        ):
            answers.setdefault(code, {})[round_] = choice
        connection.close()
        return Stored(answers, imbalance=0)


def _session(port: int, participants: int) -> str:
    asked = {"session_config_name": "choices", "num_participants": participants}
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/sessions",
        json.dumps(asked).encode(),
        {"otree-rest-key": _KEY, "Content-Type": "application/json"},
    )
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(request, timeout=600) as reply:
        return re.sub(r"^https?://[^/]+", "", json.load(reply)["session_wide_url"])
