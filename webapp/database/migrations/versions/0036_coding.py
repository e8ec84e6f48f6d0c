"""Tables of the codes of typed answers."""

import sqlalchemy as sa
from alembic import op

from webapp.database.models.base import UtcDateTime
from webapp.database.models.identity import SealedText

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "coder",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("token", sa.String(), nullable=False),
        sa.Column("label", SealedText(), nullable=False),
        sa.Column("decides", sa.Boolean(), nullable=False),
        sa.Column("made_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_coder")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_coder_run_id_run")),
        sa.UniqueConstraint("token", name=op.f("uq_coder_token")),
    )
    op.create_index(op.f("ix_coder_run_id"), "coder", ["run_id"])
    op.create_table(
        "code",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("coder_id", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("answer", sa.String(), nullable=False),
        sa.Column("category", sa.String(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_code")),
        sa.UniqueConstraint(
            "coder_id", "round", "answer", name=op.f("uq_code_coder_id_round_answer")
        ),
        sa.ForeignKeyConstraint(["coder_id"], ["coder.id"], name=op.f("fk_code_coder_id_coder")),
    )
    op.create_table(
        "frozen_coding",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("who", sa.String(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("codes", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_frozen_coding")),
        sa.UniqueConstraint("run_id", "number", name=op.f("uq_frozen_coding_run_id_number")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_frozen_coding_run_id_run")),
    )
