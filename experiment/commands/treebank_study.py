"""``parallax treebank study``: a study of minimal pairs of a treebank's sentences."""

from collections.abc import Collection, Sequence
from pathlib import Path

import click

from experiment.authoring.new import write_new_study
from experiment.commands.study import print_new_study
from experiment.errors import MaterialsError
from experiment.materials.formats.read import FileContents
from experiment.materials.treebank.conllu import Sentence, mark_verb_number, read_treebank
from experiment.materials.treebank.pairs.catch import choose_catch_sentences
from experiment.materials.treebank.pairs.features import AGREEMENT_FEATURES
from experiment.materials.treebank.pairs.forms import Forms
from experiment.materials.treebank.pairs.items import make_catch_items, make_items
from experiment.materials.treebank.pairs.order import ORDER
from experiment.materials.treebank.pairs.pairs import PairSet, Wishes, make_pairs
from experiment.materials.treebank.pairs.relations import RELATIONS
from experiment.materials.treebank.pairs.sources import (
    Source,
    choose_language,
    refuse_no_features,
    write_sources,
)
from experiment.plugins import unknown_name
from experiment.studies.files import SOURCES_FILE

_PATH = click.Path(path_type=Path)
_SHOWN = 3
# About eight minutes.
_MOST_PAIRS = 80
FEATURES = (*AGREEMENT_FEATURES, ORDER)


@click.command()
@click.argument("files", metavar="CONLLU...", nargs=-1, required=True, type=_PATH)
@click.option("--out", required=True, type=_PATH, help="The study's folder to write.")
@click.option("--language", default="", help="BCP 47.  [default: as the files' names begin]")
@click.option("--title", default="", help="The title that participants see.")
@click.option(
    "--lexicon", "lexicons", multiple=True, type=_PATH, help="Further forms (UniMorph). Repeatable."
)
@click.option("--licence", default="", help="The treebank's licence.  [default: its README's]")
@click.option("--english", is_flag=True, help="First mark the number of English verbs.")
@click.option(
    "--relation",
    "relations",
    multiple=True,
    metavar="NAME",
    help=f"One of: {', '.join(RELATIONS)}. Repeatable.  [default: all]",
)
@click.option(
    "--feature",
    "features",
    multiple=True,
    metavar="NAME",
    help=f"One of: {', '.join(FEATURES)}. Repeatable.  [default: all]",
)
@click.option("--each", type=click.IntRange(min=1), default=12, show_default=True,
              help="At most this many pairs of each relation and feature.")  # fmt: skip
@click.option("--shortest", type=click.IntRange(min=2), default=4, show_default=True,
              help="The fewest words of a sentence.")  # fmt: skip
@click.option("--longest", type=click.IntRange(min=2), default=14, show_default=True,
              help="The most words of a sentence.")  # fmt: skip
