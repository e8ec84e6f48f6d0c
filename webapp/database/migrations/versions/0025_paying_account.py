"""Which account of a platform a run was published from."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; of runs that were published before, publishing again fills it."""
    with op.batch_alter_table("recruitment") as table:
        table.add_column(sa.Column("account", sa.String(), nullable=True))


def downgrade() -> None:
    """Take the column away."""
    with op.batch_alter_table("recruitment") as table:
        table.drop_column("account")
