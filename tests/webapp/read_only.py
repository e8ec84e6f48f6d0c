"""Sessions that read neither write nor lock: PostgreSQL refuses it, and SQLite does not notice."""

from sqlalchemy import ClauseElement, Connection, Engine, event


def watch_reading_sessions() -> None:
    """Fail from now on where a session that reads executes a statement that writes or locks."""

    @event.listens_for(Engine, "before_execute")
    def refuse(connection: Connection, statement: ClauseElement, *_: object) -> None:
        writes = getattr(statement, "is_dml", False)
        locks = getattr(statement, "_for_update_arg", None) is not None
        reads = connection.get_execution_options().get("reading")
        assert not (reads and (writes or locks)), f"in a session that reads: {statement}"
