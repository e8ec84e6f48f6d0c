"""Researchers' notes and tags about a run or a participant.

They are visible only to users who may see the run. No export contains them, because an exported
note could not be erased with the participant's data. The audit log records who wrote about whom and
when, but not the text.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.orm import Session

from webapp.database.models import Note, Participant, Run, Tag
from webapp.errors import RequestError
from webapp.users.audit_log import record_act

LONGEST_NOTE = 5_000
LONGEST_TAG = 30
_MOST_TAGS = 20
_MOST_NOTES = 200
_TAG = re.compile(rf"[^\W_][\w .+-]{{0,{LONGEST_TAG - 1}}}")


@dataclass(frozen=True, slots=True)
class NotesAndTags:
    """The notes and tags of a run or a participant.

    Attributes:
        notes: The notes, the latest first.
        tags: The tags in alphabetical order.
    """

    notes: Sequence[Note]
    tags: Sequence[Tag]


def list_notes_and_tags(
    session: Session, run: Run, participant: Participant | None = None
) -> NotesAndTags:
    """Return the notes and tags of a participant, or of the run itself."""
    notes = select(Note).where(*_match_subject(Note, run, participant)).order_by(Note.id.desc())
    tags = select(Tag).where(*_match_subject(Tag, run, participant)).order_by(Tag.name)
    return NotesAndTags(session.scalars(notes).all(), session.scalars(tags).all())


def list_tags_of_people(session: Session, ids: Collection[int]) -> Mapping[int, list[str]]:
    """Return the tags of some participants, by participant id."""
    rows = select(Participant.id, Tag.name).join(Tag, Tag.participant_id == Participant.id)
    tags_by_id: dict[int, list[str]] = {}
    for id_, name in session.execute(rows.where(Participant.id.in_(ids)).order_by(Tag.name)):
        tags_by_id.setdefault(id_, []).append(name)
    return tags_by_id


def list_tags_in_use(session: Session, run: Run) -> Sequence[str]:
    """Return all tags that participants of a run have."""
    used = select(Tag.name).where(Tag.run_id == run.id, Tag.participant_id.is_not(None))
    return session.scalars(used.distinct().order_by(Tag.name)).all()


def write_note(
    session: Session,
    run: Run,
    participant: Participant | None,
    *,
    text: str,
    tags: str,
    who: str,
    now: datetime,
) -> None:
    """Write a note, tags, or both.

    Args:
        session: An open session that writes.
        run: The run.
        participant: The subject of the note; None for the run.
        text: The note; empty for none.
        tags: Tags separated by commas; empty for none.
        who: The author.
        now: The time.

    Raises:
        RequestError: The text is empty or too long, a tag is invalid, or notes about the
            participant are no longer allowed.
    """
    text, names = text.strip(), _parse_tag_names(tags)
    _check_note(session, run, participant, text, names)
    about = {"run_id": run.id, "participant_id": participant.id if participant else None}
    if text:
        session.add(Note(**about, who=who, at=now, text=text))
    existing_names = {tag.name for tag in list_notes_and_tags(session, run, participant).tags}
    if len(existing_names | names) > _MOST_TAGS:
        raise _make_note_error(f"A participant has at most {_MOST_TAGS} tags.")
    session.add_all(
        Tag(**about, name=name, who=who, at=now) for name in sorted(names - existing_names)
    )
    act = " and ".join([*["note"] * bool(text), *["tags"] * bool(names)]) + " written"
    _record_act(session, run, participant, who, act, now)


def remove_note_or_tag(
    session: Session,
    run: Run,
    participant: Participant | None,
    number: int,
    *,
    is_tag: bool,
    who: str,
    now: datetime,
) -> None:
    """Remove a note or a tag.

    Args:
        session: An open session that writes.
        run: The run.
        participant: The subject of the note or tag; None for the run.
        number: The id of the note or tag.
        is_tag: Whether to remove a tag.
        who: The user who removes it.
        now: The time.

    Raises:
        RequestError: The note or tag does not exist.
    """
    table = Tag if is_tag else Note
    row_exists = select(table.id).where(
        table.id == number, *_match_subject(table, run, participant)
    )
    if session.scalar(row_exists) is None:
        raise RequestError("The note was removed already.", status=404, code="no_note")
    session.execute(delete(table).where(table.id == number))
    _record_act(session, run, participant, who, f"{'tag' if is_tag else 'note'} removed", now)


def _match_subject(
    table: type[Note] | type[Tag], run: Run, participant: Participant | None
) -> tuple[ColumnElement[bool], ...]:
    person = table.participant_id
    return table.run_id == run.id, (
        person.is_(None) if participant is None else person == participant.id
    )


def _parse_tag_names(typed: str) -> set[str]:
    return {" ".join(part.split()).lower() for part in typed.split(",") if part.strip()}


def _check_note(
    session: Session, run: Run, participant: Participant | None, text: str, names: set[str]
) -> None:
    if not text and not names:
        raise _make_note_error("Write a note, or tags, or both.")
    if len(text) > LONGEST_NOTE or "\x00" in text:
        raise _make_note_error(
            f"A note has at most {f'{LONGEST_NOTE:,}'} characters; this one has {f'{len(text):,}'}."
        )
    for name in sorted(names):
        if not _TAG.fullmatch(name):
            raise _make_note_error(
                f'"{name[: 2 * LONGEST_TAG]}" is not a tag: a tag begins with a letter or a digit '
                f"and has at most {LONGEST_TAG} of letters, digits, spaces, and the signs . + - "
                "Separate tags by commas."
            )
    if text and len(list_notes_and_tags(session, run, participant).notes) >= _MOST_NOTES:
        raise _make_note_error(f"There are {_MOST_NOTES} notes already. Remove one first.")
    if participant is None:
        return
    if participant.restricted_at is not None:
        raise _make_note_error(
            "This participant's data are stored and not used: nothing is added to them."
        )
    if text and run.identities_erased_at is not None:
        raise _make_note_error(
            "What identifies the people of this run was erased, so no note is written about them "
            "any more. Tags are possible."
        )


def _make_note_error(text: str) -> RequestError:
    return RequestError(text, status=400, code="bad_note")


def _record_act(
    session: Session, run: Run, participant: Participant | None, who: str, act: str, now: datetime
) -> None:
    after = {"participant": participant.ref} if participant else {}
    record_act(session, who, act, now, run_ref=run.ref, after=after)
