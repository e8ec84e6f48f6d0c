"""Endings of who left early, links that were given out, and reports that platforms are owed."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables and the participant's columns."""
    _make_links()
    _make_reports()
    with op.batch_alter_table("participant") as participant:
        participant.add_column(sa.Column("ending", sa.String()))
        participant.add_column(
            sa.Column("watched", sa.Boolean(), nullable=False, server_default=sa.false())
        )
        participant.add_column(sa.Column("link_id", sa.Integer()))
        participant.create_foreign_key("fk_participant_link_id_link", "link", ["link_id"], ["id"])
        participant.create_index("ix_participant_link_id", ["link_id"])


def _make_links() -> None:
    op.create_table(
        "link",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("token", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("list", sa.Integer()),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_link_run_id_run"),
        sa.PrimaryKeyConstraint("id", name="pk_link"),
        sa.UniqueConstraint("token", name="uq_link_token"),
    )
    op.create_index("ix_link_run_id", "link", ["run_id"])


def _make_reports() -> None:
    op.create_table(
        "outgoing_report",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("ending", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True)),
        sa.Column("called_at", sa.DateTime(timezone=True)),
        sa.Column("settled_at", sa.DateTime(timezone=True)),
        sa.Column("answer", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_outgoing_report_run_id_run"),
        sa.ForeignKeyConstraint(
            ["participant_id"],
            ["participant.id"],
            name="fk_outgoing_report_participant_id_participant",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_outgoing_report"),
        sa.UniqueConstraint(
            "participant_id", "ending", name="uq_outgoing_report_participant_id_ending"
        ),
    )
    op.create_index("ix_outgoing_report_run_id", "outgoing_report", ["run_id"])
    op.create_index("ix_outgoing_report_state", "outgoing_report", ["state", "next_at"])


def downgrade() -> None:
    """Drop them."""
    with op.batch_alter_table("participant") as participant:
        participant.drop_index("ix_participant_link_id")
        participant.drop_constraint("fk_participant_link_id_link", type_="foreignkey")
        for column in ("link_id", "watched", "ending"):
            participant.drop_column(column)
    op.drop_table("outgoing_report")
    op.drop_table("link")
