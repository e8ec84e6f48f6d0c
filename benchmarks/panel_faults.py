"""Send participants from two panels and back under constant failures; count the credits of each.

Usage: python benchmarks/panel_faults.py [--runs 1000] [--seed 1] [--processes 2]

Each run is listed on a stand-in for a panel: SONA, from which the server requests credit, or
Prolific without its API, to which participants return with a code. Requests fail before their
commit, lose their replies, are repeated, cut off or out of order; participants share links,
disappear, withdraw, are screened out or return late; links arrive damaged; SONA answers 500 with or
without granting credit, closes the connection, or cuts its answer off; the operator's process is
killed during a call; the clock jumps, sometimes backwards. Researchers make mistakes: they launch
wrong files and the same file twice, use the link of another run or a bare one, enter a wrong
completion code or another experiment's number, work without their secret or with another one, close
a run in progress, give commands of other platforms, too early or twice, and send reports again at
the wrong time. Then the panels' records are compared with the participants who finished. The exit
status is 1 if a participant was not credited exactly once, has two places, was not sent back to
their panel or saw a code too early; if work was lost; if a mistake admitted a participant; or if
reconcile reported no problem although the records differ.
"""

import argparse
import random
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

import httpx
from fault_injection.environment import Clock
from fault_injection.operator import Death, ProcessDied
from fault_injection.panel_mistakes import PanelMistakes
from fault_injection.panels import PanelRun, Person
from sqlalchemy import event, func, select
from tqdm import tqdm

from experiment.participation import Ending
from marketplace.panels import create_panels
from marketplace.serving import serve_in_thread
from webapp import create_app
from webapp.database.engine import reading
from webapp.database.models import OutgoingReport, Participant, Place
from webapp.errors import WebappError
from webapp.jobs.platforms import send_reports
from webapp.recruitment.reports import ReportState
from webapp.services import EXTENSION, Services
from webapp.sessions.leave import ending_of

RUNS_PER_ENVIRONMENT = 25
BEHAVIOURS = {"finish": 55, "share": 15, "vanish": 10, "withdraw": 8, "screened_out": 7, "late": 5}
KINDS = (
    "throttled",
    "server_error",
    "server_error_after",
    "request_lost",
    "reply_lost",
    "truncated",
)
MOST_ROUNDS = 200
WRONG = (
    "thanked less",
    "thanked more",
    "two places",
    "no way back",
    "codes too early",
    "work lost",
    "let in by mistake",
    "left open",
    "clean and not thanked",
)
SHOWN = (
    *(
        "runs",
        "people",
        "finished",
        "thanked exactly once",
        "requests sent again",
        "process deaths",
    ),
    *("calls that failed", "clock jumps", "erased", "researchers' mistakes"),
    *("mistakes refused", *WRONG),
)


def one_run(
    services: Services, environment: httpx.Client, clock: Clock, rng: random.Random, number: int,
    options: argparse.Namespace,
) -> Counter[str]:  # fmt: skip
    """Return the counts of one run from its launch to its clean end."""
    counts, death = Counter(runs=1), Death(rng, options.deaths)
    wrong_number = rng.random() < options.mistakes
    panel = rng.choice(("sona", "prolific"))
    run = PanelRun(services, environment, panel, number, rng, wrong_number=wrong_number)
    mistakes = PanelMistakes(run, rng, options.mistakes, death)
    mistakes.before_anybody()
    faults = [{"kind": kind, "probability": options.faults / len(KINDS)} for kind in KINDS]
    # SONA's codes have no fixed length: one that is cut off is another's, and SONA refuses it.
    kinds = ("unfilled", "cut_off") if run.panel == "prolific" else ("unfilled",)
    broken = [{"kind": kind, "probability": 0.05} for kind in kinds]
    environment.post("/control/faults", json={"seed": number, "faults": [*faults, *broken]})
    with dying(services, death):
        people = []
        for which in range(rng.randint(3, 6)):
            mistakes.while_they_come(which)
            people.append(come(run, rng, death, clock, mistakes, which))
        go_back(run, people, mistakes)
        counts["erased"] = sum(mistakes.erases(one) for one in people if one.finished)
        counts["clean and not thanked"] = settle(run, rng, death, clock, counts, mistakes)
    made = environment.get("/control/faults").json()["made"]
    counts["calls that failed"] += sum(made.get(kind, 0) for kind in KINDS)
    environment.post("/control/faults", json={})
    for person in people:
        counts["requests sent again"] += person.again
        counts["codes too early"] += person.early
        counts["clock jumps"] += person.jumps
        counts["no way back"] += person.finished and not person.way_back
    counts["process deaths"] += death.deaths
    counts["researchers' mistakes"] += mistakes.made + run.wrong_number
    counts["mistakes refused"] += mistakes.refused
    counts["let in by mistake"] += mistakes.let_in
    return counts + judged(run, people)


def come(
    run: PanelRun, rng: random.Random, death: Death, clock: Clock, mistakes: PanelMistakes,
    which: int,
) -> Person:  # fmt: skip
    """Let one person come, and return what became of them."""
    person = Person(run, f"person {which}", rng, death, clock)
    [behaviour] = rng.choices(list(BEHAVIOURS), list(BEHAVIOURS.values()))
    if not person.arrive(fits=behaviour != "screened_out"):
        return person
    if behaviour == "share":
        Person(run, person.name, rng, death).arrive()
    if behaviour == "late":
        clock.go_on(minutes=rng.choice((70, 200)))
    with mistakes.in_between():
        if behaviour == "vanish":
            person.answer(rng.randint(0, 7))
        elif behaviour == "withdraw":
            person.answer(rng.randint(1, 7))
            person.leave()
        elif behaviour != "screened_out":
            person.finish()
    return person


