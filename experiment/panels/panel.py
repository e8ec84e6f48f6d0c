"""The model of ``[panel]`` in study.toml, and its checks, such as of texts that are signed."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Self

from pydantic import model_validator

from experiment.panels.signing import (
    HASHES,
    HMACS,
    PATH,
    URL,
    Signing,
    UnfilledError,
    fill,
    is_address,
    last_signature,
    names_in,
    signs_address,
)
from experiment.panels.table import PRESETS, PRESETS_FOLDER, PanelTable, Report
from experiment.participation import Ending
from experiment.untrusted import explain_unbounded, matches_whole

_NAME = re.compile(r"\{([\w-]+)\}")
_SURROUNDINGS = ("", "a", "A", "1")


def find_ambiguous_signatures(panel: PanelTable, signed: str, location: str) -> Iterator[str]:
    """Report signed texts for which one person's signature could be valid for another person."""
    if {URL, PATH}.isdisjoint(names_in(signed)) and not set(panel.person) <= {*names_in(signed)}:
        yield f"each parameter of person in signed of {location}, or {{url}} or {{path}}"
    patterns = {name: parameter.pattern for name, parameter in panel.parameters.items()}
    for left, right in find_ambiguous_divisions(signed, patterns):
        yield (
            f"a text between {{{left}}} and {{{right}}} in signed of {location} that their patterns"
            " do not allow in a value, or a pattern of one length for one of them: the same"
            " signature would be good for another person"
        )


