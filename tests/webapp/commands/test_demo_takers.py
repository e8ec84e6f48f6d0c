"""`parallax demo --takers`: every command that it gives is one that can be typed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest

from experiment.errors import StudyError
from parallax import cli
from webapp.commands import demo


def parsed(words: list[str]) -> click.Context:
    """Parse a command of this command line without running it."""
    command: click.Command = cli
    context = click.Context(cli, info_name="parallax")
    while isinstance(command, click.Group):
        name, found, words = command.resolve_command(context, words)
        assert name and found
        command, context = found, click.Context(found, parent=context, info_name=name)
    return command.make_context(command.name, words, parent=context.parent)


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    found: list[list[str]] = []

    def make(path: Path, *words: str) -> None:
        found.append([*words, str(path)])

    @contextmanager
    def serving(model: Path) -> Iterator[str]:
        found.append(["lm", "serve", str(model), "--tier", "next", "--port", "0"])
        yield "api:http://127.0.0.1:1/v1#m"

    monkeypatch.setattr(demo, "_serve_model", serving)
    # What training would have made is copied for the server.
    (tmp_path / "models" / "follower").mkdir(parents=True)
    folders = demo.take_sessions("minimal", tmp_path, tmp_path / "export", make)
    assert [folder.name for folder in folders] == ["lstm", "follower", "follower_served"]
    return found


def test_every_command_can_be_typed(commands: list[list[str]]):
    assert len(commands) == 8
    for words in commands:
        parsed(list(words))


def test_both_models_are_asked_in_six_readings(commands: list[list[str]]):
    for words in [words for words in commands if words[0] == "take"][:2]:
        assert len(parsed(list(words)).params["readings"]) == 6


def test_a_study_without_a_grammar_of_a_text_is_refused(tmp_path: Path):
    with pytest.raises(StudyError, match="no model can be trained for it"):
        demo.take_sessions("gulordava_2018_italian", tmp_path, tmp_path, print)
