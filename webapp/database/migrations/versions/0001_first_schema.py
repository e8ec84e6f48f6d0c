"""The first schema: that of databases from before there were migrations."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the first tables."""
    _make_run()
    _make_participant()
    _make_place()
    _make_trial()
    _make_response()
    _make_what_else_is_known_of_participants()


def downgrade() -> None:
    """Drop them, those that refer to others first."""
    for table in (
        *("response", "verdict", "trial", "event", "device", "answer", "run_item"),
        *("place", "participant", "run"),
    ):
        op.drop_table(table)


def _make_run() -> None:
    op.create_table(
        "run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("ref", sa.String(), nullable=False),
        sa.Column("study", sa.String(), nullable=False),
        sa.Column("study_version", sa.String(), nullable=False),
        sa.Column("study_folder", sa.String(), nullable=False),
        sa.Column("materials_hash", sa.String(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("recruiter", sa.String(), nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("code_version", sa.String(), nullable=False),
        sa.Column("launched_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("lease_minutes", sa.Integer(), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name="pk_run"),
        sa.UniqueConstraint("ref", name="uq_run_ref"),
    )
    op.create_table(
        "run_item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("list", sa.Integer(), nullable=False),
        sa.Column("list_order", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("item", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_run_item_run_id_run"),
        sa.PrimaryKeyConstraint("id", name="pk_run_item"),
        sa.UniqueConstraint("run_id", "item_id", name="uq_run_item_run_id_item_id"),
    )
    op.create_index("ix_run_item_run_id", "run_item", ["run_id", "list"])


def _make_participant() -> None:
    op.create_table(
        "participant",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("ref", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("platform_id", sa.String()),
        sa.Column("visit_mark", sa.String()),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("list", sa.Integer()),
        sa.Column("place", sa.Integer()),
        sa.Column("arrived_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("consented_at", sa.DateTime(timezone=True)),
        sa.Column("returned_at", sa.DateTime(timezone=True)),
        sa.Column("finished_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_participant_run_id_run"),
        sa.PrimaryKeyConstraint("id", name="pk_participant"),
        sa.UniqueConstraint("ref", name="uq_participant_ref"),
        sa.UniqueConstraint("run_id", "number", name="uq_participant_run_id_number"),
        sa.UniqueConstraint("run_id", "platform_id", name="uq_participant_run_id_platform_id"),
        sa.UniqueConstraint("run_id", "visit_mark", name="uq_participant_run_id_visit_mark"),
    )


def _make_place() -> None:
    op.create_table(
        "place",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("list", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer()),
        _of_participant("place"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_place_run_id_run"),
        sa.PrimaryKeyConstraint("id", name="pk_place"),
        sa.UniqueConstraint("participant_id", name="uq_place_participant_id"),
        sa.UniqueConstraint("run_id", "list", "place", name="uq_place_run_id_list_place"),
    )


def _make_trial() -> None:
    op.create_table(
        "trial",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("run_item_id", sa.Integer(), nullable=False),
        sa.Column("good_side", sa.String(), nullable=False),
        _of_participant("trial"),
        sa.ForeignKeyConstraint(
            ["run_item_id"], ["run_item.id"], name="fk_trial_run_item_id_run_item"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_trial"),
        sa.UniqueConstraint("participant_id", "position", name="uq_trial_participant_id_position"),
    )


def _make_response() -> None:
    op.create_table(
        "response",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("client_uuid", sa.String(), nullable=False),
        sa.Column("chosen_side", sa.String(), nullable=False),
        sa.Column("rt_ms", sa.Double()),
        sa.Column("input_method", sa.String(), nullable=False),
        sa.Column("viewport_width_px", sa.Integer()),
        sa.Column("viewport_height_px", sa.Integer()),
        sa.Column("was_hidden", sa.Boolean()),
        sa.Column("lost_focus", sa.Boolean()),
        sa.Column("client_time", sa.DateTime(timezone=True)),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_response_trial_id_trial"),
        sa.PrimaryKeyConstraint("id", name="pk_response"),
        sa.UniqueConstraint("trial_id", name="uq_response_trial_id"),
    )


def _make_what_else_is_known_of_participants() -> None:
    op.create_table(
        "answer",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("field", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        _of_participant("answer"),
        sa.PrimaryKeyConstraint("id", name="pk_answer"),
        sa.UniqueConstraint("participant_id", "field", name="uq_answer_participant_id_field"),
    )
    op.create_table(
        "device",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("user_agent_family", sa.String(), nullable=False),
        sa.Column("refresh_rate_hz", sa.Double()),
        sa.Column("time_zone_offset_min", sa.Integer()),
        sa.Column("language", sa.String(), nullable=False),
        _of_participant("device"),
        sa.PrimaryKeyConstraint("id", name="pk_device"),
        sa.UniqueConstraint("participant_id", name="uq_device_participant_id"),
    )
    op.create_table(
        "event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        _of_participant("event"),
        sa.PrimaryKeyConstraint("id", name="pk_event"),
    )
    op.create_index("ix_event_participant_id", "event", ["participant_id"])
    op.create_table(
        "verdict",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("kept", sa.Boolean(), nullable=False),
        sa.Column("rule", sa.String(), nullable=False),
        sa.Column("evidence", sa.String(), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=False),
        _of_participant("verdict"),
        sa.PrimaryKeyConstraint("id", name="pk_verdict"),
        sa.UniqueConstraint("participant_id", name="uq_verdict_participant_id"),
    )


def _of_participant(table: str) -> sa.ForeignKeyConstraint:
    name = f"fk_{table}_participant_id_participant"
    return sa.ForeignKeyConstraint(["participant_id"], ["participant.id"], name=name)
