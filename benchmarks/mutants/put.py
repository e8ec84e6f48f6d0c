"""Put a mutant in the place of the true code, in a process that has imported it already.

A function gets the changed code, wherever it is held; a module's name gets the changed value. What
was remembered of earlier calls is forgotten.
"""

import ast
import gc
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from benchmarks.mutants.changes import Mutant

OURS = ("experiment", "webapp", "lm", "analysis")


class Place:
    """Where the functions of some files are held in this process, found once before the forks."""

    def __init__(self, files: set[str]) -> None:
        gc.unfreeze()  # the tests set aside what they load first
        self._functions: dict[str, list[FunctionType]] = {file: [] for file in files}
        for one in gc.get_objects():
            # Others' objects may answer a question for their class with a warning.
            if type(one) is FunctionType and one.__code__.co_filename in files:
                self._functions[one.__code__.co_filename].append(one)
        self._caches = list(_caches())
        gc.freeze()  # garbage too: no fork looks at it, and to find it takes longer than all this

    def put(self, mutant: Mutant) -> bool:
        """Put the changed code in the place of the true one, everywhere in this process."""
        file = str(mutant.file.resolve())
        made = compile(mutant.tree(), file, "exec")
        for one in self._caches:
            one.cache_clear()
        if mutant.name:
            return _rebound(mutant, file)
        new = {(code.co_qualname, code.co_firstlineno): code for code in _codes(made)}
        found = False
        for function in self._functions[file]:
            code = new.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
            if code is not None and code.co_freevars == function.__code__.co_freevars:
                function.__code__, found = code, True
        return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _codes(part)


def forget() -> list[Any]:
    """Forget what our functions remembered of earlier calls, and return what remembers it."""
    gc.unfreeze()
    caches = list(_caches())
    for one in caches:
        one.cache_clear()
    return caches


def _caches() -> Iterator[Any]:
    for one in gc.get_objects():
        if type(one).__name__ == "_lru_cache_wrapper" and str(
            getattr(one, "__module__", "")
        ).startswith(OURS):
            yield one


def _rebound(mutant: Mutant, file: str) -> bool:
    """Give a name of a module another value, wherever it was imported to."""
    module = next(
        (one for one in sys.modules.values() if getattr(one, "__file__", None) == file), None
    )
    if module is None:
        return False
    old = vars(module)[mutant.name]
    assigned = next(
        node for node in mutant.tree().body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == mutant.name
    )  # fmt: skip
    scope = dict(vars(module))
    exec(compile(ast.Module([assigned], []), file, "exec"), scope)
    for one in list(sys.modules.values()):
        if vars(one).get(mutant.name) is old and getattr(one, "__file__", None):
            setattr(one, mutant.name, scope[mutant.name])
    return True
