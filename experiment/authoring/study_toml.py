"""The text of a new study's study.toml: every key it needs, with a comment for its author."""

import json
from collections.abc import Iterator, Mapping, Sequence

from experiment.authoring.derive import DesignPlan, catch_constructions
from experiment.records import Item

SCHEMA_FILE = "study.schema.json"
# A judgment of a pair and the way to the next one take about so long.
_SECONDS_A_TRIAL = 6
_SECONDS_BESIDE = 120


def study_toml(
    name: str,
    title: str,
    language: str,
    items_file: str,
    items: Sequence[Item],
    design: DesignPlan,
    groups: Mapping[str, str],
) -> str:
    """Return the text of a study.toml that launches as it is.

    Args:
        name: The study's name.
        title: What participants and tables show.
        language: The tag of the materials and texts.
        items_file: The file of items in the study's folder.
        items: The items.
        design: The lists that suit them.
        groups: Construction to the heading it stands under; it may have none.
    """
    parts = (
        _head(name, title, language, items_file, items),
        _design(design),
        _exclusion(items, design),
        _questions(),
        _terms(design),
        _constructions(items, groups),
    )
    return "\n".join(line for part in parts for line in part) + "\n"


def minutes(trials: int) -> int:
    """Return about how long a session of so many trials takes, in minutes."""
    return max(1, round((trials * _SECONDS_A_TRIAL + _SECONDS_BESIDE) / 60))


def _quoted(text: str) -> str:
    # A basic string of TOML has the escapes of JSON.
    return json.dumps(text, ensure_ascii=False)


def _head(
    name: str, title: str, language: str, items_file: str, items: Sequence[Item]
) -> Iterator[str]:
    presentation = "prefix_completion" if all(i.context for i in items) else "sentence_pair"
    yield f"#:schema ./{SCHEMA_FILE}"
    yield "# docs/studies.md explains every key; `parallax study check` names every mistake."
    yield f"presentation = {_quoted(presentation)}"
    yield ""
    yield "[study]"
    yield f"name = {_quoted(name)} # the folder's name"
    yield f"title = {_quoted(title)} # participants see it"
    yield 'version = "1.0" # change it whenever the items change'
    yield f"language = {_quoted(language)} # the texts are in texts/{language}/"
    yield ""
    yield "[materials]"
    yield f"items = {_quoted(items_file)}"
    yield 'shown_to_people = "as_written" # the sentences appear as the items have them'
    yield 'given_to_models = "lower_case_tokens"'
    yield ""


def _design(design: DesignPlan) -> Iterator[str]:
    places = design.lists * design.participants_per_list
    yield f"# {places} participants in all, each with {design.trials_per_list} trials."
    yield "[design]"
    yield f"lists = {design.lists}"
    yield f"participants_per_list = {design.participants_per_list} # even: the sides balance"
    yield f"trials_per_list = {design.trials_per_list} # what each list must come to"
    apart = "no two neighbours of one construction" if design.separate else "any order"
    yield f"separate = {_quoted(design.separate)} # {apart}"
    for square in design.squares:
        yield ""
        each = square.frames * square.conditions // design.lists
        of = f"{square.frames} items in {square.conditions} condition(s)"
        yield f"# {of}: {each} trials in each list."
        yield "[[design.squares]]"
        yield f"templates = [{_quoted(square.template)}]"
        yield f"frames = {square.frames}"
    for shared in design.shared:
        yield ""
        yield f"# {shared.items} trials that every list has."
        yield "[[design.shared]]"
        yield f"templates = [{_quoted(shared.template)}]"
    for given in design.given:
        yield ""
        yield f"# {given.items // design.lists} trials in each list, as the items' column says."
        yield "[[design.given]]"
        yield f"templates = [{_quoted(given.template)}]"
        yield f"column = {_quoted(given.column)}"
    yield ""


def _exclusion(items: Sequence[Item], design: DesignPlan) -> Iterator[str]:
    names = catch_constructions(items, design)
    for name in names:
        number = _trials_of(name, items, design)
        yield f"# Who errs more often on the {number} catch trials is excluded from the analysis."
        yield "[[exclusion]]"
        yield 'rule = "max_errors"'
        yield f"construction = {_quoted(name)}"
        yield f"max_errors = {max(min(1, number - 1), number // 4)}"
        yield ""
    if not names:
        yield "# No list has catch trials, so nobody is excluded. With some, for instance:"
        yield "# [[exclusion]]"
        yield '# rule = "max_errors"'
        yield '# construction = "catch"'
        yield "# max_errors = 1"
        yield ""


def _trials_of(construction: str, items: Sequence[Item], design: DesignPlan) -> int:
    """Return how many trials of a construction each list has."""
    own = {item.template for item in items if item.construction == construction}
    return sum(number for name, number in design.in_each_list.items() if name in own)


def _questions() -> Iterator[str]:
    yield "[[questionnaire]]"
    yield 'name = "native_language"'
    yield 'label = "What is your native language?"'
    yield 'type = "text"'
    yield "required = true"
    yield ""
    yield "[[questionnaire]]"
    yield 'name = "comment"'
    yield 'label = "Is there anything you would like to tell us about the study?"'
    yield 'type = "text"'
    yield ""


def _terms(design: DesignPlan) -> Iterator[str]:
    yield "# Who the simulated participants are when you try the study; the shares sum to 1."
    yield "[simulation]"
    yield "mix = { accurate = 0.9, guessing = 0.05, careless = 0.05 }"
    yield ""
    yield "# To recruit on a paying platform, write what you pay and take the signs away."
    yield "# [recruitment]"
    yield '# description = "You will read pairs of sentences and choose the better one of each."'
    yield '# reward = "0.00" # for everyone who finishes'
    yield f"# median_minutes = {minutes(design.trials_per_list)}"
    yield f"# duration_minutes = {max(30, 4 * minutes(design.trials_per_list))}"
    yield ""


def _constructions(items: Sequence[Item], groups: Mapping[str, str]) -> Iterator[str]:
    yield "# The rows of the results, in this order."
    for name in dict.fromkeys(item.construction for item in items):
        yield "[[constructions]]"
        yield f"name = {_quoted(name)}"
        yield f"title = {_quoted(name.replace('_', ' ').strip().capitalize() or name)}"
        if group := groups.get(name, ""):
            yield f"group = {_quoted(group)}"
        yield ""
