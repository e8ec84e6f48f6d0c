"""How each choice was timed and made, several devices of a participant, and who withdrew."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_MEASURED = (
    ("release_ms", sa.Double),
    ("onset_source", sa.String),
    ("onset_uncertainty_ms", sa.Double),
    ("times_shown", sa.Integer),
    ("seen_before_ms", sa.Double),
    ("waited_ms", sa.Double),
    ("trusted", sa.Boolean),
    ("pointer_moves", sa.Integer),
    ("pointer_path_px", sa.Double),
)


def upgrade() -> None:
    """Add the columns; what came before is not known."""
    for name, type_ in _MEASURED:
        op.add_column("response", sa.Column(name, type_()))
    op.add_column("participant", sa.Column("withdrawn_at", sa.DateTime(timezone=True)))
    with op.batch_alter_table("device") as device:
        device.add_column(sa.Column("mark", sa.String(), nullable=False, server_default=""))
        device.add_column(sa.Column("noted_at", sa.DateTime(timezone=True)))
        device.drop_constraint("uq_device_participant_id", type_="unique")
        device.create_unique_constraint("uq_device_participant_id_mark", ["participant_id", "mark"])
    with op.batch_alter_table("device") as device:
        device.alter_column("mark", existing_type=sa.String(), server_default=None)


def downgrade() -> None:
    """Drop them; of each participant the first device is kept."""
    op.execute(
        "DELETE FROM device WHERE id NOT IN (SELECT MIN(id) FROM device GROUP BY participant_id)"
    )
    with op.batch_alter_table("device") as device:
        device.drop_constraint("uq_device_participant_id_mark", type_="unique")
        device.drop_column("mark")
        device.drop_column("noted_at")
        device.create_unique_constraint("uq_device_participant_id", ["participant_id"])
    op.drop_column("participant", "withdrawn_at")
    for name, _ in reversed(_MEASURED):
        op.drop_column("response", name)
