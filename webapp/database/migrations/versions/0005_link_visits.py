"""What links said when they were opened, and a code of each participant's own."""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_ALPHABET, _LENGTH = "abcdefghjkmnpqrstuvwxyz23456789", 12


def upgrade() -> None:
    """Make the table, and give everybody who came before a code."""
    op.create_table(
        "link_visit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer()),
        sa.Column("problem", sa.String(), nullable=False),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_link_visit_run_id_run"),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participant.id"], name="fk_link_visit_participant_id_participant"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_link_visit"),
    )
    op.create_index("ix_link_visit_run_id", "link_visit", ["run_id"])
    op.create_index("ix_link_visit_participant_id", "link_visit", ["participant_id"])
    op.add_column("participant", sa.Column("code", sa.String()))
    connection = op.get_bind()
    participant = sa.table("participant", sa.column("id"), sa.column("code"))
    for id_ in connection.scalars(sa.select(participant.c.id)).all():
        code = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
        connection.execute(sa.update(participant).where(participant.c.id == id_).values(code=code))
    with op.batch_alter_table("participant") as batch:
        batch.alter_column("code", existing_type=sa.String(), nullable=False)
        batch.create_unique_constraint("uq_participant_code", ["code"])


def downgrade() -> None:
    """Drop both."""
    with op.batch_alter_table("participant") as batch:
        batch.drop_constraint("uq_participant_code", type_="unique")
        batch.drop_column("code")
    op.drop_table("link_visit")
