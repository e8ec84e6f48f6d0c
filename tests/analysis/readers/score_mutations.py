"""Test the import of scores: thirteen layouts, corrupted in all known ways, with no silent change.

``python -m tests.analysis.readers.score_mutations`` writes the same scores of forty sentences in
each layout, corrupts each file in each way of ``MUTATIONS``, imports it with ``parallax import
scores``, and prints the outcome:

same      the import returned the original scores
refused   the import returned nothing, and a message explains why
said      the import returned other scores, with a message that no intact file causes
SILENT    the import returned other scores without any such message

The command fails on SILENT. The ways were written down before any of them was tried.
"""

import csv
import io
import json
import math
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow.parquet as pq
from click.testing import CliRunner

from analysis.commands.import_scores import scores
from tests.analysis.readers.spoilt_files import Outcome, print_outcomes

N_ITEMS = 20
_WHO = ("author", "pilot", "surgeon", "farmer", "dancer")
_DOES = (("laughs", "laugh"), ("swims", "swim"), ("smiles", "smile"), ("waits", "wait"))


@dataclass(frozen=True, slots=True)
class Text:
    """One version of an item, with its tokens and their natural-log probabilities."""

    item: str
    variant: str
    tokens: tuple[str, ...]
    nats: tuple[float, ...]

    @property
    def text(self) -> str:
        """The sentence."""
        return " ".join(self.tokens)

    @property
    def sum(self) -> float:
        """Its log-probability."""
        return math.fsum(self.nats)


