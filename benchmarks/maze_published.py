r"""Distractors of a Maze beside the published ones, under a model that neither used.

    git clone https://github.com/vboyce/Maze
    git clone https://github.com/vboyce/natural-stories-maze
    git clone https://github.com/nltk/nltk_data
    python benchmarks/maze_published.py prepare nltk_data FOLDER
    for name in generator second judge; do
        parallax lm train --type ngram --data FOLDER/$name --out FOLDER/$name.lm \
            --name $name --max-words 30000
    done
    python benchmarks/maze_published.py compare FOLDER Maze natural-stories-maze

The published ones are A-maze distractors: of the materials of Witzel et al. (2012), as Boyce,
Futrell & Levy (2020) showed them, and of the Natural Stories (Boyce & Levy, 2023). They were made
with the LSTM of Gulordava et al. (2018). Ours are made for the same sentences by a 5-gram model of
one text, and have to hold under one of another. The judge is a 5-gram model of a third text, which
neither used. Every promise is checked anew on all of them, under the judge alone.
"""

import json
import random
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from tqdm import tqdm

from analysis.maze.distractors import Use, Wanted, audit, choose
from analysis.maze.slots import Sentence, slots_of, written
from analysis.maze.vocabulary import Vocabulary
from experiment.materials.render import split_lower_case_tokens
from lm.registry import load_scorer

# The corpora of nltk_data: three texts that share no line.
TEXTS = {
    "generator": ("brown", "inaugural"),
    "second": ("abc", "state_union"),
    "judge": ("movie_reviews", "webtext"),
}
# In bits. Models of a million words are sure of little, so the bounds are lower than the defaults.
WANTED = Wanted(threshold_bits=14.0, margin_bits=4.0, candidates=12)
BROKEN = {
    "length": "letters beside",
    "frequency": "log-frequencies differ",
    "occurs in the sentence": "occurs in the sentence already",
    "differs between conditions": "another condition of the frame",
    f"below {WANTED.threshold_bits:g} bits": " bits under ",
    f"margin below {WANTED.margin_bits:g} bits": "above the right word",
}
UNKNOWN = "does not know it"
MOST_TOKENS, LEAST_TOKENS = 80, 3
VALID = 1500


def prepare(nltk_data: Path, out: Path) -> None:
    """Write the three texts, tokenised, and the words that all of them have."""
    counts = []
    for name, corpora in TEXTS.items():
        lines = [
            line
            for corpus in corpora
            for line in map(split_lower_case_tokens, sentences(nltk_data, corpus))
            if LEAST_TOKENS <= len(line.split()) <= MOST_TOKENS
        ]
        random.Random(1).shuffle(lines)
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        for part, own in (("valid", lines[:VALID]), ("train", lines[VALID:])):
            (folder / f"{part}.txt").write_text("\n".join(own) + "\n", encoding="utf-8")
        counts.append(Counter(word for line in lines for word in line.split()))
    together = sum(counts, Counter[str]())
    known = [w for w in together if w.isalpha() and len(w) > 1 and all(c[w] >= 3 for c in counts)]
    rows = [f"{word},{together[word]}" for word in sorted(known, key=lambda w: (-together[w], w))]
    (out / "words.csv").write_text("\n".join(["word,count", *rows]) + "\n", encoding="utf-8")


def sentences(nltk_data: Path, corpus: str) -> Iterator[str]:
    """Yield the sentences of one of nltk's corpora."""
    with zipfile.ZipFile(nltk_data / "packages" / "corpora" / f"{corpus}.zip") as archive:
        for name in sorted(archive.namelist()):
            if name.endswith("/") or re.match("readme|cats|contents", Path(name).name.lower()):
                continue
            text = archive.read(name).decode("utf-8", "replace")
            if corpus == "brown":
                tagged = (line.split() for line in text.splitlines())
                found = (" ".join(pair.rsplit("/", 1)[0] for pair in line) for line in tagged)
                yield from (re.sub("``|''", '"', line) for line in found if line)
            elif corpus == "movie_reviews":
                for line in text.splitlines():
                    yield from filter(str.strip, re.split(r"(?<= [.?!]) ", line))
            else:
                for paragraph in re.split(r"\n\s*\n", text):
                    yield from re.split(r"(?<=[.?!]) +", " ".join(paragraph.split()))


