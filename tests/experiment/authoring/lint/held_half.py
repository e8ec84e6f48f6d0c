"""The half of the taxonomy that was kept out while the lints were built."""
# ruff: noqa: RUF001 (letters that look alike are the mistake)

import random

from tests.experiment.authoring.lint.planting import Mistake, Planted, any_text, targets
from tests.experiment.authoring.lint.tables import Table


def _whole(table: Table) -> bool:
    return "context" not in table.rows[0]


def full_stop_unlike(table: Table, rng: random.Random) -> Planted | None:
    if not _whole(table):
        return None
    row = rng.randrange(len(table.rows))
    for name in filter(None, (table.good, table.bad)):
        table.rows[row][name] = table.rows[row][name].rstrip(".?")
    return Planted("no final punctuation", (row,))


def first_letter(table: Table, rng: random.Random) -> Planted | None:
    if not _whole(table) or not table.bad:
        return None
    row = rng.randrange(len(table.rows))
    text = table.rows[row][table.bad]
    table.rows[row][table.bad] = text[0].lower() + text[1:]
    return Planted("begins with a capital in one version only", (row,))


def word_in_capitals(table: Table, rng: random.Random) -> Planted | None:
    if not table.bad:
        return None
    row = rng.randrange(len(table.rows))
    good, words = table.rows[row][table.good].split(), table.rows[row][table.bad].split()
    wrong = [n for n, word in enumerate(words) if word not in good] or [len(words) - 1]
    words[wrong[0]] = words[wrong[0]].upper()
    table.rows[row][table.bad] = " ".join(words)
    return Planted("in capitals|with and without a capital|begins with a capital", (row,))


def mixed_quotes(table: Table, rng: random.Random) -> Planted | None:
    if not _whole(table) or not table.bad:
        return None
    row = rng.randrange(len(table.rows))
    for name, (left, right) in zip((table.good, table.bad), ('""', "\u201c\u201d"), strict=True):
        words = table.rows[row][name].split()
        words[1] = f"{left}{words[1]}{right}"
        table.rows[row][name] = " ".join(words)
    return Planted("different quotation marks", (row,))


def one_longer(table: Table, rng: random.Random) -> Planted | None:
    if not _whole(table) or not table.bad:
        return None
    row = rng.randrange(len(table.rows))
    text = table.rows[row][table.bad]
    more = rng.choice(("in the middle of the night", "as we all know now", "for a very long time"))
    table.rows[row][table.bad] = f"{text[:-1]} {more}{text[-1]}"
    return Planted("differ in length", (row,))


def same_up_to_comma(table: Table, rng: random.Random) -> Planted | None:
    if not _whole(table) or not table.bad:
        return None
    row = rng.randrange(len(table.rows))
    words = table.rows[row][table.good].split()
    if len(words) < 3:
        return None
    words[1] += ","
    table.rows[row][table.bad] = " ".join(words)
    return Planted("in punctuation alone", (row,))


def copy_up_to_case(table: Table, rng: random.Random) -> Planted | None:
    if not _whole(table):
        return None
    one, other = rng.sample(targets(table), 2)
    number = next((name for name in ("item", "nr", "pair_id") if name in table.rows[0]), "")
    if table.rows[one][number] == table.rows[other][number]:
        return None
    for name in filter(None, (table.good, table.bad)):
        text = table.rows[one][name]
        table.rows[other][name] = text[0] + text[1:].title()
    return Planted("shows the same texts as the item", (one, other))


def true(table: Table, rng: random.Random) -> Planted | None:
    row, column = any_text(table, rng)
    table.rows[row][column] = rng.choice(("TRUE", "FALSE", "True"))
    return Planted("a value that a spreadsheet made", (row,))


def number(table: Table, rng: random.Random) -> Planted | None:
    row, column = any_text(table, rng)
    table.rows[row][column] = rng.choice(("43831", "1.5", "0", "2,5", "1E+05"))
    return Planted("a value that a spreadsheet made", (row,))


def hidden_column(table: Table, rng: random.Random) -> Planted | None:
    if table.suffix != ".xlsx":
        return None
    table.hidden_columns = [rng.choice(list(table.rows[0]))]
    return Planted(f"Hidden in the sheet.*{table.hidden_columns[0]}")


def look_alike(table: Table, rng: random.Random) -> Planted | None:
    row, column = any_text(table, rng)
    alike = str.maketrans("aceopxyT", "асеорхуТ")
    words = table.rows[row][column].split()
    able = [n for n, word in enumerate(words) if word.translate(alike) != word]
    if not able:
        return None
    at = rng.choice(able)
    words[at] = words[at].translate(alike)
    table.rows[row][column] = " ".join(words)
    return Planted("script", (row,))


