"""What a study, a launch or a model's folder may name, from the registries themselves."""

import ast
import importlib.util
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel

from experiment.exclusion.rules import RULES
from experiment.materials.render import RENDERINGS
from experiment.plugins import Registry
from experiment.responses.registry import RESPONSE_TYPES
from experiment.responses.responders import RESPONDERS
from lm.registry import TYPES
from reference.markdown import code, plain, table
from webapp.recruiters.registry import RECRUITERS

REGISTRIES: Mapping[str, tuple[str, Registry]] = {
    "Types of response": ("`response` in study.toml: what a trial asks for.", RESPONSE_TYPES),
    "Exclusion rules": ("`rule` under `[[exclusion]]`: who is left out.", RULES),
    "Renderings": (
        "`shown_to_people` and `given_to_models` under `[materials]`: how plain words are written.",
        RENDERINGS,
    ),
    "Simulated responders": ("`mix` under `[simulation]`: how a program answers.", RESPONDERS),
    "Recruiters": ("`parallax launch --recruiter`: how participants come.", RECRUITERS),
}


def names_page() -> str:
    """Return every built-in name with what it stands for and its parameters."""
    parts = [
        "# Names: types of response, rules, renderings, responders, recruiters, models\n",
        "The names that Parallax brings. Each kind takes [plug-ins](../plugins.md) too.\n",
    ]
    for title, (introduction, registry) in REGISTRIES.items():
        parts += [f"## {title}\n", f"{introduction}\n"]
        parts += [_described(name, registry.load(name)) for name in registry.built_in]
    parts += ["## Language models\n", "`type` in the `config.json` of a model's folder.\n"]
    parts += [f"### {name}\n\n{plain(_docstring(target))}\n" for name, target in TYPES.items()]
    return "\n".join(parts)


def _described(name: str, found: object) -> str:
    text = f"### {name}\n\n{plain(_paragraph(inspect.getdoc(found) or ''))}\n"
    if isinstance(found, type) and issubclass(found, BaseModel):
        rows = list(_parameters(found))
        text += f"\n{table(('Parameter', 'Type', 'Default', 'Meaning'), rows)}" if rows else ""
    return text


def _parameters(model: type[BaseModel]) -> Iterator[tuple[str, str, str, str]]:
    properties = model.model_json_schema().get("properties", {})
    for name, field in model.model_fields.items():
        shape = properties[field.alias or name]
        kinds = shape.get("anyOf", [shape])
        types = " or ".join(kind.get("type", "table") for kind in kinds)
        default = "required" if field.is_required() else code(field.get_default()) or "empty"
        yield code(field.alias or name), types, default, plain(field.description or "")


def _docstring(target: str) -> str:
    """Return the docstring of a class whose module may need PyTorch, so is not imported."""
    module, _, name = target.partition(":")
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    [found] = [one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == name]
    return _paragraph(ast.get_docstring(found) or "")


def _paragraph(docstring: str) -> str:
    """Return a docstring up to its sections on arguments, results and errors."""
    lines = []
    for line in docstring.splitlines():
        if line.strip() in ("Args:", "Attributes:", "Returns:", "Raises:", "Yields:"):
            break
        lines.append(line)
    return "\n".join(lines).strip()
