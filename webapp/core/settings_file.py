"""Writing one setting into the instance's file, without changing the rest."""

import json
import re
import tomllib
from pathlib import Path

from experiment.tables.atomic_write import atomic_write
from webapp.core.settings import FILE_NAME, flat_name
from webapp.errors import SettingError

_OWNER_ALONE = 0o600


def write_setting(instance: Path, section: str, name: str, value: str) -> Path:
    """Set a setting of a section in the instance's file, and return the file.

    A line that sets it is replaced; comments and everything else stay. A new file is readable by
    its owner alone, as a secret may stand in it.

    Args:
        instance: The installation's folder.
        section: The section, such as that of a recruiter.
        name: The setting in it.
        value: Its new value.

    Raises:
        SettingError: The file cannot be read, or is written in a way that this does not know.
        WritingError: It cannot be written.
    """
    path = instance / FILE_NAME
    text, mode = "", _OWNER_ALONE
    if path.exists():
        text, mode = path.read_text(encoding="utf-8"), path.stat().st_mode & 0o777
    new = _with_setting(text, section, name, json.dumps(value))
    if _value(new, section, name) != value:
        raise SettingError(
            f"the setting {flat_name(section, name)} cannot be written there",
            where=str(path),
            remedy=f'Write {name} = "..." under [{section}] yourself',
        )
    with atomic_write(path) as file:
        file.touch(mode)
        file.chmod(mode)
        file.write_text(new, encoding="utf-8", newline="\n")
    return path


def _with_setting(text: str, section: str, name: str, value: str) -> str:
    lines = text.splitlines()
    flat = re.compile(rf"\s*{re.escape(flat_name(section, name))}\s*=")
    own, header = re.compile(rf"\s*{re.escape(name)}\s*="), f"[{section}]"
    here = ""
    for number, line in enumerate(lines):
        if (found := re.fullmatch(r"\s*(\[.*\])\s*(#.*)?", line)) is not None:
            here = found[1]
        if (here == header and own.match(line)) or (not here and flat.match(line)):
            lines[number] = f"{line.partition('=')[0].rstrip()} = {value}"
            return "\n".join([*lines, ""])
    stripped = [line.partition("#")[0].strip() for line in lines]
    if header in stripped:
        lines.insert(stripped.index(header) + 1, f"{name} = {value}")
    else:
        lines += [*([""] if lines else []), header, f"{name} = {value}"]
    return "\n".join([*lines, ""])


def _value(text: str, section: str, name: str) -> object:
    try:
        read = tomllib.loads(text)
    except (ValueError, RecursionError):
        return None
    table = read.get(section, {})
    under = table.get(name) if isinstance(table, dict) else None
    return read.get(flat_name(section, name), under)
