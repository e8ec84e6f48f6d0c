"""Published answers that people typed, with the values that their authors computed."""

import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from benchmarks.published_sets.place import Place

_LISTS = range(1, 9)
_RAW, _OWN = "sathvikn/cloze-surprisal", "Andrea-de-Varda/prediction-resource"
_UNDERSTOOD = (
    "get off the ground suddenly", "will not wait happily",
    "child that is determined to do what it wants", "small dogs with long ears",
    "stuck through with a sharp instrument", "an integrated human-machine system",
    "at its peak of success", "the faint color of her skin", "sliding box", "worried and puzzled",
)  # fmt: skip
_LEAST_RIGHT, _FIRST_CHECK, _FIRST_TEXT = 8, 18, 28
# The authors wrote these target words without their apostrophes, and restored them.
_APOSTROPHES = {
    "Ill": "I'll", "cant": "can't", "couldnt": "couldn't", "didnt": "didn't", "doesnt": "doesn't",
    "dont": "don't", "friends": "friend's", "mans": "man's", "shouldnt": "shouldn't",
    "wasnt": "wasn't", "wouldnt": "wouldn't", "youll": "you'll",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Import:
    """One list of answers, as files.

    Attributes:
        folder: The folder of the files.
        published: item_id, answer and published.
        variants: The table of texts that count as another answer.
    """

    folder: Path
    published: pd.DataFrame
    variants: Path | None = None

    @property
    def answers(self) -> Path:
        """The answers."""
        return self.folder / "answers.csv"

    @property
    def items(self) -> Path:
        """The texts."""
        return self.folder / "items.csv"

    @property
    def mapping(self) -> Path:
        """The meaning of the columns."""
        return self.folder / "mapping.toml"


Files = Mapping[str, bytes]
# The frames of a report, by name.
Statistics = Mapping[str, pd.DataFrame]


@dataclass(frozen=True, slots=True)
class ClozeSet:
    """A published data set of typed answers.

    Attributes:
        name: What it is called here.
        source: Who published it.
        number: The published number, in words.
        digits: How many decimals were published, three at most.
        files: The files of the authors, by a name of ours.
        imports: Writes the lists of answers below a folder.
        values: Returns the columns published and ours, from the report's data.
        differ: Why some values differ.
    """

    name: str
    source: str
    number: str
    digits: int
    files: Mapping[str, Place]
    imports: Callable[[Path, Files], Iterator[Import]]
    values: Callable[[Statistics, Import], pd.DataFrame]
    differ: str

    @property
    def places(self) -> list[Place]:
        """The places of the files."""
        return list(self.files.values())

    def read(self, clones: Path) -> Files:
        """Return the contents of the files."""
        return {name: place.read(clones) for name, place in self.files.items()}


def _write(
    folder: Path,
    answers: pd.DataFrame,
    items: pd.DataFrame,
    mapping: str,
    published: pd.DataFrame,
    variants: pd.DataFrame | None = None,
) -> Import:
    folder.mkdir()
    path = None
    if variants is not None:
        path = folder / "variants.csv"
        variants.drop_duplicates().to_csv(path, index=False)
    part = Import(folder, published, path)
    answers.to_csv(part.answers, index=False)
    items.assign(construction="texts").to_csv(part.items, index=False)
    part.mapping.write_text(mapping, "utf-8")
    return part


def _given_answers(statistics: Statistics, part: Import) -> pd.DataFrame:
    """Return the published answers with our counts of them; n is 0 if nobody gave one."""
    counts, texts = statistics["cloze_answers"], statistics["cloze"]
    own = texts[["item_id", "n_people", "n_no_answer", "n_different"]]
    rows = part.published.merge(own, on="item_id", validate="many_to_one")
    rows = rows.merge(counts[["item_id", "answer", "n"]], on=["item_id", "answer"], how="left")
    return rows.fillna({"n": 0})


# De Varda, Marelli and Amenta (2024): eight spreadsheets, one row a person, one column a text.


def _write_devarda(folder: Path, files: Files) -> Iterator[Import]:
    measures = pd.read_csv(io.BytesIO(files["measures"]), converters={"word": str})
    texts = pd.read_csv(io.BytesIO(files["items"]), dtype=str, keep_default_na=False)
    for number in _LISTS:
        # The first row names the columns, the second has the questions.
        sheet = pd.read_excel(io.BytesIO(files[f"list{number}"]), dtype=str).iloc[1:]
        of_list = texts[texts["list"] == str(number)]
        ids = [f"{number}-{place}" for place in range(1, len(of_list) + 1)]
        headers = dict(zip(sheet.columns[_FIRST_TEXT:], ids, strict=True))
        checks = sheet.iloc[:, _FIRST_CHECK:_FIRST_TEXT]
        n_right = (checks == list(_UNDERSTOOD)).sum(axis=1)
        answers = sheet[list(headers)].rename(columns=headers)
        # The authors' script takes the text before the first space, here nothing.
        answers = answers.mask(answers.apply(lambda cells: cells.str.startswith(" ")).eq(True))
        answers.insert(0, "understood", ["yes" if n >= _LEAST_RIGHT else "no" for n in n_right])
        answers.insert(0, "person", [f"{number}-{n}" for n in range(len(answers))])
        log = pd.read_csv(io.BytesIO(files[f"log{number}"]), dtype=str, keep_default_na=False)
        log = log[log["word"] != ""]
        variants = pd.DataFrame(
            {
                "item_id": log["Q_num"].map(headers),
                "typed": log["word"],
                "answer": log["corrected"],
            }
        )
        own = measures[measures["list"] == number]
        published = pd.DataFrame(
            {
                "item_id": ids,
                "answer": [_target(word) for word in own["word"]],
                "published": own["cloze_p_smoothed"].to_numpy(),
            }
        )
        dropped = 'keep = { understood = "yes" }\n' if "no" in set(answers["understood"]) else ""
        yield _write(
            folder / f"list{number}",
            answers,
            pd.DataFrame({"item_id": ids, "sentence": (of_list["sentence"] + " ___").to_numpy()}),
            'wide = true\nno_answer = [""]\nfirst_word = true\n'
            f'{dropped}[columns]\nparticipant = "person"\ntyped = "{{item}}"\n',
            published,
            variants,
        )


def _target(word: str) -> str:
    word = re.sub("[.,?!:;]", "", word.strip())
    return _APOSTROPHES.get(word, word)


def _devarda_values(statistics: Statistics, part: Import) -> pd.DataFrame:
    """Return their smoothing, (n + 1) / (N + V + 1), of our counts; V is the number of answers."""
    rows = _given_answers(statistics, part)
    kinds = rows["n_different"] + (rows["n_no_answer"] > 0)
    return rows.assign(ours=(rows["n"] + 1) / (rows["n_people"] + kinds + 1))


# Van Hoef, Lynott and Connell (2024): a long table, one row an answer; 800 photographs.


def _write_naming(folder: Path, files: Files) -> Iterator[Import]:
    rows = pd.read_csv(io.BytesIO(files["trials"]), index_col=0)
    corrected = rows.dropna(subset=["response", "response_corrected"])
    of_image = corrected.drop_duplicates(["image", "response"])
    # Where an image has no correction of a text, that of most answers to other images.
    usual = corrected.groupby("response")["response_corrected"].agg(lambda s: s.mode()[0])
    variants = pd.concat(
        [
            of_image[["image", "response", "response_corrected"]].set_axis(
                ["item_id", "typed", "answer"], axis=1
            ),
            pd.DataFrame({"item_id": "", "typed": usual.index, "answer": usual.to_numpy()}),
        ]
    )
    variants = variants[variants["typed"].map(_folded) != variants["answer"].map(_folded)]
    variants["key"] = variants["typed"].map(_folded)
    variants = variants.drop_duplicates(["item_id", "key"]).drop(columns="key")
    images = rows.drop_duplicates("image")
    yield _write(
        folder / "images",
        rows[["ppn", "image", "response"]],
        pd.DataFrame({"item_id": images["image"], "sentence": images["image"]}),
        'no_answer = [""]\n[columns]\nparticipant = "ppn"\nitem = "image"\ntyped = "response"\n',
        pd.DataFrame({"item_id": images["image"], "published": images["name_agreement"] / 100}),
        variants,
    )


def _folded(text: object) -> str:
    return str(text).strip().casefold()


def _naming_values(statistics: Statistics, part: Import) -> pd.DataFrame:
    texts = statistics["cloze"][["item_id", "cloze"]].rename(columns={"cloze": "ours"})
    return part.published.merge(texts, on="item_id", validate="1:1")


# Schulz (2023): up to three associations a person, all in one cell of a spreadsheet.


def _write_associations(folder: Path, files: Files) -> Iterator[Import]:
    rows = pd.read_csv(io.BytesIO(files["pretests"])).dropna(subset=["ProductionResponsesAll"])
    ids = rows["Item"].astype(str) + rows["Cond"]
    answers = [
        {"person": f"{production_list:g}-{person}", "item": item_id, "answer": answer.strip()}
        for item_id, production_list, cell in zip(
            ids, rows["ProductionList"], rows["ProductionResponsesAll"], strict=True
        )
        for person, of_person in enumerate(cell.split(" - "))
        for answer in of_person.split(",")
    ]
    yield _write(
        folder / "associations",
        pd.DataFrame(answers),
        pd.DataFrame({"item_id": ids, "sentence": rows["ProductionQuestion"]}),
        'duplicates = "keep"\n[columns]\nparticipant = "person"\nitem = "item"\ntyped = "answer"\n',
        pd.DataFrame(
            {
                "item_id": ids,
                "answer": rows["Target"].map(_folded),
                "published": rows["ProductionPercentage"],
            }
        ),
    )


def _association_values(statistics: Statistics, part: Import) -> pd.DataFrame:
    rows = _given_answers(statistics, part)
    return rows.assign(ours=rows["n"] / rows["n_people"])


SETS: tuple[ClozeSet, ...] = (
    ClozeSet(
        name="devarda_2024",
        source="de Varda, Marelli and Amenta (2024), cloze norms of 1,726 texts",
        number="smoothed cloze probability of the next word, three decimals",
        digits=3,
        files={
            **{
                f"list{n}": Place(_RAW, f"cloze_data/devarda/cloze_responses/list{n}.xls")
                for n in _LISTS
            },
            **{f"log{n}": Place(_OWN, f"logs/logs{n}.csv") for n in _LISTS},
            "items": Place(_RAW, "cloze_data/devarda/item-set.csv"),
            "measures": Place(_RAW, "cloze_data/devarda/all_measures.csv"),
        },
        imports=_write_devarda,
        values=_devarda_values,
        differ="the others: the cause is not known",
    ),
    ClozeSet(
        name="van_hoef_2024",
        source="van Hoef, Lynott and Connell (2024), names typed for 800 photographs",
        number="name agreement, three decimals",
        digits=3,
        files={
            "trials": Place(
                "Data-X01/PsychLing-101", "connel2022_naming/original_data/trial_level_data.csv"
            )
        },
        imports=_write_naming,
        values=_naming_values,
        differ="the others: the file has no corrected form of answers with extreme times",
    ),
    ClozeSet(
        name="schulz_2023",
        source="Schulz (2023), associations with 80 sentences",
        number="share of people who named the target, two decimals",
        digits=2,
        files={"pretests": Place("miriamschulz/Inference_SPR", "results/items_pretests.csv")},
        imports=_write_associations,
        values=_association_values,
        differ="the others: the author also counted inflected forms and compounds of the target",
    ),
)
