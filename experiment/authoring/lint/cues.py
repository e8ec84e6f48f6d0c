"""Lints for cues that reveal the answer without reading: punctuation, capitals, length."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from statistics import mean, median

from experiment.authoring.lint.materials import Fault, Materials, end_mark, is_whole, letters, words
from experiment.records import Item

_QUOTES = '"\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a`'
_INNER_MARKS = ",;:\u2014\u2013()[]\u060c\u3001\uff0c"
# A style that this share of texts has is the study's style; a different style is odd.
_STYLE_SHARE = 0.9
# A cue in this small a share of a construction's items is an oversight; in this large a share, it
# decides every trial.
_FEW, _ALL = 0.2, 0.95
_FEWEST_ITEMS, _FEWEST_TEXTS = 8, 10
# This many more words are noticed at a glance; this many more than in the other pairs are odd.
_LONGER, _ODD_LENGTH = 2.5, 3
# In one item, a first word with a colon may be part of the sentence.
_FEWEST_LABELS = 2
_UNSPACED = ("zh", "ja", "th", "lo", "km", "my")


def lint_full_stops(materials: Materials) -> Iterator[Fault]:
    """Report pairs whose versions end with different punctuation, and sentences without any."""
    differing = [
        item for item in materials.paired if len(set(map(end_mark, materials.versions(item)))) > 1
    ]
    if differing:
        good, other = _find_first_difference(materials, differing[0], end_mark)
        yield Fault(
            "final punctuation",
            tuple(differing),
            f'ends with different punctuation in one version: "{good}", "{other}"',
            "End all versions with the same punctuation: participants can choose by it",
        )
    sentences = [item for item in materials.items if is_whole(item) and item not in differing]
    without_stop = [item for item in sentences if not any(map(end_mark, materials.versions(item)))]
    if (
        len(sentences) >= _FEWEST_TEXTS
        and without_stop
        and len(without_stop) <= (1 - _STYLE_SHARE) * len(sentences)
    ):
        yield Fault(
            "final punctuation of the others",
            tuple(without_stop),
            f'has no final punctuation, unlike nearly all others: "{without_stop[0].good}"',
            "End it like the others",
        )


def lint_capitals(materials: Materials) -> Iterator[Fault]:
    """Report pairs whose versions differ in initial or other capitals."""
    texts = [text for item in materials.items for text in materials.versions(item)]
    styles = Counter(filter(None, map(_get_first_case, texts)))
    style, number = styles.most_common(1)[0] if styles else ("", 0)
    shared = number >= _STYLE_SHARE * styles.total()
    differing = []
    for item in materials.paired:
        first, *others = materials.versions(item)
        if any(
            _get_first_case(text) != _get_first_case(first)
            and (shared or _get_first_word(text).casefold() == _get_first_word(first).casefold())
            for text in others
        ):
            differing.append(item)
    if differing:
        good, other = _find_first_difference(materials, differing[0], _get_first_case)
        yield Fault(
            "first letter",
            tuple(differing),
            f'begins with a capital in one version only: "{good}", "{other}"',
            "Begin all versions alike: participants can choose by the first letter",
        )
    odd_items = [
        item
        for item in materials.items
        if item not in differing
        and is_whole(item)
        and {_get_first_case(text) for text in materials.versions(item)} - {style, ""}
    ]
    if number >= _FEWEST_TEXTS and shared and odd_items:
        yield Fault(
            "first letter of the others",
            tuple(odd_items),
            "begins with a capital or small letter, unlike nearly all others: "
            f'"{odd_items[0].good}"',
            "Begin it like the others",
        )
    loud = [
        item for item in materials.paired if _has_difference(materials, item, _count_capitalised)
    ]
    if loud:
        good, other = _find_first_difference(materials, loud[0], _count_capitalised)
        yield Fault(
            "words in capitals",
            tuple(loud),
            f'writes a word in capitals in one version only: "{good}", "{other}"',
            "Write all versions the same way: participants can choose by the capitals",
        )
    recased = [
        item for item in materials.paired if _has_word_in_two_cases(materials.versions(item))
    ]
    if recased and recased != loud:
        good, *others = materials.versions(recased[0])
        yield Fault(
            "capitals of a word",
            tuple(recased),
            f'writes one word both with and without a capital: "{good}", "{others[0]}"',
            "Write it the same way in all versions",
        )


_LABEL = re.compile(
    r"\s*(\w+(?: \w+)?\s*[.)\]](?=\s)|[^\W\d]\w*(?: \w+)?\s*[:\uff1a]|\(\w+\)|\[\w+\]|[-=]+>"
    r"|[\u2190-\u21ff])"
)
_LABEL_AT_END = re.compile(r"(\(\w+\)|\[\w+\]|[\u2190-\u21ff])\W*\Z")


def lint_labels(materials: Materials) -> Iterator[Fault]:
    """Report good versions with one label and bad ones with another, such as "A:" and "B:"."""
    pairs = [(item, [*map(_find_label, materials.versions(item))]) for item in materials.paired]
    differing = [(item, label_pair) for item, label_pair in pairs if len(set(label_pair)) > 1]
    starts = {tuple(label_pair) for _, label_pair in differing}
    if len(differing) < _FEWEST_LABELS or len(starts) > 1 or len(differing) < _FEW * len(pairs):
        return
    good, *others = starts.pop()
    others_in_words = ", ".join(f'"{other}"' for other in others)
    yield Fault(
        "labels of versions",
        tuple(item for item, _ in differing),
        f'prints the answer: its good version is labelled "{good}", the others '
        f"{others_in_words}, as in {len(differing):,} of {len(pairs):,} items",
        "Leave the labels out: participants can choose by them",
    )


def _find_label(text: str) -> str:
    match = _LABEL.match(text) or _LABEL_AT_END.search(text)
    return match[1] if match else ""


def lint_punctuation(materials: Materials) -> Iterator[Fault]:
    """Report pairs whose versions differ in quotation marks or other punctuation."""
    quoted = [
        item
        for item in materials.paired
        if _has_difference(materials, item, _count_quotation_marks)
    ]
    if quoted:
        good, other = _find_first_difference(materials, quoted[0], _count_quotation_marks)
        yield Fault(
            "quotation marks",
            tuple(quoted),
            f'has different quotation marks in one version: "{good}", "{other}"',
            "Put the same marks into all versions: participants can choose by them",
        )
    for group in materials.groups(lambda item: item.construction).values():
        differing = [item for item in group if _has_difference(materials, item, _count_inner_marks)]
        many = len(group) >= _FEWEST_ITEMS
        if differing and many and len(differing) <= _FEW * len(group):
            good, other = _find_first_difference(materials, differing[0], _count_inner_marks)
            yield Fault(
                "signs inside",
                tuple(differing),
                f'has a comma or another punctuation mark in one version only: "{good}", "{other}"',
                "Unless the study is about this mark, put it into all versions",
            )
    differing = [
        item for item in materials.paired if _has_difference(materials, item, _count_inner_marks)
    ]
    if len(differing) >= max(_FEWEST_ITEMS, _ALL * len(materials.paired)):
        good, other = _find_first_difference(materials, differing[0], _count_inner_marks)
        yield Fault(
            "signs inside",
            (),
            "a comma or another punctuation mark distinguishes the versions of nearly every "
            f'item: "{good}", "{other}"',
            "Unless the study is about this mark, put it into all versions",
        )


def lint_lengths(materials: Materials) -> Iterator[Fault]:
    """Report pairs whose length difference is unusual, and lengths that reveal the answer."""
    far = {
        item.item_id: _measure_extra_words(materials, item)
        for item in materials.paired
        if len(materials.versions(item)) > 1
    }
    for group in materials.groups(lambda item: (item.construction, item.condition)).values():
        usual = median(far[item.item_id] for item in group)
        uneven = [item for item in group if abs(far[item.item_id] - usual) >= _ODD_LENGTH]
        if len(group) >= _FEWEST_TEXTS // 2 and 0 < len(uneven) <= max(1, _FEW * len(group)):
            good, *others = materials.versions(uneven[0])
            yield Fault(
                "length of one version",
                tuple(uneven),
                f'has versions that differ in length more than those of other items: "{good}", '
                f'"{others[0]}"',
                "Make the lengths of the versions as similar as in the other items",
            )
    if len(far) < _FEWEST_ITEMS or abs(mean(far.values())) < _LONGER:
        return
    for name, number in (
        ("longer", sum(difference > 0 for difference in far.values())),
        ("shorter", sum(difference < 0 for difference in far.values())),
    ):
        if number >= _ALL * len(far):
            yield Fault(
                "length decides",
                (),
                f"the other version is {name} than the good one in {number} of {len(far)} items, "
                f"by {abs(mean(far.values())):.1f} words on average",
                "Add items, fillers for example, whose longer version is the good "
                "one about half of the time: participants can choose by the length",
            )


def lint_word_order(materials: Materials) -> Iterator[Fault]:
    """Report that every bad version reorders the good one's words at the same positions."""
    moves: list[tuple[int, ...]] = []
    ends: list[tuple[int, ...]] = []
    for item in materials.paired:
        of_good, *others = map(words, materials.versions(item))
        if len(others) != 1 or sorted(of_good) != sorted(others[0]):
            return
        moved_places = [
            n for n, (a, b) in enumerate(zip(of_good, others[0], strict=True)) if a != b
        ]
        moves.append(tuple(moved_places))
        ends.append(tuple(n - len(of_good) for n in moved_places))
    if len(moves) < _FEWEST_ITEMS or not moves[0]:
        return
    if 1 in (len(set(moves)), len(set(ends))):
        good, other = materials.versions(materials.paired[0])
        yield Fault(
            "word order",
            (),
            f'in all {len(moves)} pairs the same words are in another order: "{good}", "{other}"',
            "Add items, fillers for example, in which another order is the good one: participants "
            "can choose by the place of a word",
        )