@click.option(
    "--lists",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Share the pairs out to N lists.  [default: at most {_MOST_PAIRS} in each]",
)
@click.option("--catch", type=click.IntRange(min=0), default=8, show_default=True,
              help="Catch trials: sentences against the same in reversed order.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, help="The seed of the choice.")
def study(
    files: tuple[Path, ...],
    out: Path,
    language: str,
    title: str,
    lexicons: tuple[Path, ...],
    licence: str,
    english: bool,
    relations: tuple[str, ...],
    features: tuple[str, ...],
    each: int,
    shortest: int,
    longest: int,
    lists: int | None,
    catch: int,
    seed: int,
) -> None:
    """Write a study of minimal pairs from CONLLU files.

    Each pair is a sentence of the treebank, and the same sentence with one word in a form that does
    not agree: another number, gender, case or person. The forms are those of the treebank and of
    the lexicons.
    """
    wishes = Wishes(
        _known("relation", relations, tuple(RELATIONS)),
        _known("feature", features, FEATURES),
        each, shortest, longest,
    )  # fmt: skip
    treebanks = [Source(file, licence) for file in files]
    further = [Source(file) for file in lexicons]
    pairs, catch_sentences = _find_pairs(files, lexicons, wishes, seed, english, catch)
    tag = choose_language(files, language)
    items = [
        *make_items(pairs.pairs, treebanks, further),
        *make_catch_items(catch_sentences, treebanks),
    ]
    n_lists = lists or -(-len(pairs.pairs) // _MOST_PAIRS)
    name = f"{len(files)} treebank file{'s' * (len(files) > 1)}"
    new_folder = write_new_study(
        out,
        FileContents(tuple(items), name, ()),
        files[0],
        language=tag,
        title=title,
        lists=n_lists,
        further_files={
            SOURCES_FILE: write_sources(treebanks, further, pairs.counts, pairs.disagreements)
        },
    )
    width = max(map(len, pairs.counts))
    for step, number in pairs.counts.items():
        click.echo(f"{step:<{width}}  {number:>9,}")
    click.echo("")
    print_new_study(new_folder)
    if len(catch_sentences) < catch:
        click.echo(_describe_missing(len(catch_sentences), catch))
    _print_sources([*treebanks, *further], pairs)
    _print_next_steps(out, tag, n_lists)


def _describe_missing(number: int, wished: int) -> str:
    return (
        f"{number or 'No'} catch trials, of {wished}: in the treebank, too few short sentences "
        "without commas have two articles or adpositions whose side of the noun is fixed, so that "
        "the reversed sentence is certainly wrong. Write catch trials yourself: rows of kind "
        '"catch".'
    )


def _print_next_steps(out: Path, tag: str, n_lists: int) -> None:
    click.echo(f"\n{out}/ is a complete study. Let native speakers check it before you launch:")
    click.echo(f"  parallax natives page {out}/items.tsv --language {tag} --rendering as_written "
               "--out sentences.html")  # fmt: skip
    click.echo(f"  parallax natives approve {out}/items.tsv A.csv B.csv --rendering as_written "
               "--out approved.tsv")  # fmt: skip
    click.echo(f"  parallax study new NAME --from approved.tsv --language {tag} --lists {n_lists}")


def _known(kind: str, names: Sequence[str], known_names: Sequence[str]) -> Sequence[str]:
    by_key = {known.lower(): known for known in known_names}
    for name in names:
        if name.lower() not in by_key:
            unknown = unknown_name(kind, name, known_names)
            raise MaterialsError(
                unknown.problem, where=f"--{kind}", expected=unknown.expected, remedy=unknown.remedy
            )
    return [by_key[name.lower()] for name in names] or known_names


def _find_pairs(
    files: Sequence[Path],
    lexicons: Collection[Path],
    wishes: Wishes,
    seed: int,
    english: bool,
    n_catch: int,
) -> tuple[PairSet, list[Sentence]]:
    read = read_treebank(files, by_head=True)
    sentences = list(map(mark_verb_number, read) if english else read)
    where = ", ".join(map(str, files))
    refuse_no_features((token.feats for s in sentences for token in s.tokens), where)
    forms = Forms(sentences)
    for path in lexicons:
        shared = forms.add_lexicon(path)
        click.echo(f"{path.name}: {shared:,} of its lemmas are in the treebank.")
    pairs = make_pairs(sentences, forms, wishes, seed)
    if not pairs.pairs:
        counts = "; ".join(f"{name}: {number:,}" for name, number in pairs.counts.items())
        raise MaterialsError(
            f"no sentence makes a pair ({counts})",
            where=where,
            expected="words that agree in the chosen features, and other forms of them",
            remedy="Take a larger treebank, add a --lexicon, or allow a higher --longest",
        )
    used = (pair.instance.sentence for pair in pairs.pairs)
    return pairs, choose_catch_sentences(sentences, used, forms, wishes, n_catch, seed)


def _print_sources(sources: Sequence[Source], pairs: PairSet) -> None:
    click.echo("Licences: " + "; ".join(map(str, sources)) + f". {SOURCES_FILE} has their texts.")
    for source in sources:
        if "NC" in source.licence:
            click.echo(f"- {source.path.name} may not be used commercially.")
        if source.licence == "not stated":
            click.echo(
                f"- No README next to {source.path} names a licence: add it to {SOURCES_FILE} "
                "before you publish the items."
            )
    if pairs.disagreements:
        number = len(pairs.disagreements)
        click.echo(f"The sources disagree on {number:,} words, which make no pairs:")
        for disagreement in pairs.disagreements[:_SHOWN]:
            click.echo(f"- {disagreement}")
        if number > _SHOWN:
            click.echo(f"- ... and {number - _SHOWN:,} more in {SOURCES_FILE}")
