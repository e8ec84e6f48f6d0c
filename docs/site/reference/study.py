"""Every key of study.toml, from the schema that ``parallax study schema`` writes."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from experiment.authoring.study_toml import study_schema
from reference.markdown import code, plain, table

_REFERENCE = "#/$defs/"
_HEADINGS = ("Key", "Type", "Default", "Meaning")


class _Place(NamedTuple):
    """One table of study.toml: its heading there, and what the schema says of it."""

    heading: str
    shape: Mapping[str, Any]


def study_page() -> str:
    """Return every table of study.toml with its keys, in the order of the schema."""
    schema: Any = study_schema()
    schema = _with_choices(schema, schema["$defs"])
    root = _Place("", schema)
    parts = [
        "# Every key of study.toml\n",
        "[The keys, with examples](../studies.md) explains how they work together. `parallax study"
        " schema` writes the same for your editor, which then completes and checks the file.\n",
        "## At the top\n",
        table(_HEADINGS, _rows(root, schema["$defs"])),
    ]
    described: dict[int, str] = {}
    for place in _places(root, schema["$defs"]):
        rows = list(_rows(place, schema["$defs"]))
        first = described.setdefault(id(place.shape), place.heading)
        parts.append(f"## {plain(place.heading)}\n")
        if first != place.heading:
            parts.append(f"The same keys as {plain(first)}.\n")
        else:
            parts.append(f"{plain(place.shape.get('description', ''))}\n")
            parts.append(table(_HEADINGS, rows) if rows else "")
    return "\n".join(parts)


def _with_choices(node: Any, shapes: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON is anything
    """Return the schema with each choice of words where it is used; tables stay references."""
    if isinstance(node, list):
        return [_with_choices(each, shapes) for each in node]
    if not isinstance(node, dict):
        return node
    shape = shapes[node["$ref"].removeprefix(_REFERENCE)] if "$ref" in node else {"properties": {}}
    own = {key: _with_choices(value, shapes) for key, value in node.items()}
    return own if "properties" in shape else {**shape, **own, "$ref": ""}


def _places(parent: _Place, shapes: Mapping[str, Any]) -> Iterator[_Place]:
    for key, shape in parent.shape.get("properties", {}).items():
        name, many = _table_of(shape)
        if name:
            path = f"{parent.heading.strip('[]')}.{key}".strip(".")
            place = _Place(f"[[{path}]]" if many else f"[{path}]", shapes[name])
            yield place
            yield from _places(place, shapes)


def _table_of(shape: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the name of the table that a key holds, empty if none, and whether of many."""
    for kind in shape.get("anyOf", [shape]):
        named = [kind.get("additionalProperties"), *kind.get("patternProperties", {}).values()]
        # A table of tables with names of the author's is told once, as an example.
        tables = [(each, False) for each in named if isinstance(each, dict)]
        for each, many in ((kind, False), (kind.get("items", {}), True), *tables):
            if each.get("$ref"):
                return each["$ref"].removeprefix(_REFERENCE), many
    return "", False


def _rows(place: _Place, shapes: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    required = place.shape.get("required", ())
    for key, shape in place.shape.get("properties", {}).items():
        if not _table_of(shape)[0]:
            default = "required" if key in required else _default(shape)
            yield code(key), _type(shape), default, plain(shape.get("description", ""))


def _type(shape: Mapping[str, Any]) -> str:
    if "enum" in shape:
        return "one of " + ", ".join(map(code, shape["enum"]))
    if "const" in shape:
        return code(shape["const"])
    if shape.get("type") == "array":
        return f"list of {_type(shape.get('items', {}))}"
    names = {"object": "table", "number": "number", "string": "text", "boolean": "true or false"}
    kinds = [each for each in shape.get("anyOf", ()) if each.get("type") != "null"]
    if kinds:
        return " or ".join(dict.fromkeys(map(_type, kinds)))
    kinds = shape.get("type", "any value")
    return " or ".join(
        names.get(kind, kind) for kind in (kinds if isinstance(kinds, list) else [kinds])
    )


def _default(shape: Mapping[str, Any]) -> str:
    value = shape.get("default")
    if isinstance(value, bool):
        return code(str(value).lower())
    return code(value) if value not in (None, "", [], {}) else "none"
