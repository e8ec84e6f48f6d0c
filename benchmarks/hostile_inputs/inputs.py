"""Hostile inputs for each field that the server computes on."""

import io
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.append(str(Path(__file__).parents[2]))
from experiment.tables.schemas import ITEMS
from hostile_inputs.attacker import Attacker
from hostile_inputs.site import PANEL, PATTERNS
from tests.hostile import documents
from tests.hostile.archives import archives, packed, study_files
from tests.hostile.headers import HEADERS, VALUES

Send = Callable[[Attacker], object]
# What is wrong with an input, and what sends it.
Input = tuple[str, Send]
_DOCS = Path(__file__).parents[2] / "docs"
_FILES = study_files()
_TOML = _FILES["mine/study.toml"].decode()
_GRAMMAR = _FILES["mine/grammar.toml"].decode()
_REPORT = (
    PANEL
    + """[panel.endings.completed.report]
address = "https://panel.example.org/?pid={{pid}}"
done = '{done}'
done_before = '{before}'
"""
)
_QUESTION = '\n[[questionnaire]]\nname = "q{n}"\nlabel = "x"\ntype = "text"\n{more}\n'
_JSON = {"Content-Type": "application/json"}
_MANY, _LONG = 50_000, "x" * 90_000


def _asked(method: str, path: str, **options: object) -> Send:
    """Return what asks as a stranger, at a path with names of runs in braces."""
    return lambda by: by.ask(method, by.place(path), **options)


def _asked_by_member(method: str, path: str, **options: object) -> Send:
    return lambda by: by.ask_as_member(method, by.place(path), **options)


def _checked(**changed: str | bytes) -> Send:
    """Return what uploads a sound study but for some files, whose dots are underlines here."""
    files = dict(_FILES)
    for name, content in changed.items():
        path = f"mine/{name.replace('_', '.')}"
        files[path] = content.encode() if isinstance(content, str) else content
    return partial(Attacker.check, archive=packed(files))


