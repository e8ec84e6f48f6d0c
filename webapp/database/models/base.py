"""The basis of all models: predictable constraint names, and timezone-aware times."""

from datetime import UTC, datetime

from sqlalchemy import DateTime, Dialect, MetaData, TypeDecorator
from sqlalchemy.orm import DeclarativeBase

_NAMING = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(DeclarativeBase):
    """The base of every model; constraints get predictable names."""

    metadata = MetaData(naming_convention=_NAMING)


class UtcDateTime(TypeDecorator[datetime]):
    """A timezone-aware UTC time on every database; SQLite alone would return naive times."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time in UTC for storage."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a time zone cannot be stored")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the stored time as timezone-aware UTC."""
        if value is None or value.tzinfo is None:
            return value and value.replace(tzinfo=UTC)
        # PostgreSQL gives the time in its own setting's zone.
        return value.astimezone(UTC)
