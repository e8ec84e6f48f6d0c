"""What tests of a platform's low balance share: who asked to be told, and an hour's work."""

from tests.webapp.jobs.test_notices import (  # noqa: F401 - fixtures
    add,
    every_name_is_known,
    here,
    services,
    told,
)
from tests.webapp.researcher.conftest import *  # noqa: F403 - the fixtures of signed-in people
from webapp.jobs.housekeeping import check_platform_balances, notify_researchers
from webapp.services import Services


def tell(services: Services) -> None:  # noqa: F811 - the value of the fixture
    """Look at the balances, and tell whoever asked of what was found."""
    check_platform_balances(services)
    notify_researchers(services)
