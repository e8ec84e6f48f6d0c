"""The promises on what stands in which list, counted anew from the built lists."""

from collections import Counter
from collections.abc import Iterator, Sequence

from experiment.design.catalogue import Catalogue
from experiment.design.lists import BuiltLists
from experiment.design.promises.inspection import Inspected
from experiment.design.promises.promise import Promise, noted, promised
from experiment.records import Kind
from experiment.studies.study import Study


def origin_promises(study: Study, catalogue: Catalogue, built: BuiltLists) -> Iterator[Promise]:
    """Yield the promises that tie the lists to their study and its materials."""
    origin = f"{study.name} {study.study.version}"
    seen = f"{built.study} {built.version}"
    yield promised("study and version", origin, [seen] if seen != origin else [])
    ours, theirs = catalogue.materials_hash[:12], built.materials_hash[:12]
    changed = catalogue.materials_hash != built.materials_hash
    yield promised("identity of the materials", ours, [theirs] if changed else [])
    yield promised("items as the materials have them", "all", _strangers(catalogue, built))
    yield promised("versions in the judged contrast", "two that differ", _contrasts(built))
    yield noted("what is judged against good", _contrast_text(built))


def _strangers(catalogue: Catalogue, built: BuiltLists) -> Iterator[str]:
    for number, entries in enumerate(built.lists):
        for item in (entry.item for entry in entries):
            frames = catalogue.items.get(item.template, {})
            if frames.get(item.frame, {}).get(item.condition) != item:
                yield f"list {number}: {item.item_id} is not"


def _contrasts(built: BuiltLists) -> Iterator[str]:
    for entry in (entry for entries in built.lists for entry in entries):
        if entry.item.alternative in ("", entry.item.good):
            yield f'{entry.item.item_id}: "{entry.item.good}" / "{entry.item.alternative}"'


def _contrast_text(built: BuiltLists) -> str:
    items = (entry.item for entries in built.lists for entry in entries)
    constructions = Counter(
        contrast for _, contrast in {(item.construction, item.contrast) for item in items}
    )
    return ", ".join(f"{name} ({n} constructions)" for name, n in sorted(constructions.items()))


def list_promises(
    study: Study, squares: Sequence[Inspected], built: BuiltLists
) -> Iterator[Promise]:
    """Yield the promises on the lists' sizes, conditions, frames and catch trials."""
    design, n_lists = study.design, len(built.lists)
    wrong_number = [f"{n_lists}"] if n_lists != design.lists else []
    yield promised("lists", f"{design.lists}", wrong_number)
    yield promised("trials in each list", f"{design.trials_per_list}", _sizes(study, built))
    yield promised("items in each list, by condition", _cells_text(squares), _cells(squares))
    yield promised("showings of one frame in one list", "at most 1", _repeated_frames(squares))
    yield promised("lists that show one frame in one condition", "1", _frame_conditions(squares))
    yield promised("catch trials in each list", _catch_text(squares), _catch(squares))
    yield promised("kinds of the other items", "their own", _kinds(squares))
    yield promised(
        "conditions beside catch trials, over the lists", "1 apart at most", _turns(squares)
    )


def _sizes(study: Study, built: BuiltLists) -> Iterator[str]:
    for number, entries in enumerate(built.lists):
        if len(entries) != study.design.trials_per_list:
            yield f"list {number}: {len(entries)}"
        for template in dict.fromkeys(entry.item.template for entry in entries):
            if not any(template in square.templates for square in study.design.squares):
                yield f'list {number}: the template "{template}" is in no square'


def _cells_text(squares: Sequence[Inspected]) -> str:
    times = Counter[int]()
    for square in squares:
        times[square.per_condition] += len(square.conditions)
    return ", ".join(f"{n} each of {conditions}" for n, conditions in sorted(times.items()))


def _cells(squares: Sequence[Inspected]) -> Iterator[str]:
    for square in squares:
        for number, entries in enumerate(square.lists):
            counts = Counter(entry.item.condition for entry in entries)
            for condition in square.conditions:
                if counts[condition] != square.per_condition:
                    yield f"list {number}: {counts[condition]} of {square.name} {condition}"


def _repeated_frames(squares: Sequence[Inspected]) -> Iterator[str]:
    for square in squares:
        for number, entries in enumerate(square.lists):
            counts = Counter((entry.item.template, entry.item.frame) for entry in entries)
            for (template, frame), n in counts.items():
                if n > 1:
                    yield f"list {number}: {n} of {template} {frame}"


def _frame_conditions(squares: Sequence[Inspected]) -> Iterator[str]:
    for square in squares:
        items = [entry.item for entry in square.entries]
        counts = Counter((item.template, item.frame, item.condition) for item in items)
        for template, frame in dict.fromkeys((item.template, item.frame) for item in items):
            for condition in square.conditions:
                if (n := counts[template, frame, condition]) != 1:
                    yield f"{n} lists: {template} {frame}, {condition}"


def _catch_text(squares: Sequence[Inspected]) -> str:
    catching = (square for square in squares if square.catch_trials)
    texts = (
        f"{square.catch_trials} of {square.per_condition * len(square.conditions)} {square.name}"
        for square in catching
    )
    return ", ".join(texts) or "none"


def _catch(squares: Sequence[Inspected]) -> Iterator[str]:
    for square in squares:
        for number, entries in enumerate(square.lists):
            n = sum(entry.kind is Kind.CATCH is not entry.item.kind for entry in entries)
            if n != square.catch_trials:
                yield f"list {number}: {n} of {square.name}"


def _kinds(squares: Sequence[Inspected]) -> Iterator[str]:
    for square in squares:
        for number, entries in enumerate(square.lists):
            for entry in entries:
                if entry.kind not in (entry.item.kind, Kind.CATCH):
                    yield f"list {number}: {entry.item.item_id} is {entry.kind}"


def _turns(squares: Sequence[Inspected]) -> Iterator[str]:
    for square in squares:
        if square.catch_trials:
            counts = Counter(e.item.condition for e in square.entries if e.kind is not Kind.CATCH)
            uses = {condition: counts[condition] for condition in square.conditions}
            if max(uses.values()) - min(uses.values()) > 1:
                yield f"{square.name}: {', '.join(f'{n} {name}' for name, n in uses.items())}"
