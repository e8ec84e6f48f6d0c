"""Checks of each list's contents and of the pages its participants read."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations

from experiment.design.audit.sessions import Check, Session, SquareContents, check, make_info_row
from experiment.design.frames import (
    Frame,
    Joint,
    MaterialsIndex,
    better_exchange,
    joint_choices,
    slot_differences,
)
from experiment.design.lists import BuiltLists
from experiment.records import Item, Kind, Side, lemmas_of
from experiment.responses.base import ResponseType
from experiment.studies.design import Design, holds
from experiment.studies.study import Study

_REQUIRED_PAGES = {"instructions": "instructions", "debrief": "debrief"}


def origin_checks(
    study: Study, response: ResponseType, index: MaterialsIndex, built: BuiltLists
) -> Iterator[Check]:
    """Yield the checks that the lists match their study and its materials."""
    origin = f"{study.name} {study.study.version}"
    recorded_origin = f"{built.study} {built.version}"
    yield check("study and version", origin, [recorded_origin] if recorded_origin != origin else [])
    materials_hash, built_hash = index.materials_hash[:12], built.materials_hash[:12]
    changed = index.materials_hash != built.materials_hash
    yield check("identity of the materials", materials_hash, [built_hash] if changed else [])
    yield check("items as the materials have them", "all", _find_unknown_items(index, built))
    contrasts = _find_equal_versions(response, built)
    yield check("versions in the judged contrast", "two that differ", contrasts)
    yield make_info_row("what is judged against good", _describe_contrast(built))


def _find_unknown_items(index: MaterialsIndex, built: BuiltLists) -> Iterator[str]:
    for number, entries in enumerate(built.lists):
        for item in (entry.item for entry in entries):
            frames = index.items.get(item.template, {})
            if frames.get(item.frame, {}).get(item.condition) != item:
                yield f"list {number}: {item.item_id} is not"


def _find_equal_versions(response: ResponseType, built: BuiltLists) -> Iterator[str]:
    for entry in (entry for entries in built.lists for entry in entries):
        is_alone = response.of_item(entry.item).alone and not entry.item.alternative
        if not is_alone and entry.item.alternative in ("", entry.item.good):
            yield f'{entry.item.item_id}: "{entry.item.good}" / "{entry.item.alternative}"'


def _describe_contrast(built: BuiltLists) -> str:
    items = (entry.item for entries in built.lists for entry in entries)
    constructions = Counter(
        contrast for _, contrast in {(item.construction, item.contrast) for item in items}
    )
    return ", ".join(f"{name} ({n} constructions)" for name, n in sorted(constructions.items()))


def list_checks(
    study: Study, squares: Sequence[SquareContents], built: BuiltLists
) -> Iterator[Check]:
    """Yield the checks of the lists' sizes, conditions, frames and catch trials."""
    design, n_lists = study.design, len(built.lists)
    wrong_number = [f"{n_lists}"] if n_lists != design.n_lists else []
    yield check("lists", f"{design.n_lists}", wrong_number)
    yield check("trials in each list", _describe_sizes(design), _find_wrong_sizes(design, built))
    if not squares:
        return
    yield check(
        "items in each list, by condition", _describe_cells(squares), _find_uneven_cells(squares)
    )
    yield check("showings of one frame in one list", "at most 1", _find_repeated_frames(squares))
    yield check(
        "lists that show one frame in one condition", "1", _find_repeated_conditions(squares)
    )
    yield check(
        "targets used as catch trials, in each list",
        _describe_catch_trials(squares),
        _find_uneven_catch_trials(squares),
    )
    yield check("kinds of the other items", "their own", _find_wrong_kinds(squares))
    yield check(
        "conditions next to catch trials, over the lists",
        "1 apart at most",
        _find_uneven_catch_conditions(squares),
    )


def _describe_sizes(design: Design) -> str:
    numbers = {design.trials(number) for number in range(design.n_lists)}
    return ", ".join(map(str, sorted(numbers)))


