"""Checks of a study's items, pictures and lists, and of the keys about them."""

import re
from collections import Counter
from collections.abc import Iterator
from operator import attrgetter

from experiment.authoring.examined import Examined
from experiment.authoring.question_checks import load_sound_rules
from experiment.comparisons.check import comparison_mistakes, label_mistakes
from experiment.design.audit.audit import audit
from experiment.design.frames import index_materials
from experiment.design.lists import BuiltLists, build_lists, source_name
from experiment.design.ordering.constraints import declare_constraints, separate_columns
from experiment.design.practice import read_practice
from experiment.errors import DesignError, ParallaxError, StudyError, StudyNote, prefix_location
from experiment.integrity.humanness import load_rates
from experiment.materials.checks import Result, check_items
from experiment.materials.picture_bytes import EXPECTED_PICTURE, explain_unshown
from experiment.materials.read import collect_items
from experiment.materials.render import PICTURE, PICTURE_LIKE, render
from experiment.plugins import unknown_name
from experiment.records import SPACELESS, Item, Kind, Variant
from experiment.responses.registry import RESPONSE_TYPES, response_class, response_of
from experiment.responses.responders import accuracy_of
from experiment.studies.design import Design
from experiment.studies.files import study_files
from experiment.studies.humanness import Rates
from experiment.studies.published import read_published
from experiment.studies.study import Study

# Checks whose failure makes an item unusable; the author decides about all others.
_FATAL_FINDINGS = ("there are items", "item ids are unique", "the versions of an item differ")
_EXPECTED = {
    "item ids are unique": "an item_id of its own for each row; several gaps of one sentence are "
    "several ___ in one row",
}
# The keys that a check of the lists concerns, if these are not the squares.
_KEYS_OF_CHECKS = {
    "trials in each list": ("design", "trials_per_list"),
    "a session without an error": ("exclusion",),
}
_ORDER_CHECKS = ("sessions composed", "what the order must keep", "neighbouring trials")
_LONGEST_FOUND = 200


def check_all_items(examined: Examined) -> Iterator[ParallaxError]:
    """Read the items, and report errors and oddities."""
    study = examined.study
    refused: list[ParallaxError] = []
    left_out: list[ParallaxError] = []
    examined.items = collect_items(study, refused.append, left_out.append)
    yield from [*refused, *left_out]
    file = str(study.materials_path)
    for finding in check_items(examined.items, alone=_accepts_single_versions(study)):
        if finding.result is Result.FAILED and not refused:
            kind = StudyError if finding.check in _FATAL_FINDINGS else StudyNote
            expected = _EXPECTED.get(finding.check, "")
            yield kind(f"{finding.check}: {finding.found}", where=file, expected=expected)


def _accepts_single_versions(study: Study) -> bool:
    """Return whether the response type accepts items with only one version."""
    try:
        return response_class(study.response).alone
    except ParallaxError:
        # The check of the response type reports this error.
        return False


def check_comparisons(examined: Examined) -> Iterator[ParallaxError]:
    """Report comparisons that cannot be answered, and labels of what the design lacks."""
    if not examined.items:
        # The check of the items reports why there are none.
        return
    for number, error in comparison_mistakes(examined.study, examined.items):
        yield prefix_location(error, examined.at("comparisons", number))
    for error in label_mistakes(examined.study, examined.items):
        yield prefix_location(error, examined.at("analysis", "labels"))


def check_stopping_rule(examined: Examined) -> Iterator[ParallaxError]:
    """Report a stopping rule that does not suit the comparisons, the lists or the places."""
    if examined.study.stopping is None or examined.built is None:
        return
    try:
        from experiment.stopping.questions import stopping_mistakes
    except ModuleNotFoundError:
        yield StudyError(
            "the study has a stopping rule, and the package experiment.stopping is not installed",
            where=examined.at("stopping"),
            expected="an installation that has it, or a study without [stopping]",
        )
        return

    lists = {
        number: [entry.item.item_id for entry in entries]
        for number, entries in enumerate(examined.built.lists)
    }
    for key, error in stopping_mistakes(examined.study, examined.items, lists):
        yield prefix_location(error, examined.at("stopping", *([key] if key else [])))


def check_constructions(examined: Examined) -> Iterator[ParallaxError]:
    """Report constructions without items."""
    used = {item.construction for item in examined.items}
    for number, construction in enumerate(examined.study.constructions):
        if construction.name not in used and examined.items:
            unknown = unknown_name("item of the construction", construction.name, used)
            yield prefix_location(unknown, examined.at("constructions", number, "name"))


def check_readable(examined: Examined) -> Iterator[ParallaxError]:
    """Report items that the page of their response type cannot show, so no lists can be built."""
    response = examined.response
    if response is None or (response.step_table is None and not response.details):
        return
    wrong = []
    for item in examined.items:
        try:
            response.versions(item)
        except ParallaxError as error:
            wrong.append(prefix_location(error, examined.place_of(item) or examined.at("response")))
    if not wrong:
        wrong += [
            prefix_location(flaw, examined.place_of(item) or examined.at("response"))
            for item, flaw in response.flaws(examined.items)
        ]
    if wrong:
        examined.items = []
    yield from wrong