def _measure_extra_words(materials: Materials, item: Item) -> float:
    """Return by how many words, on average, the other versions are longer than the good one."""
    spaced = materials.language.split("-")[0] not in _UNSPACED

    def long(text: str) -> float:
        return len(text.split()) if spaced else len(text) / 2

    good, *others = materials.versions(item)
    return mean(map(long, others)) - long(good)


def _has_difference(materials: Materials, item: Item, of: Callable[[str], object]) -> bool:
    first, *others = map(of, materials.versions(item))
    return any(other != first for other in others)


def _find_first_difference(
    materials: Materials, item: Item, of: Callable[[str], object]
) -> tuple[str, str]:
    good, *others = materials.versions(item)
    return good, next(text for text in others if of(text) != of(good))


def _get_first_word(text: str) -> str:
    return text.split()[0] if text.split() else ""


def _get_first_case(text: str) -> str:
    first = next((c for c in text if c.isalpha()), "")
    if first.isupper():
        return "upper"
    return "lower" if first.islower() else ""


def _count_capitalised(text: str) -> int:
    parts = ("".join(filter(str.isalpha, part)) for part in text.split())
    return sum(len(part) > 1 and part.isupper() for part in parts)


def _has_word_in_two_cases(texts: Sequence[str]) -> bool:
    """Return whether a word that does not begin a sentence occurs in two cases."""
    cases_by_word: dict[str, set[str]] = {}
    for text in texts:
        for word in text.split()[1:]:
            base_form = letters(word)
            if base_form:
                letters_only = "".join(c for c in word if c.isalpha())
                cases_by_word.setdefault(base_form, set()).add(letters_only)
    firsts = {letters(_get_first_word(text)) for text in texts}
    return any(len(forms) > 1 for word, forms in cases_by_word.items() if word not in firsts)


def _count_quotation_marks(text: str) -> Counter[str]:
    return Counter(c for c in text if c in _QUOTES)


def _count_inner_marks(text: str) -> Counter[str]:
    return Counter(c for c in text if c in _INNER_MARKS)
