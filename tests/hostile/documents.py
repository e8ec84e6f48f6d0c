"""Texts and tables that nobody writes by accident: settings, items, consent, answers, scores."""

import base64
import struct
import zlib
from collections.abc import Iterator

from experiment.studies.load import STUDIES_FOLDER

_TOML = (STUDIES_FOLDER / "minimal" / "study.toml").read_text("utf-8")
_DIGITS = "9" * 5_000
_DEEP = 5_000
# What a text of any kind may be.
_BYTES = {
    "nothing": b"", "zeros": bytes(999), "UTF-16": "ab\n".encode("utf-16"),
    "no UTF-8": b"\xff\xfe\xfd\n", "Latin 1": "caf\xe9\n".encode("latin-1"),
    "half a letter": b"\xf0\x9f\x98", "a lone surrogate": b"\xed\xa0\x80",
    "one long line": b"a" * 200_000, "only line ends": b"\r\n\r\r\n" * 30_000,
    "a bell and an escape": b"\x07\x1b[31m\x1b]0;x\x07",
}  # fmt: skip


def settings() -> Iterator[tuple[str, bytes]]:
    """Yield what study.toml may be, each with what is wrong with it."""
    numbers = ("1000000000", _DIGITS, "-1", "0", "1e308", "nan", "-inf", "1_000_000", "0xffffffff",
               "true", '"3"', "[]", "{}", "2026-01-01")  # fmt: skip
    for key in ("lists = 2", "participants_per_list = 4", "trials_per_list = 8", "frames = 4",
                "catch_trials = 3", "max_errors = 1", "median_minutes = 1"):  # fmt: skip
        assert key in _TOML
        for number in numbers:
            name = key.partition(" ")[0]
            yield f"numbers: {name}", _TOML.replace(key, f"{name} = {number}", 1).encode()
    for opened, closed in (("[", "]"), ("{a=", "}")):
        yield "brackets", f"x = {opened * _DEEP}{closed * _DEEP}\n{_TOML}".encode()
    yield "brackets", f"x = {'[' * _DEEP}\n{_TOML}".encode()
    yield "brackets", f"{'a.' * _DEEP}a = 1\n{_TOML}".encode()
    yield "brackets", f"{_TOML}\n[{'a.' * _DEEP}a]\nx = 1".encode()
    yield "brackets", _TOML.replace('["english"', f'[{"[" * 900}"english"', 1).encode()
    for words in ("[[design.squares]]\n" * 20_000, "x = 1\nx = 2\n", "[study]\n[study]\n",
                  'a = """' + "x" * 150_000, "#" * 150_000, f'title = "{"x" * 150_000}"\n',
                  '[[constructions]]\nname = "a"\n' * 3_000, "\u202e = 1", "\x00 = 1",
                  '"" = 1\n', 'a = "\\ud800"', "a = 99999-99-99", "a = 1e99999999"):  # fmt: skip
        yield "TOML", f"{_TOML}\n{words}".encode("utf-8", "surrogatepass")
    paths = ("/etc/passwd", "../../../secret_key", "a\\u0000b", "http://x.example/", "/dev/zero",
             "/proc/self/environ", "texts", "")  # fmt: skip
    for path in paths:
        yield "paths", _TOML.replace('"grammar.toml"', f'"{path}"', 1).encode()
        yield "paths", _TOML.replace('language = "en"', f'language = "{path}"', 1).encode()
    for name in ("os:system", "../x", "{{7*7}}", "%s%n", "<script>", "=1+1", "a" * 5_000):
        yield "names", _TOML.replace('"sentence_pair"', f'"{name}"', 1).encode()
        yield "names", _TOML.replace('"max_errors"', f'"{name}"', 1).encode()
        yield "names", _TOML.replace("{ accurate = 0.88", f'{{ "{name}" = 0.88', 1).encode()
    for content in _BYTES.values():
        yield "bytes", content
        yield "bytes", _TOML.encode() + content


