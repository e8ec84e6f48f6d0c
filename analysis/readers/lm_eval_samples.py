"""Read the samples of ``lm_eval --log_samples``: items with log-likelihoods of their choices."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.errors import AnalysisError
from analysis.readers.score_tables import ScoredText
from experiment.materials.formats.items import make_items
from experiment.materials.formats.pairs import Draft
from experiment.materials.formats.raw import json_lines, read_text
from experiment.records import Item, Variant, join_context

_KEYS = {"doc", "arguments", "resps", "target"}
# The harness's file names: task and time.
_NAME = re.compile(r"samples_(?P<task>.+?)(?P<date>_\d{4}-\d\d-\d\dT[\d.:-]+)?$")


@dataclass(frozen=True, slots=True)
class Samples:
    """The contents of a file of samples.

    Attributes:
        items: The items, by text.
        scored: The scores.
        model: The model named in the results file next to the samples; empty if unknown.
        after_space: Whether each text followed a space.
    """

    items: list[Item]
    scored: list[ScoredText]
    model: str
    after_space: bool


def is_samples(path: Path) -> bool:
    """Return whether a file's first line is a sample."""
    if path.suffix.lower() != ".jsonl" or not path.is_file():
        return False
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        try:
            sample = json.loads(file.readline())
        except ValueError:
            return False
    return isinstance(sample, dict) and sample.keys() >= _KEYS


def read_samples(path: Path) -> Samples:
    """Read the samples of a two-choice task.

    If several filters answered an item, the first one is read.

    Raises:
        AnalysisError: A line is not a two-choice item with log-likelihoods.
        MaterialsError: The file is not text, or a line is not a JSON object.
    """
    name_parts = _NAME.fullmatch(path.stem)
    task = name_parts["task"] if name_parts else path.stem
    drafts: list[Draft] = []
    scores: list[tuple[float, float]] = []
    numbers_seen, spaces = set[str](), set[bool]()
    for location, sample in json_lines(read_text(path)[0], path):
        number = str(sample.get("doc_id", len(drafts)))
        if number in numbers_seen:
            continue
        numbers_seen.add(number)
        arguments = _parse_arguments(sample, location)
        nats = _parse_log_likelihoods(sample, location)
        target = _parse_target(sample, arguments, nats, location)
        _refuse_contradiction(sample, nats, target, location)
        draft = _make_draft(location, sample, arguments, target, task, number)
        drafts.append(draft)
        spaces.add(not draft.context and _is_after_one_space(arguments[0][1]))
        scores.append((nats[target], nats[1 - target]))
    items, _ = make_items(drafts, path)
    scored = [
        ScoredText(
            draft.place,
            (nats,),
            "",
            item.item_id,
            variant,
            item.after_context(text),
            of_choice=True,
        )
        for draft, item, pair in zip(drafts, items, scores, strict=True)
        for variant, text, nats in zip(
            (Variant.GOOD, Variant.BAD), (item.good, item.bad), pair, strict=True
        )
    ]
    return Samples(
        items,
        scored,
        _read_model_name(path, (name_parts and name_parts["date"]) or ""),
        spaces == {True},
    )


def _parse_arguments(sample: Mapping[str, Any], location: str) -> list[tuple[str, str]]:
    """Return the context and continuation of each choice."""
    arguments = sample.get("arguments")
    requests = list(arguments.values()) if isinstance(arguments, dict) else arguments
    try:
        pairs = [
            tuple(request.values()) if isinstance(request, dict) else tuple(request)
            for request in requests or ()
        ]
        contexts = [(str(pair[0]), str(pair[1])) for pair in pairs]
    except (TypeError, IndexError) as error:
        raise _unreadable_sample_error("its arguments are not texts", location) from error
    # The two choices may be followed by unconditional ones (mutual information). If the choices are
    # two contexts, the contexts follow instead.
    choices, further_contexts = contexts[:2], contexts[2:]
    choices_alone = [choice[1].strip() for choice in further_contexts if not choice[0].strip()]
    either = [[choice[location].strip() for choice in choices] for location in (1, 0)]
    if len(choices) != 2 or (
        further_contexts
        and (len(choices_alone) < len(further_contexts) or choices_alone not in either)
    ):
        raise _unreadable_sample_error(f"it has {len(contexts)} choices", location)
    return choices


