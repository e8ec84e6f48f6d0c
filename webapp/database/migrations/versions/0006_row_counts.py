"""Counts of each run's rows, and indexes with which an arrival reads the same few rows."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table of counts and the indexes; counting starts after the migration."""
    op.create_table(
        "run_count",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("list", sa.Integer(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_run_count_run_id_run"),
        sa.PrimaryKeyConstraint("id", name="pk_run_count"),
    )
    op.create_index("ix_run_count_run_id", "run_count", ["run_id", "subject", "list"])
    with op.batch_alter_table("place") as place:
        place.drop_constraint("uq_place_participant_id", type_="unique")
    held, free = sa.text("participant_id IS NOT NULL"), sa.text("participant_id IS NULL")
    op.create_index(
        "uq_place_holder",
        "place",
        ["participant_id"],
        unique=True,
        sqlite_where=held,
        postgresql_where=held,
    )
    op.create_index(
        "ix_place_free",
        "place",
        ["run_id", "list", "place"],
        sqlite_where=free,
        postgresql_where=free,
    )
    op.create_index("ix_participant_run_id", "participant", ["run_id", "state", "consented_at"])
    op.create_index("ix_participant_place", "participant", ["run_id", "list", "place"])


def downgrade() -> None:
    """Drop them."""
    op.drop_index("ix_participant_place", "participant")
    op.drop_index("ix_participant_run_id", "participant")
    op.drop_index("ix_place_free", "place")
    op.drop_index("uq_place_holder", "place")
    with op.batch_alter_table("place") as place:
        place.create_unique_constraint("uq_place_participant_id", ["participant_id"])
    op.drop_table("run_count")
