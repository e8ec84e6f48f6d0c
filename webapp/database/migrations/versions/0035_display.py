"""How each trial was on the screen: hidden how long, frames missed, zoom, round trip."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

_MEASURED = (
    ("hidden_ms", sa.Double),
    ("frames_dropped", sa.Integer),
    ("pixel_ratio", sa.Double),
    ("round_trip_ms", sa.Double),
)


def upgrade() -> None:
    """Add the columns; of what came before it is not known."""
    for name, type_ in _MEASURED:
        op.add_column("response", sa.Column(name, type_()))


def downgrade() -> None:
    """Drop them."""
    for name, _ in reversed(_MEASURED):
        op.drop_column("response", name)
