"""What several tests of the pages ask for."""

import pytest

from webapp.database.engine import reading
from webapp.database.models import Base


@pytest.fixture
def rows(sessions):
    """Return a function that counts every table's rows."""

    def count() -> dict[str, int]:
        with reading(sessions) as session:
            names = [table.name for table in Base.metadata.sorted_tables]
            counted = ", ".join(f'(SELECT count(*) FROM "{name}")' for name in names)
            found = session.connection().exec_driver_sql(f"SELECT {counted}").one()
            return dict(zip(names, found, strict=True))

    return count
