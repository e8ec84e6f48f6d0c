"""The text of a new study.toml, with comments for its author, and the file's JSON Schema."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from experiment.authoring.derive import DesignPlan, catch_constructions
from experiment.authoring.words import StudyTask, Words
from experiment.comparisons.planned import PlannedComparison
from experiment.materials.formats.columns import Header
from experiment.materials.formats.pairs import Draft
from experiment.materials.formats.read import FileContents
from experiment.records import PAIR, Item
from experiment.responses.answer import Balance
from experiment.responses.base import ResponseType
from experiment.responses.proposals import CatchTrials
from experiment.studies.study import Study

SCHEMA_FILE = "study.schema.json"
# The approximate seconds for judging a pair and moving to the next, and for the rest of a session.
_LEAST_SECONDS_A_TRIAL = 6
_SECONDS_OUTSIDE_TRIALS = 120


def study_toml(
    name: str,
    title: str,
    language: str,
    items_file: str,
    materials: FileContents,
    task: StudyTask,
    design: DesignPlan,
    groups: Mapping[str, str],
    *,
    practice: str = "",
) -> str:
    """Return the text of a study.toml that can be launched unchanged.

    Args:
        name: The study's name.
        title: The title for participants and tables.
        language: The tag of the materials and texts.
        items_file: The file of items in the study's folder.
        materials: The items, and the headers of their table.
        task: The task of the trials.
        design: The design that suits the items.
        groups: Construction to its heading, which may be empty.
        practice: The file of practice trials; empty if there are none.
    """
    parts = (
        _write_head(name, title, language, items_file, task),
        _write_headers(materials.headers),
        _write_design(design, task),
        _write_trial(task, practice),
        _write_exclusion(materials.items, design, task),
        _write_questions(task.words),
        _write_terms(design, task),
        _write_constructions(materials.items, groups),
    )
    return _join_lines(line for part in parts for line in part)


def comparisons_toml(comparisons: Iterable[PlannedComparison]) -> str:
    """Return the text that declares the comparisons, to be added to a study.toml."""
    lines = [
        "# The questions of the study, which the report answers first: these follow from the",
        "# design. Change them before the launch; docs/studies.md explains the notation.",
    ]
    written = [comparison.written_out for comparison in comparisons]
    is_alone = len({str(keys["constructions"]) for keys in written}) == 1
    for keys in written:
        if is_alone:
            del keys["constructions"]
        lines += ["[[comparisons]]", *(f"{key} = {_quote(keys[key])}" for key in keys), ""]
    return _join_lines(lines[:-1])


def practice_toml(drafts: Iterable[Draft], *, columns: bool = False) -> str:
    """Return the text of a file with these practice trials, in order.

    Args:
        drafts: The practice trials.
        columns: Whether the response type reads the table's own columns.
    """
    lines = ["# Shown before the session, in this order; feedback is what participants then read."]
    for draft in drafts:
        lines += ["", "[[practice]]"]
        for name in ("context", "good", "bad", "distractor"):
            if text := getattr(draft, name):
                lines.append(f"{name} = {_quote(text)}")
        if columns and (texts := {name: text for name, text in draft.extra.items() if text}):
            keys = ", ".join(f"{_quote(name)} = {_quote(text)}" for name, text in texts.items())
            lines.append(f"columns = {{ {keys} }}")
    return _join_lines(lines)


def estimate_minutes(trials: int, response: ResponseType) -> int:
    """Return the approximate duration of a session with this many trials, in minutes."""
    seconds = max(_LEAST_SECONDS_A_TRIAL, response.typical_rt_ms / 1000)
    return max(1, round((trials * seconds + _SECONDS_OUTSIDE_TRIALS) / 60))


def _join_lines(lines: Iterable[str]) -> str:
    # JSON leaves this control character unescaped, but TOML does not allow it.
    return "\n".join(lines).replace("\x7f", r"\u007f") + "\n"


def _quote(text: object) -> str:
    # TOML's basic strings have JSON's escapes, and its arrays have JSON's brackets.
    return json.dumps(text, ensure_ascii=False)


def _write_head(
    name: str, title: str, language: str, items_file: str, task: StudyTask
) -> Iterator[str]:
    yield f"#:schema ./{SCHEMA_FILE}"
    yield "# docs/studies.md explains every key; `parallax study check` names every mistake."
    yield f"response = {_quote(task.name)}"
    yield ""
    yield "[study]"
    yield f"name = {_quote(name)} # the folder's name"
    yield f"title = {_quote(title)} # participants see it"
    yield 'version = "1.0" # change it whenever the items change'
    yield f"language = {_quote(language)} # the texts are in texts/{language}/"
    yield "# Participants read these three; without them no one can be invited."
    yield 'contact = "" # whom they can write to: a name and an address'
    yield 'institution = "" # the institution responsible for the study'
    yield 'ethics = "" # the ethics committee\'s reference, or why there is none'
    yield ""
    yield "[materials]"
    yield f"items = {_quote(items_file)}"
    yield 'shown_to_people = "as_written" # the sentences appear as the items have them'
    yield 'given_to_models = "split_lower_case_tokens"'


def _write_headers(headers: Mapping[str, Header]) -> Iterator[str]:
    if headers:
        keys = ", ".join(f"{column} = {_quote(header)}" for column, header in headers.items())
        yield f"headers = {{ {keys} }} # what your table calls them"
    yield ""


def _write_design(design: DesignPlan, task: StudyTask) -> Iterator[str]:
    balanced = _describe_balance(task.response)
    places = design.lists * design.participants_per_list
    yield f"# {places} participants in all, each with {design.trials_per_list} trials."
    yield "[design]"
    yield f"lists = {design.lists}"
    yield f"participants_per_list = {design.participants_per_list} # {balanced}"
    yield f"trials_per_list = {design.trials_per_list} # what each list must come to"
    separation_note = "no two neighbours of one construction" if design.separate else "any order"
    yield f"separate = {_quote(design.separate)} # {separation_note}"
    for square in design.squares:
        yield ""
        n_trials = square.frames * square.conditions // design.lists
        of = (
            f"{square.frames} items in {square.conditions} condition{'s' * (square.conditions > 1)}"
        )
        yield f"# {of}: {n_trials} trials in each list."
        yield "[[design.squares]]"
        yield f"templates = [{_quote(square.template)}]"
        yield f"frames = {square.frames}"
        yield from _write_block(design, square.template)
    for shared in design.shared:
        yield ""
        yield f"# {shared.items} trials that every list has."
        yield "[[design.shared]]"
        yield f"templates = [{_quote(shared.template)}]"
        yield from _write_block(design, shared.template)
    for given in design.given:
        yield ""
        yield f"# {given.trials} trials in each list, as the items' column says."
        yield "[[design.given]]"
        yield f"templates = [{_quote(given.template)}]"
        yield f"column = {_quote(given.column)}"
        yield from _write_block(design, given.template)
    yield ""


def _write_block(design: DesignPlan, template: str) -> Iterator[str]:
    if block := design.blocks.get(template):
        yield f"block = {_quote(block)} # blocks come as listed; [design.order] can change that"


_BALANCED = {
    Balance.SIDES: "each side is used equally often",
    Balance.PLACES: "each option is at each place equally often",
    Balance.VERSIONS: "of an item with two versions, each is shown equally often",
}


def _describe_balance(response: ResponseType) -> str:
    over = response.balanced_over
    number = "even" if over == len(PAIR) else f"a multiple of {over}"
    return f"{number}: {_BALANCED[response.balance]}"


def _write_trial(task: StudyTask, practice: str) -> Iterator[str]:
    if practice:
        yield "[trial]"
        yield f"practice = {_quote(practice)} # shown first, with feedback; nothing is stored"
        yield ""
    if task.parameters:
        yield "[trial.parameters]"
        tables = {n: value for n, value in task.parameters.items() if isinstance(value, dict)}
        values = {n: value for n, value in task.parameters.items() if n not in tables}
        yield from _write_keys(values, task.response.comments)
        for name, table in tables.items():
            for key, keys in table.items():
                yield f"[trial.parameters.{name}.{key}]"
                yield from _write_keys(keys, task.response.comments)


def _write_keys(values: Mapping[str, object], comments: Mapping[str, str]) -> Iterator[str]:
    for name, value in values.items():
        comment = comments.get(name, "")
        line = f"{name} = {json.dumps(value, ensure_ascii=False)}"
        yield f"{line} # {comment}" if comment else line
    yield ""


def _write_exclusion(items: Sequence[Item], design: DesignPlan, task: StudyTask) -> Iterator[str]:
    paired_constructions = {item.construction for item in items if item.alternative}
    yield from task.response.proposed_rules(
        [
            CatchTrials(name, _count_trials(name, items, design), name in paired_constructions)
            for name in catch_constructions(items, design)
        ]
    )


def _count_trials(construction: str, items: Sequence[Item], design: DesignPlan) -> int:
    """Return the number of a construction's trials in each list."""
    templates = {item.template for item in items if item.construction == construction}
    return sum(number for name, number in design.in_each_list.items() if name in templates)


