"""The repository's examples and the founding studies, as what is taken through every command."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiment.materials.read import load_items
from experiment.records import Kind
from experiment.studies.load import load_study

FOLDERS = tuple(
    path.parent.absolute() for path in sorted(Path().glob("docs/examples/*/study.toml"))
)
FOUNDING = ("minimal", "marvin_linzen_2018", "gulordava_2018_italian")
_OPTIONS = {
    **dict.fromkeys(("sentence_pair", "prefix_completion", "yes_no"), ("--accuracy", "0.9")),
    "read_then_rate": ("--slowdown", "5"),
}


@dataclass(frozen=True, slots=True)
class Example:
    """What an example has, and so what may be spoken of: see the fields of ``Drawn``.

    Attributes:
        folder: Where it lies; None for a study that is named without a folder.
        name: Its name.
        response: Its type of response.
        factors: Its conditions.
        between: Whether a factor between participants is declared.
        fillers: How many.
        catch: How many catch trials.
        has_pairs: Whether its items have two versions.
    """

    folder: Path | None
    name: str
    response: str
    factors: tuple[str, ...]
    between: bool
    fillers: int
    catch: int
    has_pairs: bool

    @property
    def planned(self) -> Sequence[str] | None:
        """The options of its power; None where there is none to plan."""
        alone = self.response == "mixed" or len(self.factors) < 2
        alone = alone and self.response not in ("sentence_pair", "prefix_completion")
        return None if alone else _OPTIONS.get(self.response, ())


def example(where: Path | str) -> Example:
    """Return an example from its folder, or a founding study from its name."""
    study = load_study(str(where))
    items = load_items(study)
    kinds = [item.kind for item in items]
    return Example(
        where if isinstance(where, Path) else None, Path(where).name, study.response,
        tuple(dict.fromkeys(item.condition for item in items if item.kind == Kind.TARGET)),
        bool(study.design.factors), kinds.count(Kind.FILLER), kinds.count(Kind.CATCH),
        any(item.alternative for item in items),
    )  # fmt: skip
