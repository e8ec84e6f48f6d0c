"""Where a run was published, the HITs it was offered in, and the assignments workers accepted."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the three tables."""
    op.create_table(
        "recruitment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("endpoint", sa.String(), nullable=False),
        sa.Column("qualification_id", sa.String()),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_recruitment_run_id_run"),
        sa.PrimaryKeyConstraint("id", name="pk_recruitment"),
        sa.UniqueConstraint("run_id", name="uq_recruitment_run_id"),
    )
    op.create_table(
        "hit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("token", sa.String(), nullable=False),
        sa.Column("purpose", sa.String(), nullable=False),
        sa.Column("places", sa.Integer(), nullable=False),
        sa.Column("platform_id", sa.String()),
        sa.Column("hit_type_id", sa.String()),
        sa.Column("called_at", sa.DateTime(timezone=True)),
        sa.Column("posted_at", sa.DateTime(timezone=True)),
        sa.Column("expires_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_hit_run_id_run"),
        sa.PrimaryKeyConstraint("id", name="pk_hit"),
        sa.UniqueConstraint("token", name="uq_hit_token"),
        sa.UniqueConstraint("platform_id", name="uq_hit_platform_id"),
    )
    op.create_index("ix_hit_run_id", "hit", ["run_id"])
    op.create_table(
        "assignment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("hit_id", sa.Integer()),
        sa.Column("platform_id", sa.String(), nullable=False),
        sa.Column("participant_id", sa.Integer()),
        sa.Column("worker_id", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("submit_to", sa.String(), nullable=False),
        sa.Column("receipt", sa.String(), nullable=False),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("submitted_at", sa.DateTime(timezone=True)),
        sa.Column("granted_at", sa.DateTime(timezone=True)),
        sa.Column("seen_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_assignment_run_id_run"),
        sa.ForeignKeyConstraint(["hit_id"], ["hit.id"], name="fk_assignment_hit_id_hit"),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participant.id"], name="fk_assignment_participant_id_participant"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_assignment"),
        sa.UniqueConstraint("platform_id", "worker_id", name="uq_assignment_platform_id_worker_id"),
    )
    op.create_index("ix_assignment_run_id", "assignment", ["run_id"])
    op.create_index("ix_assignment_participant_id", "assignment", ["participant_id"])


def downgrade() -> None:
    """Drop them, those that refer to others first."""
    for table in ("assignment", "hit", "recruitment"):
        op.drop_table(table)