def texts() -> list[Text]:
    """Return both versions of each item, the good one first; the good one is likelier in most."""
    found, rng = [], random.Random(1)
    for n in range(N_ITEMS):
        who, (good, bad) = _WHO[n % len(_WHO)], _DOES[n // len(_WHO)]
        better = n % 7 != 3
        for variant, verb in (("good", good), ("bad", bad)):
            last = -2.0 if (variant == "good") == better else -4.5
            nats = (-1.0 - rng.random(), -3.0 - rng.random(), last - rng.random() / 4)
            found.append(Text(f"agr-{n + 1}", variant, ("the", who, verb), nats))
    return found


def _table(rows: Sequence[dict[str, object]], mark: str = ",") -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=mark, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def by_id(rows: Sequence[Text]) -> tuple[str, str]:
    """Ids and versions alone."""
    return "scores.csv", _table(
        [{"item_id": r.item, "variant": r.variant, "logprob": r.sum} for r in rows]
    )


def by_id_and_text(rows: Sequence[Text]) -> tuple[str, str]:
    """Ids, versions and texts."""
    return "scores.tsv", _table(
        [{"item_id": r.item, "version": r.variant, "sentence": r.text, "logprob_nats": r.sum}
         for r in rows], "\t")  # fmt: skip


def by_text(rows: Sequence[Text]) -> tuple[str, str]:
    """Texts alone."""
    return "scores.csv", _table([{"sentence": r.text, "log_likelihood": r.sum} for r in rows])


def in_bits(rows: Sequence[Text]) -> tuple[str, str]:
    """Texts with surprisals in bits."""
    return "scores.csv", _table(
        [{"text": r.text, "surprisal_bits": -r.sum / math.log(2)} for r in rows]
    )


def in_log10(rows: Sequence[Text]) -> tuple[str, str]:
    """Texts with logarithms to base 10; semicolons."""
    return "scores.csv", _table(
        [{"sentence": r.text, "logprob_log10": r.sum / math.log(10)} for r in rows], ";"
    )


def pairs(rows: Sequence[Text]) -> tuple[str, str]:
    """A row for each pair, with both scores and both texts."""
    return "scores.csv", _table(
        [{"item_id": g.item, "good": g.text, "bad": b.text, "logprob_good": g.sum,
          "logprob_bad": b.sum} for g, b in zip(rows[::2], rows[1::2], strict=True)])  # fmt: skip


def tokens(rows: Sequence[Text]) -> tuple[str, str]:
    """A row for each token, by sentence."""
    return "tokens.csv", _table(
        [{"sentence_id": n, "token_id": k, "token": t, "logprob": v}
         for n, r in enumerate(rows) for k, (t, v) in enumerate(zip(r.tokens, r.nats,
                                                                    strict=True))])  # fmt: skip


def tokens_by_id(rows: Sequence[Text]) -> tuple[str, str]:
    """A row for each token, by item and version, with the text."""
    return "tokens.tsv", _table(
        [{"item_id": r.item, "variant": r.variant, "text": r.text, "token": t, "surprisal": -v}
         for r in rows for t, v in zip(r.tokens, r.nats, strict=True)], "\t")  # fmt: skip


def spaced(rows: Sequence[Text]) -> tuple[str, str]:
    """neural-complexity's words, columns divided by spaces."""
    lines = ["word sentid sentpos wlen surp entropy"]
    lines += [
        f"{t} {n} {k} {len(t)} {-v / math.log(2)!r} 5.0"
        for n, r in enumerate(rows)
        for k, (t, v) in enumerate(zip(r.tokens, r.nats, strict=True))
    ]
    return "surprisals.txt", "\n".join(lines) + "\n"


def printed(rows: Sequence[Text]) -> tuple[str, str]:
    """Lists of tokens, as minicons prints them."""
    return "printed.txt", repr([list(zip(r.tokens, r.nats, strict=True)) for r in rows])


def frame(rows: Sequence[Text]) -> tuple[str, str]:
    """A printed data frame."""
    lines = [" sentence_id token surprisal"]
    every = [(n, t, -v) for n, r in enumerate(rows) for t, v in zip(r.tokens, r.nats, strict=True)]
    lines += [f"{k} {n} {t} {v!r}" for k, (n, t, v) in enumerate(every)]
    return "printed.txt", "\n".join(lines) + "\n"


def json_lines(rows: Sequence[Text]) -> tuple[str, str]:
    """JSON lines."""
    return "scores.jsonl", "".join(
        json.dumps({"pair_id": r.item, "label": r.variant, "sentence": r.text, "score": r.sum})
        + "\n"
        for r in rows
    )


def samples(rows: Sequence[Text]) -> tuple[str, str]:
    """Samples of lm-evaluation-harness, likelier first or second by turns."""
    lines = []
    for n, (good, bad) in enumerate(zip(rows[::2], rows[1::2], strict=True)):
        lines.append(json.dumps({
            "doc_id": n, "doc": {"sentence_good": good.text, "sentence_bad": bad.text},
            "target": 0, "arguments": [["", good.text], ["", bad.text]],
            "resps": [[[str(good.sum), "False"]], [[str(bad.sum), "False"]]],
            "acc": float(good.sum > bad.sum)}) + "\n")  # fmt: skip
    return "samples_toy.jsonl", "".join(lines)


LAYOUTS: dict[str, Callable[[Sequence[Text]], tuple[str, str]]] = {
    one.__name__: one
    for one in (by_id, by_id_and_text, by_text, in_bits, in_log10, pairs, tokens, tokens_by_id,
                spaced, printed, frame, json_lines, samples)
}  # fmt: skip


def _swapped(rows: list[Text]) -> list[Text]:
    """Exchange the two versions' scores together with their texts; the names stay."""
    found = []
    for good, bad in zip(rows[::2], rows[1::2], strict=True):
        found += [replace(bad, variant="good"), replace(good, variant="bad")]
    return found


def _shifted(rows: list[Text]) -> list[Text]:
    ids = [r.item for r in rows]
    return [replace(r, item=one) for r, one in zip(rows, [*ids[2:], *ids[:2]], strict=True)]


def _from_0(rows: list[Text]) -> list[Text]:
    return [replace(r, item=f"agr-{int(r.item.split('-')[1]) - 1}") for r in rows]


def _scaled(factor: float) -> Callable[[list[Text]], list[Text]]:
    return lambda rows: [replace(r, nats=tuple(v * factor for v in r.nats)) for r in rows]


def _one(change: Callable[[Text], Text]) -> Callable[[list[Text]], list[Text]]:
    return lambda rows: [change(rows[0]), *rows[1:]]


MUTATIONS: dict[str, Callable[[list[Text]], list[Text]]] = {
    "nothing": lambda rows: rows,
    "rows: another order": lambda rows: [
        r for k in random.Random(2).sample(range(N_ITEMS), N_ITEMS) for r in rows[2 * k : 2 * k + 2]
    ],
    "rows: bad before good": lambda rows: [
        r for g, b in zip(rows[::2], rows[1::2], strict=True) for r in (b, g)
    ],
    "rows: every one twice": lambda rows: [r for r in rows for _ in "12"],
    "rows: one twice with another score": lambda rows: [
        *rows, replace(rows[0], nats=(-1.0, -1.0, -1.0)), rows[1]
    ],
    "rows: an item missing": lambda rows: rows[2:],
    "rows: a version missing": lambda rows: rows[1:],
    "rows: an unknown item": lambda rows: [
        *rows, *(replace(r, item="zzz-9", tokens=("no", "such", "text")) for r in rows[:2])
    ],
    "ids: from 0": _from_0,
    "ids: of the next item": _shifted,
    "ids: in capitals": lambda rows: [replace(r, item=r.item.upper()) for r in rows],
    "versions: exchanged": _swapped,
    "scores: positive": _scaled(-1),
    "scores: one positive": _one(lambda r: replace(r, nats=(2.0, 9.0, 1.0))),
    "scores: one missing": _one(lambda r: replace(r, nats=(math.nan,) * 3)),
    "scores: one infinite": _one(lambda r: replace(r, nats=(-math.inf, -1.0, -1.0))),
    "texts: in capitals": lambda rows: [
        replace(r, tokens=tuple(t.upper() for t in r.tokens)) for r in rows
    ],
    "texts: capital and full stop": lambda rows: [
        replace(r, tokens=("The", r.tokens[1], f"{r.tokens[2]}.")) for r in rows
    ],
    "texts: all the same": lambda rows: [replace(r, tokens=rows[0].tokens) for r in rows],
    "tokens: the last lost": lambda rows: [
        replace(r, tokens=r.tokens[:2], nats=r.nats[:2]) for r in rows
    ],
    "tokens: an end added": lambda rows: [
        replace(r, tokens=(*r.tokens, "<eos>"), nats=(*r.nats, -0.5)) for r in rows
    ],
}  # fmt: skip
OF_TEXT: dict[str, Callable[[str], str]] = {
    "text: decimal commas": lambda text: text.replace(".", ","),
    "text: cut in the middle": lambda text: text[: len(text) // 2],
    "text: cut in the last line": lambda text: text.rstrip()[:-4],
    "text: headers lost": lambda text: text.split("\n", 1)[-1],
    "text: blank lines": lambda text: text.replace("\n", "\n\n"),
    "text: Windows line ends": lambda text: text.replace("\n", "\r\n"),
}
# Where neither a text nor an order says what a score is of, nothing in the file tells.
_UNTOLD = {
    ("by_id", "ids: of the next item"), ("by_id", "versions: exchanged"),
    ("by_id", "tokens: the last lost"), ("by_id", "tokens: an end added"),
}  # fmt: skip


def outcomes(names: Sequence[str] = tuple(LAYOUTS)) -> Iterator[Outcome]:
    """Yield what becomes of the layouts in every way."""
    rows = texts()
    truth = {(r.item, r.variant): r for r in rows}
    for name in names:
        plain = LAYOUTS[name](rows)
        usual: set[str] = set()
        for way, change in MUTATIONS.items():
            changed = change(list(rows))
            try:
                file = LAYOUTS[name](changed)
            except ValueError:
                # What a layout of pairs cannot hold, nobody can write in it.
                continue
            if (way != "nothing" and file == plain) or (name, way) in _UNTOLD:
                continue
            became, why, said = _imported(file, truth, usual)
            usual = said if way == "nothing" else usual
            yield Outcome(name, way, became, why)
        for way, edit in OF_TEXT.items():
            if (text := edit(plain[1])) != plain[1]:
                became, why, _ = _imported((plain[0], text), truth, usual)
                yield Outcome(name, way, became, why)


def _imported(
    file: tuple[str, str], truth: dict[tuple[str, str], Text], usual: set[str]
) -> tuple[str, str, set[str]]:
    with tempfile.TemporaryDirectory() as folder:
        path, items = Path(folder) / file[0], Path(folder) / "items.tsv"
        path.write_bytes(file[1].encode())
        lines = [f"{g.item}\t{g.text}\t{truth[g.item, 'bad'].text}"
                 for (_, variant), g in truth.items() if variant == "good"]  # fmt: skip
        items.write_text("\n".join(["item_id\tgood\tbad", *lines]) + "\n")
        given = [path, "--items", items, "--out", Path(folder) / "out", "--model", "m"]
        result = CliRunner().invoke(scores, list(map(str, given)))
        if result.exit_code:
            if (
                not hasattr(result.exception, "format_message")
                and "Error" not in type(result.exception).__name__
            ):
                return "refused", str(result.exception), usual
            return "refused", str(result.exception).replace(folder, ""), usual
        said = set(result.output.replace(folder, "").splitlines())
        rows = pq.read_table(Path(folder) / "out" / "scores_m.parquet").to_pylist()
        got = {(row["item_id"], row["variant"]): row["logprob_nats"] for row in rows}
    same = got.keys() == truth.keys() and all(
        math.isclose(got[key], one.sum, rel_tol=1e-5) for key, one in truth.items()
    )
    if same:
        return "same", "", said
    news = said - usual
    return ("said" if news else "SILENT"), "; ".join(sorted(news)), said


def main() -> None:
    """Print the table, and fail on anything silent."""
    ways = len(MUTATIONS) + len(OF_TEXT)
    print_outcomes(outcomes(), f"{len(LAYOUTS)} layouts in {ways} ways", about=__doc__)


if __name__ == "__main__":
    main()
