"""What the database says of itself, to be compared with what lies beside it."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table; nothing is said yet."""
    op.create_table(
        "stamp",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_stamp"),
        sa.UniqueConstraint("name", name="uq_stamp_name"),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("stamp")
