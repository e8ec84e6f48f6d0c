"""What was measured of each word or region that was read."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; it is empty of every answer to a trial of another type."""
    op.add_column("response", sa.Column("steps", sa.String()))


def downgrade() -> None:
    """Take it away."""
    with op.batch_alter_table("response") as batch:
        batch.drop_column("steps")
