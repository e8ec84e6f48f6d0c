"""Checks of what each list holds and what its participants read, counted from the built lists."""

from collections import Counter
from collections.abc import Iterator, Sequence

from experiment.design.audit.check import Check, check, info
from experiment.design.audit.sessions import SquareContents
from experiment.design.lists import BuiltLists
from experiment.design.materials_index import MaterialsIndex
from experiment.records import Kind
from experiment.responses.base import ResponseType
from experiment.studies.design import Design, holds
from experiment.studies.study import Study

_ALWAYS = {"instructions": "instructions", "debrief": "debrief"}


def origin_checks(
    study: Study, response: ResponseType, index: MaterialsIndex, built: BuiltLists
) -> Iterator[Check]:
    """Yield the checks that tie the lists to their study and its materials."""
    origin = f"{study.name} {study.study.version}"
    seen = f"{built.study} {built.version}"
    yield check("study and version", origin, [seen] if seen != origin else [])
    ours, theirs = index.materials_hash[:12], built.materials_hash[:12]
    changed = index.materials_hash != built.materials_hash
    yield check("identity of the materials", ours, [theirs] if changed else [])
    yield check("items as the materials have them", "all", _unknown_items(index, built))
    found = _contrasts(response, built)
    yield check("versions in the judged contrast", "two that differ", found)
    yield info("what is judged against good", _contrast_text(built))


def _unknown_items(index: MaterialsIndex, built: BuiltLists) -> Iterator[str]:
    for number, entries in enumerate(built.lists):
        for item in (entry.item for entry in entries):
            frames = index.items.get(item.template, {})
            if frames.get(item.frame, {}).get(item.condition) != item:
                yield f"list {number}: {item.item_id} is not"


def _contrasts(response: ResponseType, built: BuiltLists) -> Iterator[str]:
    for entry in (entry for entries in built.lists for entry in entries):
        is_alone = response.of_item(entry.item).alone and not entry.item.alternative
        if not is_alone and entry.item.alternative in ("", entry.item.good):
            yield f'{entry.item.item_id}: "{entry.item.good}" / "{entry.item.alternative}"'


def _contrast_text(built: BuiltLists) -> str:
    items = (entry.item for entries in built.lists for entry in entries)
    constructions = Counter(
        contrast for _, contrast in {(item.construction, item.contrast) for item in items}
    )
    return ", ".join(f"{name} ({n} constructions)" for name, n in sorted(constructions.items()))


def list_checks(
    study: Study, squares: Sequence[SquareContents], built: BuiltLists
) -> Iterator[Check]:
    """Yield the checks on the lists' sizes, conditions, frames and catch trials."""
    design, n_lists = study.design, len(built.lists)
    wrong_number = [f"{n_lists}"] if n_lists != design.n_lists else []
    yield check("lists", f"{design.n_lists}", wrong_number)
    yield check("trials in each list", _sizes_text(design), _sizes(design, built))
    if not squares:
        return
    yield check("items in each list, by condition", _cells_text(squares), _cells(squares))
    yield check("showings of one frame in one list", "at most 1", _repeated_frames(squares))
    yield check("lists that show one frame in one condition", "1", _frame_conditions(squares))
    yield check("targets used as catch trials, in each list", _catch_text(squares), _catch(squares))
    yield check("kinds of the other items", "their own", _kinds(squares))
    yield check(
        "conditions next to catch trials, over the lists", "1 apart at most", _turns(squares)
    )


def _sizes_text(design: Design) -> str:
    numbers = {design.trials(number) for number in range(design.n_lists)}
    return ", ".join(map(str, sorted(numbers)))


def _sizes(design: Design, built: BuiltLists) -> Iterator[str]:
    known = design.block_of
    for number, entries in enumerate(built.lists):
        if len(entries) != design.trials(number):
            yield f"list {number}: {len(entries)}"
        for template in dict.fromkeys(entry.item.template for entry in entries):
            if template not in known:
                yield f'list {number}: the template "{template}" is in no square'


