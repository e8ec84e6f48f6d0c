"""From where people came within the last hour, so that nobody takes all the places."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "arrival_address",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["participant_id"],
            ["participant.id"],
            name="fk_arrival_address_participant_id_participant",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_arrival_address"),
        sa.UniqueConstraint("participant_id", name="uq_arrival_address_participant_id"),
    )
    op.create_index("ix_arrival_address_at", "arrival_address", ["at"])
    op.create_index("ix_arrival_address_digest", "arrival_address", ["digest", "at"])


def downgrade() -> None:
    """Take it away again."""
    op.drop_table("arrival_address")