def find_ambiguous_divisions(signed: str, patterns: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of parameters between which a signed text can be divided in several ways.

    Args:
        signed: The template of the text that is signed.
        patterns: The patterns of the link's parameters. Every other name represents a text that no
            link can change.
    """
    last, remainder, gap = "", "", ""
    name_parts = _NAME.split(signed)
    for name, literal in zip(name_parts[1::2], name_parts[2::2], strict=True):
        if name not in patterns:
            last = ""
        elif not _has_one_length(patterns[name]):
            if last and _may_hold(patterns[last], remainder) and _may_hold(patterns[name], gap):
                yield last, name
            last, remainder = name, literal
        gap = literal


def _has_one_length(pattern: str) -> bool:
    try:
        # Look-behind requires a fixed length.
        re.compile(f"(?<={pattern})")
    except re.error:
        return False
    return True


def _may_hold(pattern: str, text: str) -> bool:
    return not text or any(matches_whole(pattern, f"{side}{text}{side}") for side in _SURROUNDINGS)


# Names available in every template besides the panel's own: the participant's id on the panel, the
# ending's completion code, and the receipt that proves who left.
COMMON_NAMES = ("participant", "code", "receipt")
# Endings without any work: with the return link of a completed session, the platform would pay for
# them.
_UNPAID_ENDINGS = (
    *(Ending.NO_CONSENT, Ending.DECLINED, Ending.SCREENED_OUT, Ending.FULL),
    *(Ending.DUPLICATE, Ending.SECURITY),
)
# Nothing is stored about participants who are turned away on arrival, so nothing can be reported
# later.
_NOT_STORED = (Ending.FULL, Ending.DUPLICATE, Ending.SECURITY)


def check_panel(panel: PanelTable) -> None:
    """Check that every name is known, and that every address belongs to a fixed site.

    Raises:
        ValueError: All mistakes, in words that follow "Expected".
    """
    if problems := dict.fromkeys(_find_problems(panel)):
        raise ValueError("; and ".join(problems))


def unbounded_patterns(panel: PanelTable) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the key of each pattern without linear-time matching, and what is expected.

    Studies that were launched earlier keep such patterns, so they are not errors of the table.
    """
    for name, parameter in panel.parameters.items():
        if reason := explain_unbounded(parameter.pattern):
            yield ("parameters", name, "pattern"), reason
    for ending in Ending:
        report = panel.way_back(ending).report
        for key in ("done", "done_before") if report is not None else ():
            if reason := explain_unbounded(getattr(report, key)):
                yield ("endings", str(ending), "report", key), reason


def _find_problems(panel: PanelTable) -> Iterator[str]:
    yield from _check_names(panel)
    for name, meaning in panel.needs.items():
        if not panel.values.get(name, "").strip():
            yield f'a value "{name}" in [panel.values]: {meaning}'
    for ending in panel.codes_needed:
        if not panel.code(ending):
            yield f'a code "{ending}" in [panel.codes], which the platform shows or lets you choose'
    for ending in Ending:
        yield from _check_ending(panel, ending)
    for ending in _UNPAID_ENDINGS:
        yield from _paid_for_nothing(panel, ending)
    yield from _check_signature(panel)
    yield from _check_own_signatures(panel)
    way = panel.way_back(Ending.COMPLETED)
    if not (panel.address_of(Ending.COMPLETED) or panel.code(Ending.COMPLETED) or way.report
            or way.text):  # fmt: skip
        yield (
            "a way back for participants who completed: an address or a report in "
            "[panel.endings.completed], or a code in [panel.codes]"
        )


def _paid_for_nothing(panel: PanelTable, ending: Ending) -> Iterator[str]:
    consequence = f"than for {Ending.COMPLETED}, or the platform pays who did no work"
    code = panel.code(ending)
    if code and not names_in(code) and code == panel.code(Ending.COMPLETED):
        yield f"another code for {ending} {consequence}"
    address, completed = panel.address_of(ending), panel.address_of(Ending.COMPLETED)
    way, fields = _fill_own_values(panel, address), panel.way_back(ending).fields
    same_address = (
        way == _fill_own_values(panel, completed)
        and fields == panel.way_back(Ending.COMPLETED).fields
    )
    if way and same_address and "code" not in names_in(address):
        yield f"another address for {ending} {consequence}"


def _fill_own_values(panel: PanelTable, template: str) -> str:
    """Return a template with names of the panel's own values replaced by the values."""
    for name in names_in(template):
        template = template.replace(f"{{{name}}}", panel.values.get(name, f"{{{name}}}"))
    return template


def _check_names(panel: PanelTable) -> Iterator[str]:
    numbers = Counter([*panel.parameters, *panel.values, *panel.secrets, *panel.signatures])
    numbers.update((*COMMON_NAMES, URL, PATH))
    for name, number in numbers.items():
        if number > 1:
            yield f'another name than "{name}", which has two meanings in templates'
    for name in panel.person:
        if name not in panel.parameters:
            yield f'[panel.parameters.{name}], because person names "{name}"'
        elif not panel.parameters[name].required:
            yield f'required = true for "{name}", by which people are known'
    if panel.access_codes and panel.person:
        yield "either person or access_codes: each says by itself who comes"
    for name, parameter in panel.parameters.items():
        if not set(names_in(parameter.only)) <= {*panel.values, *_list_optional_names(panel)}:
            yield f"names of [panel.values] alone in only of [panel.parameters.{name}]"


def _list_optional_names(panel: PanelTable) -> set[str]:
    """Return the names in presets that a study need not give."""
    if panel.preset is None:
        return set()
    templates = [parameter.only for parameter in panel.parameters.values()]
    templates += [panel.way_back(ending).address for ending in Ending]
    return {
        name for template in templates for name in names_in(template) if name not in panel.secrets
    }


def _check_ending(panel: PanelTable, ending: Ending) -> Iterator[str]:
    way, location = panel.way_back(ending), f"[panel.endings.{ending}]"
    people = {*panel.parameters, *panel.values, *_list_optional_names(panel), *COMMON_NAMES}
    people |= {*panel.signatures}
    code = panel.code(ending)
    if code and not set(names_in(code)) <= {*panel.values, "receipt"}:
        yield f"names of [panel.values] and {{receipt}} alone in the code of {ending}"
    if address := panel.address_of(ending):
        yield from _check_address(panel, address, {*people, *panel.secrets}, location)
    for template in way.fields.values():
        yield from _report_unknown_names(template, people, location)
    if way.fields and way.method != "form":
        yield f'method = "form" in {location}, because it has fields'
    if way.method == "form" and not way.address:
        yield f"an address in {location}, because a form is sent there"
    if way.report is not None:
        if ending in _NOT_STORED:
            yield f"no report in {location}: nothing is stored about people who are turned away"
        if ending is Ending.TOO_LATE:
            yield f"no report in {location}: people who are too late may return"
        yield from _report(panel, way.report, {*people, *panel.secrets}, location)


def _report(
    panel: PanelTable, report: Report, known_names: set[str], location: str
) -> Iterator[str]:
    yield from _check_address(panel, report.address, known_names, f"{location} report")
    for template in (*report.fields.values(), *report.headers.values()):
        yield from _report_unknown_names(template, known_names, f"{location} report")
    if report.fields and report.method != "POST":
        yield f'method = "POST" in {location} report, because it has fields'


def _check_address(
    panel: PanelTable, template: str, known_names: set[str], location: str
) -> Iterator[str]:
    yield from _report_unknown_names(template, known_names, location)
    first = names_in(template)[:1]
    missing = bool(first) and template.startswith("{") and not panel.values.get(first[0])
    if not (missing and first[0] in _list_optional_names(panel)) and not is_address(
        template, panel.values
    ):
        yield f"an address that begins with https:// and one site's name in {location}"


def _report_unknown_names(template: str, known_names: set[str], location: str) -> Iterator[str]:
    for name in names_in(template):
        if name not in known_names:
            yield f"one of {', '.join(sorted(known_names))} instead of {{{name}}} in {location}"


def _check_signature(panel: PanelTable) -> Iterator[str]:
    signature = panel.signature
    if signature is None:
        return
    location, is_token = "[panel.signature]", signature.algorithm not in (*HASHES, *HMACS)
    names = {*panel.parameters, *panel.values}
    if signature.algorithm == "HS256" and signature.secret not in panel.secrets:
        yield f"the name of one of [panel.secrets] as secret in {location}"
    if signature.algorithm in ("RS256", "ES256") and not is_address(signature.keys, panel.values):
        yield f"the https:// address of the platform's public keys as keys in {location}"
    yield from _report_unknown_names(signature.audience, {*names, URL}, location)
    if is_token:
        if signature.signed:
            yield f"signed in {location} for hashes and HMACs alone"
        if not set(panel.person) <= set(signature.claims):
            yield f"a claim in {location} for each parameter of person: a token of another is none"
    else:
        yield from _check_signing(panel, signature, names, location)
        yield from find_ambiguous_signatures(panel, signature.signed, location)
    if not set(signature.claims) <= set(panel.parameters):
        yield f"claims of parameters alone in {location}"


def _check_signing(
    panel: PanelTable, signing: Signing, names: set[str], location: str
) -> Iterator[str]:
    """Report mistakes in a hash or HMAC signature."""
    if not signing.signed:
        yield f"signed in {location}: the text that is signed"
    if signing.algorithm in HMACS and signing.secret not in panel.secrets:
        yield f"the name of one of [panel.secrets] as secret in {location}"
    known_names = {*names, URL, PATH}
    if signing.algorithm in HASHES:
        known_names |= {*panel.secrets}
        if panel.secrets.keys().isdisjoint(names_in(signing.signed)):
            yield f"the name of one of [panel.secrets] in signed of {location}: a hash has no key"
    yield from _report_unknown_names(signing.signed, known_names, location)


def _check_own_signatures(panel: PanelTable) -> Iterator[str]:
    people = {*panel.parameters, *panel.values, *_list_optional_names(panel), *COMMON_NAMES}
    for name, signing in panel.signatures.items():
        yield from _check_signing(panel, signing, people, f"[panel.signatures.{name}]")
    of_address = {name for name, signing in panel.signatures.items() if signs_address(signing)}
    for ending in Ending:
        way = panel.way_back(ending)
        reported = [way.report.address] if way.report else []
        for template in filter(None, (panel.address_of(ending), *reported)):
            last = last_signature(template, panel.signatures)
            template_before = last["before"] if last else template
            for name in of_address & set(names_in(template_before)):
                yield f"{{{name}}} as the last argument of the address of {ending}, which it signs"
        fields = [*way.fields.values()]
        if way.report is not None:
            fields += [*way.report.fields.values(), *way.report.headers.values()]
        for name in of_address & {variable for field in fields for variable in names_in(field)}:
            yield f"{{{name}}} in addresses alone, which it signs, and not in fields of {ending}"


_DEMONSTRATION = "demonstration"


class Panel(PanelTable):
    """Where participants come from by one link, and go back to by another."""

    @model_validator(mode="before")
    @classmethod
    def _merge_with_preset(cls, keys: object) -> object:
        if not isinstance(keys, dict) or keys.get("preset") not in PRESETS:
            return keys
        return merge_tables(preset(str(keys["preset"])), keys)

    @model_validator(mode="after")
    def _check_panel(self) -> Self:
        check_panel(self)
        return self


def only_value(panel: Panel, template: str) -> str:
    """Return the only accepted value of a link's argument; empty if any value is accepted."""
    try:
        return fill(template, panel.values)
    except UnfilledError:
        return ""


def preset(name: str) -> dict[str, Any]:
    """Return the table of a preset panel."""
    return {key: value for key, value in _read_preset(name).items() if key != _DEMONSTRATION}


def demonstration(name: str) -> dict[str, Any]:
    """Return how a preset's local stand-in fills in the link, and its additions to [panel].

    Returns:
        ``ids``: parameter of the link -> kind of id; ``panel``: lines of study.toml, optional.
    """
    tables: dict[str, Any] = _read_preset(name)[_DEMONSTRATION]
    return tables


@cache
def _read_preset(name: str) -> dict[str, Any]:
    return tomllib.loads((PRESETS_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def merge_tables(under: Mapping[str, object], over: Mapping[str, object]) -> dict[str, object]:
    """Return a table merged with another that takes precedence; subtables are merged by key."""
    result = dict(under)
    for name, value in over.items():
        below = result.get(name)
        if isinstance(below, dict) and isinstance(value, dict):
            value = merge_tables(below, value)
        result[name] = value
    return result