def tables() -> Iterator[tuple[str, str, bytes]]:
    """Yield what a table of items may be: what is wrong, how its name ends, what it says."""
    head, row = "item,condition,good,bad\n", "{n},a,The dog {n} sleeps.,The dog {n} sleep.\n"
    sound = head + "".join(row.format(n=n) for n in range(8))
    for content in _BYTES.values():
        for suffix in (".csv", ".tsv", ".jsonl", ".xlsx"):
            yield "bytes", suffix, content
        yield "bytes", ".csv", sound.encode() + content
    yield "columns", ".csv", (",".join(f"c{n}" for n in range(50_000)) + "\n").encode()
    yield "columns", ".csv", (head + "," * 200_000).encode()
    yield "columns", ".csv", (head + "a,b,c\n" + "a,b,c,d,e,f,g\n").encode()
    yield "columns", ".csv", ("good,good,bad,bad\n" + "a,b,c,d\n").encode()
    yield "columns", ".csv", ("=1+1,@x,good,bad\n" + "a,b,c,d\n").encode()
    yield "quotes", ".csv", (head + '1,a,"' + "x" * 150_000).encode()
    yield "quotes", ".csv", (head + '"' * 99_999).encode()
    yield "rows", ".csv", (head + "".join(row.format(n=n) for n in range(120_000))).encode()
    yield "rows", ".csv", (head + "1,a,x,y\n" * 200_000).encode()
    yield "rows", ".csv", (head + "1,a,{0},{0}y\n".format("word " * 30_000)).encode()
    for item in (_DIGITS, "-1", "nan", "1e400", "\u0663", "../..", "<script>", "\x00", "a" * 9_999):
        yield "items", ".csv", (head + f"{item},a,x b,y b\n{item},b,x b,y b\n").encode()
    for line in ("[" * _DEEP, "[" * _DEEP + "]" * _DEEP, '{"a":' * _DEEP,
                 f'{{"good": {_DIGITS}}}', '{"good": 1e999}',
                 "null", "{}", '{"good": {"bad": []}}', '{"good": "\\ud800"}',
                 '{"good":"a","good":"b"}'):  # fmt: skip
        yield "JSON", ".jsonl", f"{line}\n".encode()
        yield "JSON", ".jsonl", f'{{"good": "a b", "bad": "a c"}}\n{line}\n'.encode()
    yield from _workbooks()


def _workbooks() -> Iterator[tuple[str, str, bytes]]:
    from tests.hostile.archives import packed

    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override '
        'PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        'spreadsheetml.sheet.main+xml"/></Types>'
    )
    laughs = "<!DOCTYPE x [<!ENTITY a '" + "x" * 9_999 + "'>" + "".join(
        f"<!ENTITY {'abcdefgh'[n + 1]} '{'&' + 'abcdefgh'[n] + ';'}"
        f"{('&' + 'abcdefgh'[n] + ';') * 9}'>" for n in range(7)
    ) + "]><workbook>&h;</workbook>"  # fmt: skip
    foreign = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><workbook>&e;</workbook>'
    for book in (laughs, foreign, "<a>" * 99_999, "<workbook/>", ""):
        parts = {"[Content_Types].xml": types.encode(), "xl/workbook.xml": book.encode()}
        yield "workbooks", ".xlsx", packed(parts)
    yield "workbooks", ".xlsx", packed({"xl/worksheets/sheet1.xml": bytes(300 * 1024 * 1024)})
    yield "workbooks", ".xlsx", b"PK\x03\x04" + bytes(99)


