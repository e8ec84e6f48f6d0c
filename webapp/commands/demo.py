"""The main job's way through a panel: its stand-in, a study that comes from it, its books."""

import csv
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import httpx

from experiment.studies.files import write_study_files
from experiment.studies.load import load_study
from webapp.recruiters.registry import load_recruiter
from webapp.recruiters.settings import load_settings
from webapp.server.process import running

Command = Callable[..., object]
_LISTED, _TOKEN, _CODE = "101", "play-token", "DONE101"
_BY_CODE = ("direct", "classroom")
_SITE = 'values = {{ site = "{site}" }}\ncodes = {{ completed = "DONE101" }}'
# What a researcher finds on each panel's page for the study, as lines of [panel].
_OWN = {
    "besample": 'values = {{ completed_address = "{site}/back/101/completed" }}',
    "classroom": "",
    "connect": 'values = {{ completed_address = "{site}/back/101/completed" }}',
    "prolific": _SITE,
    "respondent": _SITE,
    "sona": 'values = {{ site = "{site}", experiment_id = "101" }}',
    "sona_redirect": 'values = {{ site = "{site}", experiment_id = "101" }}',
    "testable": 'codes = {{ completed = "DONE101" }}',
    "toloka": "",
}


def take_part_at_panel(name: str, made: Path, listed: str, run: Command, seed: str) -> None:
    """Launch a study for a panel's stand-in, let simulated people come from it, and reconcile.

    Args:
        name: The study.
        made: Where an installation of its own lies, and the export beside it; what an interrupted
            call left of the installation is done again.
        listed: A preset of [panel], with ``_link`` behind it or not, or ``direct``.
        run: Runs one of Parallax's commands and returns its result.
        seed: The run's.
    """
    place, panel = made / listed, listed.removesuffix("_link")
    shutil.rmtree(place, ignore_errors=True)
    here = ("--instance", str(place))
    with _stand_in() as site:
        recruiter = "direct" if panel == "direct" else "panel"
        study = _study_of(name, place, panel, site)
        secrets = f'[panel.secrets]\ncredit_token = "{_TOKEN}"\n' if "sona" in panel else ""
        settings = f'[{recruiter}]\nstand_in = "{site}/{_LISTED}"\n{secrets}'
        (place / "parallax.toml").write_text(settings, encoding="utf-8")
        run("serve", "--background", "--port", "0", *here)
        try:
            launched = run(
                "launch", str(study), "--seed", seed, "--recruiter", recruiter, "--simulated", *here
            )
            _through_panel(str(launched), study, place, panel, site, run)
        finally:
            run("stop", *here)
    (place / "export").rename(made / f"export_{listed}")


def _through_panel(
    run_ref: str, study: Path, place: Path, panel: str, site: str, run: Command
) -> None:
    here = ("--instance", str(place))
    server, loaded, codes = running(place), load_study(str(study)), list[str]()
    assert server is not None
    if panel in _BY_CODE:
        places = loaded.design.lists * loaded.design.participants_per_list
        table = place / "codes.csv"
        run("links", "make", run_ref, "--codes", str(places), "--csv", str(table), *here)
        with table.open(encoding="utf-8", newline="") as file:
            codes = [row["code"] for row in csv.DictReader(file)]
    recruiter = load_recruiter("direct" if panel == "direct" else "panel", load_settings(place))
    link = recruiter.posted_link(server.url, run_ref, loaded)
    click.echo(f"\nStudy link given to the panel: {link}")
    outcomes = {} if panel in ("toloka", *_BY_CODE) else {_CODE: "completed"}
    listing = {
        "key": _LISTED, "platform": panel, "link": link, "codes": outcomes,
        "credit_token": _TOKEN, "access_codes": codes,
    }  # fmt: skip
    _asked("POST", f"{site}/control/studies", listing)
    run("simulate", run_ref, *here)
    if panel == "sona":
        run("reconcile", run_ref, "--fix", *here)
    run("exclude", run_ref, *here)
    run("export", run_ref, "--out", str(place / "export"), *here)
    _tell_books(site, panel)


def _study_of(name: str, place: Path, panel: str, site: str) -> Path:
    """Return a copy of the study that says from which panel its people come."""
    study = load_study(name)
    copy = place / "study" / study.folder.name
    write_study_files(study, copy)
    if panel != "direct":
        table = f'\n[panel]\npreset = "{panel}"\n{_OWN[panel].format(site=site)}\n'
        with (copy / "study.toml").open("a", encoding="utf-8") as file:
            file.write(table)
        click.echo(f"\nAdded to study.toml:{table}")
    return copy


def _tell_books(site: str, panel: str) -> None:
    people = _asked("GET", f"{site}/control/books/{_LISTED}")["people"]
    assert isinstance(people, list)
    back = sum("completed" in one["outcomes"] for one in people)
    came = "" if panel in _BY_CODE else f"; {back} came back as completed"
    click.echo(f"\nThe stand-in's records: {panel} sent {len(people)} people{came}.")


def _asked(method: str, url: str, body: object = None) -> dict[str, object]:
    with httpx.Client(trust_env=False, timeout=60) as client:
        response = client.request(method, url, json=body)
        reply: dict[str, object] = response.raise_for_status().json()
        return reply


@contextmanager
def _stand_in() -> Iterator[str]:
    """Yield the address of a stand-in of every panel, in a process of its own."""
    command = (sys.executable, "-m", "parallax", "marketplace", "--platform", "panels")
    with subprocess.Popen((*command, "--port", "0"), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+:\d+", process.stdout.readline())
            assert found, "the stand-in of the panel did not start"
            click.echo(f"\nA stand-in, as parallax marketplace starts one, answers at {found[0]}")
            yield found[0]
        finally:
            process.terminate()
