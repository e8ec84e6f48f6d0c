"""An item may stand in several lists of a run."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Let an item be unique in its list alone."""
    with op.batch_alter_table("run_item") as run_item:
        run_item.drop_constraint("uq_run_item_run_id_item_id", type_="unique")
        run_item.create_unique_constraint(
            "uq_run_item_run_id_list_item_id", ["run_id", "list", "item_id"]
        )


def downgrade() -> None:
    """Let an item be unique in its run again; fails where lists share items."""
    with op.batch_alter_table("run_item") as run_item:
        run_item.drop_constraint("uq_run_item_run_id_list_item_id", type_="unique")
        run_item.create_unique_constraint("uq_run_item_run_id_item_id", ["run_id", "item_id"])
