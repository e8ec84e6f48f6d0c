"""Tasks of lm-evaluation-harness: YAML files that define how rows of data become choices.

Tasks with two choices and no few-shot examples are supported, over data in files. Jinja templates
run in a sandbox; a task that names a function of its own (``!function``) is refused: nothing is
executed.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from experiment.errors import MaterialsError
from experiment.materials.formats.format import Drafts, Format, ReadOptions
from experiment.materials.formats.pairs import Draft
from experiment.materials.formats.raw import json_lines, read_raw, read_text
from experiment.records import join_context

_SUFFIXES = (".yaml", ".yml")
# The rendering for a model if the delimiter before the choices, a space, is at the very beginning
# of the text.
AFTER_SPACE = "after_space"
_TEMPLATES = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)
_MOST_INCLUDES = 10


class _Loader(yaml.SafeLoader):
    """A YAML loader that represents tags for code without resolving them."""


@dataclass(frozen=True, slots=True)
class _Code:
    name: str


_Loader.add_constructor("!function", lambda loader, node: _Code(str(node.value)))


def _read(path: Path, _: ReadOptions) -> Drafts:
    """Return a task's pairs, the decisions, and the rendering that the harness would use.

    Raises:
        MaterialsError: The file is not a supported task, or its data are missing.
    """
    task = _Task(_load_task(path), path)
    drafts = [task.draft(location, row) for location, row in task.rows()]
    if not drafts:
        raise MaterialsError("the task has no data", where=str(path), expected="one row per item")
    has_no_context = not any(draft.context for draft in drafts)
    notes = [f"Read as the task {task.name} of lm-evaluation-harness."]
    rendering = AFTER_SPACE if has_no_context and task.delimiter == " " else ""
    if rendering:
        notes.append("As in the harness, a space precedes each text (its target_delimiter).")
    return Drafts(drafts, notes, rendering)


def _load_task(path: Path, depth: int = 0) -> dict[str, Any]:
    if not path.is_file() or depth > _MOST_INCLUDES:
        raise MaterialsError(
            "there is no such file" if depth <= _MOST_INCLUDES else "the files include each other",
            where=str(path),
            expected="an lm-evaluation-harness task, with the files it includes in the same folder",
        )
    try:
        document = yaml.load(read_text(path)[0], _Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise MaterialsError(
            f"the file is not YAML ({getattr(error, 'problem', None) or 'it is not Unicode text'})",
            where=f"{path}, line {mark.line + 1}" if mark else str(path),
        ) from error
    if not isinstance(document, dict):
        raise MaterialsError(
            "the file is not a task", where=str(path), expected='keys such as "task: blimp_island"'
        )
    included = document.pop("include", [])
    base: dict[str, Any] = {}
    for name in included if isinstance(included, list) else [included]:
        base |= _load_task(path.parent / str(name), depth + 1)
    return base | document


class _Task:
    def __init__(self, config: Mapping[str, Any], path: Path) -> None:
        self._config, self._path = config, path
        self.name = str(config.get("task") or path.stem)
        self.delimiter = str(config.get("target_delimiter", " "))
        self._refuse_unreadable()

    def _refuse_unreadable(self) -> None:
        code = [key for key, value in self._config.items() if isinstance(value, _Code)]
        if code:
            raise self._error(
                f"{code[0]} names the function {self._config[code[0]].name}, but Parallax "
                "does not run a task's code",
                "templates, columns' names and lists",
            )
        if self._config.get("output_type", "") != "multiple_choice":
            raise self._error(
                f"its output_type is {self._config.get('output_type', 'generate_until')}",
                "multiple_choice: a text and two choices",
            )
        if self._config.get("num_fewshot"):
            raise self._error(
                f"it shows {self._config['num_fewshot']} examples first", "num_fewshot: 0"
            )

    def _error(
        self, problem: str, expected: str, location: str = "", remedy: str = ""
    ) -> Exception:
        return MaterialsError(
            f"no items can be made from the task {self.name}: {problem}",
            where=location or str(self._path),
            expected=expected,
            remedy=remedy,
        )

    def rows(self) -> Iterator[tuple[str, dict[str, object]]]:
        for path in self._data_files():
            if path.suffix.lower() in (".jsonl", ".json"):
                yield from json_lines(read_text(path)[0], path)
            else:
                for row in read_raw(path).rows:
                    yield row.place, {**row.values}

    def _data_files(self) -> list[Path]:
        data_files = (self._config.get("dataset_kwargs") or {}).get("data_files")
        if isinstance(data_files, dict):
            splits = [self._config.get(f"{file}_split") for file in ("test", "validation")]
            split = next((file for file in splits if file in data_files), next(iter(data_files)))
            data_files = data_files[split]
        files = [
            Path(str(file))
            for file in (data_files if isinstance(data_files, list) else [data_files])
            if file
        ]
        paths = [file if file.is_file() else self._path.parent / file for file in files]
        if not paths or not all(path.is_file() for path in paths):
            missing = next((str(path) for path in paths if not path.is_file()), "")
            raise self._error(
                "its data were not found "
                f"({missing or self._config.get('dataset_path', 'unnamed')})",
                "dataset_path: json, and under dataset_kwargs the data_files in the task's folder",
                remedy="Save the data set as JSON lines and name the file there",
            )
        return paths

    def draft(self, place: str, row: Mapping[str, object]) -> Draft:
        choices = self._choices(row, place)
        if len(choices) != 2:
            raise self._error(f"it has {len(choices)} choices", "two choices", place)
        target = self._target(row, choices, place)
        context = f"{self._config.get('description') or ''}{self._text('doc_to_text', row, place)}"
        prefix = f"{context}{self.delimiter}"
        if (
            context.strip()
            and not prefix[-1].isspace()
            and any(join_context(context, choice) != prefix + choice for choice in choices)
        ):
            raise self._error(
                "its choices follow the text without a space", 'target_delimiter: " "', place
            )
        extra = {name: value for name, value in row.items() if isinstance(value, str)}
        return Draft(
            place,
            choices[target],
            choices[1 - target],
            self._before_choices(context, choices),
            construction=self.name,
            extra=extra,
        )

    def _before_choices(self, context: str, choices: Sequence[str]) -> str:
        """Return the text before the choices, with each character that the harness puts there.

        What joins an item's context and its options anyhow is left out.
        """
        if not context:
            return "" if self.delimiter == " " else self.delimiter
        wholes = (join_context(context, choice) for choice in choices)
        joined = [context + self.delimiter + choice for choice in choices]
        return context if [*wholes] == joined else context + self.delimiter

    def _choices(self, row: Mapping[str, object], place: str) -> list[str]:
        choices = self._config.get("doc_to_choice")
        if isinstance(choices, str):
            choices = row[choices] if choices in row else self._parse_literal(choices, row, place)
        if isinstance(choices, dict):
            choices = list(choices.values())
        if not isinstance(choices, list):
            raise self._error("doc_to_choice does not give a list", "a list of two choices", place)
        return [self._fill_template(str(choice), row, place) for choice in choices]

    def _parse_literal(self, template: str, row: Mapping[str, object], place: str) -> object:
        text = self._fill_template(template, row, place)
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError) as error:
            raise self._error(f"doc_to_choice gives {text[:80]}", "a list", place) from error

    def _target(self, row: Mapping[str, object], choices: list[str], place: str) -> int:
        target = self._config.get("doc_to_target")
        value = row[target] if isinstance(target, str) and target in row else target
        text = self._fill_template(str(value), row, place)
        if text.strip().isdecimal() and int(text) < len(choices):
            return int(text)
        if text in choices:
            return choices.index(text)
        raise self._error(f'doc_to_target gives "{text}"', "the number of a choice, or one", place)

    def _text(self, key: str, row: Mapping[str, object], place: str) -> str:
        text = self._config.get(key, "")
        if not isinstance(text, str):
            raise self._error(f"{key} is {text!r}", "a template or a column's name", place)
        return str(row[text]) if text in row else self._fill_template(text, row, place)

    def _fill_template(self, template: str, row: Mapping[str, object], place: str) -> str:
        try:
            return _TEMPLATES.from_string(template).render(row)
        # A template may contain any computation.
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
            raise self._error(
                f"its template {template[:80]!r} cannot be filled ({error})",
                f"columns among {', '.join(row)}",
                place,
            ) from error


FORMAT = Format(
    name="a task of lm-evaluation-harness",
    documentation="| task of lm-evaluation-harness (`.yaml`) | the file's ending | "
    "tasks with two choices and no few-shot examples, with data in "
    "files (`dataset_kwargs: data_files`). Templates are rendered in a "
    "sandbox. A task that names code (`!function`) is refused |",
    recognises=lambda path: path.suffix.lower() in _SUFFIXES,
    read=_read,
    suffixes=_SUFFIXES,
    names_its_data=True,
)
