"""Files of generated texts, each with a description of its source."""

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path

from lm.model_folder import atomic_write
from lm.text.grammar import pairs_in_words
from lm.text.sampler import Sentences


def write_text(path: Path, lines: Iterable[str], source: Sentences) -> dict[str, object]:
    """Write a text, one sentence per line, and its description to ``path`` + ``.json``.

    Args:
        path: The text's file; it appears only once the text is complete.
        lines: ``source`` itself, or ``source`` wrapped in a progress bar.
        source: The sentences that the lines are drawn from.

    Returns:
        The description, as written to the file.

    Raises:
        LmError: The file cannot be written.
    """
    return write_described(path, lines, lambda sha256: _describe_source(source, sha256))


def write_described(
    path: Path, lines: Iterable[str], about: Callable[[str], dict[str, object]]
) -> dict[str, object]:
    """Write a text and its description, as ``write_text`` does.

    Args:
        path: The text's file.
        lines: The text.
        about: Returns the description from the SHA-256 of the written text. The description must
            contain ``text_sha256`` and ``description``.

    Returns:
        The description, as written to the file.

    Raises:
        LmError: The file cannot be written.
    """
    sha256 = hashlib.sha256()
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        for line in lines:
            data = f"{line}\n".encode()
            sha256.update(data)
            file.write(data)
    description = about(sha256.hexdigest())
    with atomic_write(_description_path(path)) as temporary:
        temporary.write_text(
            json.dumps(description, indent=2) + "\n", encoding="utf-8", newline="\n"
        )
    return description


def describe_text(path: Path, sha256: str) -> str:
    """Return a description of a text: how it was generated, or its file's name and hash.

    Args:
        path: The text's file.
        sha256: The hash of the file's bytes; a description made for other bytes is ignored.
    """
    try:
        about = json.loads(_description_path(path).read_text(encoding="utf-8"))
        if about["text_sha256"] == sha256:
            return str(about["description"])
    except (OSError, ValueError, LookupError, TypeError):
        pass
    return f"{path.name} (sha256 {sha256[:12]})"


def _describe_source(source: Sentences, text_sha256: str) -> dict[str, object]:
    grammar = source.grammar
    shares = {"agreement_errors": grammar.agreement_error_rate, **_measure_shares(source)}
    if grammar.paired.nouns:
        shares["held_out_pairs"] = source.held_out_share
    suffix = "".join(f", {name.replace('_', ' ')} {100 * s:.3g}%" for name, s in shares.items())
    return {
        "description": (
            f'generated text "{grammar.name}" ({source.n:,} sentences, seed {source.seed}{suffix})'
        ),
        "grammar": grammar.name,
        "grammar_sha256": grammar.sha256,
        "sentences": source.n,
        "seed": source.seed,
        "shares": shares,
        "excluded": len(source.excluded),
        "rejected": source.rejected,
        "held_out_rejected": source.held_out_rejected,
        "pairs_held_out": pairs_in_words(source.held_out, source.words),
        "text_sha256": text_sha256,
    }


def _measure_shares(source: Sentences) -> dict[str, float]:
    """Return shares measured in the text: of sentences by mark, and of attractors among nouns."""
    marks = sorted(
        {
            mark
            for rule in source.grammar.rules.values()
            for expansion in rule.expansions
            for mark in expansion.marks
        }
    )
    measured = {mark: source.marked[mark] / source.n for mark in marks}
    if source.attractor_sites:
        measured["attractors"] = source.attractors / source.attractor_sites
    return measured


def _description_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def write_tagged(folder: Path, lines: Iterable[str], source: Sentences) -> dict[str, object]:
    """Write sentences with supertags as train.txt and valid.txt; every ninth goes to valid.txt.

    Args:
        folder: The folder of the two files.
        lines: ``source`` itself, or ``source`` wrapped in a progress bar.
        source: The sentences that the lines and tags are drawn from.

    Returns:
        A description, as in ``write_text``; here its file is ``tags.json``.

    Raises:
        LmError: The file cannot be written.
    """
    sha256 = hashlib.sha256()
    with (
        atomic_write(folder / "train.txt") as train,
        atomic_write(folder / "valid.txt") as valid,
        train.open("wb") as to_train,
        valid.open("wb") as to_valid,
    ):
        for number, line in enumerate(lines, start=1):
            pairs = zip(line.split(), source.tags, strict=True)
            data = "".join(f"{word}\t{tag}\n" for word, tag in pairs).encode() + b"\n"
            sha256.update(data)
            (to_valid if number % 9 == 0 else to_train).write(data)
    about = _describe_source(source, sha256.hexdigest())
    with atomic_write(folder / "tags.json") as temporary:
        temporary.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8", newline="\n")
    return about
