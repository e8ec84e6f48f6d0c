"""Sessions that share what no two people share are found, and people are not."""

import random
from dataclasses import replace

import pytest

from experiment.integrity.observed import ObservedSession
from experiment.integrity.replays import ReplayPair, find_replays, highest_by_chance
from tests.experiment.integrity.sessions import changed, observed


def people(n: int = 12, answers: int = 40) -> dict[str, ObservedSession]:
    """People with mice, without the paths of these."""
    sessions = {str(seed): observed(n=answers, seed=seed) for seed in range(n)}
    return {name: changed(session, pointer_moves=None) for name, session in sessions.items()}


def with_noise(session: ObservedSession, share: float) -> ObservedSession:
    rng = random.Random(5)
    return changed(session, rt_ms=lambda answer: answer.rt_ms * rng.lognormvariate(0, share))


def pairs(*runs: dict[str, ObservedSession]) -> list[tuple[str, str]]:
    return [(pair.first, pair.second) for pair in find_replays(*runs)]


def test_the_limit_of_people_is_fishers_z():
    # atanh(0.5) is 0.5493; one in a hundred lies above 2.3263 deviations of 1 / 5; tanh(1.0146).
    assert highest_by_chance(28, 1) == pytest.approx(0.7676, abs=1e-4)
    # Of 100 pairs, one in ten thousand lies above 3.7190 of them; tanh(1.2931).
    assert highest_by_chance(28, 100) == pytest.approx(0.8599, abs=1e-4)


def test_no_two_people_are_named():
    assert pairs(people()) == []


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.1])
def test_a_replay_with_little_noise_is_found_and_with_much_it_is_not(noise: float):
    run = people()
    assert pairs(run | {"again": with_noise(run["3"], noise)}) == [("3", "again")]
    assert pairs(run | {"again": with_noise(run["3"], 0.6)}) == []


def test_a_replay_at_another_speed_or_one_that_ends_early_is_found():
    run = people()
    slower = changed(run["3"], rt_ms=lambda answer: 1.4 * answer.rt_ms)
    begun = replace(run["4"], answers=run["4"].answers[:24])
    assert pairs(run | {"slower": slower, "begun": begun}) == [("3", "slower"), ("4", "begun")]


def test_a_session_of_another_run_is_compared_with_those_of_the_run_alone():
    run, other = people(), {f"b/{seed}": observed(seed=100 + seed) for seed in range(9)}
    other = {name: changed(session, pointer_moves=None) for name, session in other.items()}
    other |= {"b/again": with_noise(run["3"], 0.05), "b/twice": with_noise(other["b/1"], 0.05)}
    assert pairs(run, other) == [("3", "b/again")]


def test_in_a_run_of_few_sessions_times_are_not_compared():
    run = people(6)
    assert pairs(run | {"again": run["3"]}) == []


def test_equal_paths_are_found_whatever_the_times_are():
    one, other = observed(seed=1), observed(seed=2)
    copied = replace(
        other,
        answers=tuple(
            replace(answer, pointer_moves=of.pointer_moves, pointer_path_px=of.pointer_path_px)
            for answer, of in zip(other.answers, one.answers, strict=True)
        ),
    )
    [pair] = find_replays({"one": one, "copied": copied, "other": other})
    n = sum(answer.pointer_path_px >= 50 for answer in one.answers)
    assert (pair.first, pair.second, pair.n_paths, pair.n_same_paths) == ("one", "copied", n, n)
    assert pair.by_paths and not pair.by_times


@pytest.mark.parametrize(
    ("n_same", "n_paths", "named"), [(5, 10, True), (4, 4, False), (5, 11, False)]
)
def test_half_of_the_paths_and_five_at_least_must_be_equal(n_same, n_paths, named):
    assert ReplayPair("a", "b", 0, None, None, n_paths, n_same).by_paths is named
