"""Related tables: whose each row is, what one person moves, valid keys, and what is kept."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.tables.private.test_replay import Tape

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded, Source
from celosia.datasets.clinic import DECLARATION, clinic
from celosia.mechanisms import Exponential
from celosia.mechanisms.additive.base import AdditiveMechanism
from celosia.tables.private import AdaptiveMarginals
from celosia.tables.private.related import (
    RelatedTables,
    SyntheticTables,
    synthesise_tables,
)
from celosia.tables.private.related.links import link

TREE: dict[str, Any] = {
    "persons": {"key": "id", "domains": {"sex": ["f", "m"]}},
    "visits": {
        "parent": "persons",
        "foreign_key": "person",
        "key": "id",
        "most_rows": 2,
        "keep": "first",
        "given": ["sex"],
        "domains": {"ward": ["u", "v", "w"]},
    },
    "drugs": {
        "parent": "visits",
        "foreign_key": "visit",
        "most_rows": 3,
        "keep": "first",
        "given": ["ward"],
        "bounds": {"dose": [0, 3]},
    },
    "phones": {
        "parent": "persons",
        "foreign_key": "person",
        "most_rows": 1,
        "keep": "first",
        "domains": {"kind": ["a", "b"]},
    },
}
Tables = dict[str, pl.DataFrame]


def tree(**changes: dict[str, Any]) -> RelatedTables:
    tables = {name: {**table, **changes.get(name, {})} for name, table in TREE.items()}
    return RelatedTables.from_table({"tables": tables})


def hospital(people: int = 40, seed: int = 1) -> Tables:
    rng = np.random.default_rng(seed)
    visits, drugs, phones = 3 * people, 9 * people, people
    return {
        "persons": pl.DataFrame(
            {"id": np.arange(people), "sex": rng.choice(["f", "m", "x"], people)}
        ),
        "visits": pl.DataFrame(
            {
                "id": np.arange(visits),
                "person": rng.integers(0, people, visits),
                "ward": rng.choice(["u", "v", "w"], visits),
            }
        ),
        "drugs": pl.DataFrame(
            {"visit": rng.integers(0, visits, drugs), "dose": rng.integers(-1, 5, drugs)}
        ),
        "phones": pl.DataFrame(
            {"person": rng.integers(0, people, phones), "kind": rng.choice(["a", "b"], phones)}
        ),
    }


def without(tables: Tables, person: int) -> Tables:
    """The tables without a person and all their rows."""
    gone = tables["visits"].filter(person=person)["id"]
    return {
        "persons": tables["persons"].filter(pl.col("id") != person),
        "visits": tables["visits"].filter(pl.col("person") != person),
        "drugs": tables["drugs"].filter(~pl.col("visit").is_in(gone.implode())),
        "phones": tables["phones"].filter(pl.col("person") != person),
    }


def run(tables: Tables, method: AdaptiveMarginals, tape: Tape, patch: pytest.MonkeyPatch) -> Any:
    with patch.context() as patched:
        for kind in (AdditiveMechanism, Exponential):
            original = kind.measure

            def spied(self: Any, x: Any, *, rng: Source, original: Any = original) -> Any:
                return tape.measure(original, self, x, rng)

            patched.setattr(kind, "measure", spied)
        declaration = tree(drugs={"discover": {"dose": "integer"}, "bounds": None})
        return synthesise_tables(tables, declaration, method, rng=Seeded(9))


METHODS = {
    "gaussian": AdaptiveMarginals(epsilon=3),
    "laplace": AdaptiveMarginals(epsilon=3, delta=0),
    "weighted": AdaptiveMarginals(epsilon=3, weight="w", most_weight=5, rows=60),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_person_with_all_their_rows_moves_no_more_than_the_noise_covers(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = METHODS[name]
    tables = hospital()
    weights = np.random.default_rng(2).uniform(0, 9, 40)
    tables["persons"] = tables["persons"].with_columns(w=pl.Series(weights))
    first = Tape()
    run(tables, method, first, monkeypatch)
    mine = Tape(first.released)
    wanted = run(tables, method, mine, monkeypatch)
    reached: dict[int, int] = {}
    for person in range(8):
        theirs = Tape(first.released)
        found = run(without(tables, person), method, theirs, monkeypatch)
        for table in tables:
            assert_frame_equal(found.tables[table], wanted.tables[table])
        assert found.facts == wanted.facts
        for (one, x), (two, y) in zip(mine.asked, theirs.asked, strict=True):
            assert one == two
            moved = np.abs(x.astype(np.int64) - y.astype(np.int64))
            if not isinstance(one, Exponential):
                most = int(one.sensitivity)
                assert moved.sum() <= most
                reached[most] = max(reached.get(most, 0), int(moved.sum()))
            else:
                assert moved.max() <= one.sensitivity
    steps = 4096 if name == "weighted" else 1
    # Persons and phones one row, visits two, drugs two times three.
    assert sorted(reached) == ([1, 2, 6] if steps == 1 else [6, 4096, 2 * 4096, 6 * 4096])
    assert all(reached[steps * most] > 0.8 * steps * most for most in (1, 2))


def test_the_shares_of_all_tables_are_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    method, tape = METHODS["laplace"], Tape()
    run(hospital(), method, tape, monkeypatch)
    spent = sum(mechanism.privacy_loss().pure for mechanism, _ in tape.asked)
    assert 2.999 < spent <= 3


def test_what_counts_of_a_person_does_not_depend_on_other_persons() -> None:
    """Keys that are repeated, empty or of nobody; rows of a person are the same without others."""
    tables = hospital(6)
    tables["persons"] = pl.DataFrame({"id": [0, 1, 1, None, 2], "sex": ["f", "m", "f", "f", "m"]})
    tables["visits"] = pl.DataFrame(
        {
            "id": [7, 7, 7, 8, 9, None, 10],
            "person": [0, 1, 1, 1, 99, 0, None],
            "ward": ["u", "v", "w", "u", "v", "w", "u"],
        }
    )
    tables["drugs"] = pl.DataFrame({"visit": [7, 7, 8, 10, None], "dose": [0, 1, 2, 3, 0]})
    linked = link(tables, tree(), Seeded(1))
    assert linked["persons"].frame["id"].to_list() == [0, 1, 2]
    assert linked["persons"].frame["sex"].to_list() == ["f", "m", "m"]
    # Of visit 7 of person 1 there are two rows: the first counts. Visit 7 of person 0 is another.
    assert linked["visits"].frame["ward"].to_list() == ["u", "v", "u"]
    assert linked["visits"].persons.tolist() == [0, 1, 1]
    pairs = zip(linked["drugs"].persons.tolist(), linked["drugs"].frame["dose"], strict=True)
    assert sorted(pairs) == [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]
    for person in (0, 1, 2):
        alone = link({**tables, "persons": tables["persons"].filter(id=person)}, tree(), Seeded(1))
        for name in ("visits", "drugs", "phones"):
            mine = linked[name].frame.filter(pl.Series(linked[name].persons == person))
            assert alone[name].frame.equals(mine)


@pytest.mark.parametrize("keep", ["first", "random"])
def test_of_each_parent_as_many_rows_count_as_declared(keep: str) -> None:
    tables = hospital()
    kept = link(tables, tree(visits={"keep": keep}), Seeded(1))["visits"]
    counts = np.bincount(kept.parents, minlength=40)
    given = tables["visits"]["person"].value_counts()
    wanted = dict(zip(given["person"], given["count"].clip(0, 2), strict=True))
    assert counts.tolist() == [wanted.get(person, 0) for person in range(40)]
    first = tables["visits"].group_by("person", maintain_order=True).head(2)
    assert (set(kept.frame["id"]) == set(first["id"])) == (keep == "first")


def test_rows_are_kept_at_random_evenly() -> None:
    tables = hospital(1)
    tables["visits"] = pl.DataFrame({"id": range(5), "person": [0] * 5, "ward": ["u"] * 5})
    declaration = tree(visits={"keep": "random", "most_rows": 1})
    seen = np.bincount(
        [link(tables, declaration, Seeded(seed))["visits"].frame["id"][0] for seed in range(200)],
        minlength=5,
    )
    # 40 each; five deviations of a binomial of 200 draws.
    assert np.abs(seen - 40).max() < 5 * (200 * 0.2 * 0.8) ** 0.5


@pytest.fixture(scope="module")
def made() -> SyntheticTables:
    given = clinic(20_000)
    declaration = RelatedTables.from_table(tomllib.loads(DECLARATION))
    return synthesise_tables(
        given.tables, declaration, AdaptiveMarginals(epsilon=2, delta=1e-6), rng=Seeded(1)
    )


def test_foreign_keys_are_valid_and_numbers_of_rows_are_kept(made: SyntheticTables) -> None:
    persons, visits = made.tables["persons"], made.tables["visits"]
    given = clinic(20_000)
    assert persons.columns == given.persons.columns
    assert visits.columns == given.visits.columns
    assert persons["person"].to_list() == list(range(1, persons.height + 1))
    assert visits["visit"].n_unique() == visits.height
    assert visits["person"].is_in(persons["person"].implode()).all()
    numbers = visits["person"].value_counts()["count"]
    assert (numbers <= 6).all()
    # Of 20,000 persons the rows above six are a hundredth; noise adds a few per cent.
    wanted = clinic(20_000).visits["person"].value_counts()["count"].clip(0, 6).sum()
    assert visits.height / persons.height == pytest.approx(wanted / 20_000, rel=0.05)


def test_how_children_go_with_their_parents_is_kept(made: SyntheticTables) -> None:
    def shares(tables: Any) -> dict[str, float]:
        both = tables["visits"].join(tables["persons"], on="person")
        old, young = both.filter(pl.col("age") >= 60), both.filter(pl.col("age") < 10)
        women = both.filter((pl.col("sex") == "Female") & pl.col("age").is_between(20, 39))
        people = tables["persons"]
        return {
            "children in paediatrics": (young["ward"] == "paediatrics").mean(),
            "women in maternity": (women["ward"] == "maternity").mean(),
            "old in paediatrics": (old["ward"] == "paediatrics").mean(),
            "visits of the old": old.height / people.filter(pl.col("age") >= 60).height,
        }

    wanted, found = shares(clinic(20_000).tables), shares(made.tables)
    assert wanted["children in paediatrics"] == 1
    # Drawn apart from their parents all would have the shares of everybody.
    assert found["children in paediatrics"] > 0.5
    assert found["women in maternity"] > 0.5 * wanted["women in maternity"]
    assert found["old in paediatrics"] < 0.1
    assert found["visits of the old"] == pytest.approx(wanted["visits of the old"], rel=0.25)


def test_a_release_says_unit_caps_and_loads_again(made: SyntheticTables, tmp_path: Path) -> None:
    said = str(made.guarantee)
    assert "a row of persons with all rows of visits that belong to it" in said
    assert any("at most 6 rows of visits count" in line for line in made.guarantee.assumes)
    assert any("drawn apart, given age, sex" in line for line in made.guarantee.leaves_open)
    made.save(tmp_path / "made")
    made.report(tmp_path / "r.html")
    loaded = SyntheticTables.load(tmp_path / "made")
    assert loaded.measures() == made.measures()
    assert_frame_equal(loaded.tables["visits"], made.tables["visits"])
    assert "2 tables" in str(loaded)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"visits": {"parent": "drugs"}}, "CEL-Y031"),
        ({"visits": {"most_rows": None}}, "CEL-Y031"),
        ({"visits": {"foreign_key": None}}, "CEL-Y031"),
        ({"visits": {"parent": None, "foreign_key": None, "most_rows": None}}, "CEL-Y031"),
        ({"visits": {"given": ["age"]}}, "CEL-Y031"),
        ({"visits": {"key": None}}, "CEL-Y031"),
        ({"persons": {"domains": None}}, "CEL-Y031"),
        ({"persons": {"key": "sex"}}, "CEL-Y031"),
        ({"persons": {"most_rows": 3}}, "CEL-Y031"),
        ({"persons": {"discover": {"sex": "text"}}}, "CEL-Y020"),
        ({"persons": {"colour": 3}}, "CEL-S009"),
        ({"visits": {"most_rows": 0}}, "CEL-I060"),
        ({"visits": {"keep": "last"}}, "CEL-I060"),
    ],
)
def test_what_does_not_hang_together_is_refused(changes: Any, code: str) -> None:
    with pytest.raises(InputError) as refusal:
        tree(**changes)
    assert refusal.value.code == code


def test_missing_tables_and_columns_and_parameters_of_the_method_are_refused() -> None:
    tables = hospital(3)
    cases: list[tuple[Tables, AdaptiveMarginals, str]] = [
        ({**tables, "visits": tables["visits"].drop("ward")}, AdaptiveMarginals(epsilon=1), "V003"),
        ({"persons": tables["persons"]}, AdaptiveMarginals(epsilon=1), "Y031"),
        (tables, AdaptiveMarginals(epsilon=1, domains={"sex": ("f",)}), "Y031"),
        (tables, AdaptiveMarginals(epsilon=1, weight="sex", most_weight=1), "Y020"),
        (tables, AdaptiveMarginals(epsilon=1, model_cells=1), "Y031"),
    ]
    for given, method, code in cases:
        with pytest.raises(InputError) as refusal:
            synthesise_tables(given, tree(), method, rng=Seeded(1))
        assert refusal.value.code == f"CEL-{code}"


def test_empty_tables_can_be_released() -> None:
    tables = {name: frame.clear() for name, frame in hospital(3).items()}
    made = synthesise_tables(tables, tree(), AdaptiveMarginals(epsilon=1), rng=Seeded(1))
    assert set(made.tables) == set(tables)
    keys = made.tables["persons"]["id"]
    assert made.tables["visits"]["person"].is_in(keys.implode()).all()
