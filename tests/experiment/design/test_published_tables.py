"""Tables of published experiments, as PCIbex has them: the study made of each has its lists.

The sentences are our own; the headers, the numbers of items, conditions and groups, and which item
stands in which group under which condition are those of the source that is named.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from experiment.authoring.check import check_folder
from experiment.authoring.new import new_study
from experiment.records import Kind

Cell = tuple[str, str]


class Published(NamedTuple):
    """A published table.

    Attributes:
        source: Where it is published.
        table: Its lines.
        lists: The sentences of each list, with the kind of each.
        practice: How many rows are practice.
        columns: Headers that have to be named.
    """

    source: str
    table: list[str]
    lists: list[dict[str, Kind]]
    practice: int = 0
    columns: dict[str, str] = {}  # noqa: RUF012


def _dealt(
    header: str, groups: str, rows: Callable[[str], Iterator[tuple[str, str, Kind | None]]]
) -> tuple[list[str], list[dict[str, Kind]]]:
    """Return the lines of a table and the sentences of each group; of no kind is practice."""
    lines, lists = [header], []
    for group in groups:
        lists.append({})
        for line, sentence, kind in rows(group):
            lines.append(line)
            if kind is not None:
                lists[-1][sentence] = kind
    return lines, lists


def tutorial() -> Published:
    """Two groups of four items, each in the singular in one and in the plural in the other."""

    def rows(group: str) -> Iterator[tuple[str, str, Kind | None]]:
        for item in range(1, 5):
            number = ("plural", "singular")[(item + "AB".index(group)) % 2]
            yield f"{group},{item},The {number} {item}.,{number}", f"The {number} {item}.", TARGET

    return Published(
        "PennController/penncontroller.github.io, advanced-tutorial/8_creating-trial-template.md",
        *_dealt("group,item,sentence,inflection", "AB", rows),
    )


def template_of_harvard() -> Published:
    """Conditions of each item's own, and two fillers that both groups repeat."""

    def rows(group: str) -> Iterator[tuple[str, str, Kind | None]]:
        for item in range(1, 7):
            code = "CB"[(item + "AB".index(group)) % 2] if item < 5 else "F"
            sentence = f"Sentence {item} {code}."
            yield f"{group},{item},{sentence},Sc{item}_{code}", sentence, TARGET

    return Published(
        "rossh2/pcibex-template-harvard, chunk_includes/SampleItems.csv",
        *_dealt("group,item,sentence,condition", "AB", rows),
    )


def forced_choice_after_reading() -> Published:
    """Two of the four lists of a Latin square, with fillers and exercises that both repeat."""

    def rows(list_: str) -> Iterator[tuple[str, str, Kind | None]]:
        for item in range(1, 5):
            condition = (item + int(list_) - 2) % 4 + 1
            sentence = f"Item {item} in {condition}."
            yield f'{item},{condition},"{sentence}",1,"Yes","No",{list_},"item"', sentence, TARGET
        for item in range(1001, 1005):
            sentence = f"Filler {item}."
            yield f'{item},1001,"{sentence}",0,,,{list_},"filler"', sentence, FILLER
        for item in range(2001, 2005):
            yield f'{item},0,"Exercise {item}.",1,"A","B",{list_},"exercise"', "", None

    header = '"ITEM","CONDITION","SENTENCE","QUESTION","CORRECT","WRONG","LIST","TYPE"'
    return Published(
        "a-nap/SPR_FC_for_PCIbex_full, Phrase_presentation/chunk_includes/items.csv",
        *_dealt(header, "12", rows),
        practice=4,
    )


def focus_in_three_groups() -> Published:
    """18 items in three conditions over three groups."""
    conditions = ("exclusive", "focus", "contrastive")

    def rows(group: str) -> Iterator[tuple[str, str, Kind | None]]:
        for item in range(1, 19):
            condition = conditions[("abc".index(group) - item + 1) % 3]
            sentence = f"Mondat {item} {condition}."
            yield f"{item},{condition},{group},{sentence}", sentence, TARGET

    return Published(
        "partigabor/pcibex-hun, chunk_includes/experiment_data.csv, items 1 to 18",
        *_dealt("item,condition,group,sentence", "abc", rows),
    )


def aspect_of_two_thirds() -> Published:
    """24 verbs in two aspects: a group hears each of 16, eight in each aspect, and 13 fillers."""

    def rows(group: str) -> Iterator[tuple[str, str, Kind | None]]:
        for verb in range(24):
            for late, aspect in enumerate(("Imp", "Pf")):
                if "ABC"[(verb + late) % 3] == group:
                    sentence = f"Verb {verb} {aspect}."
                    yield f"{group},{aspect},{verb}.wav,{sentence}", sentence, TARGET
        for filler in range(13):
            sentence = f"Filler {filler}."
            yield f"{group},filler,f{filler}.wav,{sentence}", sentence, FILLER

    return Published(
        "daniela-palleschi/pcibex_L2_aspect, chunk_includes/StimuliAspectFinal.csv",
        *_dealt("group,Category,Audio,Sentence_English", "ABC", rows),
        columns={"sentence": "Sentence_English", "condition": "Category"},
    )


