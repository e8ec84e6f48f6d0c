"""The demonstration of a recruiter's stand-in: each recruiter defines its own steps."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click
import httpx

if TYPE_CHECKING:
    from webapp.recruiters.simulated_crowd import Visitor

# The stand-in's id of the study, the completion code for everybody, and the token that grants
# credit.
LISTED, CODE, TOKEN = "101", "DONE101", "play-token"
_TIMEOUT_S = 60.0


class Stage(Protocol):
    """The environment of a recruiter's demonstration: a stand-in, a server and a run.

    Attributes:
        place: The installation's folder, made for this demonstration.
        site: The stand-in's address.
        run_ref: The run.
        link: The run's link, as a researcher posts it.
        places: How many participants the run needs.
    """

    place: Path
    site: str
    run_ref: str
    link: str
    places: int

    def do(self, *command: str) -> object:
        """Show a command of parallax, execute it in the installation and return its result."""
        ...

    def do_jobs(self) -> None:
        """Run the server's periodic jobs now."""
        ...

    def visit(self, visitor: "Visitor") -> None:
        """Send one more simulated participant, of another kind than the others."""
        ...

    def finished(self) -> list[str]:
        """Return the participants who finished, by their names in the export."""
        ...


@dataclass(frozen=True, slots=True)
class Demonstration:
    """One demonstration with a stand-in.

    Attributes:
        stand_in: The stand-in's name for ``parallax marketplace --platform``.
        settings: Lines of parallax.toml; ``{site}`` is replaced by the stand-in's address.
        steps: The steps after the launch, with the export last or in between.
        written: Builds the launched study.toml from the study's own and the stand-in's address.
    """

    stand_in: str
    settings: str
    steps: Callable[[Stage], None]
    written: Callable[[str, str], str] = lambda toml, _site: toml


@dataclass(frozen=True, slots=True)
class Listing:
    """How a panel's stand-in lists a study.

    Attributes:
        panel: The panel's name in messages.
        ids: Parameter of the link -> which of the stand-in's ids it gets.
        person: The one of these ids that identifies a person.
        placeholders: Text in the link -> the id that replaces it.
        by_code: Whether all participants share one completion code.
        access_codes: Whether participants come with access codes.
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
        """Return the listing of the study for the stand-in.

        Args:
            key: The stand-in's id of the study.
            link: The link that participants follow.
            codes: Completion code -> how the panel treats it; by default the demonstration's.
            access_codes: The codes to hand out.
            credit_token: The token that grants credit.
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
        """List the run on the stand-in, send every participant from there, and show its records."""
        codes = _make_access_codes(stage) if self.access_codes else []
        listing = self.listed(LISTED, stage.link, access_codes=codes)
        click.echo(f"\nStudy link given to the panel: {stage.link}")
        _request_json("POST", f"{stage.site}/control/studies", listing)
        stage.do("simulate", stage.run_ref)
        if self.credited:
            stage.do("reconcile", stage.run_ref, "--fix")
        stage.do("exclude", stage.run_ref)
        stage.do("export", stage.run_ref, "--out", str(stage.place / "export"))
        people = _request_json("GET", f"{stage.site}/control/books/{LISTED}")["people"]
        assert isinstance(people, list)
        back = sum("completed" in participant["outcomes"] for participant in people)
        returned = "" if self.access_codes else f"; {back} came back as completed"
        click.echo(f"\nThe stand-in's records: {self.panel} sent {len(people)} people{returned}.")


def _make_access_codes(stage: Stage) -> list[str]:
    table = stage.place / "codes.csv"
    stage.do(
        "links", "make", stage.run_ref, "--codes", str(stage.places), "--csv", str(table)
    )  # fmt: skip
    with table.open(encoding="utf-8", newline="") as file:
        return [row["code"] for row in csv.DictReader(file)]


def _request_json(method: str, url: str, body: object = None) -> dict[str, object]:
    with httpx.Client(trust_env=False, timeout=_TIMEOUT_S) as client:
        reply: dict[str, object] = client.request(method, url, json=body).raise_for_status().json()
        return reply


def write_first_bonus(stage: Stage) -> str:
    """Write a bonus file for the first participant and return its path."""
    bonuses = stage.place / "bonuses.csv"
    bonuses.write_text(
        f"participant,amount,reason\n{stage.finished()[0]},0.25,You were the first.\n",
        encoding="utf-8",
        newline="\n",
    )
    return str(bonuses)
