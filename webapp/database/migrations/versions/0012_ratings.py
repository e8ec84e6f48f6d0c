"""Trials have other options than good and one against it, and may be rated."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the options and the scale of a trial, and the rating of a response."""
    op.add_column("trial", sa.Column("options", sa.String(), nullable=True))
    op.add_column("trial", sa.Column("points", sa.Integer(), nullable=True))
    op.add_column("response", sa.Column("rating", sa.Integer(), nullable=True))


def downgrade() -> None:
    """Take them away again."""
    op.drop_column("response", "rating")
    op.drop_column("trial", "points")
    op.drop_column("trial", "options")