def check_lists(examined: Examined) -> Iterator[ParallaxError]:
    """Build and audit the lists, and report failures."""
    study = examined.study
    if not examined.items:
        return
    try:
        index = index_materials(examined.items)
        built = build_lists(study, index, examined.seed)
    except ParallaxError as error:
        yield prefix_location(error, _place_of_design(examined, error))
        return
    if unknown := _unknown_column(examined, built):
        yield unknown
        return
    # The check of the rules reports an invalid rule; here it would be reported for every
    # participant.
    examined.built = built
    audited = study.model_copy(update={"exclusion": load_sound_rules(examined)})
    failed = [check for check in audit(audited, built, index) if not check.passed]
    for check in failed:
        keys = _name_design_key(check.name.partition(",")[0], study.design)
        yield DesignError(
            f"the lists fail a check of the design, {check.name}: {_shorten(check.found)}",
            where=examined.at(*keys),
            expected=check.expected,
        )
    examined.built = None if failed else built
    shown = (entry.kind for entries in built.lists for entry in entries)
    if study.payment.bonus == "per_correct_catch_trial" and Kind.CATCH not in shown:
        yield StudyError(
            "the bonus is for correct catch trials, but the lists have no catch trials",
            where=examined.at("payment", "bonus"),
            expected="items of the kind catch, catch_trials in a square, or another bonus",
        )


def _name_design_key(check: str, design: Design) -> tuple[str, ...]:
    """Return the key of study.toml that a check of the lists concerns."""
    if check in _ORDER_CHECKS:
        return ("design", "order" if "order" in design.model_fields_set else "separate")
    return _KEYS_OF_CHECKS.get(check, ("design", "squares"))


def _unknown_column(examined: Examined, built: BuiltLists) -> ParallaxError | None:
    """Return the error of a column in the order's constraints that no item has."""
    design = examined.study.design
    try:
        for entries in built.lists:
            declare_constraints(entries, design)
    except DesignError as error:
        separate = any(f'"{name}"' in error.problem for name in separate_columns(design))
        return prefix_location(error, examined.at("design", "separate" if separate else "order"))
    return None


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_FOUND else f"{text[:_LONGEST_FOUND]}..."


def _place_of_design(examined: Examined, error: ParallaxError) -> str:
    design = examined.study.design
    for key in ("squares", "shared", "given"):
        for number, source in enumerate(getattr(design, key)):
            sources = (
                source_name(source),
                *(f'the template "{name}"' for name in source.templates),
            )
            if error.where.startswith(sources) or any(
                f'"{t}"' in error.problem for t in source.templates
            ):
                return examined.at("design", key, number)
    keys = ("disjoint", "factors", "quotas", "shared", "given", "order")
    return examined.at("design", next((key for key in keys if key in error.where), "squares"))


def check_templates(examined: Examined) -> Iterator[ParallaxError]:
    """Report templates whose items are in no list."""
    counts = Counter(item.template for item in examined.items)
    for shown in examined.study.design.block_of:
        counts.pop(shown, None)
    for template, number in counts.items():
        yield StudyNote(
            f'the {number:,} items of the template "{template}" are in no list',
            where=examined.at("design", "squares"),
            expected=(
                "a square, shared or given entry for each template that participants should see"
            ),
        )


def check_rendered_trials(examined: Examined) -> Iterator[ParallaxError]:
    """Render every trial once, to find errors before participants do."""
    study, built = examined.study, examined.built
    try:
        response = response_of(study)
        rendering = render(study.materials.shown_to_people)
        practised = [practice.item for practice in read_practice(study)]
    except ParallaxError:
        # Other checks report keys that cannot be loaded.
        return
    listed_items = [entry.item for entries in built.lists for entry in entries] if built else []
    for item in (*listed_items, *practised):
        try:
            response.screens(item, rendering)
            response.versions(item)
        except ParallaxError as error:
            yield prefix_location(error, examined.place_of(item) or examined.at("response"))
            return


def check_published_results(examined: Examined) -> Iterator[ParallaxError]:
    """Report published results that cannot be read or match no item."""
    rows = read_published(examined.study)
    cells = {(item.construction, item.condition) for item in examined.items}
    location = str(examined.study.published_path)
    for row in rows:
        if row.condition and examined.items and (row.construction, row.condition) not in cells:
            conditions = sorted(condition for name, condition in cells if name == row.construction)
            yield prefix_location(unknown_name("condition", row.condition, conditions), location)
    look_up = accuracy_of(rows)
    for construction, condition in sorted(cells):
        if any(row.construction == construction and row.judge == "people" for row in rows):
            look_up(construction, condition)


def check_study_size(examined: Examined) -> Iterator[ParallaxError]:
    """Raise an error if the study's files are too large to be stored with a run."""
    study_files(examined.study)
    yield from ()


