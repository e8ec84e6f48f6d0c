"""``parallax users``."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from webapp.commands.users import users

pytestmark = pytest.mark.one_database


@pytest.fixture
def parallax_users(instance, app):
    def call(*arguments: str, typed: str = "correct horse battery\n" * 2):
        return CliRunner().invoke(users, [*arguments, "--instance", str(instance)], input=typed)

    return call


def test_an_account_is_made_changed_disabled_and_enabled(parallax_users):
    assert "There are no users yet." in parallax_users("list").output
    assert parallax_users("add", "anna", "--role", "owner").exit_code == 0
    assert parallax_users("add", "bert", "--role", "viewer").exit_code == 0
    assert parallax_users("role", "bert", "researcher").exit_code == 0
    assert parallax_users("disable", "bert").exit_code == 0
    listed = [line.split() for line in parallax_users("list").output.splitlines()[1:]]
    assert listed == [["anna", "owner", "active"], ["bert", "researcher", "disabled"]]
    assert parallax_users("enable", "bert").exit_code == 0
    assert parallax_users("password", "bert").exit_code == 0
    assert parallax_users("sign-out", "bert").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "typed", "message"),
    [
        (("add", "anna", "--role", "viewer"), None, 'a user "anna" already'),
        (("add", "an na", "--role", "viewer"), None, "cannot be a user's name"),
        (("add", "bert", "--role", "viewer"), "short\nshort\n", "the password has 5 characters"),
        (("role", "anna", "viewer"), None, "the only owner left"),
        (("disable", "anna"), None, "the only owner left"),
        (("role", "ana", "viewer"), None, 'Did you mean "anna"'),
    ],
)
def test_a_mistake_is_told_and_changes_nothing(parallax_users, arguments, typed, message):
    parallax_users("add", "anna", "--role", "owner")
    before = parallax_users("list").output
    given = {} if typed is None else {"typed": typed}
    result = parallax_users(*arguments, **given)
    assert message in str(result.exception)
    assert parallax_users("list").output == before


def test_without_a_terminal_the_password_comes_from_a_file_and_the_refusal_says_so(instance):
    add = [sys.executable, "-m", "parallax", "users", "add", "anna", "--role", "owner"]
    given = {"env": {**os.environ, "PARALLAX_INSTANCE": str(instance)}, "start_new_session": True}
    refused = subprocess.run(
        add, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **given
    )
    assert refused.returncode != 0
    assert refused.stderr.startswith("Error: the password cannot be asked for")
    assert "--password-file -" in refused.stderr and "Warning" not in refused.stderr
    subprocess.run(
        [*add, "--password-file", "-"], input="a long password\n", text=True, check=True, **given
    )
