"""``parallax lm text``: generate training text from a study's words."""

from collections.abc import Iterable
from pathlib import Path

import click
from tqdm import tqdm

from analysis.scores.scoring_inputs import WORD_TOKENS
from experiment.grammar.grammar import load_grammar
from experiment.grammar.lexicon import Lexicon
from experiment.materials.read import load_items
from experiment.materials.render import render
from experiment.studies.files import TEXT_GRAMMAR
from experiment.studies.load import load_study
from lm.text.generated import write_tagged, write_text
from lm.text.grammar import Shares, replace_shares
from lm.text.grammar_file import load_text_grammar
from lm.text.sampler import sample as draw_sentences

_PATH = click.Path(path_type=Path)
_SHARE = click.FloatRange(0, 1)


@click.command()
@click.argument("name_or_folder", metavar="STUDY")
@click.option(
    "--sentences",
    "number",
    default=40_000,
    show_default=True,
    type=click.IntRange(min=1),
    help="How many sentences to write.",
)
@click.option("--seed", default=1, show_default=True, help="The seed of the generated text.")
@click.option(
    "--long-dependencies",
    type=_SHARE,
    help="Share of sentences with a noun between subject and verb.",
)
@click.option(
    "--relative-clauses",
    type=_SHARE,
    help="Share of these nouns that are in a relative clause.",
)
@click.option(
    "--attractors", type=_SHARE, help="Share of these nouns that differ in number from the subject."
)
@click.option("--agreement-errors", type=_SHARE, help="Share of agreements that are violated.")
@click.option(
    "--held-out-pairs",
    type=_SHARE,
    default=0.0,
    show_default=True,
    help="How many pairs of a noun and a verb never occur in one sentence.",
)
@click.option(
    "--prompts",
    is_flag=True,
    help="Write prompts of `parallax take` with their right answers, among sentences.",
)
@click.option(
    "--lists-seed",
    default=1,
    show_default=True,
    type=click.IntRange(0),
    help="With --prompts: the seed of the lists whose items are left out.",
)
@click.option("--tagged", is_flag=True, help="Write a folder of texts with supertags instead.")
@click.option(
    "--out", required=True, type=_PATH, help="The text file to write, a sentence per line."
)
def text(
    name_or_folder: str,
    number: int,
    seed: int,
    long_dependencies: float | None,
    relative_clauses: float | None,
    attractors: float | None,
    agreement_errors: float | None,
    held_out_pairs: float,
    prompts: bool,
    lists_seed: int,
    tagged: bool,
    out: Path,
) -> None:
    """Generate simple English with STUDY's words to train on.

    The text contains none of the study's own sentences, good or bad. Shares are from 0 to 1; by
    default they are those of the study's grammar. The text's description lists them all.
    """
    marked_files = {"long_dependencies": long_dependencies, "relative_clauses": relative_clauses}
    given_shares = {mark: share for mark, share in marked_files.items() if share is not None}
    study = load_study(name_or_folder)
    if prompts:
        # An installation may lack model participants.
        from analysis.takers.lesson_text import write_lessons

        click.echo(f"{out}: {write_lessons(out, study, number, seed, lists_seed)}")
        return
    text_grammar = load_text_grammar(study.folder / TEXT_GRAMMAR)
    grammar = replace_shares(text_grammar, Shares(agreement_errors, attractors, given_shares))
    words = list_words(load_grammar(study.grammar_path).lexicon.values())
    as_tokens = render(WORD_TOKENS)
    excluded = {
        as_tokens(item.after_context(version))
        for item in load_items(study)
        for version in item.versions().values()
    }
    sentences = draw_sentences(grammar, words, number, seed, excluded, held_out_pairs)
    lines = tqdm(sentences, desc="Generating", total=number, unit=" sentences", disable=None)
    click.echo(
        f"{out}: {(write_tagged if tagged else write_text)(out, lines, sentences)['description']}"
    )


def list_words(lexicons: Iterable[Lexicon]) -> dict[str, tuple[str, ...]]:
    """Return a study's words as ``"lexicon.form"``, or ``"lexicon"`` where there are no forms."""
    lists: dict[str, tuple[str, ...]] = {}
    for lexicon in lexicons:
        keys = [f"{lexicon.name}.{form}" for form in lexicon.forms] or [lexicon.name]
        lists |= dict(zip(keys, zip(*lexicon.entries, strict=True), strict=True))
    return lists
