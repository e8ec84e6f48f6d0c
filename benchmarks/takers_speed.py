"""How fast a session's prompts are read: together, one call for each, and with one cache kept.

python -m benchmarks.takers_speed

The session of 76 trials with its answers, as a yoked one has them, in both orders and three sets of
labels. One call for each prompt reads it from its first token; a cache kept along the session reads
of each prompt what the one before did not have, one way after the other.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

sys.path.append(str(Path(__file__).parents[1]))
from benchmarks.takers_speed_models import KINDS, Timed
from experiment.authoring.check import require_sound
from experiment.materials.render import sentence_case, split_lower_case_tokens
from experiment.studies.load import load_study
from experiment.takers.prompt import Context, Prompter, Way, instructions_of
from experiment.takers.readings.base import Situation
from experiment.takers.readings.forced_choice import ForcedChoice
from experiment.takers.session import Screens, taker_sessions
from experiment.takers.words import LABEL_SETS

# Every so many prompts one is also run by itself; these are spread over the session.
_EVERY = 38
Asked = list[list[tuple[str, tuple[str, ...]]]]


def prompts(named: str) -> Asked:
    """Return what a study's session asks in each way: prompts and their answers, in their order."""
    study = load_study(named)
    screens = Screens(study, sentence_case, sentence_case)
    [session] = taker_sessions(study, require_sound(study, 1), screens, 1)
    prompter, reading, found = Prompter(study, screens), ForcedChoice(), []
    answered = [(trial, screens.response.faultless(trial.arrangement)) for trial in session.trials]
    for labels in LABEL_SETS:
        for swapped in (False, True):
            way, own = Way(Context.YOKED, labels, swapped), []
            for index, trial in enumerate(session.trials):
                situation = Situation(way, prompter, instructions_of(study), answered[:index])
                [ask] = reading.asks(trial, situation)
                answers = tuple(map(split_lower_case_tokens, ask.answers))
                own.append((split_lower_case_tokens(ask.prompt), answers))
            found.append(own)
    return found


def seconds(run: Callable[[], list[float]]) -> tuple[float, list[float]]:
    """Return what something took of the processor, whatever else ran, and what it gave."""
    started = time.process_time()
    found = run()
    return time.process_time() - started, found


def measure(timed: Timed, asked: Asked) -> str:
    """Return a row of the table."""
    every = [one for way in asked for one in way]
    requests = [(prompt, answer) for prompt, answers in every for answer in answers]
    timed.together(requests[:2])
    timed.cached(asked[0][:1])
    shared_s, shared = seconds(lambda: timed.together(requests))
    again_s, _ = seconds(lambda: timed.together(requests))
    kept_s, kept = seconds(lambda: [one for way in asked for one in timed.cached(way)])
    some = range(0, len(every), _EVERY)
    alone_s, alone = 0.0, list[float]()
    for place in some:
        prompt, answers = every[place]
        own_s, found = seconds(lambda p=prompt, a=answers: timed.together([(p, x) for x in a]))
        alone_s, alone = alone_s + own_s, alone + found
    alone_s *= len(every) / len(some)
    same = [shared[2 * place + side] for place in some for side in (0, 1)]
    worst = max(
        *(abs(a - b) for a, b in zip(shared, kept, strict=True)),
        *(abs(a - b) for a, b in zip(same, alone, strict=True)),
    )
    return (
        f"| {timed.name} | {shared_s:.2f} s | {again_s:.2f} s | "
        f"{alone_s:.0f} s | {alone_s / shared_s:.0f} | "
        f"{kept_s:.2f} s | {kept_s / shared_s:.2f} | {worst:.0e} nats |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", default="marvin_linzen_2018")
    asked = prompts(parser.parse_args().study)
    every = {prompt for way in asked for prompt, _ in way}
    n_tokens = sum(len(prompt.split()) for prompt in every)
    torch.set_num_threads(1)
    print(f"{len(every)} prompts, {n_tokens:,} tokens when each is read from its first token")
    print(f"(one call each: computed from {len(range(0, len(every), _EVERY))} of them).\n")
    columns = "Together | Again | One call each | Factor | One cache | Factor | Differences"
    print(f"| Model | {columns} |\n|---{'|---:' * 7}|")
    with TemporaryDirectory() as folder, torch.inference_mode():
        for number, kind in enumerate(KINDS):
            print(measure(kind(Path(folder) / str(number), every), asked), flush=True)


if __name__ == "__main__":
    main()
