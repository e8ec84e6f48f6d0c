"""From the wheel to one's first study, without make: how many commands, and how long?

The wheel is built from this checkout and installed as people install it, by `uv tool install` or
`pipx install`, with a home folder of their own that holds nothing: no settings, no packages, no
study. Then a study is made from a table of pairs, checked, and written as one file; people's
answers are read back, and compared. Programs answer in people's place, so that nobody has to wait.

Usage: python -m benchmarks.eight_commands
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from benchmarks.static_study import Browser, Person

_ROOT = Path(__file__).resolve().parent.parent
_WORDS = (
    ("teacher", "smiles", "smile"), ("author", "laughs", "laugh"), ("pilot", "sings", "sing"),
    ("farmer", "swims", "swim"), ("doctor", "waits", "wait"), ("guard", "sleeps", "sleep"),
)  # fmt: skip
_PEOPLE = 6


def pairs() -> str:
    """Return the table that somebody has: a good and a bad sentence in each row."""
    rows = (f"The {noun} {good}.,The {noun} {bad}." for noun, good, bad in _WORDS)
    return "\n".join(("good,bad", *rows, ""))


class Clean:
    """A user who has nothing yet.

    Args:
        place: Where their home and their work are.
        tool: "uv" or "pipx".
    """

    def __init__(self, place: Path, tool: str) -> None:
        self.work = place / "work"
        self.work.mkdir(parents=True)
        home = place / "home"
        binaries = home / ".local" / "bin"
        self._programs = place / "tool"
        # The first index that pip itself was told of is uv's, too.
        asked = subprocess.run(
            [sys.executable, "-m", "pip", "config", "get", "global.index-url"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        index = {"UV_DEFAULT_INDEX": url} if (url := asked.stdout.strip()) else {}
        kept = ("PIP_INDEX_URL", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "LANG", "PIP_CERT")
        self._environment = {
            **{name: os.environ[name] for name in kept if name in os.environ},
            **index,
            "HOME": str(home),
            "PATH": os.pathsep.join((str(binaries), str(self._programs / "bin"), os.defpath)),
            "UV_PYTHON": sys.executable,
        }
        made = [sys.executable, "-m", "venv", str(self._programs)]
        subprocess.run(made, check=True)
        pip = [str(self._programs / "bin" / "python"), "-m", "pip", "--quiet", "install", tool]
        subprocess.run(pip, check=True, capture_output=True)

    def run(self, command: str) -> tuple[str, float]:
        """Run a command, and return what it printed and how long it took, in seconds."""
        began = time.monotonic()
        done = subprocess.run(
            shlex.split(command), cwd=self.work, env=self._environment, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise click.ClickException(f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout, time.monotonic() - began


def answered(work: Path) -> None:
    """Let programs take the study; what they give lies in answers/, as people would send it."""
    folder = work / "answers"
    folder.mkdir()
    page = (work / "my_study.html").read_text(encoding="utf-8")
    data = json.loads(page.partition('id="study">')[2].partition("</script>")[0])
    for number in range(1, _PEOPLE + 1):
        drawn = data["drawn"][number - 1]
        browser = Browser(data["folder"], drawn["trials"], Person(number, None), number, "chance")
        text = json.dumps(browser.entries)
        (folder / f"{number}.json").write_text(text, encoding="utf-8", newline="\n")


def wheel(place: Path) -> Path:
    """Build the wheel of this checkout."""
    build = [sys.executable, "-m", "uv", "build", "--quiet", "--wheel", "--out-dir", str(place)]
    subprocess.run([*build, str(_ROOT)], check=True, capture_output=True)
    [built] = place.glob("*.whl")
    return built


def commands(installing: str, built: Path) -> list[str]:
    """Return the commands that somebody types; RUN stands for what the import names."""
    return [
        f"{installing} '{built.name}[analysis]'",
        "parallax study new my_study --from pairs.csv",
        "parallax study check my_study",
        "parallax study static my_study --seed 1 --simulated --out my_study.html",
        "parallax import sessions answers",
        "parallax exclude RUN",
        "parallax export RUN --out export",
        "parallax compare --run export --out report",
    ]


@click.command()
@click.option("--tool", "tools", type=click.Choice(["uv", "pipx"]), multiple=True)
def main(tools: tuple[str, ...]) -> None:
    """Time the commands, for each way to install."""
    with tempfile.TemporaryDirectory() as folder:
        built = wheel(Path(folder))
        taken: dict[str, list[float]] = {}
        for tool in tools or ("uv", "pipx"):
            clean = Clean(Path(folder) / tool, tool)
            (clean.work / built.name).write_bytes(built.read_bytes())
            (clean.work / "pairs.csv").write_text(pairs(), encoding="utf-8", newline="\n")
            installing, run = {"uv": "uv tool install", "pipx": "pipx install"}[tool], ""
            taken[tool] = []
            for command in commands(installing, built):
                if command.startswith("parallax import"):
                    answered(clean.work)
                typed = command.replace(f"'{built.name}", f"'{clean.work / built.name}")
                printed, seconds = clean.run(typed.replace("RUN", run))
                if named := re.search(r"^Run (\w+)", printed, re.MULTILINE):
                    run = named[1]
                taken[tool].append(seconds)
            if not (clean.work / "report" / "report.html").is_file():
                raise click.ClickException("there is no report")
        typed = commands("uv tool install", built)
        click.echo(f"| | Command | {' | '.join(f'with {tool}, seconds' for tool in taken)} |")
        click.echo(f"|---:|---|{'---:|' * len(taken)}")
        for number, command in enumerate(typed, 1):
            seconds = " | ".join(f"{of_tool[number - 1]:.1f}" for of_tool in taken.values())
            click.echo(f"| {number} | `{command}` | {seconds} |")
        click.echo(f"| | together | {' | '.join(f'{sum(each):.0f}' for each in taken.values())} |")


if __name__ == "__main__":
    main()
