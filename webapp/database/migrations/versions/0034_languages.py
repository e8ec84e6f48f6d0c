"""The language in which the room speaks to a user."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; nobody has chosen yet."""
    op.add_column("account", sa.Column("language", sa.String()))


def downgrade() -> None:
    """Take it away: the browser's wish counts again."""
    op.drop_column("account", "language")
