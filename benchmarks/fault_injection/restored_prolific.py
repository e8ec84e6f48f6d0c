"""Prolific as a side of the campaign that puts databases back."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from faults_prolific import ProlificOperator, faults, quietly, work

from fault_injection.books import Booked, Side
from fault_injection.in_process import in_process
from fault_injection.prolific import Participant, ProlificEnvironment, open_prolific_environment
from fault_injection.restores import Restored
from webapp.recruiters.prolific.client import ProlificClient
from webapp.recruiters.prolific.drafts import compute_mark
from webapp.recruiters.prolific.opening import open_prolific
from webapp.recruiters.prolific.settings import ProlificSettings
from webapp.recruitment.open_offers import compute_offer_token

HEADERS = {"Authorization": "Token any"}


class Operators(Restored, ProlificOperator):
    """An operator on Prolific whose database is put back."""


@contextmanager
def opened(folder: Path) -> Iterator[tuple[ProlificEnvironment, ProlificClient]]:
    """Yield an environment and its platform."""
    with open_prolific_environment(folder, in_process) as environment:
        settings = ProlificSettings(endpoint=environment.url)
        platform = open_prolific(settings, live=False, attempts=1, now=environment.clock)
        assert platform.currency == "USD"
        yield environment, platform


def pay_by_hand(
    environment: ProlificEnvironment,
    operator: Operators,
    person: Participant,
    amount_minor: int,
    _number: int,
) -> str | None:
    """Pay a bonus, and return the id of its set-up."""
    wanted = {
        "study_id": operator.study, "csv_bonuses": f"{person.submission},0.{amount_minor:02}"
    }  # fmt: skip
    call = partial(quietly, environment, "POST")
    made = call("/api/v1/submissions/bonus-payments/", HEADERS, wanted)
    if made is None:
        return None
    call(f"/api/v1/bulk-bonus-payments/{made['id']}/pay/", HEADERS)
    return made["id"]  # The answer to the order may have been lost on the way.


def books(
    environment: ProlificEnvironment,
    _operator: Operators,
    people: Sequence[Participant],
    by_hand: set[str],
) -> list[Booked]:
    """Return what the platform booked for the run's people."""
    found = environment.web.get("/control/payments").raise_for_status().json()["payments"]
    ours = {person.submission for person in people}
    return [
        Booked(
            each["submission"],
            each["amount_minor"],
            each["fee_minor"] + each["tax_minor"],
            each["setup"] if each["setup"] in by_hand else None,
        )
        for each in found
        if each["submission"] in ours
    ]


def offered(environment: ProlificEnvironment, run_ref: str) -> int:
    """Return how many places of a run the platform offers in all."""
    marks = {compute_mark(compute_offer_token(run_ref, number)) for number in range(1, 9)}
    read = partial(environment.web.get, headers=HEADERS)
    listed = read("/api/v1/studies/", params={"page_size": 1000}).raise_for_status().json()
    ours = [
        each["id"]
        for each in listed["results"]
        if any(mark in (each.get("internal_name") or "") for mark in marks)
    ]
    found = (read(f"/api/v1/studies/{each}/").raise_for_status().json() for each in ours)
    return sum(each["total_available_places"] for each in found)


SIDE = Side(
    recruiter="prolific",
    opened=opened,
    operator=Operators,
    faults=faults,
    work=lambda environment, run, operator, rng, _=0: work(environment, run, operator, rng),
    hand_in_later=lambda _people, _lost: None,
    offered=offered,
    books=books,
    pay_by_hand=pay_by_hand,
)
