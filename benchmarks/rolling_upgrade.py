"""Replace two nodes by another version, one after the other, while people take part.

Usage: python benchmarks/rolling_upgrade.py [--per-second 4] [--seconds 60]

PostgreSQL, two nodes and Caddy by the compose file's own rules run on this machine. The new version
is a copy of the source whose pages have another program. After a quarter of the time
node one is stopped and started from the copy, after a half node two. People arrive all the time,
load what their pages name, and send each request again until it is acknowledged, as the page's
program does; a page whose files another version refuses four times is loaded anew. Afterwards what
was acknowledged is compared with what is stored. Ends with exit status 1 where something is lost,
where somebody does not finish, or where one address of a file ever gives two contents.
"""

import argparse
import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import httpx
from load_platforms.processes import end, free_port, wait_until_listening
from sqlalchemy import select

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))

from experiment.studies.load import BUILT_IN, load_study  # noqa: E402 - after the path
from tests.webapp.postgres import postgres_server  # noqa: E402
from webapp.core.clock import utc_now  # noqa: E402
from webapp.database.engine import make_sessions, open_database, reading  # noqa: E402
from webapp.database.models import Participant, Response  # noqa: E402
from webapp.runs.launch import launch  # noqa: E402
from webapp.server import process as server  # noqa: E402

_PART = re.compile(r'<(?:link|script)\b[^>]*?\b(?:href|src)="(/assets/[^"]+)"')
_SESSION = re.compile(r'id="session">(.*?)</script>', re.DOTALL)
_AGAIN_S, _THINK_S, _ATTEMPTS, _PATIENCE_S = 0.5, 0.4, 4, 120.0


@dataclass
class Met:
    """What people met.

    Attributes:
        refused: How often a request was not answered as it should be, by how.
        contents: What each address of a file gave.
        reloaded: The pages that were loaded anew because their files could not be had.
        acknowledged: The UUIDs of the answers that were acknowledged.
        finished: How many came to the last page.
        longest_s: The longest time until a request was answered as it should be.
    """

    refused: Counter[str] = field(default_factory=Counter)
    contents: defaultdict[str, set[bytes]] = field(default_factory=lambda: defaultdict(set))
    reloaded: int = 0
    acknowledged: set[str] = field(default_factory=set)
    finished: int = 0
    longest_s: float = 0.0


async def ask(client: httpx.AsyncClient, met: Met, method: str, path: str, **sent: object) -> str:
    """Send a request until it is answered; return the page, or where a redirect leads."""
    begun = time.monotonic()
    while time.monotonic() - begun < _PATIENCE_S:
        try:
            reply = await client.request(method, path, **sent)  # type: ignore[arg-type]
        except httpx.HTTPError as error:
            met.refused[type(error).__name__] += 1
        else:
            if reply.status_code in (200, 303):
                met.longest_s = max(met.longest_s, time.monotonic() - begun)
                return reply.headers.get("location", reply.text)
            met.refused[str(reply.status_code)] += 1
        await asyncio.sleep(_AGAIN_S)
    raise TimeoutError(f"{method} {path.split('/')[1]}: no answer in {_PATIENCE_S} s")


async def open_page(client: httpx.AsyncClient, met: Met, path: str) -> str:
    """Return a page once all files that it names are here."""
    while True:
        page = await ask(client, met, "GET", path)
        if all([await _has_file(client, met, part) for part in set(_PART.findall(page))]):
            return page
        met.reloaded += 1


async def _has_file(client: httpx.AsyncClient, met: Met, path: str) -> bool:
    for _ in range(_ATTEMPTS):
        try:
            reply = await client.get(path)
        except httpx.HTTPError as error:
            met.refused[f"file: {type(error).__name__}"] += 1
        else:
            if reply.status_code == 200:
                met.contents[path].add(reply.content)
                return True
            met.refused[f"file: {reply.status_code}"] += 1
        await asyncio.sleep(_AGAIN_S)
    return False


async def take_part(address: str, link: str, met: Met) -> None:
    """Take part from the link to the last page."""
    async with httpx.AsyncClient(base_url=address, trust_env=False, timeout=30) as client:
        await open_page(client, met, link)
        home = await ask(client, met, "POST", link, data={"decision": "accept"})
        found = _SESSION.search(await open_page(client, met, home))
        assert found is not None
        for trial in json.loads(found[1])["trials"]:
            await asyncio.sleep(_THINK_S)
            uuid = str(uuid4())
            answer = {"uuid": uuid, "position": trial["position"], "side": "first"}
            body = {**answer, "input_method": "key"}
            await ask(client, met, "POST", f"{home}answers", json=body)
            met.acknowledged.add(uuid)
        await open_page(client, met, home)
        form = {"native_language": "English"}
        await ask(client, met, "POST", f"{home}questionnaire", data=form)
        last = await open_page(client, met, home)
        met.finished += 'data-page="closing"' in last


