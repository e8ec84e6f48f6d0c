"""Tables of a model's log-probabilities of the words that people typed, and of its own words."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis.data.load import ExportedRun
from analysis.errors import AnalysisError
from experiment.coding.normalise import RULES, normalise
from experiment.materials.render import has_picture
from experiment.records import SPACELESS, Variant
from experiment.responses.typed.typed import GAP
from lm.completions import completion_logprobs, make_gap, top_words
from lm.scorer import Scorer

COLUMNS = ("item_id", "version", "word", "logprob_nats", "rank", "scored")
# What was scored: the word after the text before it, or the whole text with the word in its gap.
WORD, WHOLE_TEXT = "word", "whole text"
SEVERAL_GAPS = (
    "Texts with several gaps are not compared with models' words: which words fit a gap depends on "
    "those in the others."
)
Render = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Blank:
    """A text with a gap, and what people typed into it.

    Attributes:
        item_id: The item.
        version: The version shown.
        before: The text before the gap.
        after: The text after it.
        typed: The different answers, with their capitals.
    """

    item_id: str
    version: str
    before: str
    after: str
    typed: tuple[str, ...]


def find_blanks(run: ExportedRun) -> list[Blank]:
    """Return the texts of a run that have one gap, with people's answers to them.

    Raises:
        AnalysisError: The run has no typed answers, or no text has just one gap.
    """
    if "typed" not in run.responses:
        raise AnalysisError(
            "the answers were not typed",
            where=str(run.folder),
            expected="a run, or an import, of typed answers",
        )
    items = {str(item["item_id"]): item for item in run.items.to_dict("records")}
    rows = run.responses.astype({"item_id": str, "version": str})
    blanks = []
    for (item_id, version), answers in rows.groupby(["item_id", "version"], sort=False):
        item = items[str(item_id)]
        context = str(item.get("context", ""))
        shown = str(item.get(str(version), item[Variant.GOOD.value]))
        text = f"{context} {shown}".strip()
        # Models see no picture, and which words fit a gap depends on those in the other gaps.
        if len(gaps := [*GAP.finditer(text)]) != 1 or has_picture(context):
            continue
        [gap] = gaps
        typed = answers["typed"].dropna().astype(str)
        forms = dict.fromkeys(_keep_capitals(answer) for answer in typed if normalise(answer))
        blanks.append(
            Blank(str(item_id), str(version), text[: gap.start()], text[gap.end() :], tuple(forms))
        )
    if not blanks:
        raise AnalysisError(
            "no text has one gap",
            where=str(run.folder),
            expected="___ once in texts of the items",
        )
    return blanks


def _keep_capitals(text: str) -> str:
    for name, change in RULES.items():
        if name != "case":
            text = change(text)
    return text


def complete(
    scorer: Scorer, blanks: Sequence[Blank], n_top: int, render: Render
) -> Iterator[tuple[object, ...]]:
    """Yield a row of ``COLUMNS`` for each word: those that people typed, and the model's own.

    Args:
        scorer: The model.
        blanks: The texts.
        n_top: How many of the model's own words to score.
        render: The rendering of texts for the model.

    Raises:
        AnalysisError: A text in a script without spaces ends with its gap.
        LmError: A text cannot be scored.
    """
    for blank in blanks:
        gap = make_gap(scorer, blank.before, blank.after, render)
        is_spaceless = SPACELESS.search(blank.before.strip()[-1:] + blank.after.strip()[:1])
        if is_spaceless and gap.ends_text:
            raise AnalysisError(
                f'the text of the item "{blank.item_id}" ends with its gap, and its script has no '
                "spaces, so that a model does not say where a word ends",
                expected="a text that goes on after its gap",
                remedy="Write the rest of the sentence after the gap, at least its full stop",
            )
        # A model marks the beginnings of words by spaces.
        own = [] if is_spaceless else top_words(scorer, gap.before, n_top)
        ranks = {word: place for place, word in enumerate(own, start=1)}
        # An answer in lower case is the same answer.
        words = dict.fromkeys(
            form for typed in blank.typed for form in (render(typed), render(normalise(typed)))
        )
        candidates = [word for word in dict.fromkeys([*words, *own]) if word]
        [logprobs] = completion_logprobs(scorer, [gap], [candidates])
        scored = WORD if gap.ends_text else WHOLE_TEXT
        for word, logprob in zip(candidates, logprobs, strict=True):
            yield blank.item_id, blank.version, word, logprob, ranks.get(word, ""), scored


def read_completions(path: Path) -> pd.DataFrame:
    """Read the table that ``parallax lm completions`` wrote.

    Raises:
        AnalysisError: The file is another table.
    """
    from analysis.readers.sources import read_source

    table = read_source(path).table
    if missing := [name for name in COLUMNS if name not in table]:
        raise AnalysisError(
            f"the table has no column {', '.join(missing)}",
            where=str(path),
            expected="a table that `parallax lm completions` wrote",
        )
    texts = {name: table[name].astype(str).str.removeprefix("'") for name in COLUMNS[:3]}
    return table[list(COLUMNS)].assign(
        **texts,
        logprob_nats=pd.to_numeric(table["logprob_nats"]),
        rank=pd.to_numeric(table["rank"]),
    )