def _write_questions(words: Words) -> Iterator[str]:
    yield "[[questionnaire]]"
    yield 'name = "native_language"'
    yield f"label = {_quote(words.native_language)}"
    yield 'type = "text"'
    yield "required = true"
    yield ""
    yield "[[questionnaire]]"
    yield 'name = "comment"'
    yield f"label = {_quote(words.comment)}"
    yield 'type = "text"'
    yield ""


def _write_terms(design: DesignPlan, task: StudyTask) -> Iterator[str]:
    words = task.task.format(trials=design.trials_per_list)
    offer = task.words.offer.format(task=words)
    yield "# Who the simulated participants are when you try the study; the shares sum to 1."
    yield "[simulation]"
    yield "mix = { accurate = 0.9, guessing = 0.05, careless = 0.05 }"
    yield ""
    yield "# To recruit on a paying platform, fill in the amounts and remove the # signs."
    yield "# [recruitment]"
    yield f"# description = {_quote(offer)}"
    yield '# reward = "0.00" # for everyone who finishes'
    minutes = estimate_minutes(design.trials_per_list, task.response)
    yield f"# median_minutes = {minutes}"
    yield f"# duration_minutes = {max(30, 4 * minutes)}"
    yield ""


def _write_constructions(items: Sequence[Item], groups: Mapping[str, str]) -> Iterator[str]:
    yield "# The rows of the results, in this order."
    for name in dict.fromkeys(item.construction for item in items):
        yield "[[constructions]]"
        yield f"name = {_quote(name)}"
        yield f"title = {_quote(name.replace('_', ' ').strip().capitalize() or name)}"
        if group := groups.get(name, ""):
            yield f"group = {_quote(group)}"
        yield ""


# Fields that only programs set.
_INTERNAL_FIELDS = ("folder", "files")


def study_schema() -> dict[str, object]:
    """Return the JSON Schema of study.toml, generated from its pydantic model."""
    schema = Study.model_json_schema()
    for name in _INTERNAL_FIELDS:
        schema["properties"].pop(name)
    schema["required"] = [name for name in schema["required"] if name not in _INTERNAL_FIELDS]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "study.toml",
        "description": "A study of Parallax: docs/studies.md explains every key.",
    }


@cache
def schema_text() -> str:
    """Return the schema as the text of the file that `parallax study schema` writes.

    The schema is cached because generating it dominated the time of creating a study.
    """
    return json.dumps(study_schema(), indent=2, ensure_ascii=False) + "\n"