def _find_wrong_sizes(design: Design, built: BuiltLists) -> Iterator[str]:
    known_templates = design.block_of
    for number, entries in enumerate(built.lists):
        if len(entries) != design.trials(number):
            yield f"list {number}: {len(entries)}"
        for template in dict.fromkeys(entry.item.template for entry in entries):
            if template not in known_templates:
                yield f'list {number}: the template "{template}" is in no square'


def _describe_cells(squares: Sequence[SquareContents]) -> str:
    times = Counter[int]()
    for square in squares:
        times[square.per_condition] += len(square.conditions)
    return ", ".join(f"{n} each of {conditions}" for n, conditions in sorted(times.items()))


def _find_uneven_cells(squares: Sequence[SquareContents]) -> Iterator[str]:
    for square in squares:
        for number, entries in square.lists.items():
            counts = Counter(entry.item.condition for entry in entries)
            for condition in square.conditions:
                if counts[condition] != square.per_condition:
                    yield f"list {number}: {counts[condition]} of {square.name} {condition}"


def _find_repeated_frames(squares: Sequence[SquareContents]) -> Iterator[str]:
    for square in squares:
        for number, entries in square.lists.items():
            counts = Counter((entry.item.template, entry.item.frame) for entry in entries)
            for (template, frame), n in counts.items():
                if n > 1:
                    yield f"list {number}: {n} of {template} {frame}"


def _find_repeated_conditions(squares: Sequence[SquareContents]) -> Iterator[str]:
    for square in squares:
        items = [entry.item for entry in square.entries]
        counts = Counter((item.template, item.frame, item.condition) for item in items)
        for template, frame in dict.fromkeys((item.template, item.frame) for item in items):
            for condition in square.conditions:
                if (n := counts[template, frame, condition]) != 1:
                    yield f"{n} lists: {template} {frame}, {condition}"


def _describe_catch_trials(squares: Sequence[SquareContents]) -> str:
    catching = (square for square in squares if square.catch_trials)
    texts = (
        f"{square.catch_trials} of {square.per_condition * len(square.conditions)} {square.name}"
        for square in catching
    )
    return ", ".join(dict.fromkeys(texts)) or "none"


def _find_uneven_catch_trials(squares: Sequence[SquareContents]) -> Iterator[str]:
    for square in squares:
        for number, entries in square.lists.items():
            n = sum(entry.kind is Kind.CATCH is not entry.item.kind for entry in entries)
            if n != square.catch_trials:
                yield f"list {number}: {n} of {square.name}"


def _find_wrong_kinds(squares: Sequence[SquareContents]) -> Iterator[str]:
    for square in squares:
        for number, entries in square.lists.items():
            for entry in entries:
                if entry.kind not in (entry.item.kind, Kind.CATCH):
                    yield f"list {number}: {entry.item.item_id} is {entry.kind}"


def _find_uneven_catch_conditions(squares: Sequence[SquareContents]) -> Iterator[str]:
    for square in squares:
        if square.catch_trials:
            counts = Counter(e.item.condition for e in square.entries if e.kind is not Kind.CATCH)
            uses = {condition: counts[condition] for condition in square.conditions}
            if max(uses.values()) - min(uses.values()) > 1:
                yield f"{square.name}: {', '.join(f'{n} {name}' for name, n in uses.items())}"


def wording_checks(study: Study) -> Iterator[Check]:
    """Yield the check that each level's lists have the pages and questions that the study names."""
    design = study.design
    if not design.factors or not (
        design.wording or any(question.when for question in study.questionnaire)
    ):
        return
    yield check("pages and questions of each level", "as worded", _find_wording_problems(study))


