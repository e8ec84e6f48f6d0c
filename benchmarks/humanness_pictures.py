"""Draw the pictures of the humanness block, and write its items (docs/humanness/items.tsv).

Usage: python benchmarks/humanness_pictures.py [--sheet FILE.png]

The pictures redraw, from their descriptions, six constructions that Affonso (2026, Journal of
Consumer Research, doi:10.1093/jcr/ucag006) tested on humans and agents: here the difference is
real, so that answers based on knowledge of the illusion are wrong. Lists of letters to be recalled
in order follow the task of Schug & Lake (2026, arXiv:2604.00016), which asks for one position.
"""

import argparse
import base64
import csv
import io
import math
import random
from collections.abc import Callable
from pathlib import Path

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyBboxPatch, Polygon, Rectangle, RegularPolygon
from PIL import Image

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "humanness"
BLUE, RED, GREEN, ORANGE, GREY = "#1f6fb5", "#d62020", "#2e7d32", "#e07b00", "#808080"
COLUMNS = (
    "item_id", "kind", "construction", "condition", "template", "features", "frame", "context",
    "good", "bad", "distractor", "contrast", "third", "fourth", "fifth", "task", "question",
    "answers", "answer",
)  # fmt: skip
SEED = 38


def mueller_lyer(axes: Axes) -> None:
    """Two lines with fins; the one that is known to look longer is longer."""
    for y, half, out, colour in ((2.6, 2.9, 0.6, BLUE), (0.9, 2.1, -0.6, RED)):
        axes.plot([5 - half, 5 + half], [y, y], color=colour, linewidth=4)
        for end, way in ((5 - half, -1), (5 + half, 1)):
            for up in (-0.55, 0.55):
                axes.plot([end, end + way * out], [y, y + up], color=colour, linewidth=4)
    axes.set(xlim=(0.6, 9.4), ylim=(0, 3.5))


def ebbinghaus(axes: Axes) -> None:
    """Two circles among others; the one that is known to look larger is larger."""
    for x, radius, number, other, far, colour in (
        (2.4, 0.92, 11, 0.2, 1.35, RED), (7.1, 0.34, 5, 0.72, 1.3, BLUE)
    ):  # fmt: skip
        axes.add_patch(Circle((x, 2.2), radius, color=colour))
        for n in range(number):
            turn = 2 * math.pi * n / number + 0.3
            at = (x + far * math.cos(turn), 2.2 + far * math.sin(turn))
            axes.add_patch(Circle(at, other, color="black"))
    axes.set(xlim=(0.5, 9.5), ylim=(0, 4.4))


def cafe_wall(axes: Axes) -> None:
    """Rows of tiles that are shifted, with lines between them that do slant."""
    for row, base in enumerate((5.2, 4.3, 3.4, 1.3, 0.4)):
        slant = -0.11 if row < 3 else 0.06
        for column in range(6):
            x = 0.8 + 1.45 * column + (0.45 if row % 2 else 0.0)
            axes.add_patch(Rectangle((x, base + slant * (x - 4.5)), 0.72, 0.72, color="black"))
    for base, slant in ((5.11, -0.11), (4.21, -0.11), (2.12, 0.06), (1.21, 0.06)):
        xs = (0.4, 9.6)
        axes.plot(xs, [base + slant * (x - 4.5) for x in xs], color=GREY, linewidth=3)
    axes.set(xlim=(0.2, 9.8), ylim=(0, 6.5))


def robot(axes: Axes) -> None:
    """Four frames; in three a robot goes on by the same step, the last is empty."""
    for frame in range(4):
        left = 0.2 + 2.45 * frame
        axes.add_patch(Rectangle((left, 0.2), 2.2, 2.2, fill=False, linewidth=2.5))
        axes.text(left + 1.1, 2.62, f"Step {frame + 1}", ha="center", fontsize=11)
        if frame == 3:
            continue
        # From a corner by equal steps; the fourth is the middle of the square.
        x, y = left + 0.3 + 0.27 * frame, 0.3 + 0.27 * frame
        axes.add_patch(FancyBboxPatch((x, y), 0.3, 0.26, boxstyle="round,pad=0.04", color=GREY))
        for eye in (0.07, 0.23):
            axes.add_patch(Circle((x + eye, y + 0.16), 0.045, color="white"))
        axes.plot([x + 0.15, x + 0.15], [y + 0.3, y + 0.44], color=GREY, linewidth=2)
    axes.set(xlim=(0, 9.9), ylim=(0, 3))


