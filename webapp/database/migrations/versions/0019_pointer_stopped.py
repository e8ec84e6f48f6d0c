"""When the pointer that chose had last moved."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; of answers that came before, it is not known."""
    op.add_column("response", sa.Column("pointer_stopped_ms", sa.Double()))


def downgrade() -> None:
    """Take it away."""
    with op.batch_alter_table("response") as batch:
        batch.drop_column("pointer_stopped_ms")