def _checked_folder(folder: Path, old: str, new: str) -> Send:
    """Return what uploads a study of the documentation with other settings."""
    files = {
        f"mine/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    toml = files["mine/study.toml"].decode().replace(f'"{folder.name}"', '"mine"', 1)
    files["mine/study.toml"] = toml.replace(old, new, 1).encode()
    return partial(Attacker.check, archive=packed(files))


def _made(suffix: str, content: bytes) -> Send:
    table = {"table": (f"items{suffix}", content)}
    return _asked_by_member("POST", "/studies/new", data={"name": "made"}, files=table)


def _looked(content: str) -> Send:
    return _asked_by_member("POST", "/studies/look", data={"text": "x.md", "content": content})


def _patterns_of_strangers() -> Iterator[Input]:
    values = ("a" * 24 + "!", "a" * 5_000 + "!", "(" * 3_000, "%00%ff", "\u0663" * 500)
    for (number, pattern), value in product(enumerate(PATTERNS), values):
        yield pattern, _asked("GET", f"/run/{{pattern{number}}}", params={"pid": value})


def _patterns_of_studies() -> Iterator[Input]:
    patterns = ("(a+)+b", "(a{1,999}){1,999}", "(?=a)b", "(a)\\1", "(" * 400 + ")" * 400,
                "[" * 500, ".*" * 499, "(?P<x>a)" * 100)  # fmt: skip
    for pattern, key in product(patterns, ("pattern", "done", "before")):
        keys = {"pattern": "[a-z]+", "done": "ok", "before": "", key: pattern}
        yield f"{key} = {pattern[:30]}", _checked(study_toml=_TOML + _REPORT.format(**keys))


def _filters() -> Iterator[Input]:
    values = (
        "[" * 900 + "]" * 900, "{a = " * 900 + "1" + "}" * 900, '"x"', "nan",
        json.dumps([f"{n:024x}" for n in range(_MANY)]), json.dumps(["US"] * _MANY),
        "{ age = { min = -1, max = 1e308 } }", '{ age = ["\\u0000"] }',
        '[{ a = "' + "x" * 90_000 + '" }]', "{ x = 9" + "9" * 4_000 + "}",
    )  # fmt: skip
    for key, value in product(("filters", "countries"), values):
        toml = _TOML.replace("[recruitment]\n", f"[recruitment]\n{key} = {value}\n")
        yield f"{key} = {value[:30]}", _checked(study_toml=toml)


def _conditions() -> Iterator[Input]:
    chain = "".join(
        _QUESTION.format(n=n, more=f'only_if = {{ q{n - 1} = "yes" }}' if n else "")
        for n in range(2_000)
    )
    yield "a chain", _checked(study_toml=_TOML + chain)
    circle = "".join(_QUESTION.format(n=n, more=f"only_if = {{ q{1 - n} = 'a' }}") for n in (0, 1))
    yield "a circle", _checked(study_toml=_TOML + circle)
    values = (
        "{}", "[]", "{ a = [] }", '{ "" = "" }', '"x"', "{ a = { b = {} } }", "{ q0 = 'x' }",
        "{ native_language = [" + '"x",' * _MANY + "] }",
        "{ " + ", ".join(f"a{n} = 'x'" for n in range(9_000)) + " }",
    )  # fmt: skip
    for key, value in product(("only_if", "when"), values):
        more = _QUESTION.format(n=0, more=f"{key} = {value}")
        yield f"{key} = {value[:30]}", _checked(study_toml=_TOML + more)


def _grammars() -> Iterator[Input]:
    def with_rule(find: str, replace: str) -> str:
        return f"{_GRAMMAR}\n[[rewrite]]\nfind = '{find}'\nreplace = '{replace}'\n"

    for find, replace in (
        ("a", "aa"), ("(.*)", r"\1\1"), ("", "x"), ("x*", "y"), ("(e)", r"\9"), ("(a+)+b", "c"),
        ("(?=e)", "e"), ("[a-z]", "ab"), ("(" * 90 + ")" * 90, ""),
    ):  # fmt: skip
        yield f"a rule {find[:20]}", _checked(grammar_toml=with_rule(find, replace))
    rules = "".join(f"\n[[rewrite]]\nfind = 'e{n}'\nreplace = 'e'\n" for n in range(3_000))
    yield "3,000 rules", _checked(grammar_toml=_GRAMMAR + rules)
    slots = ", ".join(f'S{n} = "subject"' for n in range(12))
    good = " ".join(f"{{S{n}.main}}" for n in range(12))
    yield (
        "4^12 frames",
        _checked(
            grammar_toml=_GRAMMAR.replace('S = "subject",', f'S = "subject", {slots},', 1).replace(
                "{V.main}", f"{{V.main}} {good}", 1
            )
        ),
    )
    features = ", ".join(f'f{n} = ["singular", "plural"]' for n in range(20))
    wide = _GRAMMAR.replace("features = {", f"features = {{ {features},", 1)
    yield "2^20 conditions", _checked(grammar_toml=wide)
    for name, key in (
        ("where", "where = [" + '"S.main = V.main",' * 5_000 + "]"),
        ("where", 'where = ["' + "a.b = " * 9_000 + 'c"]'),
        ("context", 'context = "' + "the {S.main} " * 5_000 + '"'),
        ("context", 'context = "' + "{" * 50_000 + '"'),
        ("distinct", "distinct = [" + '["S", "V"],' * 9_000 + "]"),
        ("critical", "critical = 999999999999"),
    ):
        toml = _GRAMMAR.replace('name = "simple"\n', f'name = "simple"\n{key}\n', 1)
        yield name, _checked(grammar_toml=toml)
    for name in ("grammar.toml", "/etc/passwd", "/dev/zero"):
        yield f"include {name}", _checked(grammar_toml=f'include = ["{name}"]\n{_GRAMMAR}')


def _files_of_tables() -> Iterator[Input]:
    toml = _TOML.replace('grammar = "grammar.toml"', 'items = "items.parquet"', 1)
    sound = {name: ["a"] for name in ITEMS.column_names}
    sound |= {"kind": ["target"], "contrast": ["bad"], "construction": ["simple_agreement"]}
    tables = {
        "5,000,000 rows": {name: words * 5_000_000 for name, words in sound.items()},
        "a text of 5 MB": sound | {"good": ["x" * 5_000_000]},
        "3,000 columns": sound | {f"c{n}": [n] for n in range(3_000)},
    }
    for name, table in tables.items():
        file = io.BytesIO()
        pq.write_table(pa.table(table), file, compression="zstd")
        yield f"Parquet, {name}", _checked(study_toml=toml, items_parquet=file.getvalue())
    for kind, content in documents.scores():
        yield f"Parquet, {kind}", _checked(study_toml=toml, items_parquet=content)
    line = "child\tchildren\tN;PL\nchild\tchild\tN;SG\n"
    entries = re.search(r'entries = \["child .*\]', _GRAMMAR)
    assert entries
    own = 'forms = "N SG | N PL"\nparadigms = "eng.tsv"\nentries = ["child"]'
    grammar = _GRAMMAR.replace(entries[0], own).replace('forms = "singular | plural"\n', "", 1)
    for name, content in (
        ("700,000 lines", line * 350_000), ("features", f"child\tx\t{';'.join('AB' * 99_999)}\n"),
        ("no tabs", "a" * 9_000_000), ("tabs", "\t" * 900_000), ("zeros", "\0" * 900_000),
        ("an endless form", f"child\t{'x' * 9_000_000}\tN;PL\n"), ("marks", "\u0301" * 900_000),
        ("of one lemma", "".join(f"child\tc{n}\tPL\n" for n in range(99_999))), ("nothing", ""),
    ):  # fmt: skip
        yield f"UniMorph, {name}", _checked(grammar_toml=grammar, eng_tsv=content)


def _forms() -> Iterator[Input]:
    forms = {
        "a": b"_a=&" * _MANY, "of names": b"".join(b"_%d=x&" % n for n in range(_MANY)),
        "without values": b"&" * 250_000, "percents": b"%" * 250_000,
        "2 MB": b"content=" + b"x" * 2_000_000,
    }  # fmt: skip
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    for name, content in forms.items():
        for path in ("/studies/look", "/studies/settings", "/studies/rules/counts"):
            yield name, _asked_by_member("POST", path, content=content, headers=kind)
        for path in ("/run/{minimal}", "/run/{minimal}/data"):
            yield name, _asked("POST", path, content=content, headers=kind)


def _bodies() -> Iterator[Input]:
    large = {"20 MB": b'{"a":"' + b"x" * 20_000_000 + b'"}', "deep": b"[" * 5_000_000}
    for kind, content in [*large.items(), *documents.bodies()]:
        for door in ("answers", "device"):
            yield kind, _asked("POST", f"{{home}}{door}", content=content, headers=_JSON)


def _typed() -> Iterator[Input]:
    for n, (kind, details) in enumerate(documents.typed()):
        answer = {
            "uuid": str(UUID(int=n + 1)), "input_method": "key", "details": details,
            "position": n % 10 + 1,
        }  # fmt: skip
        content = json.dumps(answer).encode()
        answered = _asked("POST", "{home}answers", content=content, headers=_JSON)
        yield kind, _both(answered, _asked("GET", "{home}"))


def _both(first: Send, second: Send) -> Send:
    return lambda by: (first(by), second(by))


def _coding() -> Iterator[Input]:
    code = {"round": 0, "answer": f"1.{'0' * 64}", "category": "thing"}
    for key, value in product(code, ("9" * 900, "(" * 900, None, [], "\0", {"a": 1})):
        content = json.dumps(code | {key: value})
        coded = _asked("POST", "/coding/{coder}/codes", content=content)
        yield f"a code's {key}", _both(coded, _asked("GET", "/coding/{coder}"))
    for label in ("x" * 100_000, "\u202e", "a " * 50_000):
        path = "/runs/{typed}/coding/coders"
        yield "a coder's name", _asked_by_member("POST", path, data={"label": label})
    category = '[[coding.categories]]\nname = "c{n}"\ntitle = "c{n}"\nanswers = [{answers}]\n'
    training = '[[coding.training]]\ntext = "x {n}"\nanswer = "y"\ncategory = "c0"\n'
    sound = category.format(n=0, answers="") + category.format(n=1, answers="")
    for name, more in (
        ("5,000 categories", "".join(category.format(n=n, answers="") for n in range(5_000))),
        ("50,000 answers", sound + category.format(n=2, answers='"x",' * _MANY)),
        ("5,000 to train with", sound + "".join(training.format(n=n) for n in range(5_000))),
        ("marks", sound + category.format(n=2, answers='"' + "\u0301" * 90_000 + '"')),
    ):
        coding = f"[coding]\nquestion = 'x'\n{more}\n"
        yield (
            name,
            _checked_folder(
                _DOCS / "examples" / "typed", "[[questionnaire]]", f"{coding}[[questionnaire]]"
            ),
        )


def _word_tests() -> Iterator[Input]:
    settings = {
        'score = "vocabulary"': ('"participant"', '"=1+1"', f'"{_LONG}"', r'"\u0000"', "nan"),
        'expected = "word"': ('"task"', '"nothing"', "[" * 900),
        "min_score = 60": ("nan", "-1", "9" * 4_000, "1e-308", "101"),
        'construction = "vocabulary"': ('"attraction"', "[]", json.dumps(["x"] * _MANY)),
        'column = "task"': ('"word"', '"item_id"', f'"{_LONG}"'),
        "trials_per_list = 44": ("999999999", "-1"),
    }
    for old, values in settings.items():
        for value in values:
            new = f"{old.partition('=')[0]}= {value}"
            yield new[:40], _checked_folder(_DOCS / "word_test", old, new)


def _names() -> Iterator[Input]:
    names = (
        "%" * 30_000, "_" * 30_000, "\u202e\0\x1b[31m", "\ufdfa" * 9_000, "'; DROP TABLE run;--",
    )  # fmt: skip
    for name in names:
        path = "/runs/{typed}/participants"
        yield "searched", _asked_by_member("GET", path, params={"search": name[:2_000]})
        yield "a person's code", _asked("POST", "/run/{typed}/data", data={"code": name})
        path, codes = "/runs/{minimal}/links/whose", f"{name} " * 7
        yield "whose link", _asked_by_member("POST", path, data={"codes": codes})
        arrival = {"decision": "accept", "visit": name, "link": name}
        yield "who arrives", _asked("POST", "/run/{minimal}", data=arrival)


def _headers() -> Iterator[Input]:
    for header, value in product(HEADERS, VALUES):
        if header not in ("Connection", "Content-Length", "Transfer-Encoding"):
            sent = {header: value.encode()}
            yield (
                f"{header}: {value[:20]!r}",
                lambda by, s=sent: by.send(by.place("/run/{minimal}"), s),
            )


def _webhooks() -> Iterator[Input]:
    bodies = {
        "nothing": b"", "2 MB": b"x" * 2_000_000, "deep": b"[" * 100_000, "zeros": bytes(99_999),
        "JSON": b'{"event_type": "submission.status.change"}',
    }  # fmt: skip
    signatures = (b"", b"=" * 8_000, b"\xff" * 99, b"AAAA")
    for (kind, body), signature in product(bodies.items(), signatures):
        headers = {
            "X-Prolific-Request-Signature": signature,
            "X-Prolific-Request-Timestamp": b"9" * 4_000 if signature == b"AAAA" else b"1",
        }
        yield kind, _asked("POST", "/hooks/prolific", content=body, headers=headers)


def _pictures() -> Iterator[Input]:
    for kind, text in documents.pictures():
        rows = "".join(f'"{text}",The cat {n} sleeps.,The cat {n} sleep.\n' for n in range(8))
        yield f"{kind}, in a table", _made(".csv", f"context,good,bad\n{rows}".encode())
        yield f"{kind}, in a text", _looked(text)
    for kind, content in documents.images():
        yield f"{kind} as a table", _made(".xlsx", content)
        yield f"{kind} as a study", partial(Attacker.check, archive=content)


FIELDS: Mapping[str, Callable[[], Iterator[Input]]] = {
    "patterns, by strangers": _patterns_of_strangers,
    "patterns, done, done_before": _patterns_of_studies,
    "filters": _filters,
    "conditions": _conditions,
    "grammars": _grammars,
    "settings": lambda: ((k, _checked(study_toml=c)) for k, c in documents.settings()),
    "markdown": lambda: ((k, _looked(c.decode("utf-8", "replace"))) for k, c in documents.texts()),
    "tables": lambda: ((k, _made(suffix, c)) for k, suffix, c in documents.tables()),
    "Parquet and UniMorph": _files_of_tables,
    "zip files": lambda: ((k, partial(Attacker.check, archive=c)) for k, c in archives(2)),
    "pictures": _pictures,
    "forms": _forms,
    "JSON bodies": _bodies,
    "typed answers": _typed,
    "coding": _coding,
    "word tests": _word_tests,
    "names": _names,
    "headers": _headers,
    "webhooks": _webhooks,
}
