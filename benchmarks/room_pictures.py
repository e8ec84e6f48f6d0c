"""Take pictures of every page of the researcher's room: light and dark at a desk, and on a phone.

Usage: python benchmarks/room_pictures.py [--chromium PATH] [--out docs/images/room]

The pages show a run with planted problems (``benchmarks/planted.py``). A picture holds a page three
times, beside each other, so that a page that looks wrong anywhere is seen at a glance. The machine
needs a font with Japanese signs, such as Debian's fonts-ipafont-gothic.
"""

import argparse
import io
import sys
import tempfile
from pathlib import Path

from argon2 import PasswordHasher
from PIL import Image
from planted import plant
from playwright.sync_api import Browser, BrowserContext, sync_playwright
from screenshots import IMAGES, SWITCHES, keep, served

from webapp import create_app
from webapp.core.clock import utc_now
from webapp.database.models import Run
from webapp.gate.gate import ledger_begun, ledger_reconciled, ledger_written
from webapp.jobs.summaries import summarise
from webapp.runs.runs import study_as_launched
from webapp.runs.unblind import unblind
from webapp.users.roles import Role
from webapp.users.users import add_user

sys.path.append(str(Path(__file__).parents[1]))
from tests.prerequisites import CHROMIUM

PASSWORD = "correct horse battery"
# The page of the installation makes every check of the doctor.
PATIENCE_MS = 180_000
DESK = {"width": 1100, "height": 900}
LOOKS = (
    {"color_scheme": "light", "viewport": DESK},
    {"color_scheme": "dark", "viewport": DESK},
    {"color_scheme": "light", "viewport": {"width": 390, "height": 900}, "is_mobile": True},
)
# What somebody wrote and asked for, so that no page is empty.
WRITTEN = (
    ("runs/{run}/notes", {"text": "The server was restarted at noon.", "tags": "pilot"}),
    ("runs/{run}/notes", {
        "participant": "{late}", "tags": "asked, keep",
        "text": "Wrote that the train had no network. Came back after two hours.",
    }),
    ("notifications", {
        "address": "https://hooks.example.org/services/lab", "quiet": "30",
        "cause": ["complete", "quiet", "payment", "job"],
    }),
    ("notifications/test", {"number": "1"}),
    ("studies/copy", {"study": "minimal", "name": "my_study"}),
    ("studies/power", {"study": "minimal", "per_list": "5, 10, 20", "simulations": "100"}),
    ("runs/{run}/reports", {}),
    ("projects", {"name": "syntax-lab"}),
)  # fmt: skip


def pages(run: str, found: dict[str, str], own: str) -> dict[str, str]:
    """Return the address of each page below the room's, by the picture's name."""
    return {
        "runs": "",
        "archive": "?archive=1",
        "run": f"runs/{run}",
        "links": f"runs/{run}/links",
        "participants": f"runs/{run}/participants",
        "flags": f"runs/{run}/participants?sort=flags",
        "participant": f"runs/{run}/participants/{found['late']}",
        "film": f"runs/{run}/film?who={found['late']}&beside={found['double_device']}",
        "money": f"runs/{run}/money",
        "reports": f"runs/{run}/reports",
        "studies": "studies",
        "editor": f"studies/edit?study={own}",
        "power": "studies/power?study=minimal",
        "launch": "launch",
        "launch_check": "launch/check?study=minimal&seed=1&recruiter=direct",
        "projects": "projects",
        "project": "projects/syntax-lab",
        "notifications": "notifications",
        "sessions": "sessions",
        "password": "password",
        "second_factor": "second-factor",
        "tokens": "tokens",
        "accounts": "accounts",
        "audit": "audit",
        "settings": "settings",
        "backups": "backups",
        "installation": "installation",
    }


