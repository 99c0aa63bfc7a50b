"""The attack on time, failure and size: what it does to vaults, and that it would find a leak."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

import pytest
from tests.effort import some

from celosia.cli.timing import TimeLeft
from celosia.core.errors import InputError
from celosia.core.progress import Step
from celosia.queries.timing_audit import (
    ATTACKS,
    DOORS,
    Attack,
    attacks_named,
    audit_timing,
    doors,
    run,
)
from celosia.queries.timing_audit.databases import NeighbourDatabase, make_database
from celosia.queries.timing_audit.doors import Door, Executor, Observation
from celosia.queries.timing_audit.run import chance_of, guess

FEW = ("chain 5", "chain, exists", "self-join, three", "a division of all", "deep LIKE", "sleep")


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> list[NeighbourDatabase]:
    folder = tmp_path_factory.mktemp("worlds")
    return [make_database(folder / str(each), has_property=each) for each in (False, True)]


def test_there_are_enough_attacks_of_every_kind() -> None:
    names = [each.name for each in ATTACKS]
    assert len(set(names)) == len(names) >= 40
    for kind in (
        *("chain", "self-join", "SPARQL", "division", "LIKE", "cast", "text", "regular"),
        *("unknown keys", "large", "declared deadline"),
    ):
        assert any(kind in name for name in names)


@pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")
@pytest.mark.parametrize("attack", some(ATTACKS, 32), ids=lambda each: each.name)
def test_both_databases_show_the_same(
    attack: Attack, worlds: list[NeighbourDatabase], both: list[Executor]
) -> None:
    """Status, text and size; what differs by released numbers alone is masked."""
    without, having = (ask(attack) for ask in both)
    assert (without.status, without.size) == (having.status, having.size)
    assert without.text == having.text


@pytest.fixture(scope="module")
def both(worlds: list[NeighbourDatabase]) -> Iterator[list[Executor]]:
    with doors.in_process(worlds[0]) as one, doors.in_process(worlds[1]) as other:
        yield [one, other]


@pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")
def test_every_kind_of_attack_is_answered_and_not_only_refused(
    worlds: list[NeighbourDatabase],
) -> None:
    """A refusal tells nothing of rows: only what is answered is an attack on them."""
    found = run._deadlines(worlds[0].folder.parent / "plans", ATTACKS)
    for kind in ("chain", "self-join", "unknown keys", "large", "declared deadline", "SPARQL"):
        deadlines = [found[name] for name in found if name.startswith(kind)]
        assert sum(each is not None for each in deadlines) >= min(3, len(deadlines))
    assert found["declared deadline, chain 5"] == 1.5
    assert sum(each is not None for each in found.values()) >= 40


@pytest.mark.parametrize("door", ["python", "http"])
def test_a_whole_audit_finds_nothing(door: str) -> None:
    found = audit_timing(runs=2, doors=[door], attacks=attacks_named(FEW[:3]))
    assert [each.attack for each in found.findings] == list(FEW[:3])
    assert not found.telling
    assert found.as_dict()["findings"][0]["door"] == door


@pytest.mark.parametrize("door", ["command", "process"])
def test_the_command_shows_the_same_of_both_databases(
    worlds: list[NeighbourDatabase], door: str
) -> None:
    (attack,) = attacks_named(["chain 4"])
    seen = []
    for world in worlds:
        with DOORS[door](world) as ask:
            seen.append(ask(attack))
    assert seen[0].status == seen[1].status == "0"
    assert seen[0].is_answer
    assert seen[0].text == seen[1].text


def test_a_forked_command_prints_what_the_command_prints(worlds: list[NeighbourDatabase]) -> None:
    attacks = attacks_named(["division", "a cast of text"])
    with DOORS["command"](worlds[0]) as forked, DOORS["process"](worlds[0]) as started:
        for attack in attacks:
            one, other = forked(attack), started(attack)
            assert (one.status, one.text) == (other.status, other.text)


def test_several_processes_share_the_runs() -> None:
    found = audit_timing(runs=3, attacks=attacks_named(["division", "sleep"]), processes=2)
    assert [(each.runs, each.status) for each in found.findings] == [
        (3, "CEL-Q144"),
        (3, "CEL-Q047"),
    ]
    assert found.answers == found.late == 0


def _door_of(looks: Callable[[bool], Observation]) -> Door:
    @contextmanager
    def door(world: NeighbourDatabase) -> Iterator[Executor]:
        yield lambda _: looks(world.has_property)

    return door


def test_late_answers_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = 1 + run.TOLERANCE["python"]
    late = {False: limit + 0.01, True: limit - 0.01}
    door = _door_of(lambda has: Observation("answer", "#", 1, late[has]))
    monkeypatch.setitem(DOORS, "python", door)
    found = audit_timing(runs=4, attacks=attacks_named(["chain 5"]))
    assert (found.late, found.answers) == (4, 8)
    assert found.as_dict()["findings"][0]["late"] == 4
    assert found.as_dict()["tolerance"] == {"python": run.TOLERANCE["python"]}


def test_refused_questions_are_asked_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    door = _door_of(lambda _: Observation("CEL-Q144", "#", 1, 0.0, is_answer=False))
    monkeypatch.setitem(DOORS, "python", door)
    steps: list[Step] = []
    found = audit_timing(runs=50, attacks=attacks_named(["division"]), progress=steps.append)
    (only,) = found.findings
    assert (only.runs, only.answered, only.deadline) == (run.REFUSED_RUNS, 0, None)
    assert (steps[-1].done, steps[-1].total) == (2 * run.REFUSED_RUNS, 2 * run.REFUSED_RUNS)


def test_the_time_left_is_told_once_a_minute() -> None:
    now, told = [0.0], list[str]()
    left = TimeLeft(lambda _: None, clock=lambda: now[0], tell=told.append)
    for done in range(1, 11):
        now[0] += 30
        left(Step("Asking (http)", done, 100))
    assert len(told) == 4
    assert told[-1] == "Asking (http): 9 of 100 questions, about 40 minutes left."


def test_an_answer_that_comes_when_it_is_ready_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The classifier tells a door whose time depends on the property."""

    @contextmanager
    def leaky(world: NeighbourDatabase) -> Iterator[Executor]:
        def ask(_: Attack) -> Observation:
            return Observation("answer", "#", 1, 0.1 + world.has_property + time.monotonic() % 0.01)

        yield ask

    monkeypatch.setitem(DOORS, "python", leaky)
    found = audit_timing(runs=40, attacks=attacks_named(["chain 5"]))
    assert found.accuracy > 0.9
    assert found.telling
    assert not found.holds


def test_guesses_about_nothing_are_right_by_chance() -> None:
    random = Random(1)
    right = tried = 0
    for _ in range(200):
        seen = [
            [Observation("answer", "#", 1, random.random()) for _ in range(20)] for _ in range(2)
        ]
        right, tried = right + guess(seen[0], seen[1]), tried + 20
    # Fair coins: 4,000 tosses, of which the share of heads is within 5 standard deviations.
    assert abs(right / tried - 0.5) < 5 * 0.5 / tried**0.5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Observation("200", "", 1, 1), Observation("500", "", 1, 1)),
        (Observation("0", "a", 1, 1), Observation("0", "b", 1, 1)),
    ],
)
def test_other_statuses_and_texts_are_told_apart(one: Observation, other: Observation) -> None:
    assert guess([one] * 10, [other] * 10) == 10


def test_chances_are_those_of_a_fair_coin() -> None:
    assert chance_of(10, 10) == 2**-10
    assert chance_of(0, 10) == 1


@pytest.mark.parametrize("wrong", [{"runs": 1}, {"processes": 0}, {"doors": ["window"]}])
def test_wrong_wishes_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError) as caught:
        audit_timing(**wrong)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-A121"
    with pytest.raises(InputError):
        attacks_named(["nonsense"])