def pictures_in_four_groups() -> Published:
    """16 items in four conditions over four groups, whose rotation goes by fours."""
    conditions = ("cumul_1", "cumul_2", "distr_1", "distr_2")

    def rows(group: str) -> Iterator[tuple[str, str, Kind | None]]:
        for item in range(16):
            condition = conditions[int(group) ^ (3 * item) % 4]
            sentence = f"Item {item} {condition}."
            yield f"GROUP_0_{group},{item},{condition},Before.,{sentence}", sentence, TARGET

    return Published(
        "MojmirDocekal/PCIbexTemplate2022, chunk_includes/items.csv, the groups GROUP_0",
        *_dealt("group,item,condition,scene,sentence", "0123", rows),
    )


def judgments_of_one_list() -> Published:
    """Three items and twelve fillers in one list."""

    def rows(list_: str) -> Iterator[tuple[str, str, Kind | None]]:
        for condition, item in ((3, 345), (2, 347), (1, 348)):
            sentence = f"Satz {item}."
            yield f'{item},{condition},"a","b","{sentence}",{list_},"item"', sentence, TARGET
        for item in range(1001, 1013):
            sentence = f"Füller {item}."
            yield f'{item},1001,".",".","{sentence}",{list_},"filler"', sentence, FILLER

    return Published(
        "a-nap/ajs_pcibex, chunk_includes/experiment.csv",
        *_dealt("ITEM,CONDITION,ADJECTIVE,ADVERB,SENTENCE,LIST,TYPE", "1", rows),
    )


TARGET, FILLER = Kind.TARGET, Kind.FILLER
PUBLISHED = (
    tutorial,
    template_of_harvard,
    forced_choice_after_reading,
    focus_in_three_groups,
    aspect_of_two_thirds,
    pictures_in_four_groups,
    judgments_of_one_list,
)


@pytest.mark.parametrize("published", PUBLISHED)
def test_the_lists_are_the_published_ones_sentence_by_sentence(published, tmp_path):
    source, table, lists, practice, columns = published()
    (tmp_path / "table.csv").write_text("\n".join(table), encoding="utf-8")
    made = new_study(tmp_path / "study", tmp_path / "table.csv", language="en", headers=columns)
    assert len(made.materials.practice) in (practice, practice * len(lists)), source
    report = check_folder(str(tmp_path / "study"), 1)
    assert report.errors == ()
    found = [{entry.item.good: entry.kind for entry in entries} for entries in report.built.lists]
    assert found == lists
    assert [len(entries) for entries in report.built.lists] == [len(each) for each in lists]


def test_a_table_that_names_no_lists_gets_a_latin_square_of_both_factors(tmp_path):
    """40 items in 3 x 2 conditions (ajroyer/agr-att-pcIBEX, fulldesign-agr-att.csv).

    Its columns are ``cond`` and ``plural``; its ``group`` is the item.
    """
    lines = ["item\tcond\tgroup\tplural\ttext\taudio"]
    lines += [
        f"{item:03}T\t{cond}\t{item:03}T\t{number}\tItem {item} {cond} {number}\t{item}.wav"
        for number in ("sg", "pl")
        for cond in ("early", "late", "none")
        for item in range(1, 41)
    ]
    (tmp_path / "full.tsv").write_text("\n".join(lines), encoding="utf-8")
    made = new_study(tmp_path / "study", tmp_path / "full.tsv", language="en", headers={})
    (square,) = made.design.squares
    assert (square.frames, square.conditions, made.design.lists) == (40, 6, 8)
    assert 'The column "group" cannot put the items into lists' in " ".join(made.design.notes)
    report = check_folder(str(tmp_path / "study"), 1)
    assert report.errors == ()
    for entries in report.built.lists:
        shown = Counter(entry.item.condition for entry in entries)
        assert shown == dict.fromkeys(shown, 5) and len(shown) == 6
        assert max(Counter(entry.item.frame for entry in entries).values()) == 1


def test_sixteen_groups_of_training_and_test(tmp_path):
    """16 groups of 80 sentences, most of them in several (grushaprasad/spr-adaptation-pcibex).

    Four orders, each for learners and controls, each in two versions. 24 items are reduced or
    full relative clauses, twelve of each, the other way round in the other version; controls read
    56 fillers besides, learners 40 and 16 further reduced clauses.
    """
    lines, lists = ["Group,Condition,Type,Sentence,Question,Answer"], []
    for order, name in enumerate("ABCD"):
        for group in ("control", "exp"):
            for version in (1, 2):
                cells = [("Filler", n) for n in range(order, order + (56, 40)[group == "exp"])]
                for n in range(40):
                    if (n - 10 * order) % 40 < 24:
                        cells.append((("RRC", "URC")[(n + version) % 2], n))
                    elif group == "exp":
                        cells.append(("RRC", n))
                assert len(cells) == 80
                lists.append({f"{condition} {n} was read." for condition, n in cells})
                lines += [
                    f'{name}_{group}_list{version},{c},{c}{n},{c} {n} was read.,Was it?,"Yes\n"'
                    for c, n in cells
                ]
    (tmp_path / "stimuli.csv").write_text("\n".join(lines), encoding="utf-8")
    made = new_study(tmp_path / "study", tmp_path / "stimuli.csv", language="en", headers={})
    assert (made.design.lists, made.design.trials_per_list) == (16, 80)
    report = check_folder(str(tmp_path / "study"), 1)
    assert report.errors == ()
    assert [{entry.item.good for entry in entries} for entries in report.built.lists] == lists
