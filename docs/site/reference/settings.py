"""The settings of an installation, from the models that check them."""

from collections.abc import Iterator

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from reference.markdown import code, plain, table
from webapp.core.settings import ENVIRONMENT_PREFIX, Settings, flat_name
from webapp.recruiters.registry import RECRUITERS
from webapp.recruiters.settings import SECTIONS


def settings_page() -> str:
    """Return every setting of the installation and of each built-in recruiter."""
    parts = [
        "# Every setting\n",
        "Write a setting in `parallax.toml`, or set its environment variable."
        " [Where settings come from](../settings.md) explains which one wins.\n",
        _table(Settings, ""),
    ]
    for section in RECRUITERS.built_in:
        model = SECTIONS.model(section)
        if model is not None and model.model_fields:
            parts += [f"## [{section}]\n", _table(model, section)]
    return "\n".join(parts)


def _table(model: type[BaseModel], section: str) -> str:
    return table(("Setting", "Environment variable", "Default", "Meaning"), _rows(model, section))


def _rows(model: type[BaseModel], section: str) -> Iterator[tuple[str, str, str, str]]:
    for name, field in model.model_fields.items():
        flat = flat_name(section, name)
        variable = ENVIRONMENT_PREFIX + flat.upper()
        yield code(name), code(variable), _default(field), plain(field.description or "")


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if isinstance(value, bool):
        return code(str(value).lower())
    return code(value) if value not in ("", None) and value != {} else "empty"
