"""Lose a machine with all its disks while people answer, and bring it back from the bucket alone.

Usage: python benchmarks/off_site.py [--before 0 100] [--people 30] [--every 30] [--seconds 60]

A stand-in of S3 (moto) runs on this machine. An installation on SQLite backs itself up there, as
docs/database.md#off-site says: every so many seconds, encrypted. --before people have answered
everything; --people more answer one trial about every second. Then the server is killed and
everything it had on its disk is deleted, its backups, too. The page's commands bring it back on
"another machine", an empty folder that has the two settings and the private key. How much of what
was acknowledged is missing is the data loss (RPO), how long it took until the server admits people
again the recovery time (RTO). Ends with exit status 1 if something is missing that was
acknowledged before the newest backup began, or if somebody's link does not lead on.
"""

import argparse
import asyncio
import logging
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import boto3
import psutil
import pyrage
from load_platforms.browser import Browser, UnexpectedAnswer
from load_platforms.clients import Plan, send
from load_platforms.parallax import Parallax
from load_platforms.platform import Participant, Site
from load_platforms.processes import free_port
from moto.server import ThreadedMotoServer
from request_cost import Person

_TRIALS = 76
_BUCKET, _STAMP = "s3://lab/parallax", "%Y%m%dT%H%M%S.%f"


class Crowd(Parallax):
    """People who answer until the server is gone, with when each answer was acknowledged."""

    def __init__(self) -> None:
        super().__init__("marvin_linzen_2018", "", 2)
        self.where = "", 0
        self.homes: dict[int, str] = {}
        self.at: dict[tuple[str, int], float] = {}

    async def take_part(self, participant: Participant) -> None:
        """Arrive and answer, keeping the link."""
        person = Person(participant.number, Site(*self.where, 0))
        person.browser = participant.browser
        await person.open_link(self.run)
        await person.accept(self.run)
        self.homes[participant.number] = person.home
        participant.name = person.home.removeprefix("/p/").partition(".")[0]
        for position in range(1, _TRIALS + 1):
            await participant.think()
            await person.answer([position])
            participant.acknowledged[position] = "an answer"
            self.at[participant.name, position] = time.time()


class Lost(NamedTuple):
    """What a lost machine cost.

    Attributes:
        acknowledged: How many answers of the people at work were acknowledged.
        missing: How many of them the new machine does not have.
        too_many: How many of these came before the newest backup began.
        age_s: How old that backup was when the machine died.
        mib: The size of the database.
        steps_s: How long fetching, restoring and starting took.
        cpu_s: The processor seconds of fetching and restoring.
        back: How many people's links lead on, of those who had arrived before the backup.
        arrived: How many these are.
    """

    acknowledged: int
    missing: int
    too_many: int
    age_s: float
    mib: float
    steps_s: tuple[float, float, float]
    cpu_s: float
    back: int
    arrived: int


@contextmanager
def stand_in() -> Iterator[str]:
    """Yield the address of an empty bucket's provider."""
    given = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}
    os.environ |= {**given, "AWS_DEFAULT_REGION": "us-east-1", "PARALLAX_BACKUP_BUCKET": _BUCKET}
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=free_port(), verbose=False)
    server.start()
    endpoint = "http://{}:{}".format(*server.get_host_and_port())
    os.environ["PARALLAX_BACKUP_ENDPOINT"] = endpoint
    boto3.client("s3", endpoint_url=endpoint).create_bucket(Bucket="lab")
    boto3.resource("s3", endpoint_url=endpoint).Bucket("lab").objects.delete()
    try:
        yield endpoint
    finally:
        server.stop()


