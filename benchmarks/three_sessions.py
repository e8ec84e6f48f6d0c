"""A study in three sessions on Prolific's stand-in, by commands, from launch to the books.

Usage: python benchmarks/three_sessions.py [--people 8]

Of the people of the first part one withdraws, who gets the study's share at once, and one goes
away. Who finished is invited to the second part: one does not come, one goes away in the middle.
The third part is offered to the rest, of whom one does not come. Somebody who went away tries to
take the part after all. Each part is paid by itself; then the codes, the statement and the
stand-in's own books are shown. The later parts are paid by the same commands as the first, which
are not shown again, and each part was mended with ``reconcile --fix`` before. The names of runs are
drawn, so they are others each time. Ends with exit status 1 if the statement and
the books differ, or if somebody is in a part who did not finish the one before.
"""

import argparse
import csv
import logging
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from click.testing import CliRunner
from fault_injection.environment import small_study
from fault_injection.prolific import Participant, ProlificEnvironment, open_prolific_environment

import parallax
from webapp.core.clock import utc_now
from webapp.jobs.reports import send_reports
from webapp.payments.spending.lines import Standing
from webapp.services import EXTENSION

STUDY_TAKES_MIN = 1
SHARE = 50  # per cent of the reward, for who withdraws
AUTHOR = "The next part is open: you find it among your studies."
SHOWN_CHARS = 150
SPENT = (Standing.PAID, Standing.NOT_IN_THE_LEDGER)


@dataclass
class Researcher:
    """Somebody at a shell, whose commands and answers are printed.

    Attributes:
        environment: The installation and the stand-in.
        failed: The commands that ended otherwise than with success.
    """

    environment: ProlificEnvironment
    failed: list[str] = field(default_factory=list)

    def do(self, *command: str, quiet: bool = False) -> str:
        """Give a command, and return what it printed."""
        instance = str(self.environment.folder / "instance")
        runner = CliRunner(env={"PARALLAX_INSTANCE": instance, "COLUMNS": "150"})
        result = runner.invoke(parallax.cli, list(command))
        said = result.output.rstrip()
        if not isinstance(result.exception, SystemExit | None):
            said = f"{said}\n{result.exception}"
        if result.exit_code:
            self.failed.append(" ".join(command))
        if not quiet:
            shown = (f'"{part}"' if " " in part else Path(part).name for part in command)
            print(f"$ parallax {' '.join(shown)}")
            for line in said.splitlines():
                print(textwrap.shorten(line, SHOWN_CHARS) if len(line) > SHOWN_CHARS else line)
            print()
        return said


@dataclass
class Part:
    """One part of the study, published.

    Attributes:
        run: The run's name.
        study: The study's id on the platform.
        people: Who took it.
    """

    run: str
    study: str
    people: list[Participant] = field(default_factory=list)


def folder_of(environment: ProlificEnvironment, number: int, places: int) -> Path:
    """Return the study of one part: two trials, and so many places in each of two lists."""
    folder = environment.folder / f"part_{number}"
    shutil.copytree(small_study(environment.folder, places), folder)
    toml = (folder / "study.toml").read_text(encoding="utf-8")
    toml = re.sub(r'name = "minimal"', f'name = "part_{number}"', toml, count=1)
    terms = f"[recruitment]\nwithdrawn_percent = {SHARE}\n"
    if number > 1:
        terms += f'after = ["part_{number - 1}"]\n'
    toml = toml.replace("[recruitment]\n", terms)
    (folder / "study.toml").write_text(toml, encoding="utf-8")
    return folder


