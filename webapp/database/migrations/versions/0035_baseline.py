"""The baseline: the schema of commit 92008c70, which the first later revision changes.

The models make an empty database, so this revision does nothing. Whoever adds the next one tests it
on the databases in ``tests/data/earlier``, which have this schema.
"""

revision = "0035"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Leave the database as it is."""
