"""What several tests of the pages ask for."""

import pytest
from sqlalchemy import func, select

from webapp.database.engine import reading
from webapp.database.models import Base


@pytest.fixture
def rows(sessions):
    """Return a function that counts every table's rows."""

    def count() -> dict[str, int]:
        with reading(sessions) as session:
            return {
                table.name: session.execute(select(func.count()).select_from(table)).scalar_one()
                for table in Base.metadata.sorted_tables
            }

    return count