def _find_wording_problems(study: Study) -> Iterator[str]:
    for list_ in range(study.design.n_lists):
        levels, levels_met = study.design.levels(list_), study.of_list(list_)
        pages, title = dict(_REQUIRED_PAGES), study.study.title
        for entry in study.design.wording:
            if holds(entry.when, levels):
                pages |= entry.pages
                title = entry.title or title
        for page, text in pages.items():
            try:
                is_same_text = levels_met.text(page) == study.read(
                    f"texts/{study.study.language}/{text}.md"
                )
            except FileNotFoundError:
                is_same_text = False
            if not is_same_text:
                yield f"list {list_}: {page} is not {text}.md"
        question_names = [entry.name for entry in study.questionnaire if holds(entry.when, levels)]
        if [
            entry.name for entry in levels_met.questionnaire
        ] != question_names or levels_met.study.title != title:
            yield f"list {list_}: other questions or another title"


Frames = dict[str, list[Frame]]


def frame_checks(
    design: Design, index: MaterialsIndex, squares: Sequence[SquareContents], built: BuiltLists
) -> Iterator[Check]:
    """Yield the checks of frames, and two notes on how often words recur."""
    if not squares:
        return
    templates = [template for square in squares for template in square.templates]
    known_frames = {template: index.frames(template) for template in templates}
    chosen = {
        template: _list_frames(square, template)
        for square in squares
        for template in square.templates
    }
    yield check("frames of each square", _describe_shares(squares), _find_unequal_shares(squares))
    yield check(
        "uses of a slot's words within a template",
        "1 apart at most, or as even as can be",
        _find_uneven_frames(design, known_frames, chosen),
    )
    yield check(
        "frames that share their slots' choice",
        f"none in {len(design.disjoint)} groups",
        _find_shared_choices(design, chosen),
    )
    yield make_info_row(
        "uses of interchangeable words, over the lists", _describe_word_use(known_frames, chosen)
    )
    items = [[entry.item for entry in entries] for entries in built.lists]
    yield make_info_row(
        "most uses of a word in one list", _describe_most_repeated(items, _list_lemmas)
    )
    yield make_info_row(
        "most meetings of two words in one list", _describe_most_repeated(items, _list_word_pairs)
    )


def _get_frame(item: Item) -> Frame:
    return Frame(item.template, item.frame, lemmas_of(item.frame))


def _list_frames(square: SquareContents, template: str) -> list[Frame]:
    items = (entry.item for entry in square.entries)
    return list(dict.fromkeys(_get_frame(item) for item in items if item.template == template))


def _describe_shares(squares: Sequence[SquareContents]) -> str:
    distinct_squares = {square.templates: square for square in squares}.values()
    sizes = Counter((square.n_frames, len(square.templates)) for square in distinct_squares)
    return ", ".join(
        f"{n} x {frames}" + (f" from {templates} templates" if templates > 1 else "")
        for (frames, templates), n in sorted(sizes.items())
    )


def _find_unequal_shares(squares: Sequence[SquareContents]) -> Iterator[str]:
    for square in squares:
        for template in square.templates:
            number = len(_list_frames(square, template))
            if number * len(square.templates) != square.n_frames:
                yield f"{' '.join((template, *square.levels.values()))}: {number}"


def _find_uneven_frames(design: Design, known_frames: Frames, chosen: Frames) -> Iterator[str]:
    joint = {
        frame: joint_choices(frame, design.disjoint)
        for frames in chosen.values()
        for frame in frames
    }
    for template, frames in chosen.items():
        candidates = {
            frame: joint_choices(frame, design.disjoint)
            for frame in [*frames, *known_frames[template]]
        }
        other_choices = (choices for frame, choices in joint.items() if frame.template != template)
        if exchange := better_exchange(frames, candidates, frozenset().union(*other_choices)):
            differences = slot_differences(frames, known_frames[template])
            uneven = ", ".join(f"{slot} {n}" for slot, n in differences.items() if n > 1)
            yield f'{template}: {uneven}; "{exchange[1].text}" for "{exchange[0].text}" is better'


def _find_shared_choices(design: Design, chosen: Frames) -> Iterator[str]:
    owners: dict[Joint, list[Frame]] = {}
    for frame in (frame for frames in chosen.values() for frame in frames):
        for choice in joint_choices(frame, design.disjoint):
            owners.setdefault(choice, []).append(frame)
    for (_, lemmas), frames in owners.items():
        if len(frames) > 1:
            yield f"{' '.join(lemmas)}: {', '.join(frame.template for frame in frames)}"


