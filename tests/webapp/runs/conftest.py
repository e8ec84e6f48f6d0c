from tests.webapp.commands.conftest import shell  # noqa: F401
from tests.webapp.recruiters.conftest import ready, send, url  # noqa: F401
from tests.webapp.researcher.conftest import browser, password_hash, researcher  # noqa: F401
from tests.webapp.sessions.conftest import run_of  # noqa: F401
