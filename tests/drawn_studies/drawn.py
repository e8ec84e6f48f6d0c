"""A study of one's own, drawn by seed: its table, and what its author adds to study.toml."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

RESPONSES = ("sentence_pair", "rating", "yes_no", "scales", "prefix_completion", "self_paced")
_FACTORS = {"structure": ("island", "nonisland"), "length": ("short", "long", "longest"),
            "mood": ("asked", "told")}  # fmt: skip
_NOUNS = ("baker", "captain", "doctor", "farmer", "guard", "judge", "king", "miner", "nurse",
          "pilot", "sailor", "tailor")  # fmt: skip
_THINGS = ("apple", "bell", "clock", "drum", "engine", "fence", "glove", "horn", "inkwell", "jar",
           "kettle", "lamp")  # fmt: skip
_PAIRS = ("sentence_pair", "prefix_completion")


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a drawn study has, and so what may be spoken of.

    Attributes:
        name: The study's.
        response: Its type of response.
        factors: The columns of its factors within items.
        between: Whether a factor between participants is declared.
        fillers: How many.
        catch: How many catch trials.
        frequency: Whether items have a number of the author's own, held constant in the analysis.
        native: Whether a rule asks for the native language.
        fast: Whether a rule is about times.
        margin: The margin of the answer, or nothing.
        frames: How many frames.
    """

    name: str
    response: str
    factors: tuple[str, ...]
    between: bool
    fillers: int
    catch: int
    frequency: bool
    native: bool
    fast: bool
    margin: float | None
    frames: int

    def table(self) -> str:
        """Return the CSV that its author would bring."""
        header = ["item", "construction", "kind", *self.factors]
        header += ["frequency"] if self.frequency else []
        header += self._texts
        rows = [header]
        combinations = list(product(*(_FACTORS[one] for one in self.factors)))
        for number in range(1, self.frames + 1):
            rows += [self._row(number, "target", levels) for levels in combinations]
        for kind, n in (("filler", self.fillers), ("catch", self.catch)):
            rows += [
                self._row(number, kind, ("",) * len(self.factors)) for number in range(1, n + 1)
            ]
        return "\n".join(",".join(row) for row in rows) + "\n"

    @property
    def has_pairs(self) -> bool:
        """Whether its items have two versions."""
        return len(self._texts) > 1

    @property
    def planned(self) -> Sequence[str] | None:
        """The options of its power; None where there is none to plan."""
        if self.response == "self_paced":
            return None
        return () if self.response in ("rating", "scales") else ("--accuracy", "0.9")

    @property
    def _texts(self) -> list[str]:
        if self.response == "prefix_completion":
            return ["context", "good", "bad"]
        return ["good", "bad"] if self.response in (*_PAIRS, "yes_no") else ["sentence"]

    def _row(self, number: int, kind: str, levels: Sequence[str]) -> list[str]:
        who, what = _NOUNS[number % 12], _THINGS[(number * 5) % 12]
        words = " ".join(one for one in levels if one)
        start = f"The {who} {'' if kind == 'target' else kind + ' '}near the {what} {words}".strip()
        good, bad = ("is old", "are old") if number % 2 else ("sees it", "see it")
        texts = {"context": start, "good": f"{start} {good}.", "bad": f"{start} {bad}.",
                 "sentence": f"{start} {good}."}  # fmt: skip
        if self.response == "prefix_completion":
            texts |= {"good": good, "bad": bad}
        if self.response == "self_paced":
            texts["sentence"] = f"The {who}|near the {what}|{words or kind}|{good}."
        own = [str(number), "agreement" if kind == "target" else kind, kind, *levels]
        own += [str(1 + number % 7)] if self.frequency else []
        return own + [texts[name] for name in self._texts]

    def options(self) -> list[str]:
        """Return what its author says to `study new` besides the table."""
        return ["--response", self.response, *(f"--factor={one}" for one in self.factors)]

    def edited(self, text: str) -> str:
        """Return study.toml as its author leaves it."""
        if self.between:
            text = text.replace("[design]\n", '[design]\nfactors = { wording = ["a", "b"] }\n', 1)
        rules = ""
        if self.native:
            rules += ('[[exclusion]]\nrule = "not_native"\nquestion = "native_language"\n'
                      'accepted = ["English"]\n\n')  # fmt: skip
        if self.fast:
            rules += '[[exclusion]]\nrule = "too_fast"\nbelow_ms = 200\nmax_share = 0.3\n\n'
        if self.margin is not None or self.frequency:
            rules += "[analysis]\n"
            rules += f"margin = {self.margin}\n" if self.margin is not None else ""
            rules += 'covariates = ["frequency"]\n' if self.frequency else ""
            rules += "\n"
        return text.replace("[[questionnaire]]", f"{rules}[[questionnaire]]", 1)


def drawn(seed: int) -> Drawn:
    """Return the study of a seed; of each type of response one in six."""
    rng = random.Random(seed)
    response = RESPONSES[seed % len(RESPONSES)]
    factors = rng.sample(list(_FACTORS), rng.choice((1, 1, 2)))
    pairs = response in (*_PAIRS, "yes_no")
    return Drawn(
        name=f"own{seed}",
        response=response,
        factors=tuple(factors),
        between=rng.random() < 0.4,
        fillers=rng.choice((0, 0, 6)),
        catch=rng.choice((0, 4)) if pairs else 0,
        frequency=rng.random() < 0.4,
        native=rng.random() < 0.5,
        fast=rng.random() < 0.3,
        margin=rng.choice((None, None, 0.05)) if response in _PAIRS else None,
        frames=rng.choice((6, 12)),
    )
