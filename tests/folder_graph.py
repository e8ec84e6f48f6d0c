"""Which of our folders import which, counted and searched for circles; and how long files are.

``python -m tests.folder_graph [CHECKOUT]`` prints the counts of this checkout or of another one.
"""

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGES = ("experiment", "webapp", "lm", "analysis", "marketplace")
DOORS = ("parallax.py", "wsgi.py")


def sources(root: Path) -> list[Path]:
    """Return every Python file of the program, tests and benchmarks aside."""
    files = [root / door for door in DOORS]
    for package in PACKAGES:
        files += sorted((root / package).rglob("*.py"))
    return files


def modules(root: Path) -> dict[str, Path]:
    """Return every module by its dotted name; a package is its ``__init__``."""
    return {
        path.relative_to(root)
        .as_posix()
        .removesuffix(".py")
        .removesuffix("/__init__")
        .replace("/", "."): path
        for path in sources(root)
    }


@cache
def tree(path: Path) -> ast.Module:
    """Return a file as Python reads it, once for all who ask."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """Return every import of a file, wherever in it it stands."""
    return [node for node in ast.walk(tree(path)) if isinstance(node, ast.Import | ast.ImportFrom)]


def module_imports(root: Path) -> Iterator[tuple[str, str]]:
    """Yield every import of one of our modules by another, wherever in the file it stands."""
    ours = modules(root)
    for importer, path in ours.items():
        for node in imports(path):
            if isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            else:
                inside = [f"{node.module}.{alias.name}" for alias in node.names]
                targets = [name if name in ours else str(node.module) for name in inside]
            yield from ((importer, target) for target in targets if target in ours)


def folder_arrows(imports: Iterable[tuple[str, str]]) -> dict[str, dict[str, set[str]]]:
    """Return, for each folder, which of its parts import which of its other parts."""
    arrows: dict[str, dict[str, set[str]]] = {}
    for importer, imported in set(imports):
        a, b = importer.split("."), imported.split(".")
        depth = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
        if depth is not None:  # otherwise one is the package of the other
            arrows.setdefault(".".join(a[:depth]), {}).setdefault(a[depth], set()).add(b[depth])
    return arrows


def circle(arrows: dict[str, set[str]]) -> list[str]:
    """Return names that import each other in a circle; empty where there is none."""
    try:
        tuple(TopologicalSorter(arrows).static_order())
    except CycleError as error:
        return list(error.args[1])
    return []


def circles(root: Path) -> dict[str, list[str]]:
    """Return a circle for each folder, at any depth, whose parts import each other in one."""
    found = {folder: circle(graph) for folder, graph in folder_arrows(module_imports(root)).items()}
    return {folder: names for folder, names in found.items() if names}


def main() -> None:
    """Print the counts of a checkout."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    imports = set(module_imports(root))
    second = {(_second(a), _second(b)) for a, b in imports}
    lying = [path for path in sources(root) if path.parent.parent == root and path.parent != root]
    print("modules", len(modules(root)))
    print("imports between them", len(imports))
    print("second-level folders and files", len({_second(name) for name in modules(root)}))
    print("arrows between those", len({(a, b) for a, b in second if a != b}))
    print("files at a package's root", len([p for p in lying if p.name != "__init__.py"]))
    print("folders with a circle", len(circles(root)), circles(root) or "")
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sources(root)}
    ordered = sorted(lengths.values())
    print("lines of a file: median", ordered[len(ordered) // 2], end=", ")
    print("nine of ten up to", ordered[len(ordered) * 9 // 10], "- longest", ordered[-1])
    for package in PACKAGES:
        inside = [n for path, n in lengths.items() if path.is_relative_to(root / package)]
        print(f"lines of {package}", f"{sum(inside):,} in {len(inside)} files")
    print("lines of the packages", f"{sum(ordered) - sum(lengths[root / d] for d in DOORS):,}")


def _second(module: str) -> str:
    return ".".join(module.split(".")[:2])


if __name__ == "__main__":
    main()
