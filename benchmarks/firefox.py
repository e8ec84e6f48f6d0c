"""Let people take sessions in Firefox while things go wrong, and compare what is stored.

Needs Firefox (Debian's firefox-esr) and the library websockets, which Parallax does not need.

Each session has an end as well: the next person sits down at the computer; somebody else takes the
place while the computer sleeps; or the last page, which leads back to a platform by itself after
five minutes, is left open, kept by its button, or read on.

Usage: python benchmarks/firefox.py [--sequences 20] [--seed 1] [--firefox firefox-esr]
"""

import argparse
import asyncio
import logging
import random
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from firefox_sessions.browser import Firefox, Stuck, Window, firefox
from firefox_sessions.ends import ENDS, after, hurry, study_of
from firefox_sessions.faults import FAULTS, PLACE_TAKEN, Night, happen
from firefox_sessions.network import Front
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.serving import make_server

from experiment.participation import EventKind, State
from experiment.studies.load import load_study
from webapp import create_app
from webapp.database.engine import Sessions, reading
from webapp.database.models import Event, Participant, Response, Run, Trial
from webapp.runs.launch import launch

_TRIALS = 8
_STATE = (
    "const shown = id => document.getElementById(id)?.hidden === false;"
    "if (!document.body.dataset.page) return 'not ours';"
    "return document.body.dataset.page !== 'working' ? 'over' : shown('trial') ? 'trial'"
    " : shown('instructions') ? 'instructions' : 'waiting'"
)


@dataclass
class Told:
    """What one session came to.

    Attributes:
        faults: What went wrong in it.
        end: What somebody did at its end.
        wrong: What is not as it should be.
        acknowledged: How many answers were acknowledged.
    """

    faults: list[str]
    end: str
    wrong: list[str] = field(default_factory=list)
    acknowledged: int = 0


async def take(
    browser: Firefox, link: str, front: Front, night: Night, faults: dict[int, str]
) -> Window:
    """Take a session to its end; a fault happens before the answer that it stands at."""
    window = await browser.window()
    await window.go(link)
    await window.until("document.getElementById('decision')?.hidden === false")
    await window.click("button[value=accept]")
    await window.until("document.body.dataset.page === 'working'")
    answers = 0
    for _ in range(40 * _TRIALS):
        state = await window.run(_STATE)
        if state == "over":
            break
        if state == "not ours":
            # The page was loaded anew while the server was away: people load it once more.
            await window.call("browsingContext.reload", wait="complete")
        if state == "instructions":
            await window.click("#instructions [data-go-on]:enabled")
        if state == "trial":
            if answers in faults:
                window = await happen(browser, window, front, night, faults.pop(answers))
            elif answers % 2:
                await window.press("1")
            else:
                await window.click("#trial [data-side=second]")
            answers += 1
        await asyncio.sleep(0.3)
    await window.until("document.body.dataset.page === 'questionnaire'")
    await window.run("document.querySelector('textarea').value = 'English'")
    await window.click("main form button.primary")
    await window.until("['closing', 'late'].includes(document.body.dataset.page)")
    return window


def compared(session: Session, ref: str, told: Told, acknowledged: set[int]) -> None:
    """Say what is not as it should be of the run's first participant."""
    of_run = select(Participant).join(Run).where(Run.ref == ref).order_by(Participant.id)
    person = session.scalars(of_run).first()
    if person is None:
        told.wrong.append("nobody agreed")
        return
    stored = session.scalars(
        select(Trial.position)
        .join(Response, Response.trial_id == Trial.id)
        .where(Trial.participant_id == person.id)
    ).all()
    told.acknowledged = len(acknowledged)
    if person.state != (State.ABANDONED if told.end == PLACE_TAKEN else State.FINISHED):
        told.wrong.append(f"the session is {person.state}")
    if lost := acknowledged - set(stored):
        told.wrong.append(f"acknowledged and not stored: {sorted(lost)}")
    if len(stored) != _TRIALS:
        told.wrong.append(f"{len(stored)} answers are stored")
    changed = select(Event.detail).where(
        Event.participant_id == person.id, Event.kind == EventKind.SHOWN_OTHERWISE
    )
    if "translated" in told.faults and not session.scalars(changed).all():
        told.wrong.append("a translated text was not noticed")


def launched(sessions: Sessions, folder: str, recruiter: str, now: datetime) -> str:
    """Return the reference of a new run of a study."""
    with sessions() as session:
        run = launch(session, load_study(folder), 1, recruiter, now=now, code_version="0")
        session.commit()
        return run.ref


async def campaign(options: argparse.Namespace) -> None:
    """Take every session and print what they came to."""
    rng, all_told = random.Random(options.seed), list[Told]()
    with tempfile.TemporaryDirectory() as folder:
        night = Night()
        app = create_app(Path(folder) / "instance", now=night.now)
        sessions: Sessions = app.extensions["parallax"].sessions
        front = Front(app.wsgi_app)
        server = make_server("localhost", 0, front, threaded=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        origin = f"http://localhost:{server.port}"
        async with firefox(options.firefox) as browser:
            await hurry(browser)
            for number in range(options.sequences):
                drawn = rng.sample(FAULTS, rng.randint(1, 4))
                if number < len(FAULTS):  # each kind comes at least once
                    drawn = list(dict.fromkeys([FAULTS[number], *drawn]))
                at = dict(zip(rng.sample(range(1, _TRIALS - 1), len(drawn)), drawn, strict=True))
                end = ENDS[number % len(ENDS)]
                if end == PLACE_TAKEN:
                    at[_TRIALS - 1] = PLACE_TAKEN
                told = Told(list(drawn), end)
                ref = launched(sessions, *study_of(Path(folder), end, origin), night.now())
                front.acknowledged, front.times, front.run = set(), 0, ref
                try:
                    link = f"{origin}/run/{ref}"
                    window = await take(browser, f"{link}?rid=a{number}", front, night, at)
                    told.wrong += await after(browser, window, link, end)
                    await window.call("browsingContext.close")
                except (Stuck, TimeoutError) as error:
                    told.wrong.append(f"stuck: {error}")
                with reading(sessions) as session:
                    compared(session, ref, told, front.acknowledged)
                all_told.append(told)
                came_to = "; ".join(told.wrong) or "as it should be"
                print(f"{number + 1:3}  {', '.join([*told.faults, end])}: {came_to}", flush=True)
            print(f"\nFirefox {browser.version}, seed {options.seed}")
        server.shutdown()
    kinds = Counter(fault for told in all_told for fault in told.faults)
    ends = Counter(told.end for told in all_told)
    print(f"{'fault':<18}{'sequences':>10}")
    for kind in FAULTS:
        print(f"{kind:<18}{kinds[kind]:>10}")
    print(f"{'end':<18}{'sequences':>10}")
    for end in ENDS:
        print(f"{end:<18}{ends[end]:>10}")
    answers = sum(told.acknowledged for told in all_told)
    print(f"{len(all_told)} sequences, {kinds.total()} faults, {answers} acknowledged answers")
    print(f"{sum(bool(told.wrong) for told in all_told)} sequences not as they should be")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--firefox", default="firefox-esr")
    # The requests are not what is to be read.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    asyncio.run(campaign(parser.parse_args()))


if __name__ == "__main__":
    main()
