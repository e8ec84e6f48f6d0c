"""The language and the licences of a treebank and of lexicons."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from experiment.errors import MaterialsError, StudyError
from experiment.materials.licences import UNKNOWN_LICENCE

# UD names its files <language>_<treebank>-ud-<part>.conllu.
_UD_NAME = re.compile(r"^([a-z]{2,3})_[a-z0-9]+(?:-ud)?-", re.IGNORECASE)
_LICENCE_LINE = re.compile(r"^License:\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)
# Tags at least this far apart, of 0 to 134, name different languages.
_FAR = 10


@dataclass(frozen=True)
class Source:
    """A file of other people's data, with the licence that lies in its folder.

    Attributes:
        path: The file.
        own_licence: The licence as the user names it; empty to find it.
    """

    path: Path
    own_licence: str = ""

    @cached_property
    def licence(self) -> str:
        """The licence's short name: that of the README's line ``License:``, as UD writes it."""
        if self.own_licence:
            return self.own_licence
        for text in self._texts("README*").values():
            if line := _LICENCE_LINE.search(text):
                return line[1]
        return UNKNOWN_LICENCE

    @cached_property
    def licence_texts(self) -> Mapping[str, str]:
        """The texts of the folder's licence files, by file name."""
        return self._texts("LICEN[CS]E*")

    def _texts(self, pattern: str) -> dict[str, str]:
        files = sorted(path for path in self.path.parent.glob(pattern) if path.is_file())
        return {path.name: path.read_text(encoding="utf-8", errors="replace") for path in files}

    def __str__(self) -> str:
        return f"{self.path.name} ({self.licence})"


def choose_language(files: Sequence[Path], told: str) -> str:
    """Return the language tag of a treebank, from its files' names or as the user says.

    Two codes of one language are one: ``deu`` and ``de``, or ``no`` and ``nb``.

    Raises:
        StudyError: No name of a file begins with a code and none is told, the code is no language,
            or the names and the user say different languages.
    """
    # langcodes' tables take a tenth of a second to load, which other commands do not need.
    import langcodes

    codes = {file: match[1] for file in files if (match := _UD_NAME.match(file.name))}
    tags = dict.fromkeys([told, *codes.values()] if told else codes.values())
    if not tags:
        raise StudyError(
            "the treebank's language is not known",
            where=str(files[0]),
            expected="a file name that begins with a language's code, as de_gsd-ud-dev.conllu does",
            remedy="Name the language: --language de",
        )
    for tag in tags:
        if not langcodes.tag_is_valid(tag):
            raise StudyError(
                f'there is no language "{tag}"',
                where="--language" if tag == told else str(files[0]),
                expected='a tag of BCP 47, such as "de" or "pt-BR"',
                remedy="Name the language: --language de",
            )
    first, *others = tags
    for other in others:
        if langcodes.tag_distance(first, other) >= _FAR:
            raise StudyError(
                f'the treebank has two languages, "{first}" and "{other}"',
                where=", ".join(map(str, files)),
                expected="files of one language, which --language may only name more exactly",
            )
    return str(langcodes.standardize_tag(first))


def write_sources(
    treebanks: Sequence[Source],
    lexicons: Sequence[Source],
    counts: Mapping[str, int],
    disagreements: Iterable[object],
) -> str:
    """Return the Markdown of SOURCES.md: where the sentences come from, and what was left out."""
    lines = [
        "# Where these sentences come from",
        "",
        "Each item is a sentence of a treebank, and the same sentence with one word changed. The",
        "columns of items.tsv name the sentence (source, sent_id), the rule, the change and the",
        "licence. Whoever publishes the items publishes parts of these files:",
        "",
        "| File | Use | Licence |",
        "|---|---|---|",
    ]
    for use, sources in (("treebank", treebanks), ("lexicon of forms", lexicons)):
        lines += [f"| {source.path.name} | {use} | {source.licence} |" for source in sources]
    lines += ["", "## What was left out", "", "| Step | Number |", "|---|---|"]
    lines += [f"| {name} | {n} |" for name, n in counts.items()]
    if named := [f"- {disagreement}" for disagreement in disagreements]:
        lines += ["", "## Words on which the sources disagree", "", *named]
    texts = {
        (source.path.parent, name): text
        for source in (*treebanks, *lexicons)
        for name, text in source.licence_texts.items()
    }
    for (folder, name), text in texts.items():
        lines += ["", f"## {name} of {folder.resolve().name}", "", "```", text.strip(), "```"]
    return "\n".join(lines) + "\n"


def refuse_no_features(feats: Iterable[str], where: str) -> None:
    """Raise if no word has features.

    Raises:
        MaterialsError: All features are empty.
    """
    if all(value == "_" for value in feats):
        raise MaterialsError(
            "no word of the treebank has features",
            where=where,
            expected="features such as Number=Sing|Case=Nom in the sixth column",
            remedy="Take a treebank whose README says Features: manual or automatic",
        )