def _parse_target(
    sample: Mapping[str, Any], arguments: list[tuple[str, str]], nats: list[float], location: str
) -> int:
    if arguments[0][1] == arguments[1][1] and arguments[0][0] != arguments[1][0]:
        return _parse_context_target(sample, nats, location)
    target = str(sample.get("target"))
    if target in ("0", "1"):
        return int(target)
    texts = [text.strip() for _, text in arguments]
    if target.strip() in texts:
        return texts.index(target.strip())
    raise _unreadable_sample_error(f'its target "{target}" is not one of its choices', location)


def _parse_context_target(sample: Mapping[str, Any], nats: list[float], location: str) -> int:
    """Return the correct one of two contexts with the same continuation (WinoGrande).

    In this case the target is the continuation, which is not informative; the document's answer, or
    the recorded correctness, is used instead.
    """
    doc = sample.get("doc")
    answer = str(doc.get("answer")) if isinstance(doc, dict) else ""
    if answer in ("1", "2"):
        return int(answer) - 1
    if sample.get("acc") in (0, 1) and nats[0] != nats[1]:
        likelier = int(nats[1] > nats[0])
        return likelier if sample["acc"] == 1 else 1 - likelier
    raise _unreadable_sample_error("nothing says which of its two contexts is right", location)


def _refuse_contradiction(
    sample: Mapping[str, Any], nats: list[float], target: int, location: str
) -> None:
    """Refuse a sample whose recorded accuracy contradicts its log-likelihoods and target."""
    right = nats[target] > nats[1 - target]
    if sample.get("acc") in (0, 1) and nats[0] != nats[1] and right != (sample["acc"] == 1):
        raise _unreadable_sample_error(
            f"its acc is {sample['acc']:g}, and its log-likelihoods {nats[:2]} with the target "
            f"{target} say otherwise",
            location,
        )


def _is_joined_without(context: str, option: str) -> bool:
    """Return whether a context and an option need no space, as in Chinese."""
    return bool(context) and join_context(context, option) == context + option


def _make_draft(
    location: str,
    sample: Mapping[str, Any],
    arguments: list[tuple[str, str]],
    target: int,
    task: str,
    number: str,
) -> Draft:
    is_same_context = arguments[0][0] == arguments[1][0]
    # Two contexts with one continuation are two whole texts.
    texts = [text if is_same_context else context + text for context, text in arguments]
    context = arguments[target][0] if is_same_context else ""
    if not context or (context[-1:].strip() and all(_is_after_one_space(t) for t in texts)):
        # What joins a context and its options is left out; without a context, the rendering has it.
        texts = [
            text[1:]
            if _is_after_one_space(text) and not _is_joined_without(context, text[1:])
            else text
            for text in texts
        ]
    good, bad = texts[target], texts[1 - target]
    doc = sample.get("doc")
    extra = {k: v for k, v in doc.items() if isinstance(v, str)} if isinstance(doc, dict) else {}
    construction = extra.get("UID", task)
    return Draft(
        location,
        good,
        bad,
        context,
        item=number,
        construction=construction,
        extra=extra,
    )


def _is_after_one_space(text: str) -> bool:
    return text[:1] == " " and not text[1:2].isspace()


def _parse_log_likelihoods(sample: Mapping[str, Any], location: str) -> list[float]:
    try:
        log_likelihoods = [float(answer[0][0]) for answer in sample["resps"]]
    except (TypeError, ValueError, LookupError) as error:
        raise _unreadable_sample_error("its resps are not log-likelihoods", location) from error
    if any(math.isnan(nats) or nats == -math.inf for nats in log_likelihoods):
        raise AnalysisError(
            "the model gave a choice no probability at all: the log-likelihoods are "
            f"{log_likelihoods}",
            where=location,
            expected="finite numbers",
            remedy="Half precision may overflow, or weights may not be numbers: score again with "
            "dtype=float32 or bfloat16, and check the model's weights",
        )
    if len(log_likelihoods) not in (2, 4) or not all(
        -math.inf < nats <= 0 for nats in log_likelihoods
    ):
        raise _unreadable_sample_error(f"its log-likelihoods are {log_likelihoods}", location)
    return log_likelihoods


def _unreadable_sample_error(problem: str, location: str) -> AnalysisError:
    return AnalysisError(
        f"the sample cannot be read: {problem}",
        where=location,
        expected="an item of a task of two choices (output_type: multiple_choice)",
    )


def _read_model_name(path: Path, date: str) -> str:
    """Return the model named in the results file of the same call."""
    results = path.with_name(f"results{date}.json")
    try:
        contents = json.loads(results.read_text(encoding="utf-8"))
        return str(contents.get("model_name") or contents["config"].get("model") or "")
    except (OSError, ValueError, KeyError, AttributeError):
        return ""
