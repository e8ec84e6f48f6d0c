"""The steps of the image's Dockerfile, read from the file itself."""

import re
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "docs" / "deploy"


@dataclass(frozen=True)
class Step:
    """One instruction: its word, and what follows."""

    word: str
    text: str


@dataclass
class Stage:
    """What stands between two FROM.

    Attributes:
        base: The image it begins with.
        name: What other stages call it.
        steps: Its instructions.
    """

    base: str
    name: str
    steps: list[Step] = field(default_factory=list)

    def texts(self, word: str) -> list[str]:
        """Return what follows each instruction of that name."""
        return [step.text for step in self.steps if step.word == word]

    def environment(self) -> dict[str, str]:
        """Return what its ENV instructions set."""
        return dict(pair.split("=", 1) for text in self.texts("ENV") for pair in text.split())


def read_dockerfile(path: Path = DEPLOY / "Dockerfile") -> list[Stage]:
    """Return the stages of a Dockerfile, whose instructions stand in one line each.

    Raises:
        AssertionError: An instruction goes on in the next line.
    """
    arguments: dict[str, str] = {}
    found: list[Stage] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        assert not line.endswith("\\"), "one line for each instruction"
        word, text = line.split(maxsplit=1)
        if word == "ARG" and not found:
            name, _, default = text.partition("=")
            arguments[name] = default
        elif word == "FROM":
            base, _, name = text.partition(" AS ")
            base = re.sub(r"\$\{(\w+)\}", lambda given: arguments[given[1]], base)
            found.append(Stage(base, name))
        else:
            found[-1].steps.append(Step(word, text))
    return found


def in_context(files: list[str]) -> list[str]:
    """Return those of the source folder's files that a build of the image may see."""
    lines = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*", "everything is left out that is not named"
    kept = [rule.removeprefix("!") for rule in rules if rule.startswith("!")]
    return [
        file
        for file in files
        if any(file == rule or file.startswith(f"{rule}/") or fnmatch(file, rule) for rule in kept)
    ]
