"""Corrections, and whose data are stored and not used, as the record of erasures has them too."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Let somebody wish the same thing again, and say what a correction says."""
    with op.batch_alter_table("erasure") as batch:
        batch.add_column(
            sa.Column("mark", sa.String(), nullable=False, server_default=sa.text("''"))
        )
        batch.add_column(
            sa.Column("content", sa.String(), nullable=False, server_default=sa.text("''"))
        )
        batch.drop_constraint("uq_erasure_deed_digest", type_="unique")
        batch.create_unique_constraint("uq_erasure_deed_digest_mark", ["deed", "digest", "mark"])
    op.add_column("participant", sa.Column("restricted_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    """Take it back: the file beside the database still has what was wished."""
    op.execute("DELETE FROM erasure WHERE mark <> ''")
    with op.batch_alter_table("erasure") as batch:
        batch.drop_constraint("uq_erasure_deed_digest_mark", type_="unique")
        batch.drop_column("content")
        batch.drop_column("mark")
        batch.create_unique_constraint("uq_erasure_deed_digest", ["deed", "digest"])
    op.drop_column("participant", "restricted_at")