def other_markup(table: Table, rng: random.Random) -> Planted | None:
    row, column = any_text(table, rng)
    words = table.rows[row][column].split()
    at = rng.randrange(len(words))
    form = rng.choice(("\\textit{%s}", "`%s`", "[%s](x)", "$%s$", "~~%s~~", "\\emph{%s}"))
    words[at] = form % words[at]
    text = " ".join(words)
    if rng.random() < 0.25:
        text = f"{rng.choice(('- ', '> ', '# '))}{table.rows[row][column]}"
    table.rows[row][column] = text
    return Planted("holds Markdown|holds LaTeX|shows a judgment", (row,))


def one_kind(table: Table, rng: random.Random) -> Planted | None:
    if "kind" not in table.rows[0]:
        return None
    row = rng.randrange(len(table.rows))
    wrong = {"target": ("tagret", "traget"), "filler": ("filller", "filer"), "catch": ("cacth",)}
    table.rows[row]["kind"] = rng.choice(wrong[table.rows[row]["kind"]])
    return Planted("is not a kind of item", (row,))


def bad_copied(table: Table, rng: random.Random) -> Planted | None:
    if not _whole(table) or not table.bad:
        return None
    one, other = rng.sample(targets(table), 2)
    if table.rows[one][table.bad] == table.rows[other][table.bad]:
        return None
    table.rows[other][table.bad] = table.rows[one][table.bad]
    return Planted("same second version|each other's version|fits another item", (one, other))


def shifted(table: Table, _: random.Random) -> Planted | None:
    if not _whole(table) or not table.bad:
        return None
    bads = [row[table.bad] for row in table.rows]
    for row, bad in zip(table.rows, [bads[-1], *bads[:-1]], strict=True):
        row[table.bad] = bad
    return Planted("fits another item better|each other's version|are shifted by a row")


def reversed_copy(table: Table, rng: random.Random) -> Planted | None:
    if not _whole(table) or not table.bad:
        return None
    one, other = rng.sample(targets(table), 2)
    rows = table.rows
    rows[other][table.good], rows[other][table.bad] = rows[one][table.bad], rows[one][table.good]
    return Planted("as the good version", (one, other))


def word_twice(table: Table, rng: random.Random) -> Planted | None:
    if not _whole(table):
        return None
    row, column = any_text(table, rng)
    words = table.rows[row][column].split()
    at = rng.randrange(1, len(words) - 1) if len(words) > 2 else 0
    words.insert(at, words[at])
    table.rows[row][column] = " ".join(words)
    return Planted("same word twice", (row,))


def note_left(table: Table, rng: random.Random) -> Planted | None:
    row, column = any_text(table, rng)
    note = rng.choice(("TODO", "???", "(check)", "[sic]", "XXX", "(ungrammatical)"))
    table.rows[row][column] = f"{table.rows[row][column]} {note}"
    return Planted("note that nobody meant", (row,))


def example_numbers(table: Table, rng: random.Random) -> Planted | None:
    if not _whole(table):
        return None
    rows = rng.sample(range(len(table.rows)), 3)
    for n, row in enumerate(sorted(rows), start=1):
        table.rows[row][table.good] = (
            f"{rng.choice((f'({n})', f'{n}.', f'{n})'))} " + (table.rows[row][table.good])
        )
    return Planted("number of an example", tuple(rows))


def condition_copied(table: Table, rng: random.Random) -> Planted | None:
    if "item" not in table.rows[0]:
        return None
    item = rng.choice([table.rows[row]["item"] for row in targets(table)])
    rows = [n for n, row in enumerate(table.rows) if row["item"] == item]
    if len(rows) < 2:
        return None
    one, other = rng.sample(rows, 2)
    for name in ("context", table.good, table.bad):
        if name in table.rows[0]:
            table.rows[other][name] = table.rows[one][name]
    return Planted("shows the same texts in the conditions", (one, other))


def list_lost(table: Table, rng: random.Random) -> Planted | None:
    if "list" not in table.rows[0]:
        return None
    row = rng.randrange(len(table.rows))
    table.rows[row]["list"] = rng.choice(("5", "l", "2.", "A"))
    return Planted("cannot put the items into lists")


MISTAKES: dict[str, Mistake] = {
    "full stop unlike the others": full_stop_unlike,
    "first letter of one": first_letter,
    "word in capitals": word_in_capitals,
    "curly and straight quotes": mixed_quotes,
    "one bad sentence longer": one_longer,
    "same up to punctuation": same_up_to_comma,
    "copy up to case": copy_up_to_case,
    "TRUE": true,
    "number": number,
    "hidden column": hidden_column,
    "look-alike letter": look_alike,
    "LaTeX or link": other_markup,
    "one kind misspelt": one_kind,
    "bad sentence copied": bad_copied,
    "column shifted": shifted,
    "good and bad exchanged in a copy": reversed_copy,
    "word twice": word_twice,
    "note left over": note_left,
    "example numbers": example_numbers,
    "condition copied": condition_copied,
    "list value lost": list_lost,
}
