"""What a run's page draws, stored with the summary of its sessions."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. Runs are drawn once they are summarised again."""
    op.add_column("run_summary", sa.Column("charts", sa.JSON()))


def downgrade() -> None:
    """Take it away: everything in it follows from other tables."""
    op.drop_column("run_summary", "charts")
