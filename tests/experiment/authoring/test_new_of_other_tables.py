"""Tables of sentences to rate, of several options, of crossed factors: each becomes its study."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from experiment.authoring.check import check_folder
from experiment.commands import study as commands
from experiment.design.practice import read_practice
from experiment.errors import ParallaxError
from experiment.materials.read import load_items

NUMBERS = ("sg", "pl")
CROSSED = [(subject, attractor) for subject in NUMBERS for attractor in NUMBERS]


def rows_of_items(n_items: int, *, dealt: bool = False) -> list[str]:
    """Return a row for each cell of a 2 x 2 design; ``dealt`` by a Latin square to lists."""
    return [
        f"The {subject} by the {attractor} {n}.;{n};{subject};{attractor};target;5"
        + (f";{'ABCD'[(n + cell) % 4]}" if dealt else "")
        for n in range(1, n_items + 1)
        for cell, (subject, attractor) in enumerate(CROSSED)
    ]


@pytest.fixture
def new(tmp_path, monkeypatch):
    """Write a table, make a study of it, and return what was said and the study's check."""
    monkeypatch.chdir(tmp_path)

    def make(lines, *arguments):
        (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
        done = CliRunner().invoke(commands.new, ["mine", "--from", "t.csv", *arguments])
        if done.exception is not None:
            raise done.exception
        report = check_folder("mine", 1)
        assert report.errors == ()
        return done.output, report

    return make


def test_sentences_alone_are_rated_and_factors_make_the_conditions(new):
    lines = ["sentence;item;subject;attractor;type;points", *rows_of_items(8)]
    lines += [f"Filler {n}.;{n};;;filler;5" for n in range(20, 26)] + ["Try it.;99;;;practice;5"]
    output, report = new(lines)
    study = report.study
    assert "The conditions are made by subject and attractor: sg_sg, sg_pl, pl_sg, pl_pl." in output
    assert "1 row(s) are practice" in output
    assert (study.response, study.trial.parameters["points"]) == ("rating", 5)
    assert (study.design.lists, study.design.trials_per_list) == (4, 14)
    assert [trial.item.good for trial in read_practice(study)] == ["Try it."]
    for entries in report.built.lists:
        shown = [entry.item for entry in entries if entry.item.template == "t"]
        assert sorted(item.frame for item in shown) == [f"item={n}" for n in range(1, 9)]
        assert sorted(item.condition for item in shown) == sorted(
            ["_".join(c) for c in CROSSED] * 2
        )
        # The factors stay columns of one's own, for the analysis.
        assert all("_".join(dict(i.extra)[f] for f in ("subject", "attractor")) == i.condition
                   for i in shown)  # fmt: skip


def test_lists_of_unequal_length_are_refused_and_not_dealt_otherwise(new):
    rows = [f"{n};Sentence {n}.;{'A' if n < 6 else 'B'}" for n in range(1, 9)]
    with pytest.raises(ParallaxError) as refused:
        new(["item;sentence;list", *rows])
    assert str(refused.value).startswith(
        't.csv: The column "list" cannot put the items into lists, because the lists have '
        "different numbers of items of t (A: 5, B: 3)."
    )


def test_groups_of_unequal_length_are_refused_where_items_lack_conditions(new):
    rows = [f"{n};Sentence {n}{c}.;{c};{'A' if c == 'x' else 'B'}" for n in (1, 2) for c in "xy"]
    with pytest.raises(ParallaxError, match=r'"group" cannot .* different numbers .* \(A: 3, B: 2'):
        new(["item;sentence;condition;group", *rows, "3;Sentence 3.;x;A"])


@pytest.mark.parametrize("response", ["rating", "yes_no", "self_paced"])
def test_sides_are_not_asked_for_where_there_are_none(new, response):
    new(["item;sentence", *(f"{n};Sentence {n}." for n in range(1, 9))], "--response", response)
    study = Path("mine/study.toml")
    toml = study.read_text("utf-8")
    study.write_text(re.sub(r"participants_per_list = \d+", "participants_per_list = 3", toml))
    told = " ".join(str(note) for note in check_folder("mine", 1).notes)
    assert "participants in a list" not in told


def test_lists_of_a_column_leave_no_choice_of_their_number(new):
    lines = ["sentence;item;subject;attractor;kind;points;list", *rows_of_items(4, dealt=True)]
    with pytest.raises(ParallaxError, match='column "list" already puts them into lists'):
        new(lines, "--lists", "8")


@pytest.mark.parametrize("dealt", [True, False])
def test_a_column_of_lists_is_kept_where_it_is_a_latin_square(new, dealt):
    lines = ["sentence;item;subject;attractor;kind;points;list", *rows_of_items(4, dealt=True)]
    if not dealt:
        lines[1] = lines[1][:-1] + lines[2][-1]
    output, report = new(lines)
    given = report.study.design.given
    assert bool(given) == dealt
    assert ('The column "list" puts the items into 4 lists: A, B, C, D.' in output) == dealt
    assert ('"list" cannot put the items into lists, because the item "1" of t occurs 2' in output
            ) == (not dealt)  # fmt: skip
    for name, entries in zip("ABCD", report.built.lists, strict=True):
        assert len(entries) == 4
        if dealt:
            assert {dict(entry.item.extra)["list"] for entry in entries} == {name}


@pytest.mark.parametrize(
    ("header", "row", "options"),
    [
        ("option_1,option_2,option_3,answer", "a,b,c,{}", {"2": "bac", "b": "bac", "C": "cab"}),
        ("Option A,Option B,Option C,Correct", "x,y,z,{}", {"b": "yxz", "2": "yxz", "z": "zxy"}),
        ("good,bad,distractor,{}", "p,q,r,1", {"freq": "pqr"}),
        ("correct,foil_1,foil_2,{}", "p,q,r,1", {"freq": "pqr"}),
    ],
)
def test_several_options_are_read_in_the_ways_that_tables_have_them(new, header, row, options):
    named = "{}" in header
    for number, (value, texts) in enumerate(options.items()):
        lines = [header.format(value), row if named else row.format(value)]
        output, report = new(lines)
        study = report.study
        assert study.response == "option_list"
        assert study.design.participants_per_list % 3 == 0
        (item,) = load_items(study)
        versions = ("good", *study.trial.parameters["against"])
        assert "".join(map(item.version, versions)) == texts, number
        assert f"{texts[0]} / *{texts[1]} / *{texts[2]}" in output
        (study.folder).rename(study.folder.parent / f"done_{number}")


def test_the_author_s_wish_goes_before_what_suits(new):
    lines = ["good,bad,distractor", "It rains.,It rain.,It raining.", "He is.,He are.,He be."]
    assert new(lines, "--response", "rating")[1].study.response == "rating"


def test_catch_trials_of_raters_exclude_who_sees_no_difference(new):
    lines = ["good,bad,kind"] + [f"Good {n}.,Bad {n}.,target" for n in range(4)]
    lines += [f"Sure {n}.,Never {n}.,catch" for n in range(4)]
    _, report = new(lines, "--response", "rating")
    (rule,) = report.study.exclusion
    assert (rule.rule, rule.model_extra["min_gap"]) == ("rating_gap", 1)


def test_two_rows_for_a_pair_may_be_crossed_by_factors_too(new):
    lines = ["sentence,item,grammatical,length"]
    lines += [
        f"{v} {n} {length}.,{n},{v},{length}"
        for n in range(4)
        for v in ("yes", "no")
        for length in ("1", "2")
    ]
    _, report = new(lines)
    conditions = {item.condition for item in load_items(report.study)}
    assert conditions == {"length_1", "length_2"}
    assert len(report.study.design.squares) == 1


def test_factors_can_be_named(new):
    lines = ["good,bad,item,a,b,note"]
    lines += [
        f"{n}{a}{b}.,no {n}{a}{b}.,{n},{a},{b},{n}" for n in range(4) for a in "xy" for b in "uv"
    ]
    output, _ = new(lines, "--column", "condition=b+a")
    assert "The conditions are made by b and a: u_x, v_x, u_y, v_y." in output


@pytest.mark.parametrize(
    ("lines", "arguments", "output"),
    [
        (
            ["option_1,option_2,answer", "a,b,3"],
            (),
            'line 2: the answer "3" is not one of the options',
        ),
        (["sentence", "One."], ("--response", "sentence_pair"), "no column holds the good"),
        (
            ["gj04,1,The sailors rode the breeze.", "gj04,0,The sailors rode breeze the."],
            ("--response", "yes_no"),
            'it looks like a row: "The sailors rode the breeze."',
        ),
        (["sentence,x", "One.,1", ",2"], (), "the good sentence is empty in line 3"),
        (
            ["good,bad,item,condition", "a,b,1,x", "c,d,1,y"],
            (),
            "The 1 item(s) of t are in no list",
        ),
        (["good,bad,kind", "a,b,practice"], (), "every row is practice"),
        (["good,bad", "a,b"], ("--response", "ratings"), 'Did you mean "rating"?'),
        (["good,bad,x", "a,b,"], ("--column", "condition=x+y"), 'there is no column "y"'),
    ],
)
def test_what_cannot_be_meant_is_one_paragraph(new, tmp_path, lines, arguments, output):
    with pytest.raises(ParallaxError) as refused:
        new(lines, *arguments)
    assert output in str(refused.value)
    assert not (tmp_path / "mine").exists()


def test_a_kind_that_is_misspelt_is_refused(new, tmp_path):
    with pytest.raises(ParallaxError, match=r'line 3: "fillr".*not a kind of item.*"filler"\?'):
        new(["good,bad,type", "a,b,target", "c,d,fillr"])
    assert not (tmp_path / "mine").exists()


def test_a_column_called_type_that_is_about_something_else_is_kept(new):
    output, _ = new(["good,bad,type", "a,b,transitive", "c,d,unergative"])
    assert (
        'The column "type" is not read as kinds of items, because it holds "transitive"' in output
    )


VERBS = {
    "early": ("sleeps", "sings", "runs", "waits"),
    "late": ("cooks", "reads", "swims", "rests"),
}
IN_PARTS = [
    "good,bad,construction,part",
    *(f"She often {verb}.,She {verb} often the.,verb_{part},{part}"
      for part, verbs in VERBS.items() for verb in verbs),
]  # fmt: skip


def test_a_column_of_any_name_makes_the_blocks(new):
    output, report = new(IN_PARTS, "--block", "part")
    assert 'The blocks of a session are those of the column "part": early, late.' in output
    assert [square.block for square in report.study.design.squares] == ["early", "late"]


def test_items_of_one_construction_in_two_blocks_are_refused_with_a_way_out(new):
    mixed = [*IN_PARTS[:-1], IN_PARTS[-1].replace(",late", ",early")]
    with pytest.raises(ParallaxError, match="are in 2 blocks: late, early"):
        new(mixed, "--block", "part")
    _, report = new(mixed, "--column", "construction=part", "--block", "construction")
    assert {square.block for square in report.study.design.squares} == {"early", "late"}


def test_a_block_column_that_is_not_there_is_named(new):
    with pytest.raises(ParallaxError, match='no item has a column "prat"'):
        new(IN_PARTS, "--block", "prat")


def test_factors_of_any_name_make_the_conditions(new):
    rows = [row.rpartition(";")[0] for row in rows_of_items(4)]
    output, _ = new(["sentence;item;Num;Att;kind", *rows], "--factor", "Num", "--factor", "Att",
                    "--response", "rating")  # fmt: skip
    assert "The conditions are made by Num and Att: sg_sg, sg_pl, pl_sg, pl_pl." in output


def test_one_column_of_ours_is_named_once(new):
    rows = [row.rpartition(";")[0] for row in rows_of_items(4)]
    with pytest.raises(ParallaxError, match='"condition" is named twice'):
        new(["sentence;item;Num;Att;kind", *rows], "--factor", "Num", "--column", "condition=Att")


def test_marked_sentences_without_any_counterpart_stand_alone(new):
    lines = ["item,sentence,acceptable", "1,Dogs bark.,yes", "2,Dogs barks.,no", "3,Cats purr.,yes"]
    items = list(load_items(new(lines)[1].study))
    assert [item.alternative for item in items] == ["", "", ""]
    assert [dict(item.extra)["acceptable"] for item in items] == ["yes", "no", "yes"]


def test_pairs_and_single_sentences_of_several_tasks_come_from_one_table(new):
    rows = [
        row
        for n in range(1, 5)
        for condition, noun in (("near", "wall"), ("far", "walls"))
        for row in (
            f"{n},{condition},agreement,sentence_pair,The {noun} {n} is old.,The {noun} {n} are.,",
            f"r{n},{condition},naturalness,rating,,,The {noun} {n} fell.",
        )
    ]
    head = "item,condition,construction,task,good,bad,sentence"
    output, report = new([head, *rows])
    assert "The tasks are sentence_pair, rating." in output
    items = {item.item_id: item for item in load_items(report.study)}
    pair, sentence = items["agreement-1-near"], items["naturalness-r1-near"]
    assert (pair.good, pair.alternative) == ("The wall 1 is old.", "The wall 1 are.")
    assert (sentence.good, sentence.alternative) == ("The wall 1 fell.", "")
    comparisons = {one.name: one.of for one in report.study.comparisons}
    assert comparisons["Naturalness: near minus far"] == "rating"
    assert comparisons["Agreement: near minus far"] == "accuracy"


def test_a_pair_without_its_other_sentence_is_refused_in_a_table_of_several_tasks(new):
    rows = [f"{n},c,a,sentence_pair,Walls {n} fall.,Walls {n} falls.," for n in range(1, 5)]
    rows += ["9,c,a,sentence_pair,Walls fall.,,", "8,c,b,rating,,,Walls fell."]
    with pytest.raises(ParallaxError, match="Expected two that differ"):
        new(["item,condition,construction,task,good,bad,sentence", *rows])


def test_a_second_good_sentence_of_an_item_is_refused(new):
    lines = ["item,version,sentence", "1,good,Dogs bark.", "1,good,Dogs run.", "1,bad,Dogs barks."]
    with pytest.raises(ParallaxError, match="the row is a second good sentence with the same item"):
        new(lines)
