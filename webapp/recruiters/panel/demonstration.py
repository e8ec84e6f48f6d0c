"""The demonstration with the stand-in of a panel, as the panel's preset describes it."""

from collections.abc import Mapping

from experiment.panels.panel import demonstration, preset
from experiment.panels.table import PRESETS
from webapp.recruiters.demonstration import CODE, LISTED, TOKEN, Demonstration, Listing


def demonstrations() -> Mapping[str, Demonstration]:
    """Return a demonstration for each preset, by its name."""
    return {name: _build_demonstration(name) for name in PRESETS}


def find_listing(name: str) -> Listing:
    """Return how the stand-in of a preset's panel lists a study."""
    table = preset(name)
    ids: dict[str, str] = demonstration(name)["ids"]
    person, parameters = table.get("person"), table.get("parameters", {})
    return Listing(
        panel=name,
        ids=ids,
        person=ids[person[0]] if person else "code",
        placeholders={
            parameter["placeholder"]: ids[key]
            for key, parameter in parameters.items()
            if "placeholder" in parameter
        },
        by_code="completed" in table.get("codes_needed", []),
        access_codes=table.get("access_codes", False),
        credited="report" in table.get("endings", {}).get("completed", {}),
    )


def _build_demonstration(name: str) -> Demonstration:
    panel_lines = (
        demonstration(name).get("panel", "").replace("{code}", CODE).replace("{study}", LISTED)
    )
    secret_lines = "".join(
        f'{variable} = "{TOKEN}"\n' for variable in preset(name).get("secrets", {}).values()
    )
    settings = f'[panel]\nstand_in = "{{site}}/{LISTED}"\n[panel.secrets]\n{secret_lines}'

    def written(toml: str, site: str) -> str:
        return f'{toml}\n[panel]\npreset = "{name}"\n{panel_lines.replace("{site}", site)}'

    return Demonstration("panels", settings, find_listing(name).steps, written)
