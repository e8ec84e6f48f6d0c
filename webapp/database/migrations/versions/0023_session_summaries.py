"""Summaries of sessions, by which a run's participants are sorted."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_WHOLE = ("answered", "fast", "hidden", "n_events", "n_flags")
_REAL = ("minutes", "median_rt_ms", "same_side", "waited_s", "likelihood")
_SORTED = (
    "answered", "minutes", "median_rt_ms", "fast", "same_side", "hidden", "waited_s", "n_events",
)  # fmt: skip


def upgrade() -> None:
    """Make the tables; a periodic job fills them."""
    op.create_table(
        "session_summary",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in _WHOLE),
        *(sa.Column(name, sa.Double(), nullable=False) for name in _REAL),
        sa.Column("judged", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_session_summary"),
        sa.UniqueConstraint("participant_id", name="uq_session_summary_participant_id"),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participant.id"],
            name="fk_session_summary_participant_id_participant",
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_session_summary_run_id_run"),
    )  # fmt: skip
    for name in _SORTED:
        op.create_index(
            f"ix_session_summary_{name}", "session_summary", ["run_id", name, "participant_id"]
        )
    op.create_index(
        "ix_session_summary_flags",
        "session_summary",
        ["run_id", "n_flags", "likelihood", "participant_id"],
    )
    op.create_table(
        "run_summary",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("took_s", sa.Double(), nullable=False),
        sa.Column("responses", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_run_summary"),
        sa.UniqueConstraint("run_id", name="uq_run_summary_run_id"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_run_summary_run_id_run"),
    )
    op.create_index("ix_verdict_kept", "verdict", ["kept", "participant_id"])


def downgrade() -> None:
    """Drop them."""
    op.drop_index("ix_verdict_kept", "verdict")
    op.drop_table("run_summary")
    op.drop_table("session_summary")
