"""The attack on time, failure and size: what it does to vaults, and that it would find a leak."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import pytest

from celosia.core.errors import InputError
from celosia.queries.timing_audit import ATTACKS, DOORS, Attack, attacks_named, audit_timing, doors
from celosia.queries.timing_audit.doors import Ask, Seen
from celosia.queries.timing_audit.guessing import chance_of, guessed
from celosia.queries.timing_audit.worlds import World, make_world

FEW = ("chain 5", "chain, exists", "self-join, three", "a division of all", "deep LIKE", "sleep")


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> list[World]:
    folder = tmp_path_factory.mktemp("worlds")
    return [make_world(folder / str(each), has_property=each) for each in (False, True)]


def test_there_are_enough_attacks_of_every_kind() -> None:
    names = [each.name for each in ATTACKS]
    assert len(set(names)) == len(names) >= 40
    for kind in ("chain", "self-join", "SPARQL", "division", "LIKE", "cast", "text", "regular"):
        assert any(kind in name for name in names)


@pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda each: each.name)
def test_both_databases_show_the_same(attack: Attack, worlds: list[World], both: list[Ask]) -> None:
    """Status, text and size; what differs by released numbers alone is masked."""
    without, having = (ask(attack) for ask in both)
    assert (without.status, without.size) == (having.status, having.size)
    assert without.text == having.text


@pytest.fixture(scope="module")
def both(worlds: list[World]) -> Iterator[list[Ask]]:
    with doors.in_process(worlds[0]) as one, doors.in_process(worlds[1]) as other:
        yield [one, other]


def test_most_attacks_are_answered_and_not_only_refused(both: list[Ask]) -> None:
    statuses = [both[0](each).status for each in ATTACKS if each.name in FEW]
    assert statuses.count("answer") >= 3


@pytest.mark.parametrize("door", ["python", "http"])
def test_a_whole_audit_finds_nothing(door: str) -> None:
    found = audit_timing(runs=2, doors=[door], attacks=attacks_named(FEW[:3]))
    assert [each.attack for each in found.findings] == list(FEW[:3])
    assert not found.telling
    assert found.as_dict()["findings"][0]["door"] == door


def test_the_command_shows_the_same_of_both_databases(worlds: list[World]) -> None:
    (attack,) = attacks_named(["chain 4"])
    seen = []
    for world in worlds:
        with DOORS["command"](world) as ask:
            seen.append(ask(attack))
    assert seen[0].status == seen[1].status == "0"
    assert seen[0].text == seen[1].text


def test_an_answer_that_comes_when_it_is_ready_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The classifier tells a door whose time depends on the property."""

    @contextmanager
    def leaky(world: World) -> Iterator[Ask]:
        def ask(_: Attack) -> Seen:
            return Seen("answer", "#", 1, 0.1 + world.has_property + time.monotonic() % 0.01)

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
        seen = [[Seen("answer", "#", 1, random.random()) for _ in range(20)] for _ in range(2)]
        right, tried = right + guessed(seen[0], seen[1]), tried + 20
    # Fair coins: 4,000 tosses, of which the share of heads is within 5 standard deviations.
    assert abs(right / tried - 0.5) < 5 * 0.5 / tried**0.5


@pytest.mark.parametrize(
    ("one", "other"),
    [(Seen("200", "", 1, 1), Seen("500", "", 1, 1)), (Seen("0", "a", 1, 1), Seen("0", "b", 1, 1))],
)
def test_other_statuses_and_texts_are_told_apart(one: Seen, other: Seen) -> None:
    assert guessed([one] * 10, [other] * 10) == 10


def test_chances_are_those_of_a_fair_coin() -> None:
    assert chance_of(10, 10) == 2**-10
    assert chance_of(0, 10) == 1


@pytest.mark.parametrize("wrong", [{"runs": 1}, {"doors": ["window"]}])
def test_wrong_wishes_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError) as caught:
        audit_timing(**wrong)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-A121"
    with pytest.raises(InputError):
        attacks_named(["nonsense"])
