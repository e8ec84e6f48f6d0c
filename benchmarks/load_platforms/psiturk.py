"""psiTurk with its own example's pages and the requests that its psiturk.js makes."""

import json
import re
import sqlite3
import subprocess
import time
from collections import Counter
from pathlib import Path

from load_platforms.peers import PSITURK, TRIALS, environment
from load_platforms.platform import Participant, Site, Stored, spread
from load_platforms.processes import end, free_port, spawn, wait_until_listening

_UNIQUE_ID = re.compile(rb'var uniqueId = "([^"]+)"')
_FORM, _JSON = "application/x-www-form-urlencoded", "application/json"
_CONDITIONS = 10
_CONFIG = """\
[Database Parameters]
database_url = sqlite:///participants.db
[Server Parameters]
host = 127.0.0.1
port = {port}
errorlog = psiturk.log
[Task Parameters]
num_conds = {conditions}
"""


class PsiTurk:
    """psiTurk as it is installed: its own number of server processes, SQLite.

    Args:
        peers: The folder of the peers' environments.
    """

    name = "psiturk"

    def __init__(self, peers: Path) -> None:
        self._programs = environment(peers, "psiturk", PSITURK)

    def start(self, folder: Path, participants: int) -> Site:
        """Serve the example's pages; anybody may come."""
        subprocess.run(
            [str(self._programs / "psiturk-setup-example")],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        self._folder, port = folder / "psiturk-example", free_port()
        config = _CONFIG.format(port=port, conditions=_CONDITIONS)
        (self._folder / "config.txt").write_text(config, encoding="utf-8")
        command = [str(self._programs / "python"), "-m", "psiturk.experiment_server"]
        self._process = spawn(command, self._folder, {})
        wait_until_listening(port)
        return Site("127.0.0.1", port, self._process.pid)

    async def take_part(self, participant: Participant) -> None:
        """Go through advertisement, consent and experiment, and save after every trial.

        Each save sends everything that was answered so far, as psiturk.js does.
        """
        browser, number = participant.browser, participant.number
        who = f"hitId=h{number}&assignmentId=a{number}&workerId=w{number}&mode=live"
        await browser.get_parts(await browser.get(f"/pub?{who}"))
        await browser.get(f"/consent?{who}")
        page = await browser.get(f"/exp?{who}")
        await browser.get_parts(page)
        found = _UNIQUE_ID.search(page.content)
        assert found is not None
        unique_id = participant.name = found[1].decode()
        await browser.get(f"/sync/{unique_id}")
        await browser.post("/inexp", f"uniqueId={unique_id}".encode(), _FORM)
        rows: list[str] = []
        for trial in range(TRIALS):
            await participant.think()
            choice = participant.rng.choice(("first", "second"))
            rows.append(_row(unique_id, trial, choice))
            body = _blob(number, trial + 1, rows)
            await browser.save(f"/sync/{unique_id}", body, _JSON, method="PUT")
            participant.acknowledged[trial] = choice
        await browser.get(f"/complete?uniqueId={unique_id}&mode=live")

    def stop(self) -> None:
        """Stop the server."""
        end(self._process)

    def stored(self) -> Stored:
        """Return every trial's choice, and how evenly the conditions were finished."""
        answers: dict[str, dict[int, str]] = {}
        finished = Counter(dict.fromkeys(range(_CONDITIONS), 0))
        connection = sqlite3.connect(self._folder / "participants.db")
        for unique_id, condition, text, ended in connection.execute(
            "SELECT uniqueid, cond, datastring, endhit FROM assignments"
        ):
            data = json.loads(text)["data"] if text else []
            answers[unique_id] = {row["current_trial"]: row["trialdata"]["choice"] for row in data}
            finished[condition] += ended is not None
        connection.close()
        return Stored(answers, spread(list(finished.values())))


def _row(unique_id: str, trial: int, choice: str) -> str:
    return json.dumps(
        {
            "uniqueid": unique_id,
            "current_trial": trial,
            "dateTime": round(time.time() * 1000),
            "trialdata": {"choice": choice, "rt": 1234.5, "phase": "test"},
        }
    )


def _blob(number: int, trial: int, rows: list[str]) -> bytes:
    rest = json.dumps(
        {
            "condition": 0,
            "counterbalance": 0,
            "assignmentId": f"a{number}",
            "workerId": f"w{number}",
            "hitId": f"h{number}",
            "currenttrial": trial,
            "bonus": 0,
            "questiondata": {},
            "eventdata": [],
            "useragent": "Chrome",
            "mode": "live",
        }
    )
    return f'{rest[:-1]}, "data": [{", ".join(rows)}]}}'.encode()
