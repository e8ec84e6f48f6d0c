"""What the launches of all platforms' tests have in common."""

from collections.abc import Iterator

import pytest

from tests.webapp.once import checked_once


@pytest.fixture(scope="package", autouse=True)
def _checked_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        checked_once(patch)
        yield
