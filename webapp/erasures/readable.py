"""Whether every entry of a record can be understood: asked before anything is done by it."""

import json
from collections.abc import Collection
from pathlib import Path

from webapp.core.sealing import Sealer
from webapp.erasures.entry import Entry, key_id_of
from webapp.errors import WebappError


def refuse_unreadable(entries: Collection[Entry], sealer: Sealer, where: Path) -> None:
    """Let pass only a record whose every entry can be understood.

    Raises:
        WebappError: An entry was made with a key that is not there, or what it says is damaged.
    """
    sealing = {key.id for key in sealer.keys.sealing}
    made = {key_id_of(each.digest) for each in entries} - sealer.digest_ids
    sealed = {key_id_of(each.content) for each in entries if each.content} - sealing
    if lost := sorted(made | sealed):
        raise WebappError(
            f"the record of erasures needs key {lost[0]}, which is not in the keys",
            where=str(where),
            expected="the keys with which people's wishes were recorded, to carry them out again",
            remedy="Take back the copy that you kept of the file of the keys. Where the key is"
            f" lost, delete the lines with ` {lost[0]}.`: a backup from before them then brings"
            " those people back. If the record belongs to another installation, put this"
            " installation's own there",
        )
    if damaged := next((each for each in entries if not _is_whole(each, sealer)), None):
        raise WebappError(
            f'the record of erasures holds a correction that cannot be read: "{damaged!s:.60}"',
            where=str(where),
            expected="lines as they were written: nobody can write one by hand",
            remedy="Take the newest sound copy of the file. If there is none, delete the line: the"
            " answer is then what it was before that correction",
        )


def _is_whole(entry: Entry, sealer: Sealer) -> bool:
    if not entry.content:
        return True
    try:
        said = json.loads(sealer.open(entry.content))
    except (WebappError, ValueError):
        return False
    return isinstance(said, dict)