# Python's CSV reader accepts at most 131,072 letters per cell; base64 takes four for three bytes.
_LONGEST_PICTURE = 130_000
_GET_TEXTS = attrgetter("context", *Variant)


def check_pictures(examined: Examined) -> Iterator[ParallaxError]:
    """Report the first item whose picture no page could show."""
    # Most studies have no pictures, but may have a hundred thousand items: look for the mark-up
    # first.
    shown = (
        item
        for item in examined.items
        if "![" in "".join(_texts(item)) and any(map(PICTURE_LIKE.search, _texts(item)))
    )
    for item in shown:
        problem, expected = _find_unshown_text(item, examined)
        if problem:
            location = examined.place_of(item) or examined.at("materials")
            yield StudyError(
                f'the item "{item.item_id}" {problem}', where=location, expected=expected
            )
            return


def _texts(item: Item) -> tuple[str, ...]:
    texts: tuple[str, ...] = _GET_TEXTS(item)
    return texts


def _find_unshown_text(item: Item, examined: Examined) -> tuple[str, str]:
    study = examined.study
    if any(map(PICTURE_LIKE.search, _texts(item)[1:])):
        return "has a picture in one of its versions", "a picture in the column context"
    response = response_of(study).of_item(item)
    if not response.has_context_above:
        types = [name for name in RESPONSE_TYPES.built_in if response_class(name).has_context_above]
        return (
            f"has a picture, and its trials are of the type {response.name}",
            "a type of response that shows the context above the answers (response in study.toml, "
            f"--response of `parallax study new`): {', '.join(types)}",
        )
    if study.materials.shown_to_people != "as_written":
        return (
            f'has a picture, and texts are rendered "{study.materials.shown_to_people}"',
            'materials.shown_to_people = "as_written", which changes no letter of it',
        )
    if PICTURE_LIKE.search(PICTURE.sub("", item.context)):
        return (
            "has a picture that is stored elsewhere, or whose bytes cannot be read",
            "the picture's bytes in its address: ![what it shows](data:image/png;base64,...)",
        )
    if len(item.context) > _LONGEST_PICTURE:
        return (
            f"has a context of {len(item.context):,} letters with its picture",
            f"at most {_LONGEST_PICTURE:,}: a picture of up to 95 kB",
        )
    for picture in PICTURE.finditer(item.context):
        if not picture[1].strip():
            return (
                "has a picture without a description for people who cannot see it",
                "what it shows, between the brackets: ![two lines](data:...)",
            )
        if reason := explain_unshown(picture[2]):
            return f"has a picture that {reason}", EXPECTED_PICTURE
    return "", ""


def check_descriptions(examined: Examined) -> Iterator[ParallaxError]:
    """Note the first picture whose description has a right answer in it."""
    for item in examined.items:
        if "![" not in item.context:
            continue
        response = response_of(examined.study).of_item(item)
        of_gaps = response.practice_fields(item, str).get("accepted", ())
        descriptions = " ".join(picture[1] for picture in PICTURE.finditer(item.context))
        for answer in (answer for answers in of_gaps for answer in answers):
            # Scripts without spaces do not show where a word ends.
            edge = "" if SPACELESS.search(answer) else r"\b"
            if re.search(f"{edge}{re.escape(answer)}{edge}", descriptions, re.IGNORECASE):
                yield StudyNote(
                    f'the description of the picture of the item "{item.item_id}" has the right '
                    f'answer "{answer}" in it, which screen readers read out',
                    where=examined.place_of(item) or examined.at("materials"),
                    expected="a description that does not give the answer away: ![a drawing](...)",
                )
                return


def check_humanness(examined: Examined) -> Iterator[ParallaxError]:
    """Report humanness constructions without items, and rates of unknown items."""
    block = examined.study.humanness
    if block is None:
        return
    constructions = {item.construction for item in examined.items}
    for number, name in enumerate(block.constructions):
        if constructions and name not in constructions:
            yield StudyError(
                f'there is no item of the construction "{name}"',
                where=examined.at("humanness", "constructions", number),
                expected=f"one of: {', '.join(sorted(constructions))}",
            )
    rates = load_rates(examined.study)
    if rates is None:
        yield StudyNote(
            "the block has no published rates: its trials are scored, but say nothing about "
            "whether a person answered",
            where=examined.at("humanness"),
            expected=(
                'rates = "FILE.toml", or no key rates if none were published (docs/humanness.md)'
            ),
        )
        return
    yield from _unknown_items(examined, rates, set(block.constructions))


def _unknown_items(
    examined: Examined, rates: Rates, constructions: set[str]
) -> Iterator[ParallaxError]:
    of_block = {item.item_id for item in examined.items if item.construction in constructions}
    for rate in rates.items:
        if of_block and rate.item not in of_block:
            yield StudyError(
                f'the file gives rates for "{rate.item}", which is not an item of the block',
                where=examined.name_of(examined.study.humanness.rates),  # type: ignore[union-attr]
                expected=f"one of: {', '.join(sorted(of_block))}",
            )
            return
