"""What every installation of one process has in common is made once.

Each test opens an installation of its own, whose addresses and templates are those of all
others: compiling them anew was a fifth of what the tests of the server cost. A server compiles them
once, so nothing that it does is left out.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import wraps
from hashlib import sha256
from importlib.resources.abc import Traversable
from itertools import count
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from argon2 import PasswordHasher
from botocore.loaders import JSONFileLoader, Loader
from flask import Flask
from jinja2 import Environment
from jinja2.bccache import Bucket, BytecodeCache
from sqlalchemy import Dialect, Engine
from sqlalchemy.util import LRUCache
from werkzeug.routing import Map, Rule, RuleFactory
from werkzeug.routing.matcher import StateMachineMatcher

from experiment.authoring.check import SoundStudy
from experiment.design.lists import build_lists
from experiment.materials.read import load_items
from experiment.studies.files import study_files
from experiment.studies.study import Study
from marketplace import storage
from marketplace.mturk import store as mturk_store
from marketplace.prolific import store as prolific_store
from webapp import app as installation
from webapp.core import keys
from webapp.core.keys import Keys
from webapp.core.sealing import Sealer
from webapp.database import engine as engines
from webapp.database.models import identity
from webapp.participant import assets
from webapp.runs import launch
from webapp.users import passwords

# Hashing is dear so that guessing is; who tries that asks for this one.
SERVERS_HASHER = passwords._HASHER


def make_once() -> None:
    """Let the apps of this process share what each would make anew."""
    _addresses()
    _templates()
    _statements()
    _migrations()
    _stand_ins()
    _programs()
    _files()
    _descriptions()
    passwords._HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


# What two addresses that mean the same have in common before they are read.
_OF_RULE = (
    *("rule", "endpoint", "defaults", "subdomain", "host", "build_only", "alias", "websocket"),
    *("strict_slashes", "merge_slashes", "redirect_to", "provide_automatic_options"),
)


def _addresses() -> None:
    """Share what is read of addresses between the apps that have the same, in the same order."""
    update, made = Map.update, dict[object, Map]()

    def add(map_: Map, factory: RuleFactory) -> None:
        map_.__dict__.setdefault("added", []).extend(factory.get_rules(map_))
        map_._remap = True

    def updated(map_: Map) -> None:
        if not map_._remap:
            return
        added: list[Rule] = map_.__dict__.get("added", [])
        key = (map_.host_matching, *map_.converters.items(), *map(_meaning, added))
        if key not in made:
            map_._matcher, map_._rules_by_endpoint = StateMachineMatcher(map_.merge_slashes), {}
            for rule in added:
                rule.bind(map_, rebind=True)
                if not rule.build_only:
                    map_._matcher.add(rule)
                map_._rules_by_endpoint.setdefault(rule.endpoint, []).append(rule)
            update(map_)
            made[key] = map_
        map_._matcher = made[key]._matcher
        map_._rules_by_endpoint = made[key]._rules_by_endpoint
        map_._remap = False

    Map.add, Map.update = add, updated  # type: ignore[method-assign]


def _meaning(rule: Rule) -> tuple[object, ...]:
    of_rule = (getattr(rule, name, None) for name in _OF_RULE)
    return (*map(repr, of_rule), None if rule.methods is None else frozenset(rule.methods))


class _Templates(BytecodeCache):
    """Compiled templates, by where they lie and what they say."""

    def __init__(self) -> None:
        self._made = dict[tuple[str, str], CodeType]()

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._made.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        assert bucket.code is not None
        self._made[bucket.key, bucket.checksum] = bucket.code


def _templates() -> None:
    """Share templates: the apps of one version compile each to the same code."""
    made = _Templates()
    original = Flask.create_jinja_environment

    def with_made(app: Flask) -> Environment:
        environment = original(app)
        environment.bytecode_cache = made
        return environment

    Flask.create_jinja_environment = with_made  # type: ignore[method-assign,assignment]


def _statements() -> None:
    """Share compiled statements between the databases that the same keys open.

    A compiled statement keeps the types of its values, and a sealed one keeps its keys.
    """
    original, compiled = identity.unlock, LRUCache[Any, Any](5_000)
    made = dict[tuple[str, str, Keys], Dialect]()

    def unlocked(engine: Engine, sealer: Sealer) -> None:
        own = engine.dialect
        if not hasattr(own, "default_isolation_level"):  # it learns about its database yet
            original(engine, sealer)
            return
        if (key := (own.name, own.driver, sealer.keys)) not in made:
            made[key] = engine.dialect = copy(own)
            made[key].__dict__.pop("_type_memos", None)  # what types made of other keys
            original(engine, sealer)
        engine.dialect, engine._compiled_cache = made[key], compiled

    identity.unlock = engines.unlock = unlocked  # type: ignore[attr-defined]


def _migrations() -> None:
    """Share the migrations: each step upwards or downwards, and each new schema, reads them all."""
    original, made = ScriptDirectory.from_config, dict[str | None, ScriptDirectory]()

    def from_config(config: Config) -> ScriptDirectory:
        folder = config.get_main_option("script_location")
        if folder not in made:
            made[folder] = original(config)
        return made[folder]

    ScriptDirectory.from_config = from_config  # type: ignore[method-assign,assignment]


def _stand_ins() -> None:
    """Share compiled statements between the stand-ins of one platform."""
    original, compiled = storage.sqlite_engine, LRUCache[Any, Any](2_000)
    made = list[Dialect]()

    def sqlite_engine(file: Path) -> Engine:
        engine = original(file)
        if made:
            engine.dialect, engine._compiled_cache = made[0], compiled
        else:
            engine._compiled_cache = compiled
            with engine.connect():  # it learns what SQLite can do
                made.append(engine.dialect)
        return engine

    for store in (mturk_store, prolific_store):
        store.sqlite_engine = sqlite_engine  # type: ignore[attr-defined]


def _programs() -> None:
    """Share the program of the pages that is joined of the same modules."""
    original, made = assets.join_modules, dict[object, str]()

    def shared(name: str, modules: Mapping[str, str]) -> str:
        key = (name, *modules.items())
        if key not in made:
            made[key] = original(name, modules)
        return made[key]

    assets.join_modules = shared  # type: ignore[attr-defined]


def _files() -> None:
    """Share the files of the pages, packed and digested, where the same are asked for."""
    original, made = installation.Assets, dict[object, assets.Assets]()

    def shared(folder: Path, scripts: Mapping[str, Traversable]) -> assets.Assets:
        key = (folder, *((name, str(script)) for name, script in scripts.items()))
        if key not in made:
            made[key] = original(folder, scripts)
        return made[key]

    installation.Assets = shared  # type: ignore[attr-defined,misc,assignment]


def _descriptions() -> None:
    """Share the descriptions of Amazon's services: each client reads megabytes of them."""
    for kind, name in ((JSONFileLoader, "load_file"), (Loader, "list_available_services")):
        setattr(kind, name, _by_what_is_asked(getattr(kind, name)))


