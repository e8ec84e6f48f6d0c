"""Platform ids of people and their work: sealed in one table, to which all other tables refer.

A record has a ``Name`` for each id: it is read and compared as a text, and stored as the key of a
row of ``Identity``. Only the installation's keys can read it (``unlock``).
"""

from collections.abc import Iterable
from typing import Any, Generic, TypeVar, overload

from sqlalchemy import (
    ColumnElement,
    Connection,
    Dialect,
    Engine,
    Label,
    ScalarSelect,
    String,
    TypeDecorator,
    bindparam,
    event,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Mapped, Mapper, mapped_column
from sqlalchemy.orm.attributes import set_committed_value

from webapp.core.keys import Keys
from webapp.core.sealing import Sealer, is_forgotten
from webapp.database.models.base import Base
from webapp.errors import WebappError

_SEALER = "parallax_sealer"


def unlock(engine: Engine, sealer: Sealer) -> None:
    """Enable reading and writing sealed data on an engine."""
    setattr(engine.dialect, _SEALER, sealer)


def sealer_of(dialect: Dialect) -> Sealer:
    """Return the sealer with which an engine was unlocked.

    Raises:
        WebappError: The engine is not unlocked.
    """
    sealer: Sealer | None = getattr(dialect, _SEALER, None)
    if sealer is None:
        raise WebappError(
            "participants' platform ids are encrypted, and no key was given to decrypt them"
        )
    return sealer


def keys_of(dialect: Dialect) -> Keys | None:
    """Return the keys with which an engine was unlocked; None if it is locked."""
    sealer: Sealer | None = getattr(dialect, _SEALER, None)
    return None if sealer is None else sealer.keys


class _Digest(TypeDecorator[str]):
    """A text that is stored, and searched for, as its digest."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else sealer_of(dialect).digest(value)


class _Sealed(TypeDecorator[str]):
    """A text that is stored encrypted."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else sealer_of(dialect).seal(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else sealer_of(dialect).open(value)


class SealedText(_Sealed):
    """A text by other people that may identify a person: stored encrypted, never searched."""

    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Return a text sealed; an empty text stays as it is."""
        return super().process_bind_param(value, dialect) if value else value

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Return a stored text decrypted; an empty text is returned unchanged."""
        return super().process_result_value(value, dialect) if value else value


class Identity(Base):
    """A platform's id of a person or of their work."""

    __tablename__ = "identity"

    id: Mapped[int] = mapped_column(primary_key=True)
    hash: Mapped[str] = mapped_column(_Digest, unique=True)  # prefixed with the key's id and a dot
    sealed: Mapped[str] = mapped_column(_Sealed)  # likewise
    forgotten: Mapped[bool]  # whether it replaces a forgotten id: webapp.core.sealing


def name_of(key: Any) -> ScalarSelect[str]:  # noqa: ANN401 - a column, mapped or about to be
    """Return the SQL expression for the name to which a column refers."""
    return (
        select(Identity.sealed)
        .where(Identity.id == key)
        .correlate_except(Identity)
        .scalar_subquery()
    )


class NameExpression:
    """A name in a statement: compared by its digest, selected as a text."""

    def __init__(self, key: Any, label: str) -> None:  # noqa: ANN401 - an instrumented column
        self.key, self._label = key, label

    def __clause_element__(self) -> Label[str]:
        return name_of(self.key).label(self._label)

    def __eq__(self, other: object) -> ColumnElement[bool]:  # type: ignore[override]
        if other is None:
            return self.is_(None)
        if isinstance(other, NameExpression):
            same: ColumnElement[bool] = self.key == other.key
            return same
        return self.in_([str(other)])

    __hash__ = None  # type: ignore[assignment]

    def in_(self, names: Iterable[str]) -> ColumnElement[bool]:
        """Return the condition that the name is one of these."""
        matching = select(Identity.id).where(Identity.hash.in_(list(names)))
        expression: ColumnElement[bool] = self.key.in_(matching)
        return expression

    def is_stand_in(self) -> ColumnElement[bool]:
        """Return the condition that the name replaces a forgotten id."""
        expression: ColumnElement[bool] = self.key.in_(
            select(Identity.id).where(Identity.forgotten)
        )
        return expression

    def is_(self, nothing: None) -> ColumnElement[bool]:
        """Return the condition that there is no name."""
        expression: ColumnElement[bool] = self.key.is_(nothing)
        return expression

    def is_not(self, nothing: None) -> ColumnElement[bool]:
        """Return the condition that there is a name."""
        expression: ColumnElement[bool] = self.key.is_not(nothing)
        return expression


_T = TypeVar("_T", str, str | None)


class Name(Generic[_T]):
    """A name attribute of a record, stored as a key of ``Identity``.

    Args:
        key: The attribute that holds the key. A second attribute, the name with a leading
            underscore, caches the text once it is loaded.
    """

    def __init__(self, key: str) -> None:
        self.key = key

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        _NAMES.setdefault(owner, {})[name] = self.key

    @overload
    def __get__(self, record: None, owner: type) -> NameExpression: ...
    @overload
    def __get__(self, record: object, owner: type) -> _T: ...
    def __get__(self, record: object | None, owner: type) -> Any:
        if record is None:
            return NameExpression(getattr(owner, self.key), self._name)
        return getattr(record, f"_{self._name}")

    def __set__(self, record: object, value: _T) -> None:
        # The key attribute holds the text until the record is written.
        setattr(record, self.key, value)
        set_committed_value(record, f"_{self._name}", value)


_NAMES: dict[type, dict[str, str]] = {}


def names_of(record: Base) -> Iterable[str]:
    """Return the name attributes of a record."""
    return _NAMES.get(type(record), {})


@event.listens_for(Base, "before_insert", propagate=True)
@event.listens_for(Base, "before_update", propagate=True)
def _keep_names(_mapper: Mapper[Any], connection: Connection, record: object) -> None:
    for key in _NAMES.get(type(record), {}).values():
        if isinstance(text := record.__dict__.get(key), str):
            setattr(record, key, identity_key(connection, text))


def identity_key(connection: Connection, name: str) -> int:
    """Return the key of a name; store the name if it is new."""
    row = {"hash": name, "sealed": name, "forgotten": is_forgotten(name)}
    # Two transactions may store the same name at once.
    key = connection.scalar(_INSERT_NEW[connection.dialect.name], row)
    return connection.scalars(_FIND, {"hash": name}).one() if key is None else key


# Built once, because most arrivals store a name.
_INSERT_NEW = {
    dialect: insert(Identity).on_conflict_do_nothing(index_elements=["hash"]).returning(Identity.id)
    for dialect, insert in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
}
_FIND = select(Identity.id).where(Identity.hash == bindparam("hash", type_=Identity.hash.type))