def new_version(folder: Path) -> Path:
    """Return a copy of the source whose pages have another program."""
    copy = folder / "new"
    for name in ("webapp", "experiment"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("wsgi.py", "parallax.py"):
        shutil.copy(ROOT / name, copy / name)
    with (copy / "webapp/static/trial.js").open("a", encoding="utf-8") as file:
        file.write('\nwindow.ofTheNewVersion = "yes";\n')
    return copy


def start(source: Path, instance: Path, port: int) -> None:
    """Start a node in the background; return once it answers."""
    command = [sys.executable, "-m", "parallax", "serve", "--background", "--port", str(port)]
    own = {**os.environ, "PYTHONPATH": str(source)}
    command += ["--instance", str(instance)]
    subprocess.run(command, cwd=source, env=own, check=True, capture_output=True)


def start_caddy(folder: Path, ports: list[int]) -> tuple[subprocess.Popen[bytes], str]:
    """Start Caddy before the nodes, by the rules of docs/deploy/Caddyfile, without TLS."""
    own = (ROOT / "docs/deploy/Caddyfile").read_text(encoding="utf-8")
    found = re.search(r"reverse_proxy one:8000 two:8000 \{.*?\n    \}", own, re.DOTALL)
    assert found is not None
    nodes = found[0].replace("one:8000 two:8000", " ".join(f"127.0.0.1:{p}" for p in ports))
    port = free_port()
    config = folder / "Caddyfile"
    nodes = nodes.replace("{$DOMAIN}", "localhost")
    config.write_text(f"{{\n admin off\n auto_https off\n}}\n:{port} {{\n {nodes}\n}}\n")
    home = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    with (folder / "caddy.log").open("ab") as log:
        command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(config)]
        process = subprocess.Popen(command, env=home, stdout=log, stderr=log)
    wait_until_listening(port)
    return process, f"http://127.0.0.1:{port}"


def launched(url: str, folder: Path, people: int) -> str:
    """Launch a study of eight trials with room for everybody; return its link."""
    study = folder / "minimal"
    shutil.copytree(BUILT_IN / "minimal", study)
    toml = (study / "study.toml").read_text(encoding="utf-8")
    toml = re.sub(r"(?m)^participants_per_list = \d+", f"participants_per_list = {people}", toml)
    (study / "study.toml").write_text(toml, encoding="utf-8")
    engine = open_database(url)
    with make_sessions(engine).begin() as session:
        run = launch(session, load_study(str(study)), 1, "direct", now=utc_now(), code_version="0")
    engine.dispose()
    return f"/run/{run.ref}"


async def campaign(
    options: argparse.Namespace, address: str, link: str, nodes: list[tuple[Path, int]], new: Path
) -> tuple[Met, int, list[str]]:
    """Let people come, and replace the nodes; return what they met, how many came, and problems."""
    met, begun, people = Met(), time.monotonic(), []
    due = [options.seconds / 4, options.seconds / 2]
    replacing: list[asyncio.Task[float]] = []
    while due or time.monotonic() - begun < options.seconds or not replacing[-1].done():
        people.append(asyncio.create_task(take_part(address, link, met)))
        before_done = not replacing or replacing[-1].done()
        if due and before_done and time.monotonic() - begun > due[0]:
            due.pop(0)
            node = nodes[len(replacing)]
            replacing.append(asyncio.create_task(asyncio.to_thread(replace, new, *node)))
        await asyncio.sleep(1 / options.per_second)
    outcomes = await asyncio.gather(*people, return_exceptions=True)
    for number, task in enumerate(replacing, start=1):
        print(f"node {number} was away for {task.result():.1f} s")
    return met, len(people), [repr(each) for each in outcomes if each is not None]


def replace(new: Path, instance: Path, port: int) -> float:
    """Stop a node and start it from the new version; return how long it was away."""
    begun = time.monotonic()
    server.stop(instance)
    start(new, instance, port)
    return time.monotonic() - begun


def main() -> None:
    """Run the campaign and print what people met."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--per-second", type=float, default=4.0, help="how many people arrive")
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="parallax-rolling-") as name, postgres_server() as pg:
        folder = Path(name)
        with pg.database() as url:
            key = folder / "key"
            key.write_text("k" * 64, encoding="utf-8")
            key.chmod(0o600)
            nodes = [(folder / each, free_port()) for each in ("one", "two")]
            # On a busy machine the nodes may be away for minutes; nobody must find the study full.
            link = launched(url, folder, int(40 * options.per_second * options.seconds))
            for instance, port in nodes:
                instance.mkdir()
                lines = {"database_url": url, "secret_key_file": str(key), "workers": 1}
                lines["trusted_proxies"] = "127.0.0.1"
                text = "".join(f"{k} = {json.dumps(v)}\n" for k, v in lines.items())
                (instance / "parallax.toml").write_text(text, encoding="utf-8")
                start(ROOT, instance, port)
            caddy, address = start_caddy(folder, [port for _, port in nodes])
            try:
                work = campaign(options, address, link, nodes, new_version(folder))
                met, came, problems = asyncio.run(work)
            finally:
                end(caddy)
                for instance, _ in nodes:
                    server.stop(instance)
            sys.exit(not told(met, came, problems, url))


def told(met: Met, came: int, problems: list[str], url: str) -> bool:
    """Print what people met; return whether it is as it should be."""
    engine = open_database(url)
    with reading(make_sessions(engine)) as session:
        stored = set(session.scalars(select(Response.client_uuid)))
        finished = [state == "finished" for state in session.scalars(select(Participant.state))]
    engine.dispose()
    versions = {path.split("/")[2].partition(".")[0] for path in met.contents}
    mixed = sum(len(each) > 1 for each in met.contents.values())
    rows = {
        "people who came": came,
        "of these finished": sum(finished),
        "answers acknowledged": len(met.acknowledged),
        "of these lost": len(met.acknowledged - stored),
        "versions of the files": len(versions),
        "addresses of files with two contents": mixed,
        "pages loaded anew": met.reloaded,
        "longest wait for a reply, s": round(met.longest_s, 1),
        **{f"asked again: {how}": times for how, times in sorted(met.refused.items())},
    }
    for name, value in rows.items():
        print(f"{name:40}{value:>8}")
    for problem in problems[:3]:
        print(problem)
    lost = bool(met.acknowledged - stored)
    return not (lost or mixed or problems) and met.finished == came == sum(finished)


if __name__ == "__main__":
    main()