def _by_what_is_asked(original: Callable[..., Any]) -> Callable[..., Any]:
    made = dict[object, Any]()

    @wraps(original)
    def kept(self: object, *asked: Any, **named: Any) -> Any:
        key = (*getattr(self, "search_paths", ()), *asked, *named.items())
        if key not in made:
            made[key] = original(self, *asked, **named)
        return made[key]

    return kept


def same_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the first installation of every test have the same keys, and the second one others."""
    numbers = count()
    new = lambda: sha256(f"key {next(numbers)}".encode()).hexdigest()  # noqa: E731
    monkeypatch.setattr(keys, "_generate_secret", new)


def have_keys(instance: Path) -> None:
    """Make the keys of an instance whose database knows nobody, as the first start would.

    The start opens the database once more only to be sure of that, which was a fifth of its cost;
    those that have a test of it make no app with the fixture.
    """
    if instance.is_dir():
        keys.make_keys(instance)


@contextmanager
def unchecked() -> Iterator[None]:
    """Launch without the checks of a study that has 163,000 items: it has tests of its own."""

    def built(study: Study, seed: int) -> SoundStudy:
        return SoundStudy(study, (), build_lists(study, load_items(study), seed))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "require_sound", built)
        yield


# Sound studies with their lists, by what their files say, and the seed.
_sound = dict[object, SoundStudy]()


def checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check a study and build its lists once, not at each launch of the same files and seed."""
    original = launch.require_sound

    def kept(study: Study, seed: int) -> SoundStudy:
        key = (study.name, seed, *study_files(study).items())
        if key not in _sound:
            _sound[key] = original(study, seed)
        return replace(_sound[key], study=study)

    monkeypatch.setattr(launch, "require_sound", kept)
