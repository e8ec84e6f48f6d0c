"""Verdicts are counted as answers are; the restricted, and the last who finished, are found."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

_INDEXES = {"ix_participant_restricted": "restricted_at", "ix_participant_finished": "finished_at"}


def upgrade() -> None:
    """Make the indexes; the verdicts are counted after the migration."""
    op.create_index("ix_participant_order", "participant", ["run_id", "id"])
    for name, column in _INDEXES.items():
        there = sa.text(f"{column} IS NOT NULL")
        op.create_index(
            name,
            "participant",
            ["run_id", column],
            sqlite_where=there,
            postgresql_where=there,
        )


def downgrade() -> None:
    """Drop them."""
    op.drop_index("ix_participant_order", "participant")
    for name in _INDEXES:
        op.drop_index(name, "participant")