def texts() -> Iterator[tuple[str, bytes]]:
    """Yield what a text in Markdown may be, each with what is wrong with it."""
    for content in _BYTES.values():
        yield "bytes", content
    for mark in ("[", "![", "*", "_", "`", ">", "- ", "(", "<", "&", "|", "#", "[a](", "~", "\\",
                 "<!--", "<script>", "**a ", "1. "):  # fmt: skip
        yield "marks", (mark * (100_000 // len(mark))).encode()
    yield "marks", ("[a]: x\n" * 10_000 + "[a]" * 10_000).encode()
    yield (
        "marks",
        b"<script>alert(1)</script><img src=x onerror=alert(1)>\n[a](javascript:alert(1))",
    )


def bodies() -> Iterator[tuple[str, bytes]]:
    """Yield what a participant's browser may send as JSON, each with what is wrong with it."""
    for content in (*_BYTES.values(), b"[" * 5_000, b"[" * 4_000 + b"]" * 4_000, b'{"a":' * 2_000,
                    b"null", b"[]", b"true", b'"x"', b"NaN", b"{" * 9_000):  # fmt: skip
        yield "JSON", content
    whole = '{{"uuid": "6b1f6f1e-0000-4000-8000-000000000001", "position": {0}, "side": {1}, ' \
            '"rt_ms": {2}, "input_method": {3}, "client_time": {4}}}'  # fmt: skip
    sound = ("2", '"first"', "812.5", '"key"', '"2026-03-01T09:00:01.500Z"')
    odd = (_DIGITS, "-1", "1e999", "NaN", "-Infinity", "null", "[]", "{}", '""', '"\\ud800"',
           "true", '"' + "x" * 5_000 + '"', "[" * 999 + "]" * 999, '"0001-01-01T00:00:00Z"', "2.5",
           '"9999-12-31T23:59:59.999999999+99:99"', '"\\u0000"')  # fmt: skip
    for at in range(len(sound)):
        for value in odd:
            told = [value if number == at else each for number, each in enumerate(sound)]
            yield "values", whole.format(*told).encode()


def typed() -> Iterator[tuple[str, object]]:
    """Yield what may be sent as the details of a typed answer, each with what is wrong with it."""
    long = {"a letter": "a", "a letter of two parts": "\u0344", "Hebrew of three": "\ufb2c",
            "eighteen letters in one": "\ufdfa", "emoji": "\U0001f600", "no width": "\u200d",
            "marks": "\u0301\u0316", "a syllable in parts": "\u1100\u1161\u11a8"}  # fmt: skip
    for name, text in long.items():
        for length in (1_000, 5_000):
            yield name, {"text": (text * length)[:length]}
    for text in ("a" + "." * 998 + "a", "." * 1_000, ("." * 499 + "a") * 2, "a " * 500,
                 "a" + "\u0315\u0301\u0316" * 333, "\u0130" * 1_000, "\ufb03" * 1_000):  # fmt: skip
        yield "work", {"text": text}
    for text in ("=1+1", "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\uff1d1", "'=1"):
        yield "formulas", {"text": text}
    for text in ("\u202eabc", "\u2066a", "a\u200fb", "\x00", "\x1b[31m", "\x07", "\ud800", "\r\nx",
                 "\ufeff", "\u0e33" * 99, "<script>a</script>", "{{7*7}}", "%(x)s{x}"):  # fmt: skip
        yield "characters", {"text": text}
    deep: object = "a"
    for _ in range(150):
        deep = [deep]
    for details in ({"text": deep}, {"text": 1}, {"text": None}, {"text": {"text": "a"}}, {}, [],
                    "a",
                    {"text": "a", "n_edits": 10**40}, {"text": "a", "first_key_ms": "1e999"},
                    {"text": "a", "pasted": [True]}, {"text": "a", "a": "b" * 7_900},
                    {"text": "a", **{f"k{n}": n for n in range(600)}}):  # fmt: skip
        yield "details", details


def pictures() -> Iterator[tuple[str, str]]:
    """Yield texts with pictures that no page can show, each with what is wrong with it."""
    gif = b"GIF89a%b%b;"
    for kind, content in (
        ("a bomb", png_of_size(30_000, 30_000)), ("a bomb", png_of_size(2**31 - 1, 2**31 - 1)),
        ("a bomb", gif % (b"\xff\xff", b"\xff\xff")), ("broken", png_of_size(9, 9)[:-9]),
        ("broken", gif % (b"\0\0", b"\0\0")), ("broken", bytes(999)), ("broken", b""),
        ("another format", b"<svg onload='alert(1)'/>"), ("another format", b"GIF89a\1\0\1\0;"),
    ):  # fmt: skip
        yield kind, f"![a](data:image/png;base64,{base64.b64encode(content).decode()})"
    yield "another format", "![a](data:image/svg+xml;base64,PHN2Zy8+)"
    yield "elsewhere", "![a](https://evil.example/a.png)"
    yield "elsewhere", "![a](file:///etc/passwd)"
    yield "bytes", "![a](data:image/png;base64,====)"
    for begun in ("![", "![](", "![a](data:image/png;base64,AAAA"):
        yield "beginnings", (begun * 100_000)[:100_000]


def images() -> Iterator[tuple[str, bytes]]:
    """Yield images that may be sent where something else is expected."""
    yield "PNG", png_of_size(30_000, 30_000)
    yield "GIF", b"GIF89a\xff\xff\xff\xff;"
    yield "JPEG", b"\xff\xd8\xff\xe0" + bytes(9_999)
    yield "SVG", b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'


def png_of_size(width: int, height: int) -> bytes:
    """Return a PNG of some hundred bytes that says it is as large as that."""
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(bytes(99_999))), (b"IEND", b""),
    )  # fmt: skip
    chunks = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def scores() -> Iterator[tuple[str, bytes]]:
    """Yield what may be uploaded as a model's scores, each with what is wrong with it."""
    for content in (b"", b"no parquet", b"PAR1" + bytes(99) + b"PAR1", b"item_id,score\na,1\n",
                    b"PAR1\xff\xff\xff\x7fPAR1"):  # fmt: skip
        yield "scores", content
