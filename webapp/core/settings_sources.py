"""The sources of settings: defaults, then the instance's file, then the environment."""

import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, ValidationError

from experiment.errors import describe_validation_error, why_unread
from experiment.tables.atomic_write import atomic_write
from webapp.core.settings import (
    ENVIRONMENT_PREFIX,
    FILE_NAME,
    INSTANCE_VARIABLE,
    Settings,
    flat_name,
    validate_section,
)
from webapp.errors import SettingError


class Sections(Protocol):
    """The sections with further settings, such as those of recruiters."""

    def names(self) -> Iterable[str]:
        """Return the names of the predefined sections."""
        ...

    def model(self, name: str) -> type[BaseModel] | None:
        """Return the model that declares a section's settings; None if there is no such section."""
        ...


@dataclass(frozen=True, slots=True)
class _Value:
    """One value from one source; the section is empty for the installation's own settings."""

    section: str
    name: str
    value: object
    place: str
    strict: bool


def read_settings(
    instance: Path, sections: Sections, environment: Mapping[str, str] = os.environ
) -> Settings:
    """Return the settings from defaults, the instance's file and the environment; the last wins.

    A section's setting is written under ``[section]`` in the file, or anywhere as ``section_name``.

    Args:
        instance: The instance folder; its ``parallax.toml`` may be missing.
        sections: The sections with further settings.
        environment: Variables named ``PARALLAX_<NAME>``.

    Raises:
        SettingError: A setting is unknown or has the wrong type; the message lists every problem.
    """
    source_values = [
        *_read_file_values(instance / FILE_NAME, sections),
        *_read_environment(environment, sections),
    ]
    problems = [*_find_duplicates(source_values), *_find_problems(source_values, sections)]
    if problems:
        raise SettingError(
            f"{len(problems)} setting(s) cannot be used: {'; '.join(problems)}",
            remedy="docs/settings.md lists every setting",
        )
    values: dict[str, dict[str, object]] = {"": {}}
    for setting in source_values:
        values.setdefault(setting.section, {})[setting.name] = setting.value
    installation = Settings.model_validate(values.pop("")).for_instance(instance)
    models = {name: sections.model(name) for name in values}
    return installation.with_recruiters(
        {
            name: validate_section(name, model, values[name])
            for name, model in models.items()
            if model
        }
    )


def _read_file_values(file: Path, sections: Sections) -> Iterator[_Value]:
    for key, value in _read_file(file).items():
        if isinstance(value, dict) and key not in Settings.model_fields:
            for name, inner_value in value.items():
                yield _Value(key, name, inner_value, f"{file}: [{key}] {name}", strict=True)
            if not value and sections.model(key) is None:
                yield _Value(key, "", {}, f"{file}: [{key}]", strict=True)
        else:
            yield _Value(*_split_section(key, sections), value, f"{file}: {key}", strict=True)