def offered(researcher: Researcher, number: int, places: int) -> Part:
    """Launch a part and publish it."""
    environment = researcher.environment
    folder = folder_of(environment, number, -(-places // 2))
    launched = researcher.do(
        "launch", str(folder), "--seed", "1", "--recruiter", "prolific", "--simulated", quiet=True
    )
    run = re.search(r"\b[a-z0-9]{12}\b", launched)
    assert run is not None, launched
    print(f"$ parallax launch part_{number} --seed 1 --recruiter prolific --simulated")
    print(f"$ parallax publish {run[0]} --yes\n")
    researcher.do("publish", run[0], "--yes", quiet=True)
    headers = {"Authorization": "Token any"}
    listed = environment.web.get("/api/v1/studies/", headers=headers).raise_for_status().json()
    return Part(run[0], listed["results"][0]["id"])


def take(part: Part, environment: ProlificEnvironment, ref: str, does: str) -> bool:
    """Let somebody take a part, and return whether they were let in."""
    person = Participant(environment, part.run, ref)
    with person:
        if not (person.take(part.study) and person.consent()):
            return False
        part.people.append(person)
        if does == "finish":
            person.answer()
        elif does == "withdraw":
            pages = environment.app.test_client()
            body = {
                "uuid": "00000000-0000-4000-8000-000000000001",
                "position": 1,
                "side": "first",
                "input_method": "key",
            }
            pages.post(f"{person.home}answers", json=body)
            # The share is for at least that share of the time.
            environment.clock.go_on(minutes=STUDY_TAKES_MIN * SHARE / 100)
            pages.post(f"{person.home}withdraw", data={"wish": "keep"})
    return True


def paid(researcher: Researcher, part: Part, *, first: bool) -> None:
    """Let the server tell of the endings, and pay a part."""
    send_reports(researcher.environment.app.extensions[EXTENSION])
    researcher.do("recruitment", "poll", part.run, quiet=not first)
    researcher.do("approve", part.run, "--yes", quiet=not first)
    researcher.do("bonus", part.run, "--yes", quiet=not first)
    researcher.do("reconcile", part.run, "--fix", quiet=True)
    researcher.do("reconcile", part.run)


def refs(n: int, of: int) -> Sequence[str]:
    """Return so many people's ids on the platform."""
    return [f"{of:012x}{number:012x}" for number in range(1, n + 1)]


def books(environment: ProlificEnvironment, part: Part) -> tuple[int, int]:
    """Return what the platform paid for a part, and its fees and taxes."""
    found = environment.web.get("/control/payments").raise_for_status().json()["payments"]
    theirs = {person.submission for person in part.people}
    ours = [each for each in found if each["submission"] in theirs]
    fees = sum(each["fee_minor"] + each["tax_minor"] for each in ours)
    return sum(each["amount_minor"] for each in ours), fees


def told(environment: ProlificEnvironment, parts: Sequence[Part], stated: Path) -> int:
    """Print the books beside the statement, and return how many parts differ."""
    rows = list(csv.DictReader(stated.read_text(encoding="utf-8").splitlines()))
    wrong = 0
    print("the stand-in's own books, minor units       paid    fees   statement")
    for number, part in enumerate(parts, start=1):
        mine = [row for row in rows if row["run"] == part.run and row["standing"] in SPENT]
        ours, fees = (sum(int(row[name]) for row in mine) for name in ("amount_minor", "fee_minor"))
        amount, fee = books(environment, part)
        same = (ours, fees) == (amount, fee)
        wrong += not same
        said = "the same" if same else f"{ours} and {fees}"
        print(f"part {number}, {len(part.people)} people{amount:>31,}{fee:>8,}   {said}")
    return wrong


def went(environment: ProlificEnvironment, people: int) -> int:
    """Go through the three parts, and return what was wrong."""
    researcher = Researcher(environment)
    all_of_them = refs(people, 1)
    first = offered(researcher, 1, people)
    *finish, leaves, withdraws = all_of_them
    for ref in finish:
        take(first, environment, ref, "finish")
    take(first, environment, leaves, "leave")
    take(first, environment, withdraws, "withdraw")
    paid(researcher, first, first=True)
    second = offered(researcher, 2, len(finish))
    invited = ("recruitment", "write", first.run, "--to", "finished", "--text", AUTHOR, "--yes")
    researcher.do(*invited)
    wrong = int(take(second, environment, leaves, "finish"))
    print("Who went away in the first part opens the second: not let in.\n")
    *stay, stops, _never_comes = finish
    for ref in stay:
        take(second, environment, ref, "finish")
    take(second, environment, stops, "leave")
    paid(researcher, second, first=False)
    third = offered(researcher, 3, len(stay))
    wrong += int(take(third, environment, stops, "finish"))
    researcher.do("recruitment", "write", second.run, "--to", "finished", "--text", AUTHOR, "--yes")
    for ref in stay[:-1]:
        take(third, environment, ref, "finish")
    paid(researcher, third, first=False)
    parts = (first, second, third)
    runs = [part.run for part in parts]
    researcher.do("recruitment", "parts", *runs)
    stated = environment.folder / "spent"
    researcher.do("statement", *runs, "--out", str(stated))
    wrong += told(environment, parts, stated / "statement.csv")
    for command in researcher.failed:
        print(f"ended with an error: {command}")
    return wrong + len(researcher.failed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=8, help="of the first part")
    options = parser.parse_args()
    logging.disable()
    with (
        tempfile.TemporaryDirectory() as folder,
        open_prolific_environment(Path(folder)) as environment,
    ):
        # Commands have the machine's own clock.
        environment.clock.go_on(seconds=(utc_now() - environment.clock()).total_seconds())
        sys.exit(bool(went(environment, options.people)))


if __name__ == "__main__":
    main()
