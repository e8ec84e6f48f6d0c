"""Verdicts are counted as places and answers are, and those who are left out are found at once."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index; the verdicts are counted after the migration."""
    restricted = sa.text("restricted_at IS NOT NULL")
    op.create_index(
        "ix_participant_restricted",
        "participant",
        ["run_id"],
        sqlite_where=restricted,
        postgresql_where=restricted,
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_index("ix_participant_restricted", "participant")
