"""What people asked for, as the record of erasures has it too."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table; the first start fills it from the events."""
    op.create_table(
        "erasure",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("deed", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name="pk_erasure"),
        sa.UniqueConstraint("deed", "digest", name="uq_erasure_deed_digest"),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("erasure")
