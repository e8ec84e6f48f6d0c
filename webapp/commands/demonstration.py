"""``parallax demo`` on a stand-in platform: an installation, a server, the recruiter's steps."""

import csv
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
import httpx

from experiment.studies.files import write_study_files
from experiment.studies.load import load_study
from experiment.studies.study import Study
from webapp.commands.options import open_sessions
from webapp.database.engine import reading
from webapp.recruiters.demonstration import Demonstration
from webapp.recruiters.registry import load_recruiter, recruiter_classes
from webapp.recruiters.settings import load_settings
from webapp.recruiters.simulated_crowd import Visitor
from webapp.recruiters.simulated_plan import make_plan
from webapp.runs.runs import find_named_run, load_launched_study
from webapp.server.server_control import find_running_server

# Runs one of Parallax's commands and returns its result.
Command = Callable[..., object]
_TIMEOUT_S = 60.0


def demonstrations() -> Mapping[str, tuple[str, Demonstration]]:
    """Return the recruiter's name and the demonstration, by the demonstration's name.

    A demonstration with another recruiter's name gets ``_link`` appended.
    """
    ways: dict[str, tuple[str, Demonstration]] = {}
    classes = list(recruiter_classes())
    for recruiter in classes:
        other_names = {other.name for other in classes} - {recruiter.name}
        for name, way in recruiter.demonstrations().items():
            ways[f"{name}_link" if name in other_names else name] = (recruiter.name, way)
    return dict(sorted(ways.items()))


@contextmanager
def show_step(command: Sequence[str]) -> Iterator[None]:
    """Print a command before the block, and afterwards how many seconds it took."""
    click.secho(f"\n$ parallax {shlex.join(command)}", bold=True)
    started = time.monotonic()
    yield
    click.echo(f"({time.monotonic() - started:.1f} s)")


def run_demonstration(name: str, way: str, out_folder: Path, run: Command, seed: str) -> None:
    """Launch a study on a stand-in platform, let simulated participants take part, and reconcile.

    Args:
        name: The study.
        way: One of ``demonstrations``.
        out_folder: The folder of a separate installation and of its export. An interrupted call's
            installation is made again: its money and participants are simulated.
        run: Runs one of Parallax's commands and returns its result.
        seed: The run's seed.
    """
    recruiter, demonstration = demonstrations()[way]
    place = out_folder / way
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    instance_option = ("--instance", str(place))
    with _run_stand_in(
        demonstration.stand_in, place / "stand_in", load_study(name).currency
    ) as site:
        study = _write_changed_study(name, place, demonstration, site)
        (place / "parallax.toml").write_text(
            demonstration.settings.replace("{site}", site),
            encoding="utf-8",
            newline="\n",
        )
        run("serve", "--background", "--port", "0", *instance_option)
        try:
            launched = run(
                "launch",
                str(study),
                "--seed",
                seed,
                "--recruiter",
                recruiter,
                "--simulated",
                *instance_option,
            )
            demonstration.steps(
                _set_stage(place, site, str(launched), recruiter, load_study(str(study)), run)
            )
        finally:
            run("stop", *instance_option)
    (place / "export").rename(out_folder / f"export_{way}")


@dataclass(slots=True)
class _StandIn:
    place: Path
    site: str
    run_ref: str
    link: str
    places: int
    server: str
    command: Command

    def do(self, *command: str) -> object:
        return self.command(*command, "--instance", str(self.place))

    def do_jobs(self) -> None:
        command = ("work", "--once", "--instance", str(self.place))
        with show_step(command):
            # In a separate process, because it configures logging for its whole process.
            done = subprocess.run(
                [sys.executable, "-m", "parallax", *command],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            click.echo((done.stdout or done.stderr).strip())

    def visit(self, visitor: Visitor) -> None:
        with reading(open_sessions(self.place)) as session:
            run = find_named_run(session, self.run_ref)
            session_plan = make_plan(session, run, load_launched_study(session, run))
        with httpx.Client(base_url=self.server, timeout=_TIMEOUT_S, trust_env=False) as client:
            visit = visitor(client, session_plan, 0)
            visit.arrive()
            visit.take_part()

    def finished(self) -> list[str]:
        with (self.place / "export" / "participants.csv").open(encoding="utf-8") as file:
            return [
                row["participant"] for row in csv.DictReader(file) if row["state"] == "finished"
            ]


def _set_stage(
    place: Path, site: str, run_ref: str, recruiter: str, study: Study, command: Command
) -> _StandIn:
    server = find_running_server(place)
    assert server is not None, "the demonstration started the server first"
    link = load_recruiter(recruiter, load_settings(place)).posted_link(server.url, run_ref, study)
    places = study.design.lists * study.design.participants_per_list
    return _StandIn(place, site, run_ref, link, places, server.url, command)


def _write_changed_study(name: str, place: Path, shown: Demonstration, site: str) -> Path | str:
    """Return the study to launch: the named one, or a copy with the demonstration's additions."""
    study = load_study(name)
    toml = (study.folder / "study.toml").read_text(encoding="utf-8")
    if (changed_toml := shown.written(toml, site)) == toml:
        return name
    copy = place / "study" / study.folder.name
    write_study_files(study, copy)
    path = copy / "study.toml"
    path.write_text(
        shown.written(path.read_text(encoding="utf-8"), site), encoding="utf-8", newline="\n"
    )
    click.echo(f"\nAdded to study.toml:\n{_added_lines(toml, changed_toml)}")
    return copy


def _added_lines(before: str, after: str) -> str:
    lines_before = set(before.splitlines())
    return "\n".join(line for line in after.splitlines() if line and line not in lines_before)


@contextmanager
def _run_stand_in(platform: str, folder: Path, currency: str) -> Iterator[str]:
    """Yield the address of a stand-in in a separate process."""
    command = (sys.executable, "-m", "parallax", "marketplace", "--platform", platform)
    options = ("--port", "0", "--folder", str(folder), "--currency", currency)
    with subprocess.Popen((*command, *options), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = re.search(r"http://\S+:\d+", process.stdout.readline())
            assert address, f"the stand-in of {platform} did not start"
            click.echo(f"\nA stand-in, as parallax marketplace starts one, answers at {address[0]}")
            yield address[0]
        finally:
            process.terminate()
