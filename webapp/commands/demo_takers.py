"""The models of ``parallax demo --takers``: two trained here, one of them also behind a server."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from experiment.errors import StudyError
from experiment.studies.files import TEXT_GRAMMAR
from experiment.studies.load import load_study

# What a command line takes, the path that it makes as the last word.
Make = Callable[..., None]
_READINGS = (
    "sentence",
    "difference",
    "after_instructions",
    "acceptability",
    "forced_choice",
    "rating",
)
_LINES = "60000"
_SIZES = ("--hidden", "64", "--embedding", "32", "--layers", "1", "--dropout", "0")
# It ends early where an epoch does not improve the held-out tenth of the text.
_TRAINING = ("--optimizer", "adam", "--lr", "0.008", "--batch", "16", "--steps", "48",
             "--epochs", "4", "--patience", "1")  # fmt: skip
_SESSIONS = "10"
# Over HTTP each prompt is a call of its own: one session, and the session so far in the prompts.
_SERVED = ("--reading", "forced_choice", "--context", "zero_shot", "--context", "history",
           "--labels", "letters", "--sessions", "1", "--price-in", "0", "--price-out", "0",
           "--concurrency", "2")  # fmt: skip


def take_sessions(name: str, made: Path, export: Path, make: Make) -> list[Path]:
    """Train two models, let them take the sessions of a run, and return the takers' folders.

    Args:
        name: The study.
        made: Where everything made of it stands.
        export: The people's run, exported.
        make: Runs a command unless what it makes is there.

    Raises:
        StudyError: The study has no grammar of a text to train on.
    """
    if not (load_study(name).folder / TEXT_GRAMMAR).is_file():
        raise StudyError(
            "the study has no grammar that a text could be generated with, so no model can be "
            "trained for it",
            where=f"{load_study(name).folder / TEXT_GRAMMAR}",
            expected="a study such as marvin_linzen_2018",
            remedy="Let a model of yours take its sessions: parallax take STUDY --model MODEL",
        )
    make(made / "text.txt", "lm", "text", name, "--out")
    make(made / "prompts.txt", "lm", "text", name, "--prompts", "--sentences", _LINES, "--out")
    models = made / "models"
    make(models / "lstm", "lm", "train", "demo_lstm", "--data", f"{made}/text.txt", "--out")
    make(models / "follower", "lm", "train", "--type", "lstm", *_SIZES, *_TRAINING,
         "--name", "follower", "--data", f"{made}/prompts.txt", "--out")  # fmt: skip
    asked = [part for reading in _READINGS for part in ("--reading", reading)]
    folders = [made / "takers" / name for name in ("lstm", "follower", "follower_served")]
    for folder in folders[:2]:
        make(folder, "take", str(export), "--model", f"{models / folder.name}", *asked,
             "--sessions", _SESSIONS, "--out")  # fmt: skip
    if not folders[2].exists():
        served = models / "follower_served"
        if not served.exists():
            shutil.copytree(models / "follower", served)
        with _serving(served) as address:
            make(folders[2], "take", str(export), "--model", address, *_SERVED, "--out")
    return folders


@contextmanager
def _serving(model: Path) -> Iterator[str]:
    """Serve a model in a process of its own, and give the name by which it is asked."""
    command = ("lm", "serve", str(model), "--tier", "next", "--port", "0")
    click.secho(f"\n$ parallax {' '.join(command)} &", bold=True)
    started = [sys.executable, "-m", "parallax", *command]
    with subprocess.Popen(started, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            if not address:
                raise click.ClickException("The stand-in server did not start; it said why above.")
            click.echo(address)
            yield address
        finally:
            server.terminate()