def published(maze: Path, stories: Path) -> Iterator[tuple[str, str, str]]:
    """Yield frame, sentence and distractors of the published materials."""
    text = (maze / "experiment/Materials/gulordava.js").read_text("utf-8")
    item = r'\[\["?([\w-]+)"?, *(\d+)\], *"Maze", *\{s: *"([^"]+)", *a: *"([^"]+)"'
    for kind, number, sentence, distractors in re.findall(item, text):
        yield f"{kind.split('_')[0]} {number}", sentence, distractors
    for line in (stories / "Materials/for_ibex.txt").read_text("utf-8").splitlines():
        if line.strip():
            story, number, sentence, distractors = json.loads(line.strip().rstrip(","))
            yield f"story {story}.{number}", sentence, distractors


def compare(folder: Path, maze: Path, stories: Path, most: int) -> None:
    """Print what the judge finds of the published distractors and of ours."""
    rows = [
        (frame, tuple(sentence.split()), distractors.split())
        for frame, sentence, distractors in published(maze, stories)
    ]
    whole = [row for row in rows if len(row[1]) == len(row[2])]
    used = whole[:most]
    table = [
        Sentence(number, f"sentence {number + 1}", "distractors", frame, words)
        for number, (frame, words, _) in enumerate(used)
    ]
    slots, vocabulary = slots_of(table), Vocabulary(folder / "words.csv")
    models = {name: load_scorer(str(folder / f"{name}.lm"), "cpu") for name in TEXTS}
    theirs = {(s.row, s.column): used[s.row][2] for s in table}
    makers = [models["generator"], models["second"]]
    sets = {"published": theirs}
    chosen = choose(slots, makers, vocabulary, WANTED, lambda own: tqdm(own, mininterval=5))
    by_sentence: dict[int, dict[int, str]] = {}
    for slot, word in chosen.items():
        for sentence, position in slot.uses:
            by_sentence.setdefault(sentence.row, {})[position] = word
    sets["generated"] = {(s.row, s.column): written(s, by_sentence[s.row]).split() for s in table}
    judge = [models["judge"]]
    found = {n: audit(table, own, slots, judge, vocabulary, WANTED) for n, own in sets.items()}
    show(found, len(rows), len(whole), len(used))


def show(found: dict[str, list[Use]], rows: int, whole: int, used: int) -> None:
    """Print the table."""
    print(
        f"{used} sentences of {rows} ({rows - whole} have another number of distractors than words)"
    )
    print(f"{'under the judge':32}" + "".join(f"{name:>15}" for name in found))
    line("words with a distractor", [f"{len(uses):,}" for uses in found.values()])
    told = {name: [u for u in uses if not unknown(u)] for name, uses in found.items()}
    line(
        "of them known to the judge",
        [f"{len(told[n]) / len(found[n]):.1%}" for n in found],
    )
    for what, of in (("distractor", 0), ("right word", 1)):
        bits = [quartiles(uses, of) for uses in told.values()]
        line(f"bits of the {what}, median", [f"{middle:.1f}" for _, middle, _ in bits])
        line("  quartiles", [f"{low:.1f}, {high:.1f}" for low, _, high in bits])
    for label, words in BROKEN.items():
        shares = [
            sum(any(words in one for one in use.unmet) for use in uses) / len(uses)
            for uses in told.values()
        ]
        line(f"not kept: {label}", [f"{share:.1%}" for share in shares])
    kept = [sum(not use.unmet for use in uses) / len(uses) for uses in told.values()]
    line("keep every promise", [f"{share:.1%}" for share in kept])


def unknown(use: Use) -> bool:
    """Return whether the judge does not know the distractor."""
    return any(UNKNOWN in one for one in use.unmet)


def quartiles(uses: Sequence[Use], of: int) -> tuple[float, float, float]:
    """Return quartiles of the surprisal of distractors (0) or right words (1), where known."""
    pairs = np.array([(use.distractor_bits[0], use.right_bits[0]) for use in uses])
    low, middle, high = np.nanpercentile(pairs[:, of], [25, 50, 75])
    return float(low), float(middle), float(high)


def line(label: str, values: Sequence[str]) -> None:
    """Print a row of the table."""
    print(f"{label:32}" + "".join(f"{value:>15}" for value in values))


if __name__ == "__main__":
    what, *paths = sys.argv[1:]
    if what == "prepare":
        prepare(*map(Path, paths))
    else:
        most = int(paths[3]) if len(paths) > 3 else 10_000
        compare(*map(Path, paths[:3]), most)
