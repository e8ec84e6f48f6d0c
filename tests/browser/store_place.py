"""A study without a server on a store's stand-in, and what browser and store hold of a session."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Page

from marketplace.stores.datapipe import write_partial_files
from tests.browser.browser_steps import minimal
from tests.browser.static_site import Stores, command, written
from webapp.errors import RunError
from webapp.serverless.session_files import read_session_files

STORES = ("post", "datapipe", "staged", "jatos")
TRIALS = 4
WAIT_MS = 90_000
_LOOKS, _BETWEEN_MS = 40, 250
# Everything that the browser wrote down: its check, and whether a store has acknowledged it.
JOURNAL = """() => new Promise((resolve, reject) => {
  const opening = indexedDB.open("parallax static");
  opening.onerror = reject;
  opening.onsuccess = () => {
    const all = opening.result.transaction("entries").objectStore("entries").getAll();
    all.onsuccess = () => {
      opening.result.close();
      resolve(all.result.map(({ check, kind, sent }) => [check, kind, Boolean(sent)]));
    };
  };
})"""
# Where a page says that answers are in the browser, or on their way.
SAYS = """() => [...document.querySelectorAll("#offline, #kept-here, #indicator, [role]")]
  .some((one) => one.checkVisibility() && (one.id === "indicator"
    ? one.dataset.state !== "saved" || /browser/.test(one.textContent)
    : one.textContent.trim() && !one.matches(".simulated")))"""


@dataclass
class Found:
    """What became of the sessions of one fault.

    Attributes:
        sessions: How many there were.
        acknowledged: How many entries the browsers have marked so.
        lost: Those of them that the store does not hold.
        waiting: How many entries were in a browser alone when it was looked at.
        unsaid: Those of them of which the page said nothing.
        unfinished: Sessions that ended and of which the import says something else.
    """

    sessions: int = 0
    acknowledged: int = 0
    lost: int = 0
    waiting: int = 0
    unsaid: int = 0
    unfinished: list[str] = field(default_factory=list)

    @property
    def cells(self) -> str:
        """The numbers, as cells of a table."""
        numbers = (self.sessions, self.acknowledged, self.lost, self.waiting, self.unsaid)
        return " | ".join(map(str, numbers))


@dataclass
class Place:
    """A store with a study on it.

    Attributes:
        store: One of ``STORES``.
        kept: The stand-ins.
        link: The study's link.
        instance: Whose the study is.
        code: JATOS's, of the study.
    """

    store: str
    kept: Stores
    link: str
    instance: Path
    code: str = ""

    def held(self) -> Path:
        """Return where everything lies that the store holds; sweeps what was abandoned."""
        if self.store == "jatos":
            self.kept.folder.mkdir(exist_ok=True)
            results = self.kept.folder / "results.jrzip"
            results.write_bytes(self.kept.app.blueprints["jatos"].jatos.results(self.code))
            return results
        folder = self.kept.folder / ("post" if self.store == "post" else "datapipe")
        if self.store == "staged":
            write_partial_files(self.kept.app.blueprints["datapipe"], folder)
        return folder

    def empty(self) -> None:
        """Forget every session."""
        for name in ("post", "datapipe"):
            shutil.rmtree(self.kept.folder / name, ignore_errors=True)
        self.kept.app.blueprints["datapipe"].experiments.clear()
        for study in self.kept.app.blueprints["jatos"].jatos.studies.values():
            study.runs.clear()
            study.batch.clear()
            study.largest_bytes = 5 * 1024 * 1024
        self.kept.faults.plan.clear()
        del self.kept.faults.failed_requests[:]


def place_of(store: str, kept: Stores, folder: Path) -> Place:
    """Write a study of four trials for a store, and put it there."""
    study = minimal(folder, trials_per_list=str(TRIALS), frames="2", catch_trials="1")
    instance, pipe = folder / "instance", f"{kept.origin}/datapipe"
    if store == "jatos":
        archive = written(study, folder / "study.jzip", instance, "--store", "jatos")
        code = kept.app.blueprints["jatos"].jatos.import_archive(archive.read_bytes())
        return Place(store, kept, f"{kept.origin}/publix/{code}", instance, code)
    options = {
        "post": ("--store", "post", "--url", f"{kept.origin}/keep"),
        "datapipe": ("--store", "datapipe", "--url", pipe, "--experiment", "e1"),
        "staged": ("--store", "datapipe", "--url", pipe, "--experiment", "e1", "--staging", pipe),
    }[store]
    site = written(study, folder / "site", instance, *options)
    return Place(store, kept, kept.host("s", site), instance)


def _held(place: Place) -> set[str]:
    try:
        entries = read_session_files([place.held()]).sessions.values()
    except RunError:
        entries = ()
    return {entry.check for session in entries for entry in session}


def look(page: Page, place: Place, found: Found, *, over: bool = True) -> None:
    """Compare the browser's journal with what the store holds.

    The three are asked one after the other. What was on its way meanwhile is gone at the next look.
    Until a session is over, what is told of the browser may wait for the next answer.
    """
    for _ in range(_LOOKS):
        journal, said, held = page.evaluate(JOURNAL), page.evaluate(SAYS), _held(place)
        waiting = [kind for check, kind, sent in journal if not sent and check not in held]
        unsaid = 0 if said else len(waiting) if over else waiting.count("answer")
        if not unsaid:
            break
        page.evaluate("(ms) => new Promise((done) => setTimeout(done, ms))", _BETWEEN_MS)
    acknowledged = {check for check, _, sent in journal if sent}
    found.acknowledged += len(acknowledged)
    found.lost += len(acknowledged - held)
    found.waiting += len(waiting)
    found.unsaid += unsaid
    if over:
        found.sessions += 1


def finish(page: Page, place: Place, found: Found, name: str) -> None:
    """Look at a session that ended, and let it be imported."""
    look(page, place, found)
    told = command("import", "sessions", str(place.held()), "--instance", str(place.instance))
    if "1 finished" not in told or "not in the files" in told:
        found.unfinished.append(f"{name}: {told}")