def _read_file(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        remedy = (
            "Give the file to the user of the service (chown), and let it read it: chmod 600"
            if isinstance(error, OSError)
            else "Correct the file, which is TOML in UTF-8: docs/settings.md"
        )
        problem = f"the settings cannot be read: {why_unread(error)}"
        raise SettingError(problem, where=str(path), remedy=remedy) from error


def _read_environment(environment: Mapping[str, str], sections: Sections) -> Iterator[_Value]:
    for variable, value in environment.items():
        if variable.startswith(ENVIRONMENT_PREFIX) and variable != INSTANCE_VARIABLE:
            key = variable.removeprefix(ENVIRONMENT_PREFIX).lower()
            yield _Value(*_split_section(key, sections), value, variable, strict=False)


def _split_section(key: str, sections: Sections) -> tuple[str, str]:
    if key not in Settings.model_fields:
        for section in sections.names():
            if key.startswith(prefix := flat_name(section, "")):
                return section, key.removeprefix(prefix)
    return "", key


def _find_duplicates(source_values: Sequence[_Value]) -> Iterator[str]:
    by_name = dict[tuple[str, str, bool], _Value]()
    for setting in source_values:
        first = by_name.setdefault((setting.section, setting.name, setting.strict), setting)
        if first is not setting:
            yield f"{setting.place}: the same setting is also given in {first.place}"


def _find_problems(source_values: Sequence[_Value], sections: Sections) -> Iterator[str]:
    # Environment variables are text, so numbers are parsed; in the file, a number in quotes is an
    # error.
    by_source = attrgetter("strict", "section")
    for (strict, section), settings in groupby(sorted(source_values, key=by_source), by_source):
        values = {setting.name: setting for setting in settings}
        model = sections.model(section) if section else Settings
        if model is None:
            for setting in values.values():
                hint = _suggest_name(section, sections.names())
                yield f"{setting.place}: there is no such section, {hint}"
        else:
            known_names = (
                model.model_fields
                if section
                else [*Settings.model_fields, *_list_flat_names(sections)]
            )
            yield from _find_wrong_values(model, values, known_names, strict=strict)


def _list_flat_names(sections: Sections) -> Iterator[str]:
    for section in sections.names():
        if (model := sections.model(section)) is not None:
            yield from (flat_name(section, name) for name in model.model_fields)


def _find_wrong_values(
    model: type[BaseModel], values: Mapping[str, _Value], known: Iterable[str], *, strict: bool
) -> Iterator[str]:
    try:
        model.model_validate(
            {name: setting.value for name, setting in values.items()}, strict=strict
        )
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            name = str(detail["loc"][0]) if detail["loc"] else ""
            if name not in values:
                continue  # Another source may supply it.
            field = model.model_fields.get(name)
            message = (
                f"{describe_validation_error(detail)} ({field.description})"
                if field is not None
                else f"there is no such setting, {_suggest_name(name, known)}"
            )
            yield f"{values[name].place} = {detail['input']!r}: {message}"


def _suggest_name(name: str, known: Iterable[str]) -> str:
    names = list(known)
    close_names = get_close_matches(name, names, n=1)
    return f'did you mean "{close_names[0]}"?' if close_names else f"known are {', '.join(names)}"


_OWNER_ONLY_MODE = 0o600


def write_setting(instance: Path, section: str, name: str, value: str) -> Path:
    """Set a section's setting in the instance's file, and return the file's path.

    An existing line for it is replaced; comments and everything else stay. A new file is readable
    only by its owner, because it may contain secrets.

    Args:
        instance: The instance folder.
        section: The section, such as a recruiter's.
        name: The name of the setting.
        value: Its new value.

    Raises:
        SettingError: The file cannot be read, or has a form that this function does not support.
        WritingError: The file cannot be written.
    """
    path = instance / FILE_NAME
    text, mode = "", _OWNER_ONLY_MODE
    if path.exists():
        text, mode = path.read_text(encoding="utf-8"), path.stat().st_mode & 0o777
    new = _replace_setting(text, section, name, json.dumps(value))
    if _read_value(new, section, name) != value:
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


def _replace_setting(text: str, section: str, name: str, value: str) -> str:
    lines = text.splitlines()
    flat = re.compile(rf"\s*{re.escape(flat_name(section, name))}\s*=")
    in_section, header = re.compile(rf"\s*{re.escape(name)}\s*="), f"[{section}]"
    section_of_line = ""
    for number, line in enumerate(lines):
        if (heading := re.fullmatch(r"\s*(\[.*\])\s*(#.*)?", line)) is not None:
            section_of_line = heading[1]
        if (section_of_line == header and in_section.match(line)) or (
            not section_of_line and flat.match(line)
        ):
            lines[number] = f"{line.partition('=')[0].rstrip()} = {value}"
            return "\n".join([*lines, ""])
    stripped = [line.partition("#")[0].strip() for line in lines]
    if header in stripped:
        lines.insert(stripped.index(header) + 1, f"{name} = {value}")
    else:
        lines += [*([""] if lines else []), header, f"{name} = {value}"]
    return "\n".join([*lines, ""])


def _read_value(text: str, section: str, name: str) -> object:
    try:
        parsed = tomllib.loads(text)
    except (ValueError, RecursionError):
        return None
    table = parsed.get(section, {})
    section_value = table.get(name) if isinstance(table, dict) else None
    return parsed.get(flat_name(section, name), section_value)
