"""Writing of items in the formats of other programs."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType

from experiment.errors import MaterialsError
from experiment.records import Item
from experiment.tables.atomic_write import atomic_write

_TASK = """\
task: {name}
dataset_path: json
dataset_kwargs:
  data_files: {data}
output_type: multiple_choice
validation_split: train
doc_to_text: "{{{{context}}}}"
doc_to_target: 0
doc_to_choice: "{{{{[good, bad]}}}}"
num_fewshot: 0
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
metadata:
  version: 1.0
"""
_REGION_NAMES = ("before", "critical", "after")


def write_items(items: Iterable[Item], form: str, out: Path) -> int:
    """Write items for another program, and return their number.

    Args:
        items: The items; iterated once.
        form: One of ``OUTPUT_FORMATS``.
        out: The file. The data of an lm-evaluation-harness task go into a file with a related name.

    Raises:
        MaterialsError: The file's suffix does not match the form.
    """
    suffix, lines = OUTPUT_FORMATS[form]
    if out.suffix != suffix:
        raise MaterialsError(
            f"a file of the form {form} cannot end in {out.suffix or 'nothing'}",
            where=str(out),
            expected=f"a name ending in {suffix}",
        )
    counted_items = _Counted(items)
    data_file = out.with_suffix(".jsonl") if form == "lm_eval" else out
    with (
        atomic_write(data_file) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as file,
    ):
        file.writelines(lines(counted_items, out))
    if form == "lm_eval":
        with atomic_write(out) as temporary:
            task = _TASK.format(name=out.stem, data=json.dumps(data_file.name))
            temporary.write_text(task, encoding="utf-8", newline="\n")
    return counted_items.number


class _Counted:
    def __init__(self, items: Iterable[Item]) -> None:
        self._items, self.number = items, 0

    def __iter__(self) -> Iterator[Item]:
        for item in self._items:
            self.number += 1
            yield item


def _join_context(item: Item, text: str) -> str:
    return item.after_context(text)


def _blimp(items: Iterable[Item], _out: Path) -> Iterator[str]:
    for item in items:
        yield _to_json_line(
            {
                "sentence_good": _join_context(item, item.good),
                "sentence_bad": _join_context(item, item.alternative),
                "UID": item.construction,
                "condition": item.condition,
                "pairID": item.item_id,
                **dict(item.extra),
            }
        )


def _multiblimp(items: Iterable[Item], _out: Path) -> Iterator[str]:
    for item in items:
        yield _to_json_line(
            {
                "sen": _join_context(item, item.good),
                "wrong_sen": _join_context(item, item.alternative),
                "phenomenon": item.construction,
                "condition": item.condition,
                "item_id": item.item_id,
                **dict(item.extra),
            }
        )


def _lm_eval(items: Iterable[Item], _out: Path) -> Iterator[str]:
    for item in items:
        texts = {"context": item.context, "good": item.good, "bad": item.alternative}
        row = {"item_id": item.item_id, "UID": item.construction, "condition": item.condition}
        yield _to_json_line({**texts, **row, **dict(item.extra)})


def _syntaxgym(items: Iterable[Item], out: Path) -> Iterator[str]:
    suite = {
        "meta": {"name": out.stem, "metric": "sum"},
        "region_meta": {str(n): name for n, name in enumerate(_REGION_NAMES, start=1)},
        "predictions": [{"type": "formula", "formula": "(*;%good%) < (*;%bad%)"}],
        "items": [
            {"item_number": number, "conditions": _divide_into_conditions(item)}
            for number, item in enumerate(items, start=1)
        ],
    }
    yield json.dumps(suite, ensure_ascii=False, indent=1) + "\n"


def _divide_into_conditions(item: Item) -> list[dict[str, object]]:
    """Return both versions in three regions: the shared beginning, the difference, the rest."""
    good, bad = (_join_context(item, text).split() for text in (item.good, item.alternative))
    n_before = _count_shared(good, bad)
    n_after = _count_shared(good[n_before:][::-1], bad[n_before:][::-1])
    return [
        {
            "condition_name": name,
            "regions": [
                {"region_number": n, "content": " ".join(part)}
                for n, part in enumerate(_cut(words, n_before, n_after), start=1)
            ],
        }
        for name, words in (("good", good), ("bad", bad))
    ]


def _count_shared(words: list[str], other_words: list[str]) -> int:
    pairs = zip(words, other_words, strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def _cut(words: list[str], n_before: int, n_after: int) -> tuple[list[str], list[str], list[str]]:
    end = len(words) - n_after
    return words[:n_before], words[n_before:end], words[end:]


def _to_json_line(values: Mapping[str, object]) -> str:
    return json.dumps(values, ensure_ascii=False) + "\n"


LineWriter = Callable[[Iterable[Item], Path], Iterator[str]]
OUTPUT_FORMATS: Mapping[str, tuple[str, LineWriter]] = MappingProxyType(
    {
        "blimp": (".jsonl", _blimp),
        "multiblimp": (".jsonl", _multiblimp),
        "syntaxgym": (".json", _syntaxgym),
        "lm_eval": (".yaml", _lm_eval),
    }
)