def take(browser: Browser, folder: Path, out: Path) -> None:
    """Take every picture of an installation that is made in a folder."""
    run, _, found = plant(folder, others=30, seed=1, now=utc_now())
    app = create_app(folder)
    sessions, now = app.extensions["parallax"].sessions, utc_now()
    summarise(sessions, run, study_as_launched, now)
    with sessions.begin() as session:
        # As publishing does; else every page says that the ledger's file is missing.
        ledger_begun(session.connection())
        ledger_written(session.connection())
        ledger_reconciled(session.connection(), run)
        of_run = session.query(Run).filter_by(ref=run).one()
        unblind(session, of_run, by="a picture", reason="every page is shown", now=now)
        cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
        add_user(session, "anna", Role.OWNER, cheap, by="a picture", now=now)
    with served(app) as address:
        room = f"{address}/researcher/"
        contexts = [browser.new_context(**look) for look in LOOKS]  # type: ignore[arg-type]
        for context in contexts:
            context.set_default_timeout(PATIENCE_MS)
        save(contexts, room + "sign-in", out / "sign_in.png")
        sign_in(contexts, room)
        write(contexts[0], room, {"run": run, "late": found["late"]})
        own = next(folder.glob("*/*/my_study"), None) or next(folder.rglob("my_study"))
        for name, path in pages(run, found, f"my_study ({own.parent.name})").items():
            save(contexts, room + path, out / f"{name}.png")
        for language, name in (("ar", "right_to_left"), ("ja", "japanese")):
            theirs = [browser.new_context(**look, locale=language) for look in LOOKS]  # type: ignore[arg-type]
            sign_in(theirs, room)
            save(theirs, f"{room}runs/{run}", out / f"{name}.png")


def sign_in(contexts: list[BrowserContext], room: str) -> None:
    """Sign anna in, in each of the browsers."""
    for context in contexts:
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.goto(room + "sign-in")
        page.locator("[name=name]").fill("anna")
        page.locator("[type=password]").fill(PASSWORD)
        page.locator("main button").first.click()
        page.wait_for_load_state()
        page.close()


def write(context: BrowserContext, room: str, names: dict[str, str]) -> None:
    """Send the forms that somebody would have filled in before."""
    page = context.new_page()
    page.goto(room)
    token = page.locator("[name=form_token]").first.get_attribute("value")
    page.close()
    for path, form in WRITTEN:
        fields = [("form_token", str(token))]
        for name, value in form.items():
            values = value if isinstance(value, list) else [value]
            fields += [(name, each.format(**names)) for each in values]
        body = "&".join(f"{name}={value}".replace(" ", "+") for name, value in fields)
        kind = {"Content-Type": "application/x-www-form-urlencoded", "Origin": room[:-12]}
        answer = context.request.post(room + path.format(**names), data=body, headers=kind)
        assert answer.ok, (path, answer.status, answer.text()[:400])


def save(contexts: list[BrowserContext], address: str, path: Path) -> None:
    """Keep one page as each context shows it, beside each other."""
    shots = []
    for context in contexts:
        page = context.new_page()
        answer = page.goto(address)
        assert answer is not None and answer.ok, (address, answer and answer.status)
        page.wait_for_timeout(500)  # charts are drawn, and checks come in
        shots.append(Image.open(io.BytesIO(page.screenshot(animations="disabled"))))
        page.close()
    height = max(shot.height for shot in shots)
    sheet = Image.new("RGB", (sum(s.width for s in shots) + 20 * (len(shots) - 1), height), "#888")
    left = 0
    for shot in shots:
        sheet.paste(shot.convert("RGB"), (left, 0))
        left += shot.width + 20
    small = sheet.resize((sheet.width // 2, sheet.height // 2), Image.Resampling.LANCZOS)
    keep(small, path)


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default=CHROMIUM.find())
    parser.add_argument("--out", type=Path, default=IMAGES / "room")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=SWITCHES)
        take(browser, Path(folder), options.out)
        browser.close()


if __name__ == "__main__":
    main()