def oranges(axes: Axes) -> None:
    """Shapes; on the way from the largest circle to the smallest lies one green triangle."""

    def triangle(x: float, y: float, colour: str) -> None:
        axes.add_patch(RegularPolygon((x, y), 3, radius=0.42, fill=False, color=colour, lw=2.2))

    axes.add_patch(Circle((8.2, 0.9), 0.85, fill=False, color=ORANGE, linewidth=2.2))
    axes.add_patch(Circle((1.0, 0.75), 0.32, fill=False, color=ORANGE, linewidth=2.2))
    axes.add_patch(Circle((6.1, 3.0), 0.55, fill=False, color=ORANGE, linewidth=2.2))
    axes.add_patch(Circle((3.4, 2.4), 0.55, fill=False, color=ORANGE, linewidth=2.2))
    triangle(4.7, 0.8, GREEN)
    for x, y in ((0.9, 2.9), (2.0, 3.9), (6.3, 4.3)):
        triangle(x, y, GREEN)
    for x, y in ((2.2, 2.2), (4.9, 4.0), (8.6, 4.1)):
        triangle(x, y, BLUE)
    axes.add_patch(Rectangle((4.5, 1.9), 0.5, 1.5, fill=False, color=GREEN, linewidth=2.2))
    axes.add_patch(Rectangle((6.9, 2.0), 1.5, 0.6, fill=False, color=GREEN, linewidth=2.2))
    star(axes, 7.7, 3.4, BLUE)
    star(axes, 3.4, 3.6, BLUE)
    axes.set(xlim=(0.2, 9.4), ylim=(0, 4.9))


def star(axes: Axes, x: float, y: float, colour: str) -> None:
    """A star with five rays."""
    points = []
    for n in range(10):
        radius, turn = (0.45, 0.19)[n % 2], math.pi / 2 + math.pi * n / 5
        points.append((x + radius * math.cos(turn), y + radius * math.sin(turn)))
    axes.add_patch(Polygon(points, fill=False, color=colour, linewidth=2.2))


