"""From templates to items."""

from math import perm, prod
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from experiment.grammar.grammar import generate, load_grammar
from experiment.records import Item, Kind, Variant

NUMBER = 'forms = "singular | plural"\n'


def generated(grammar: str) -> list[Item]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "grammar.toml"
        path.write_text(grammar, encoding="utf-8")
        return list(generate(load_grammar(path)))


def lexicon(name: str, size: int) -> str:
    entries = [f"{name}{n} | {name}{n}s" for n in range(size)]
    return f"[lexicon.{name}]\n{NUMBER}entries = {entries}\n"


def grammar_of(sizes: list[int], features: int, distinct: bool) -> str:
    slots = ", ".join(f'S{n} = "w{n}"' for n in range(len(sizes)))
    slots += ', D1 = "d", D2 = "d"'
    names = [f"f{n}" for n in range(features)]
    domains = ", ".join(f'{name} = ["singular", "plural"]' for name in names)
    words = " ".join(f"{{S{n}.{names[n % features]}}}" for n in range(len(sizes)))
    unused = " ".join(f"{{D1.{name}}}" for name in names)
    return "".join(lexicon(f"w{n}", size) for n, size in enumerate(sizes)) + (
        f"{lexicon('d', 3)}"
        f'[[template]]\nname = "t"\nconstruction = "c"\n'
        f'condition = "{" / ".join(f"{{{name}}}" for name in names)}"\n'
        f"features = {{ {domains} }}\nslots = {{ {slots} }}\n"
        f"distinct = {[['D1', 'D2']] if distinct else []}\n"
        f'good = "{words} {unused} {{D2.f0}}"\nbad = "{words} {unused} {{D2.!f0}}"\n'
    )


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(1, 3), st.booleans())
def test_every_frame_stands_once_in_every_condition(
    sizes: list[int], features: int, distinct: bool
):
    items = generated(grammar_of(sizes, features, distinct))
    frames = prod(sizes) * (perm(3, 2) if distinct else 3 * 3)
    assert len(items) == frames * 2**features
    assert len({item.item_id for item in items}) == len(items)
    assert len({(item.frame, item.condition) for item in items}) == len(items)
    assert len({item.frame for item in items}) == frames
    assert len({(item.good, item.bad) for item in items}) == len(items)
    if distinct:
        assert not any("D1=d0 D2=d0" in item.frame for item in items)


SMALL = """
[lexicon.noun]
forms = "singular | plural"
entries = ["taxi driver | taxi drivers", "cat   | cats"]

[lexicon.verb]
forms = "singular | plural"
entries = ["runs | run"]

[lexicon.determiner]
forms = "licensed | intrusive | unlicensed"
entries = ["no | the | most"]

[[template]]
name = "agreement"
construction = "number"
condition = "{main} ({animacy})"
kind = "filler"
features = { main = ["singular", "plural"], animacy = "animate" }
slots = { S = "noun", V = "verb" }
good = "the {S.main}   {V.main}"
bad = "the {S.main} {V.!main}"

[[template]]
name = "ever"
construction = "polarity"
condition = "present"
features = {}
slots = { Q = "determiner", S = "noun", V = "verb" }
contrast = "distractor"
good = "{Q.licensed} {S.plural} ever {V.plural}"
bad = "{Q.unlicensed} {S.plural} ever {V.plural}"
distractor = "{Q.intrusive} {S.plural} ever {V.plural}"
"""


def test_items_come_template_by_template_frame_by_frame_conditions_inside():
    assert [(item.item_id, item.good) for item in generated(SMALL)] == [
        ("agreement-1", "the taxi driver runs"),
        ("agreement-2", "the taxi drivers run"),
        ("agreement-3", "the cat runs"),
        ("agreement-4", "the cats run"),
        ("ever-1", "no taxi drivers ever run"),
        ("ever-2", "no cats ever run"),
    ]


def test_an_item_carries_its_condition_features_frame_and_versions():
    items = {item.item_id: item for item in generated(SMALL)}
    assert items["agreement-1"] == Item(
        item_id="agreement-1",
        kind=Kind.FILLER,
        construction="number",
        condition="singular (animate)",
        template="agreement",
        features="main=singular animacy=animate",
        frame="S=taxi_driver V=runs",
        context="",
        good="the taxi driver runs",
        bad="the taxi driver run",
    )
    ever = items["ever-2"]
    assert (ever.kind, ever.contrast) == (Kind.TARGET, Variant.DISTRACTOR)
    assert (ever.bad, ever.distractor) == ("most cats ever run", "the cats ever run")
    assert ever.alternative == ever.distractor
    assert (ever.condition, ever.features) == ("present", "")


def test_the_same_grammar_gives_the_same_items_in_the_same_order():
    assert generated(SMALL) == generated(SMALL)


def test_items_are_streamed_however_many_there_are(tmp_path: Path):
    path = tmp_path / "grammar.toml"
    path.write_text(grammar_of([100] * 8, 1, distinct=True), encoding="utf-8")
    assert next(generate(load_grammar(path))).item_id == "t-1"
