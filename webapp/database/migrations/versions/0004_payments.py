"""The ledger of payments."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the ledger."""
    op.create_table(
        "payment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer()),
        sa.Column("worker_id", sa.String(), nullable=False),
        sa.Column("assignment", sa.String()),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("amount_cents", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("token", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("called_at", sa.DateTime(timezone=True)),
        sa.Column("settled_at", sa.DateTime(timezone=True)),
        sa.Column("answer", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_payment_run_id_run"),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participant.id"], name="fk_payment_participant_id_participant"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_payment"),
        sa.UniqueConstraint("token", name="uq_payment_token"),
    )
    op.create_index("ix_payment_run_id", "payment", ["run_id"])
    op.create_index("ix_payment_participant_id", "payment", ["participant_id"])


def downgrade() -> None:
    """Drop it."""
    op.drop_table("payment")