def planets(axes: Axes) -> None:
    """Six planets among shapes that overlap: five of them have five, the orange one four."""
    rng = random.Random(SEED)
    colours = (BLUE, RED, GREEN, ORANGE, "#7b3fa0", GREY)
    for number, colour in enumerate(colours):
        x, y = 1.6 + 3.3 * (number % 3), 4.6 - 2.9 * (number // 3)
        axes.add_patch(Circle((x, y), 0.52, color=colour, zorder=2))
        beside, begins = (4 if colour == ORANGE else 5), rng.uniform(0, 2)
        for n in range(beside):
            turn = begins + 2 * math.pi * n / beside + rng.uniform(-0.1, 0.1)
            far = rng.uniform(0.68, 0.86)
            at = (x + far * math.cos(turn), y + far * math.sin(turn))
            sides = rng.choice((3, 4, 6))
            axes.add_patch(RegularPolygon(
                at, sides, radius=0.3, orientation=rng.uniform(0, 2), facecolor="white",
                edgecolor="black", linewidth=1.8, zorder=3,
            ))  # fmt: skip
    axes.set(xlim=(0.2, 9.8), ylim=(0.3, 6))


SAME = "none: they are the same size"
# The picture, what is asked, the answers with the expected one first, and what is said of it.
PICTURES: dict[str, tuple[Callable[[Axes], None], str, tuple[str, ...], str]] = {
    "mueller_lyer": (mueller_lyer, "Which is longer, the blue line or the red line?",
                     ("the blue line", "the red line", SAME), "Two lines with fins at their ends"),
    "ebbinghaus": (ebbinghaus, "Which is bigger, the blue circle or the red circle?",
                   ("the red circle", "the blue circle", SAME),
                   "A red circle and a blue circle, each among black circles"),
    "cafe_wall": (cafe_wall, "Are the grey lines straight and level, or do they slant?",
                  ("they slant", "they are straight and level"),
                  "Rows of black tiles with grey lines between them"),
    "robot": (robot, "The robot moves by the same step each time. Where will it be in step 4?",
              ("about the middle of the square", "at the bottom right", "at the bottom left",
               "at the top right", "at the top left", "outside of the square"),
              "Four frames; a robot in the first three, the last one empty"),
    "planets": (planets, "Five of the planets have five shapes around them. Which has only four?",
                ("the orange one", "the purple one", "the blue one", "the red one",
                 "the green one", "the grey one"), "Six planets with shapes around them"),
    "oranges": (oranges,
                "The largest circle moves straight to the left, to the smallest. What is in its "
                "way?", ("a green triangle", "a green triangle and a blue star", "nothing",
                         "a blue triangle"), "Circles, triangles, stars and rectangles"),
}  # fmt: skip
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
NAMES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
# How many letters a list has, and which of them is asked for.
LISTS = ((5, 3), (6, 2), (6, 5), (7, 4), (7, 6), (8, 3), (8, 5), (9, 6))
# The study's own task, beside which the block stands.
OWN = (
    ("The keys to the cabinet are on the table.", "The keys to the cabinet is on the table."),
    ("The label on the bottles is red.", "The label on the bottles are red."),
    ("The friends of the teacher have left.", "The friends of the teacher has left."),
    ("The road to the villages was closed.", "The road to the villages were closed."),
    ("The drawings in the book were old.", "The drawings in the book was old."),
    ("The answer to the questions seems short.", "The answer to the questions seem short."),
)


def png(draw: Callable[[Axes], None]) -> bytes:
    """Return a picture as a PNG with a palette, 720 pixels wide."""
    figure, axes = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
    draw(axes)
    axes.set_aspect("equal")
    axes.axis("off")
    whole = io.BytesIO()
    figure.savefig(whole, dpi=100, facecolor="white", bbox_inches="tight", pad_inches=0.12)
    plt.close(figure)
    small = io.BytesIO()
    image = Image.open(whole).convert("RGB").quantize(24, method=Image.Quantize.MEDIANCUT)
    image.save(small, "PNG", optimize=True)
    return small.getvalue()


def rows() -> list[dict[str, str]]:
    """Return the items: the study's own, and the block's."""
    found = [
        {"item_id": f"own_{n}", "kind": "target", "construction": "agreement",
         "template": "agreement", "frame": f"item={n}", "good": good, "bad": bad,
         "contrast": "bad", "task": "pairs"}
        for n, (good, bad) in enumerate(OWN, 1)
    ]  # fmt: skip
    for name, (draw, asked, answers, said) in PICTURES.items():
        address = f"data:image/png;base64,{base64.b64encode(png(draw)).decode()}"
        texts = dict(zip(("good", "bad", "distractor", "third", "fourth", "fifth"), answers,
                         strict=False))  # fmt: skip
        found.append({"item_id": name, "construction": "picture", "template": "picture",
                      "frame": f"item={name}", "contrast": "bad",
                      "context": f"{asked} ![{said}]({address})",
                      "task": "picture", **texts})  # fmt: skip
    rng = random.Random(SEED)
    for number, (length, place) in enumerate(LISTS, 1):
        letters = rng.sample(LETTERS, length)
        right = letters[place - 1]
        wrong = letters[place - 2 if rng.random() < 0.5 else place % length]
        answers = rng.sample([right, wrong], 2)
        found.append({"item_id": f"recall_{number}", "construction": "recall",
                      "template": "recall", "frame": f"item={number}", "contrast": "bad",
                      "task": "recall", "good": " ".join(letters),
                      "question": f"Which letter came {NAMES[place - 1]}?",
                      "answers": " | ".join(answers), "answer": right})  # fmt: skip
    return [{"kind": "filler", **one} for one in found]


def main() -> None:
    """Write the items, and the sheet of all pictures where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sheet", type=Path, help="where all pictures are shown together")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the items are written")
    options = parser.parse_args()
    with (options.folder / "items.tsv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, delimiter="\t", restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(rows())
    for name, (draw, *_) in PICTURES.items():
        print(f"{name:<14}{len(png(draw)):>7} bytes")
    if options.sheet:
        figure, all_axes = plt.subplots(3, 2, figsize=(10, 8.4), layout="constrained")
        for axes, (draw, asked, *_) in zip(all_axes.flat, PICTURES.values(), strict=True):
            draw(axes)
            axes.set_aspect("equal")
            axes.axis("off")
            axes.set_title(asked, fontsize=9)
        figure.savefig(options.sheet, dpi=110, facecolor="white")


if __name__ == "__main__":
    main()
