"""The half of the taxonomy that the lints were built with."""
# ruff: noqa: RUF001 (letters that look alike are the mistake)

import random

from tests.experiment.authoring.lint.planting import Mistake, Planted, any_text, targets
from tests.experiment.authoring.lint.tables import Table


def _whole(table: Table) -> bool:
    return bool(table.bad) and "context" not in table.rows[0]


def full_stop_missing_in_one(table: Table, rng: random.Random) -> Planted | None:
    if not _whole(table):
        return None
    row = rng.randrange(len(table.rows))
    table.rows[row][table.bad] = table.rows[row][table.bad].rstrip(".?")
    return Planted("ends with different punctuation", (row,))


def full_stop_missing_in_all(table: Table, _: random.Random) -> Planted | None:
    if not _whole(table):
        return None
    for row in table.rows:
        row[table.bad] = row[table.bad].rstrip(".?")
    return Planted("ends with different punctuation", tuple(range(len(table.rows))))


def quotes(table: Table, rng: random.Random) -> Planted | None:
    if not _whole(table):
        return None
    row, column = rng.randrange(len(table.rows)), rng.choice((table.good, table.bad))
    table.rows[row][column] = f'"{table.rows[row][column]}"'
    return Planted("different quotation marks", (row,))


def longer(table: Table, rng: random.Random) -> Planted | None:
    if not _whole(table):
        return None
    for row in table.rows:
        text = row[table.bad]
        row[table.bad] = f"{text[:-1]} {rng.choice(('on that day', 'of all things'))}{text[-1]}"
    return Planted("version is longer")


def same_up_to_case(table: Table, rng: random.Random) -> Planted | None:
    if not table.bad:
        return None
    row = rng.randrange(len(table.rows))
    good = table.rows[row][table.good]
    table.rows[row][table.bad] = (
        good.upper() if rng.random() < 0.5 else good.capitalize().swapcase()
    )
    return Planted("in capitals alone", (row,))


def renumbered(table: Table, rng: random.Random) -> Planted | None:
    number = next((name for name in ("item", "nr", "pair_id") if name in table.rows[0]), "")
    items = list(dict.fromkeys(row[number] for row in table.rows))
    one, other = rng.sample(items[: len(targets(table)) // 2], 2)
    texts = [name for name in (table.good, table.bad, "context") if name in table.rows[0]]
    source = [row for row in table.rows if row[number] == one]
    copies = [n for n, row in enumerate(table.rows) if row[number] == other]
    if len(source) != len(copies):
        return None
    for row, at in zip(source, copies, strict=True):
        table.rows[at].update({name: row[name] for name in texts})
    return Planted("shows the same texts as the item", tuple(copies))


def na(table: Table, rng: random.Random) -> Planted | None:
    row, column = any_text(table, rng)
    table.rows[row][column] = rng.choice(("NA", "N/A", "nan"))
    return Planted(
        "cell of a spreadsheet|programs write for an empty|says that a value is missing", (row,)
    )


def date(table: Table, rng: random.Random) -> Planted | None:
    row, column = any_text(table, rng)
    forms = ("2026-03-01 00:00:00", "12/05/2026", "3-Mar", "01.02.2026")
    table.rows[row][column] = rng.choice(forms)
    return Planted("a value that a spreadsheet made", (row,))


def hidden_rows(table: Table, rng: random.Random) -> Planted | None:
    if table.suffix != ".xlsx":
        return None
    table.hidden_rows = sorted(rng.sample(range(len(table.rows)), rng.randint(1, 4)))
    return Planted("are hidden", tuple(table.hidden_rows))


def other_script(table: Table, rng: random.Random) -> Planted | None:
    row = rng.randrange(len(table.rows))
    text = rng.choice(("Ключ старый.", "Το κλειδί.", "המפתח ישן.", "鍵は古い。"))
    for name in (table.good, table.bad):
        if name:
            table.rows[row][name] = f"{text[:-1]} {'' if name == table.good else text[:2]}."
    return Planted("another script", (row,))


def markdown(table: Table, rng: random.Random) -> Planted | None:
    row, column = any_text(table, rng)
    words = table.rows[row][column].split()
    at, mark = rng.randrange(len(words)), rng.choice(("*", "**", "_"))
    if at == 0 and mark == "*":
        # An asterisk before a sentence is a judgment, which is refused.
        mark = "**"
    words[at] = f"{mark}{words[at]}{mark}"
    table.rows[row][column] = " ".join(words)
    return Planted("holds Markdown|shows a judgment", (row,))


def kind_misspelt(table: Table, rng: random.Random) -> Planted | None:
    kinds = [kind for kind in ("filler", "catch") if any(r.get("kind") == kind for r in table.rows)]
    if not kinds:
        return None
    kind = rng.choice(kinds)
    wrong = rng.choice({"filler": ("filer", "fillr", "fillier"), "catch": ("cach", "catsh")}[kind])
    rows = [n for n, row in enumerate(table.rows) if row["kind"] == kind]
    for row in rows:
        table.rows[row]["kind"] = wrong
    return Planted("is not a kind of item", tuple(rows))


def list_fault(table: Table, rng: random.Random) -> Planted | None:
    if "list" not in table.rows[0]:
        return None
    row = rng.randrange(len(table.rows))
    others = [name for name in "1234" if name != table.rows[row]["list"]]
    table.rows[row]["list"] = rng.choice(others)
    return Planted("cannot put the items into lists")


def exchanged(table: Table, rng: random.Random) -> Planted | None:
    if not _whole(table):
        return None
    one, other = rng.sample(targets(table), 2)
    rows = table.rows
    if rows[one][table.bad] == rows[other][table.bad]:
        return None
    rows[one][table.bad], rows[other][table.bad] = rows[other][table.bad], rows[one][table.bad]
    return Planted("each other's version", (one, other))


def same_order(table: Table, _: random.Random) -> Planted | None:
    if not _whole(table):
        return None
    for row in table.rows:
        words = row[table.good].split()
        words[1], words[2] = words[2], words[1]
        row[table.bad] = " ".join(words)
        if len(set(words)) < len(words) or row[table.bad] == row[table.good]:
            return None
    return Planted("are in another order")


def bracket(table: Table, rng: random.Random) -> Planted | None:
    row, column = any_text(table, rng)
    words = table.rows[row][column].split()
    at = rng.randrange(len(words))
    words[at] = f"{rng.choice('([“')}{words[at]}"
    table.rows[row][column] = " ".join(words)
    return Planted("without its other half|different quotation marks", (row,))


def condition_misspelt(table: Table, rng: random.Random) -> Planted | None:
    column = next((name for name in ("condition", "island") if name in table.rows[0]), "")
    if not column or "list" not in table.rows[0]:
        return None
    row = rng.choice(targets(table))
    table.rows[row][column] = rng.choice(
        (table.rows[row][column].capitalize(), table.rows[row][column][:-1] + "x")
    )
    return Planted("cannot put the items into lists|has the|no row in the condition")


MISTAKES: dict[str, Mistake] = {
    "full stop missing in one": full_stop_missing_in_one,
    "full stop missing in all": full_stop_missing_in_all,
    "quotation marks in one version": quotes,
    "bad sentences longer": longer,
    "same up to case": same_up_to_case,
    "renumbered copy": renumbered,
    "NA": na,
    "date": date,
    "hidden rows": hidden_rows,
    "other script": other_script,
    "Markdown": markdown,
    "kind misspelt": kind_misspelt,
    "list fault": list_fault,
    "bad sentences exchanged": exchanged,
    "same change of order": same_order,
    "bracket left open": bracket,
    "condition misspelt": condition_misspelt,
}
