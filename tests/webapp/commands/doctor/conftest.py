"""The command line, for checks that it asks."""

from tests.webapp.commands.conftest import shell  # noqa: F401 - a fixture
