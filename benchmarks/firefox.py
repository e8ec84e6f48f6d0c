"""Let people take sessions in Firefox while things go wrong, and compare what is stored.

Needs Firefox (Debian's firefox-esr) and the library websockets, which Parallax does not need.

Each session has an end as well: the next person sits down at the computer, or the last page, which
leads back to a platform by itself after five minutes, is left open, kept by its button, or read on.

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
from pathlib import Path

from firefox_sessions.browser import Firefox, Stuck, Window, firefox
from firefox_sessions.ends import ENDS, after, hurry, study_of
from firefox_sessions.network import Front
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.serving import make_server

from experiment.participation import EventKind, State
from experiment.studies.load import load_study
from webapp import create_app
from webapp.core.clock import utc_now
from webapp.database.engine import Sessions, reading
from webapp.database.models import Event, Participant, Response, Run, Trial
from webapp.runs.launch import launch

FAULTS = (
    "reload", "way out and back", "new window", "translated", "blocked", "zoomed", "long pause",
    "busy", "login page", "lost reply",
)  # fmt: skip
_OF_REQUESTS = ("busy", "login page", "lost reply")
_TRIALS = 8
# Parts that filter lists take out of pages.
_BLOCKED = "for (const id of ['bar', 'count', 'indicator']) document.getElementById(id)?.remove();"
_TRANSLATED = (
    "const text = document.querySelector('#trial [data-field=first] span');"
    "if (!text) return null; text.textContent = 'Die Katzen schlafen.';"
    "return document.getElementById('count')?.textContent ?? '';"
)
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


async def take(browser: Firefox, link: str, front: Front, faults: dict[int, str]) -> Window:
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
                window = await happen(browser, window, front, faults.pop(answers))
            elif answers % 2:
                await window.press("1")
            else:
                await window.click("#trial [data-side=second]")
            answers += 1
        await asyncio.sleep(0.3)
    await window.until("document.body.dataset.page === 'questionnaire'")
    await window.run("document.querySelector('textarea').value = 'English'")
    await window.click("main form button.primary")
    await window.until("document.body.dataset.page === 'closing'")
    return window


async def happen(browser: Firefox, window: Window, front: Front, fault: str) -> Window:
    """Let something go wrong, and return the window in which the session goes on."""
    if fault in _OF_REQUESTS:
        front.failing, front.times = fault, 3
    elif fault == "reload":
        await window.call("browsingContext.reload", wait="complete")
    elif fault == "way out and back":
        await window.click(".way-out a")
        await window.until("document.body.dataset.page === 'withdraw'")
        await window.call("browsingContext.traverseHistory", delta=-1)
    elif fault == "new window":
        here = await window.run("return location.href")
        other = await browser.window()
        await other.go(here)
        await window.call("browsingContext.close")
        window = other
    elif fault == "translated":
        await window.run(_TRANSLATED)
        # Answered at once: where the page is loaded anew before, the text is as it was sent again.
        await window.press("1")
    elif fault == "blocked":
        await window.run(_BLOCKED)
    elif fault == "zoomed":
        await window.call("browsingContext.setViewport", devicePixelRatio=3)
    else:
        await asyncio.sleep(8)
    return window


def compared(session: Session, ref: str, told: Told, acknowledged: set[int]) -> None:
    """Say what is not as it should be of the run's only participant."""
    person = session.scalars(select(Participant).join(Run).where(Run.ref == ref)).one()
    stored = session.scalars(
        select(Trial.position)
        .join(Response, Response.trial_id == Trial.id)
        .where(Trial.participant_id == person.id)
    ).all()
    told.acknowledged = len(acknowledged)
    if person.state != State.FINISHED:
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


def launched(sessions: Sessions, folder: str, recruiter: str) -> str:
    """Return the reference of a new run of a study."""
    with sessions() as session:
        study = load_study(folder)
        run = launch(session, study, 1, recruiter, now=utc_now(), code_version="0")
        session.commit()
        return run.ref


async def campaign(options: argparse.Namespace) -> None:
    """Take every session and print what they came to."""
    rng, all_told = random.Random(options.seed), list[Told]()
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Path(folder) / "instance")
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
                at = dict(zip(rng.sample(range(1, _TRIALS), len(drawn)), drawn, strict=True))
                end = ENDS[number % len(ENDS)]
                told = Told(list(drawn), end)
                ref = launched(sessions, *study_of(Path(folder), end, origin))
                front.acknowledged, front.times = set(), 0
                try:
                    link = f"{origin}/run/{ref}"
                    window = await take(browser, f"{link}?rid=a{number}", front, at)
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
