"""What a platform showed before it was told to pay a bonus."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; of what was ordered before, it is not known."""
    op.add_column("payment", sa.Column("shown_before", sa.Integer()))


def downgrade() -> None:
    """Take it away."""
    with op.batch_alter_table("payment") as batch:
        batch.drop_column("shown_before")
