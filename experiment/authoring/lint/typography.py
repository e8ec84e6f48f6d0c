"""Signs that are typed otherwise in some items than in the others."""

from collections.abc import Iterator

from experiment.authoring.lint.materials import Fault, Materials


def typography(materials: Materials) -> Iterator[Fault]:
    """Yield items whose quotation marks or apostrophes are typed otherwise than in the others."""
    for kind, straight, curly in (("quotation marks", '"', "\u201c\u201d\u201e"),
                                  ("apostrophes", "'", "\u2018\u2019")):  # fmt: skip
        with_straight, with_curly = (
            [item for item in materials.items if any(mark in item.good for mark in marks)]
            for marks in (straight, curly)
        )
        if not with_straight or not with_curly:
            continue
        rarer = min(with_straight, with_curly, key=len)
        others = len(with_straight) + len(with_curly) - len(rarer)
        yield Fault(
            "typed otherwise",
            tuple(rarer),
            f"has {'curly' if rarer is with_curly else 'straight'} {kind}, where {others} item(s) "
            f"have {'straight' if rarer is with_curly else 'curly'} ones",
            "Write all alike: what is typed otherwise in one condition is a part of it, and models "
            "read other tokens",
        )
