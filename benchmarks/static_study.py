"""Compare a study without a server with the same study on a server, with 200 participants.

A fifth of the participants drop out. On each store's stand-in, the same participants give the same
answers as on a server, and the export of the imported data is compared with the server's, row by
row. The output also shows the lists' imbalance and its predictions: from the written folder before
any arrival, and from the import. Finally, participants draw their sessions at random, as they do if
a store has no counter and links contain no session: several participants then draw the same one,
and a server has no such rows to compare with.
"""

import csv
import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import click
from click.testing import CliRunner
from flask.testing import FlaskClient

from experiment.studies.load import STUDIES_FOLDER, load_study
from marketplace.stores import create_stores
from marketplace.stores.datapipe import Experiment, write_partial_files
from parallax import cli
from webapp import create_app
from webapp.core.clock import utc_now
from webapp.runs.launch import launch_run
from webapp.serverless.session_files import compute_checksum
from webapp.services import services_of

_BEGIN = datetime(2026, 11, 25, 9, tzinfo=UTC)
_DEVICE = {"mark": "a" * 32, "user_agent_family": "simulated", "time_zone_offset_min": 0}
# What differs by its nature: random names, and the clocks.
_LEFT_OUT = ("participant", "arrived_at", "consented_at", "finished_at", "recorded_at", "at")
_TABLES = (
    "participants", "endings", "trials", "responses", "timings", "answers", "devices", "events",
    "verdicts",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who takes part.

    Attributes:
        number: When they come, from 1.
        drops: After how many answers they leave; None for who stays.
    """

    number: int
    drops: int | None

    @property
    def name(self) -> str:
        """What stands for them in the folder: twelve letters and digits."""
        return f"p{self.number:011}"

    def answers(self, trials: Sequence[dict]) -> Iterator[dict]:
        """Yield what they send, the same wherever they send it."""
        rng = random.Random(self.number)
        for trial in trials[: self.drops]:
            yield {
                "uuid": str(UUID(int=rng.getrandbits(128), version=4)),
                "position": trial["position"],
                "side": rng.choice(["first", "second"]),
                "rt_ms": round(rng.uniform(400, 3000), 1),
                "input_method": rng.choice(["key", "pointer", "touch"]),
                "client_time": (_BEGIN + timedelta(seconds=trial["position"])).isoformat(),
                "waited_ms": 5,
                "trusted": True,
            }


def people(number: int, dropout: float, trials: int) -> list[Person]:
    """Return so many people, of whom some leave after some answers."""
    rng = random.Random(1)
    return [
        Person(n, rng.randrange(trials) if rng.random() < dropout else None)
        for n in range(1, number + 1)
    ]


def larger_minimal(folder: Path, per_list: int) -> Path:
    """Copy the minimal study with so many places in each list."""
    study = folder / "study"
    shutil.copytree(STUDIES_FOLDER / "minimal", study)
    toml = study / "study.toml"
    lines = toml.read_text(encoding="utf-8").splitlines()
    lines = [
        f"participants_per_list = {per_list}" if line.startswith("participants_per_list") else line
        for line in lines
    ]
    toml.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return study


def taken_on_a_server(study: Path, instance: Path, everybody: Sequence[Person]) -> str:
    """Let everybody take the study on a server, and return its run."""
    app = create_app(instance)
    with services_of(app).sessions() as session:
        run = launch_run(
            session, load_study(str(study)), 1, "direct", now=utc_now(), code_version="0",
            simulated=True,
        )  # fmt: skip
        session.commit()
        ref = run.ref
    for person in everybody:
        _take_on_the_server(app.test_client(), ref, person)
    return ref


def _take_on_the_server(client: FlaskClient, ref: str, person: Person) -> None:
    at = {"REMOTE_ADDR": f"10.0.{person.number // 250}.{person.number % 250 + 1}"}
    form = {"visit": person.name, "decision": "accept"}
    home = client.post(f"/run/{ref}", data=form, environ_base=at).headers["Location"]
    page = client.get(home, environ_base=at).get_data(as_text=True)
    text = page.partition('id="session">')[2].partition("</script>")[0]
    client.post(f"{home}device", json=_DEVICE, environ_base=at)
    for answer in person.answers(json.loads(text)["trials"]):
        done = client.post(f"{home}answers", json=answer, environ_base=at)
        assert done.status_code == 200, done.text
    if person.drops is None:
        form = {"native_language": "English"}
        assert client.post(f"{home}questionnaire", data=form, environ_base=at).status_code == 303


class Browser:
    """What a person's browser writes down, and hands to a store."""

    def __init__(
        self, version: str, trials: Sequence[dict], person: Person, number: int, by: str
    ) -> None:
        self.version, self.person, self.entries = version, person, []
        consent = {"decision": "accept", "code": f"c{person.number:011}", "parameters": {}}
        self._write("consent", consent)
        self._write("place", {"number": number, "by": by, "total": len(trials)})
        self._write("device", _DEVICE)
        for answer in person.answers(trials):
            self._write("answer", answer)
        if person.drops is None:
            self._write("questionnaire", {"native_language": "English"})

    def _write(self, kind: str, what: dict) -> None:
        n, session = len(self.entries) + 1, self.person.name
        at = (_BEGIN + timedelta(seconds=self.person.number * 1000 + n)).isoformat()
        body = json.dumps(what)
        check = compute_checksum("\n".join((self.version, session, str(n), kind, at, body)))
        self.entries.append(
            {"parallax": 1, "folder": self.version, "session": session, "n": n, "kind": kind,
             "at": at, "body": body, "check": check}
        )  # fmt: skip


def opened(folder: Path, person: Person, number: int, by: str = "link") -> Browser:
    """Let somebody take a session of a folder in their browser."""
    page = (folder / "index.html").read_text(encoding="utf-8")
    text = page.partition('id="study">')[2].partition("</script>")[0]
    trials = json.loads((folder / f"sessions/{number}.json").read_text())["trials"]
    return Browser(json.loads(text)["folder"], trials, person, number, by)


def into_post(client: FlaskClient, browser: Browser) -> None:
    """Send each entry as it is written."""
    for entry in browser.entries:
        assert client.post("/keep", data=json.dumps([entry])).status_code == 204


def into_datapipe(client: FlaskClient, browser: Browser) -> None:
    """Stage each entry, and hand in the whole at the end."""
    pipe, name = "/datapipe", browser.person.name
    begun = {"experimentID": "e", "filename": f"{name}.json"}
    key = client.post(f"{pipe}/api/session/", json=begun).json["sessionId"]
    for entry in browser.entries:
        body = {f"trials/{entry['n'] - 1}": json.dumps(entry)}
        client.patch(f"{pipe}/database/staging/{key}.json", json=body)
    if browser.person.drops is None:
        whole = {"experimentID": "e", "filename": f"{name}-whole.json", "sessionId": key}
        whole["data"] = json.dumps(browser.entries)
        assert client.post(f"{pipe}/api/data/", json=whole).status_code == 201


def into_jatos(client: FlaskClient, browser: Browser) -> None:
    """Append each entry to the results."""
    [code] = client.application.blueprints["jatos"].jatos.studies
    start = client.get(f"/publix/{code}").headers["Location"].rpartition("/start")[0]
    client.get(f"{start}/start")
    for entry in browser.entries:
        assert client.post(f"{start}/resultData", data=json.dumps(entry) + "\n").status_code == 200


def drawn(
    store: str, everybody: Sequence[Person], client: FlaskClient, *, by_chance: bool
) -> Iterator[tuple[int, str]]:
    """Yield the session that each person draws, and how: by a counter, by links, or by chance."""
    rng = random.Random(3)
    for person in everybody:
        if by_chance:
            yield rng.randint(1, len(everybody)), "chance"
        elif store == "datapipe":
            given = client.post("/datapipe/api/condition/", json={"experimentID": "e"})
            yield given.json["condition"] + 1, "counter"
        else:
            yield person.number, "link"


def taken_without(
    study: Path,
    root: Path,
    store: str,
    everybody: Sequence[Person],
    dropout: float,
    *,
    by_chance: bool = False,
) -> tuple[str, str]:
    """Let everybody take the study without a server.

    Returns:
        Its run; and what is said of it by whoever writes the folder, and by the import.
    """
    kept, instance, out = root / "kept", root / "instance", root / "site"
    app = create_stores(kept)
    client = app.test_client()
    options = {
        "post": ("--store", "post", "--url", "http://localhost/keep"),
        "datapipe": ("--store", "datapipe", "--experiment", "e"),
        "jatos": (),
        "file": (),
    }[store]
    common = (
        "--seed", "1", "--simulated", "--sessions", str(len(everybody)),
        "--dropout", f"{100 * dropout:.0f}",
    )  # fmt: skip
    before = run_command(
        *("study", "static", str(study), "--out", str(out), "--instance", str(instance)),
        *(*common, *options),
    )
    app.blueprints["datapipe"].experiments["e"] = Experiment(n_conditions=len(everybody))
    if store == "jatos":
        archive, other = root / "study.jzip", root / "other"
        before = run_command(
            *("study", "static", str(study), "--out", str(archive), "--instance", str(other)),
            *(*common, "--store", "jatos"),
        )
        app.blueprints["jatos"].jatos.import_archive(archive.read_bytes())
    send: dict[str, Callable[[FlaskClient, Browser], None]] = {
        "post": into_post, "datapipe": into_datapipe, "jatos": into_jatos,
    }  # fmt: skip
    (kept / "file").mkdir(parents=True)
    draws = drawn(store, everybody, client, by_chance=by_chance)
    for person, (number, by) in zip(everybody, draws, strict=True):
        browser = opened(out, person, number, by)
        if store == "file":
            text = json.dumps(browser.entries)
            (kept / "file" / f"{person.name}.json").write_text(text, encoding="utf-8")
        else:
            send[store](client, browser)
    if store == "datapipe":
        write_partial_files(app.blueprints["datapipe"], kept / "datapipe")
    if store == "jatos":
        jatos = app.blueprints["jatos"].jatos
        (kept / "jatos").mkdir()
        [code] = jatos.studies
        (kept / "jatos" / "results.jrzip").write_bytes(jatos.results(code))
    told = run_command("import", "sessions", str(kept / store), "--instance", str(instance))
    return told.partition("Run ")[2].split()[0], before + told


def run_command(*arguments: str) -> str:
    """Run a command of Parallax, and return what it printed."""
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def exported(run: str, instance: Path, out: Path) -> dict[str, list[dict[str, str]]]:
    """Return a run's tables, without what differs by its nature; people by when they came."""
    run_command("exclude", run, "--instance", str(instance))
    run_command("export", run, "--instance", str(instance), "--out", str(out))
    found = {}
    for name in _TABLES:
        with (out / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            found[name] = list(csv.DictReader(file))
    came = {row["participant"]: row["number"] for row in found["participants"]}
    for name, rows in found.items():
        plain = [
            {
                "who": came[row["participant"]],
                **{k: v for k, v in row.items() if k not in _LEFT_OUT},
            }
            for row in rows
        ]
        found[name] = sorted(plain, key=lambda row: sorted(row.items()))
    return found


def compared(
    store: str, number: int, dropout: float, root: Path
) -> tuple[dict[str, tuple[int, int]], str]:
    """Return, for each table, its rows and how many of them differ; and what the import says."""
    study = larger_minimal(root, -(-number // load_study("minimal").design.n_lists))
    everybody = people(number, dropout, 8)
    server = taken_on_a_server(study, root / "server", everybody)
    expected = exported(server, root / "server", root / "expected")
    run, told = taken_without(study, root, store, everybody, dropout)
    found = exported(run, root / "instance", root / "found")
    rows = {}
    for name in _TABLES:
        pairs = zip(expected[name], found[name], strict=False)
        differing = sum(one != other for one, other in pairs)
        differing += abs(len(expected[name]) - len(found[name]))
        rows[name] = (len(expected[name]), differing)
    return rows, told


@click.command()
@click.option("--people", "number", default=200, show_default=True)
@click.option("--dropout", default=0.2, show_default=True)
def main(number: int, dropout: float) -> None:
    """Compare each store with a server."""
    for store in ("post", "datapipe", "jatos", "file"):
        with tempfile.TemporaryDirectory() as folder:
            rows, told = compared(store, number, dropout, Path(folder))
        click.echo(f"{store}: rows that differ from the server's export")
        click.echo(", ".join(f"{name} {bad} of {all_}" for name, (all_, bad) in rows.items()))
        _say(told)
    with tempfile.TemporaryDirectory() as folder:
        study = larger_minimal(Path(folder), -(-number // load_study("minimal").design.n_lists))
        everybody = people(number, dropout, 8)
        _, told = taken_without(study, Path(folder), "file", everybody, dropout, by_chance=True)
    click.echo("file, drawn by chance")
    _say(told)


def _say(told: str) -> None:
    for line in told.splitlines():
        said = line.startswith(("Sessions are drawn", "Lists:", "Left out", "Session "))
        if said or " files:" in line or "given to several" in line:
            click.echo(f"  {line}")


if __name__ == "__main__":
    main()