def _cells_text(squares: Sequence[SquareContents]) -> str:
    times = Counter[int]()
    for square in squares:
        times[square.per_condition] += len(square.conditions)
    return ", ".join(f"{n} each of {conditions}" for n, conditions in sorted(times.items()))


def _cells(squares: Sequence[SquareContents]) -> Iterator[str]:
    for square in squares:
        for number, entries in square.lists.items():
            counts = Counter(entry.item.condition for entry in entries)
            for condition in square.conditions:
                if counts[condition] != square.per_condition:
                    yield f"list {number}: {counts[condition]} of {square.name} {condition}"


def _repeated_frames(squares: Sequence[SquareContents]) -> Iterator[str]:
    for square in squares:
        for number, entries in square.lists.items():
            counts = Counter((entry.item.template, entry.item.frame) for entry in entries)
            for (template, frame), n in counts.items():
                if n > 1:
                    yield f"list {number}: {n} of {template} {frame}"


def _frame_conditions(squares: Sequence[SquareContents]) -> Iterator[str]:
    for square in squares:
        items = [entry.item for entry in square.entries]
        counts = Counter((item.template, item.frame, item.condition) for item in items)
        for template, frame in dict.fromkeys((item.template, item.frame) for item in items):
            for condition in square.conditions:
                if (n := counts[template, frame, condition]) != 1:
                    yield f"{n} lists: {template} {frame}, {condition}"


def _catch_text(squares: Sequence[SquareContents]) -> str:
    catching = (square for square in squares if square.catch_trials)
    texts = (
        f"{square.catch_trials} of {square.per_condition * len(square.conditions)} {square.name}"
        for square in catching
    )
    return ", ".join(dict.fromkeys(texts)) or "none"


def _catch(squares: Sequence[SquareContents]) -> Iterator[str]:
    for square in squares:
        for number, entries in square.lists.items():
            n = sum(entry.kind is Kind.CATCH is not entry.item.kind for entry in entries)
            if n != square.catch_trials:
                yield f"list {number}: {n} of {square.name}"


def _kinds(squares: Sequence[SquareContents]) -> Iterator[str]:
    for square in squares:
        for number, entries in square.lists.items():
            for entry in entries:
                if entry.kind not in (entry.item.kind, Kind.CATCH):
                    yield f"list {number}: {entry.item.item_id} is {entry.kind}"


def _turns(squares: Sequence[SquareContents]) -> Iterator[str]:
    for square in squares:
        if square.catch_trials:
            counts = Counter(e.item.condition for e in square.entries if e.kind is not Kind.CATCH)
            uses = {condition: counts[condition] for condition in square.conditions}
            if max(uses.values()) - min(uses.values()) > 1:
                yield f"{square.name}: {', '.join(f'{n} {name}' for name, n in uses.items())}"


def wording_checks(study: Study) -> Iterator[Check]:
    """Yield whether the lists of each level have the pages and questions that the study names."""
    design = study.design
    if not design.factors or not (
        design.wording or any(question.when for question in study.questionnaire)
    ):
        return
    yield check("pages and questions of each level", "as worded", _breaches(study))


def _breaches(study: Study) -> Iterator[str]:
    for list_ in range(study.design.n_lists):
        levels, met = study.design.levels(list_), study.of_list(list_)
        pages, title = dict(_ALWAYS), study.study.title
        for each in study.design.wording:
            if holds(each.when, levels):
                pages |= each.pages
                title = each.title or title
        for page, text in pages.items():
            try:
                same = met.text(page) == study.read(f"texts/{study.study.language}/{text}.md")
            except FileNotFoundError:
                same = False
            if not same:
                yield f"list {list_}: {page} is not {text}.md"
        asked = [each.name for each in study.questionnaire if holds(each.when, levels)]
        if [each.name for each in met.questionnaire] != asked or met.study.title != title:
            yield f"list {list_}: other questions or another title"
