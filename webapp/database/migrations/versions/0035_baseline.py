"""The baseline: the schema of commit 92008c70, on which the first later revision builds.

The models create the tables of an empty database, so this revision does nothing. The next revision
must be tested on the databases in ``tests/data/earlier``, which have this schema.
"""

revision = "0035"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Leave the database unchanged."""
