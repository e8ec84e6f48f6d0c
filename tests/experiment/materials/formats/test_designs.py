"""A table whose items are of two designs, as laboratories put two experiments into one file."""

from pathlib import Path

from experiment.materials.formats.read import read_materials

# Aspect has two levels in each item; pronouns cross with agreement. No level is in both designs.
ASPECT = [("a1", "same", form) for form in ("le", "zhe")] + [
    ("a2", "other", form) for form in ("le", "zhe")
]
PRONOUNS = [
    (item, agreement, form)
    for item in ("p1", "p2", "p3")
    for agreement in ("match", "mismatch")
    for form in ("overt", "null")
]


def table(folder: Path, rows: list[tuple[str, str, str]]) -> Path:
    lines = [f"{i},{a},{f},The {i} {a} {f} one." for i, a, f in rows]
    fillers = [f"f{n},filler,filler,Filler number {n}." for n in range(3)]
    path = folder / "two.csv"
    path.write_text("\n".join(["Item,Agreement,Form,Sentence", *lines, *fillers]) + "\n")
    return path


def test_items_of_two_designs_have_the_conditions_of_their_own(tmp_path):
    read = read_materials(table(tmp_path, [*ASPECT, *PRONOUNS]), alone=True)
    conditions = {
        construction: sorted({i.condition for i in read.items if i.construction == construction})
        for construction in dict.fromkeys(item.construction for item in read.items)
    }
    assert conditions == {
        "le_zhe": ["le", "zhe"],
        "overt_null": ["match_null", "match_overt", "mismatch_null", "mismatch_overt"],
        "filler": ["all"],
    }
    assert len(read.items) == 4 + 12 + 3
    assert read.headers["condition"] == ["Form", "Agreement"]
    assert "construction" not in read.headers
    assert any('3 items, "p1" among them, are a design of their own' in n for n in read.notes)
