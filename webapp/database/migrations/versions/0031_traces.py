"""What happened within a trial: the path of the pointer and the rhythm of keys."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; it is empty of every answer in studies that do not ask for it."""
    op.add_column("response", sa.Column("trace", sa.String()))


def downgrade() -> None:
    """Take it away."""
    with op.batch_alter_table("response") as batch:
        batch.drop_column("trace")
