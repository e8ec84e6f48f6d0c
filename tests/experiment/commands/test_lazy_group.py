"""A lazy group lists, suggests and runs commands, and imports one only when it is called."""

import sys
import textwrap
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from experiment.commands.lazy_group import Lazy, LazyGroup
from experiment.errors import ParallaxError


@pytest.fixture
def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    code = """
        import click

        @click.command()
        def greet():
            '''Say hello.'''
            click.echo("Hello.")

        @click.command("import")
        def import_():
            '''Say what was imported.'''
    """
    (tmp_path / "lazily_imported.py").write_text(textwrap.dedent(code))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "lazily_imported", raising=False)
    made = LazyGroup(
        name="door",
        sections={
            "Words": {"greet": Lazy("lazily_imported", "Say hello.")},
            "Things": {"import": Lazy("lazily_imported:import_", "Say what was imported.")},
        },
    )
    yield made
    sys.modules.pop("lazily_imported", None)


def test_help_lists_the_commands_below_their_headings_and_imports_none(group: LazyGroup):
    helped = CliRunner().invoke(group, ["--help"]).output
    assert helped.endswith(
        "Words:\n  greet   Say hello.\n\nThings:\n  import  Say what was imported.\n"
    )
    assert "lazily_imported" not in sys.modules


def test_a_command_is_found_by_its_name_or_by_the_attribute_that_is_named(group: LazyGroup):
    assert CliRunner().invoke(group, ["greet"]).output == "Hello.\n"
    assert CliRunner().invoke(group, ["import"]).exit_code == 0


def test_a_command_that_is_imported_already_is_the_last_of_its_section(group: LazyGroup):
    group.add_command(click.Command("ask", help="Ask. And wait."), section="Words")
    group.add_command(click.Command("count", help="Count."))
    helped = CliRunner().invoke(group, ["--help"]).output
    assert helped.index("  greet ") < helped.index("  ask     Ask.\n") < helped.index("Things:")
    assert helped.endswith("Commands:\n  count   Count.\n")


def test_a_misspelled_command_is_answered_with_the_nearest(group: LazyGroup):
    refused = CliRunner().invoke(group, ["gret"])
    assert refused.exit_code == 2
    assert "No such command 'gret'. Did you mean 'greet'?" in refused.output
    assert "lazily_imported" not in sys.modules


def test_an_unknown_option_is_refused_as_an_option(group: LazyGroup):
    refused = CliRunner().invoke(group, ["--gret"])
    assert refused.exit_code == 2
    assert "No such option" in refused.output


def test_the_group_alone_shows_its_help(group: LazyGroup):
    assert "Things:" in CliRunner().invoke(group, []).output


def test_a_library_that_is_not_installed_is_named_with_its_extra(
    group: LazyGroup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "lazily_imported.py").write_text("import torch.nn\n")
    monkeypatch.setitem(sys.modules, "torch", None)
    ended = CliRunner().invoke(group, ["greet"])
    assert isinstance(ended.exception, ParallaxError)
    assert str(ended.exception) == (
        "this command needs a library that is not installed: torch. "
        "Install it with: pip install 'parallax-experiments[lm]'."
    )


def test_a_part_of_parallax_that_is_absent_is_named(group: LazyGroup, tmp_path: Path):
    (tmp_path / "lazily_imported.py").write_text("import experiment.absent\n")
    error = CliRunner().invoke(group, ["greet"]).exception
    assert isinstance(error, ParallaxError)
    assert "experiment.absent, a part of Parallax that is not in this installation" in str(error)


def test_an_earlier_name_is_answered_with_the_present_one():
    inner = LazyGroup(name="box", sections={"Commands": {}}, was_command="program box open")
    outer = LazyGroup(name="program", sections={"Commands": {}}, renamed={"unbox": "box open"})
    outer.add_command(inner)
    refused = CliRunner().invoke(outer, ["unbox", "x"], prog_name="program")
    assert refused.exit_code == 2 and '"program unbox" is now "box open".' in refused.output
    refused = CliRunner().invoke(outer, ["box", "folder"], prog_name="program")
    assert refused.exit_code == 2
    assert '"folder" is not a command of this group' in refused.output
    assert '"program box ..." is now "program box open ...".' in refused.output