def _describe_word_use(known_frames: Frames, chosen: Frames) -> str:
    """Return the range of frames per word, for the slot in which words are used most unevenly.

    Words are interchangeable when they fill the same slot in the same templates.
    """
    fillers: dict[tuple[str, str], set[str]] = {}
    for frame in (frame for frames in known_frames.values() for frame in frames):
        for word in frame.lemmas.items():
            fillers.setdefault(word, set()).add(frame.template)
    uses = Counter(w for frames in chosen.values() for f in frames for w in f.lemmas.items())
    groups: dict[tuple[str, frozenset[str]], list[int]] = {}
    for (slot, lemma), templates in fillers.items():
        groups.setdefault((slot, frozenset(templates)), []).append(uses[slot, lemma])
    ranges = [(max(group) - min(group), slot, group) for (slot, _), group in groups.items()]
    if not ranges:
        return "none"
    _, slot, group = max(ranges)
    return f"{min(group)} to {max(group)} frames in the most uneven slot ({slot})"


def _describe_most_repeated(
    lists: Sequence[Sequence[Item]], words_of: Callable[[Item], list[str]]
) -> str:
    counts = Counter(
        (words, number)
        for number, items in enumerate(lists)
        for item in items
        for words in words_of(item)
    )
    for (words, number), n in counts.most_common(1):
        return f"{n} ({words}, list {number})"
    return "none"


def _list_lemmas(item: Item) -> list[str]:
    return list(lemmas_of(item.frame).values())


def _list_word_pairs(item: Item) -> list[str]:
    return [" + ".join(pair) for pair in combinations(sorted(_list_lemmas(item)), 2)]


def option_checks(sessions: Sequence[Session]) -> Iterator[Check]:
    """Yield the checks of the options' positions, over trials and over participants."""
    yield check(
        "places of the good option, in a construction of a session",
        "each about as often: once more at most, of items with as many options",
        _find_uneven_options_in_sessions(sessions),
    )
    yield check(
        "places of each option, for an item of a list",
        "each as often in every place, over as many neighbouring places as it has options",
        _find_uneven_options_over_places(sessions),
    )


def _find_uneven_options_in_sessions(sessions: Sequence[Session]) -> Iterator[str]:
    for session in sessions:
        constructions = session.labels("construction")
        sizes: dict[str | None, set[int]] = {}
        sides: dict[str | None, list[Side | None]] = {}
        for trial, construction in zip(session.trials, constructions, strict=True):
            sizes.setdefault(construction, set()).add(len(trial.options))
            sides.setdefault(construction, []).append(trial.good_side)
        for construction, numbers in sides.items():
            # Items with different numbers of options cannot be balanced with one another.
            if len(sizes[construction]) == 1 and _compute_spread(numbers, *sizes[construction]) > 1:
                yield f"{session.name}: {construction}"


def _find_uneven_options_over_places(sessions: Sequence[Session]) -> Iterator[str]:
    most_options = max((len(t.options) for session in sessions for t in session.trials), default=1)
    versions_by_item: dict[tuple[int, int, str], list[tuple[str, ...]]] = {}
    for session in sessions:
        for trial in session.trials:
            group = (session.list_, session.place // most_options, trial.item_id)
            versions_by_item.setdefault(group, []).append(trial.options)
    for (list_, _, item_id), orders in versions_by_item.items():
        n = len(orders[0])
        for name in orders[0]:
            if _compute_spread((order.index(name) for order in orders), n) > 1:
                yield f"list {list_}: {item_id}, {name}"


def _compute_spread(values: Iterable[object], n: int) -> int:
    """Return how much more often the most frequent of n values occurs than the rarest."""
    counts = Counter(values)
    return max(counts.values()) - (min(counts.values()) if len(counts) == n else 0)
