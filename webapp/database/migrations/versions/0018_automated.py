"""Whether a browser says that a program drives it."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; it is unknown for devices that were stored before."""
    op.add_column("device", sa.Column("automated", sa.Boolean()))


def downgrade() -> None:
    """Take it away."""
    with op.batch_alter_table("device") as batch:
        batch.drop_column("automated")