def parallax(instance: Path, *arguments: str) -> float:
    """Run a command on an installation; return how long it took, in seconds."""
    began = time.monotonic()
    command = [sys.executable, "-m", "parallax", *arguments, "--instance", str(instance)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"parallax {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return time.monotonic() - began


def lose(options: argparse.Namespace, folder: Path, before: int) -> Lost:
    """Let people answer, lose the machine, bring it back, and compare."""
    machine, elsewhere, backups = folder / "machine", folder / "elsewhere", folder / "backups"
    machine.mkdir()
    backups.mkdir()
    mine = pyrage.x25519.Identity.generate()
    readers, identity = folder / "readers", folder / "identity"
    readers.write_text(f"{mine.to_public()}\n")
    identity.write_text(f"{mine}\n")
    crowd, instance = Crowd(), machine / "instance"
    site = crowd.start(machine, before + options.people)
    crowd.where = site.host, site.port
    if before:
        send(Plan(before, "once", 0, 0, 1), _as_parallax(crowd), site, (site.pid,))
    backing_up = subprocess.Popen(
        [sys.executable, "-m", "parallax", "db", "backup", str(backups), "--encrypt", str(readers),
         "--every", str(options.every / 3600), "--instance", str(instance)],
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    deaths: list[float] = []
    gone = (deaths, (site.pid, backing_up.pid), (machine, backups))
    died = threading.Timer(options.seconds, _destroy, gone)
    died.start()
    # They arrive within a fifth of the time.
    plan = Plan(options.people, "poisson", options.seconds / 5, 1.0, 2)
    met = send(plan, crowd, site, (site.pid,))
    died.join()
    backing_up.wait()
    elsewhere.mkdir()
    before_s = _children_s()
    fetched_s = parallax(
        elsewhere, "db", "fetch", str(folder / "there"), "--identity", str(identity)
    )
    [newest] = (folder / "there").glob("*.backup.age")
    restored_s = parallax(elsewhere, "db", "restore", str(newest), "--identity", str(identity))
    used_s, port = _children_s() - before_s, free_port()
    started_s = parallax(elsewhere, "serve", "--background", "--port", str(port))
    crowd._instance = elsewhere
    stored = crowd.stored().answers
    begun = _began(newest)
    given = [(person.name, position) for person in met.people for position in person.acknowledged]
    missing = [each for each in given if each[1] not in stored.get(each[0], {})]
    homes = [home for home in crowd.homes.values() if _name(home) in stored]
    back = asyncio.run(_led_on(Site("127.0.0.1", port, 0), homes))
    size = (elsewhere / "parallax.sqlite3").stat().st_size / 2**20
    crowd.stop()
    return Lost(
        acknowledged=len(given),
        missing=len(missing),
        too_many=sum(crowd.at[each] < begun for each in missing),
        age_s=deaths[0] - begun,
        mib=size,
        steps_s=(fetched_s, restored_s, started_s),
        cpu_s=used_s,
        back=back,
        arrived=len(homes),
    )


def _as_parallax(crowd: Crowd) -> Parallax:
    """Return the same installation, to which people come who answer everything."""
    whole = Parallax("marvin_linzen_2018", "", 2)
    whole._run, whole._questionnaire = crowd.run, crowd.questionnaire
    return whole


def _destroy(deaths: list[float], pids: Sequence[int], folders: Sequence[Path]) -> None:
    """Kill what runs, delete what it had, and say when."""
    deaths.append(time.time())
    doomed = [psutil.Process(pid) for pid in pids]
    for process in [child for each in doomed for child in (each, *each.children(recursive=True))]:
        process.kill()
    for folder in folders:
        shutil.rmtree(folder)


def _began(backup: Path) -> float:
    """Return when a backup began, which is its name."""
    stamp = backup.name.removeprefix("parallax-").partition("Z")[0]
    return datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC).timestamp()


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _name(home: str) -> str:
    return home.removeprefix("/p/").partition(".")[0]


async def _led_on(site: Site, homes: list[str]) -> int:
    """Return how many links lead to their page."""
    led = 0
    for home in homes:
        browser = Browser(site.host, site.port)
        try:
            await browser.get(home)
            led += 1
        except (UnexpectedAnswer, OSError) as error:
            print(f"{_name(home)}: {error}", file=sys.stderr)
        browser.close()
    return led


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--before", type=int, nargs="+", default=[0, 100], help="who answered all")
    parser.add_argument("--people", type=int, default=30, help="who are at work")
    parser.add_argument("--every", type=float, default=30.0, help="seconds between two backups")
    parser.add_argument("--seconds", type=float, default=60.0, help="until the machine is lost")
    options = parser.parse_args()
    sound = True
    print("answered   MiB   at work: acknowledged  missing  backup's age"
          "   fetch restore   start     RTO    CPU  go on")  # fmt: skip
    for before in options.before:
        with stand_in(), tempfile.TemporaryDirectory(prefix="parallax-lost-") as name:
            lost = lose(options, Path(name), before)
        steps = "".join(f"{s:8.1f}" for s in (*lost.steps_s, sum(lost.steps_s)))
        counts = f"{before * _TRIALS:8,} {lost.mib:5.1f} {lost.acknowledged:23,}  {lost.missing:7,}"
        people = f"{lost.back} of {lost.arrived}"
        print(f"{counts} {lost.age_s:13.1f}{steps}{lost.cpu_s:7.1f}  {people}", flush=True)
        sound = sound and not lost.too_many and lost.back == lost.arrived
    sys.exit(not sound)


if __name__ == "__main__":
    main()
