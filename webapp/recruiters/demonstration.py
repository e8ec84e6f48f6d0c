"""How the main job goes through a recruiter's stand-in: each recruiter answers for its own."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click
import httpx

if TYPE_CHECKING:
    from webapp.simulation.crowd import Visitor

# What the stand-in calls the study, a completion code for everybody, and what grants credit.
LISTED, CODE, TOKEN = "101", "DONE101", "play-token"
_TIMEOUT_S = 60.0


class Stage(Protocol):
    """What the main job sets up before a recruiter's steps: a stand-in, a server, a run.

    Attributes:
        place: The installation's folder, made for this demonstration.
        site: Where the stand-in answers.
        run_ref: The run.
        link: Its link, as a researcher posts it.
        places: How many people the run is for.
    """

    place: Path
    site: str
    run_ref: str
    link: str
    places: int

    def do(self, *command: str) -> object:
        """Show a command of parallax, run it in the installation and return its result."""
        ...

    def do_jobs(self) -> None:
        """Let the server's periodic jobs be done now."""
        ...

    def visit(self, visitor: "Visitor") -> None:
        """Send one more simulated participant, of another kind than the others."""
        ...

    def finished(self) -> list[str]:
        """Return the participants who finished, as the export names them."""
        ...


@dataclass(frozen=True, slots=True)
class Demonstration:
    """One way through a stand-in.

    Attributes:
        stand_in: What ``parallax marketplace --platform`` calls the stand-in.
        settings: Lines of parallax.toml; ``{site}`` stands for where the stand-in answers.
        steps: What is done after the launch, with the export last or in between.
        written: Makes the study.toml that is launched from the study's own and the address of the
            stand-in.
    """

    stand_in: str
    settings: str
    steps: Callable[[Stage], None]
    written: Callable[[str, str], str] = lambda toml, _site: toml


@dataclass(frozen=True, slots=True)
class Listing:
    """A study as a panel's stand-in lists it.

    Attributes:
        panel: What the panel is called in messages.
        ids: Parameter of the link -> which of the stand-in's ids it gets.
        person: Which of these ids the panel knows a person by.
        placeholders: Text in the link -> which id replaces it.
        by_code: Whether the completion code is one for everybody.
        access_codes: Whether people come with access codes.
        credited: Whether the server asks for credit, which is then reconciled.
    """

    panel: str
    ids: Mapping[str, str]
    person: str
    placeholders: Mapping[str, str] = field(default_factory=dict)
    by_code: bool = False
    access_codes: bool = False
    credited: bool = False

    def listed(
        self,
        key: str,
        link: str,
        *,
        codes: Mapping[str, str] | None = None,
        access_codes: Sequence[str] = (),
        credit_token: str = TOKEN,
    ) -> dict[str, object]:
        """Return what the stand-in is told of the study.

        Args:
            key: What the stand-in calls it.
            link: What people are sent to.
            codes: Completion code -> how the panel takes it; by default the demonstration's.
            access_codes: Codes to hand out.
            credit_token: What grants credit.
        """
        outcomes = {CODE: "completed"} if codes is None else dict(codes)
        return {
            "key": key, "link": link, "person": self.person,
            "added": {} if self.placeholders else dict(self.ids),
            "replaced": dict(self.placeholders),
            "codes": outcomes if self.by_code else {},
            "credit_token": credit_token,
            "access_codes": list(access_codes),
        }  # fmt: skip

    def steps(self, stage: Stage) -> None:
        """List the run on the stand-in, let everybody come from it, and tell its books."""
        codes = _made_codes(stage) if self.access_codes else []
        listing = self.listed(LISTED, stage.link, access_codes=codes)
        click.echo(f"\nStudy link given to the panel: {stage.link}")
        _asked("POST", f"{stage.site}/control/studies", listing)
        stage.do("simulate", stage.run_ref)
        if self.credited:
            stage.do("reconcile", stage.run_ref, "--fix")
        stage.do("exclude", stage.run_ref)
        stage.do("export", stage.run_ref, "--out", str(stage.place / "export"))
        people = _asked("GET", f"{stage.site}/control/books/{LISTED}")["people"]
        assert isinstance(people, list)
        back = sum("completed" in one["outcomes"] for one in people)
        came = "" if self.access_codes else f"; {back} came back as completed"
        click.echo(f"\nThe stand-in's records: {self.panel} sent {len(people)} people{came}.")


def _made_codes(stage: Stage) -> list[str]:
    table = stage.place / "codes.csv"
    stage.do(
        "links", "make", stage.run_ref, "--codes", str(stage.places), "--csv", str(table)
    )  # fmt: skip
    with table.open(encoding="utf-8", newline="") as file:
        return [row["code"] for row in csv.DictReader(file)]


def _asked(method: str, url: str, body: object = None) -> dict[str, object]:
    with httpx.Client(trust_env=False, timeout=_TIMEOUT_S) as client:
        reply: dict[str, object] = client.request(method, url, json=body).raise_for_status().json()
        return reply


def bonus_for_the_first(stage: Stage) -> str:
    """Return a file that gives the first participant a bonus."""
    bonuses = stage.place / "bonuses.csv"
    bonuses.write_text(
        f"participant,amount,reason\n{stage.finished()[0]},0.25,You were the first.\n",
        encoding="utf-8",
        newline="\n",
    )
    return str(bonuses)