def go_back(run: PanelRun, people: list[Person], mistakes: PanelMistakes) -> None:
    """Let everybody go back as their page says; a wrong code there is put right by somebody."""
    finished = [person for person in people if person.finished]
    with mistakes.wrong_code() as is_wrong:
        for person in finished:
            if person.go_back() == is_wrong and run.panel == "prolific":
                raise AssertionError(f"{person.name} went back, with codes wrong: {is_wrong}")
    if is_wrong:
        for person in finished:
            person.go_back()


def settle(
    run: PanelRun, rng: random.Random, death: Death, clock: Clock, counts: Counter[str],
    mistakes: PanelMistakes,
) -> int:  # fmt: skip
    """Send reports until none is open, with the clock and the researchers in the way.

    Returns:
        How often no report was open though somebody was not thanked.
    """
    for _ in range(MOST_ROUNDS):
        jump = rng.choice((1, 10, 60, 400, -30))
        clock.go_on(minutes=jump)
        counts["clock jumps"] += abs(jump) > 60 or jump < 0
        death.on = True
        # What fails or dies in the middle is gone on with at the next tick.
        with suppress(ProcessDied, WebappError), mistakes.secret():
            send_reports(run.services)
            if rng.random() < 0.2:
                send_reports(run.services)
        death.on = False
        mistakes.after_a_round()
        if not open_reports(run):
            return judged(run, [])["thanked less"]
    return 0


def open_reports(run: PanelRun) -> int:
    """Return how many of a run's reports the panel has not confirmed."""
    unsettled = select(func.count(OutgoingReport.id)).where(
        OutgoingReport.run_id == run.run.id, OutgoingReport.state != ReportState.DONE
    )
    with reading(run.services.sessions) as session:
        return session.execute(unsettled).scalar_one()


def judged(run: PanelRun, people: list[Person]) -> Counter[str]:
    """Compare who finished with what the panel's books say."""
    counts = Counter(people=len(people))
    books = {one["id"]: one for one in run.books()}
    with reading(run.services.sessions) as session:
        of_run = select(Participant).where(Participant.run_id == run.run.id)
        known = {one.platform_id: one for one in session.scalars(of_run)}
        held = select(Place.participant_id, func.count(Place.id)).where(Place.run_id == run.run.id)
        held = held.where(Place.participant_id.is_not(None)).group_by(Place.participant_id)
        counts["two places"] = sum(number > 1 for _, number in session.execute(held))
    names = {one["name"] for one in books.values() if _has_finished(known.get(one["id"]))}
    counts["work lost"] = sum(person.finished and person.name not in names for person in people)
    for one in books.values():
        finished = one["name"] in names
        counts["finished"] += finished
        counts["thanked exactly once"] += finished and one["granted"] == 1
        counts["thanked less"] += finished and one["granted"] < 1
        counts["thanked more"] += one["granted"] > finished
    counts["two places"] += len(set(known) - set(books))
    counts["left open"] = open_reports(run)
    return counts


def _has_finished(person: Participant | None) -> bool:
    return person is not None and ending_of(person) == Ending.COMPLETED


@contextmanager
def dying(services: Services, death: Death):  # noqa: ANN201
    """Let the process die before commits, and before and after the panel is called."""
    recruiter = services.recruiter("panel")
    tell = recruiter.report

    def frail(departure: object) -> str:
        death.may_come()
        answer = tell(departure)
        death.may_come()
        return answer

    recruiter.report = frail
    event.listen(services.engine, "commit", death.may_come)
    try:
        yield
    finally:
        event.remove(services.engine, "commit", death.may_come)
        recruiter.report = tell


def one_environment(options: argparse.Namespace, first: int) -> Counter[str]:
    """Return the counts of the runs from that number on that share an environment."""
    counts, clock = Counter[str](), Clock()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        url = stack.enter_context(serve_in_thread(create_panels(sleep=lambda _: None)))
        (Path(name) / "parallax.toml").write_text('[panel.secrets]\ncredit_token = "t0ken"\n')
        app = create_app(Path(name), now=clock)
        app.logger.setLevel("CRITICAL")
        services: Services = app.extensions[EXTENSION]
        stack.callback(services.engine.dispose)
        services.app = app
        environment = stack.enter_context(httpx.Client(base_url=url, trust_env=False, timeout=30))
        for number in range(first, min(first + RUNS_PER_ENVIRONMENT, options.runs)):
            rng = random.Random(f"{options.seed} {number}")
            counts.update(one_run(services, environment, clock, rng, number, options))
    return counts


def campaign(options: argparse.Namespace) -> Counter[str]:
    """Return the counts of every run together."""
    counts, firsts = Counter[str](), range(0, options.runs, RUNS_PER_ENVIRONMENT)
    with ProcessPoolExecutor(options.processes) as pool:
        batches = pool.map(partial(one_environment, options), firsts)
        for batch in tqdm(batches, total=len(firsts), unit="batch", disable=None):
            counts.update(batch)
    return counts


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=float, default=0.4, help="the share of calls that fail")
    parser.add_argument("--deaths", type=float, default=0.05, help="at each point of a process")
    parser.add_argument("--mistakes", type=float, default=0.2, help="how likely each mistake is")
    parser.add_argument("--processes", type=int, default=1)
    counts = campaign(parser.parse_args())
    for name in SHOWN:
        print(f"{name:<26}{counts[name]:>8,}")
    sys.exit(any(counts[name] for name in WRONG))


if __name__ == "__main__":
    main()
