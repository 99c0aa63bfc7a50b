"""The shop's graph: right kinds and sizes of facts, functional where promised, and repeatable."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyoxigraph
import pytest
from scipy import stats

from celosia import datasets
from celosia.core.errors import InputError
from celosia.core.progress import Step
from celosia.core.randomness import Seeded
from celosia.datasets.watdiv.draws import Draws, mean_objects, weights
from celosia.datasets.watdiv.facts import CHUNK
from celosia.datasets.watdiv.sizes import expected_facts, sizes_of, users_for
from celosia.datasets.watdiv.values import EntityValue, Property

SMALL, MIDDLE = 10_000, 100_000
WSDBM = "http://db.uwaterloo.ca/~galuc/wsdbm/"
# Written out once more, by the last word of each address: what may be said of whom.
SAID = {
    "City": "parentCountry",
    "SubGenre": "type tag",
    "Website": "url hits language",
    "Retailer": "name legalName contactPoint email openingHours offers",
    "Product": "type hasGenre tag title keywords description language contentRating homepage "
    "caption text contentSize artist trailer actor director author numberOfPages publisher "
    "hasReview",
    "Offer": "includes price serialNumber eligibleQuantity eligibleRegion validFrom validThrough "
    "priceValidUntil",
    "User": "userId givenName familyName type gender age Location nationality birthDate jobTitle "
    "homepage friendOf follows likes subscribes makesPurchase",
    "Review": "reviewer rating text title totalVotes",
    "Purchase": "purchaseFor purchaseDate",
}
SEVERAL = {
    "offers": None,
    "hasReview": None,
    "makesPurchase": 20,
    "hasGenre": 4,
    "tag": 5,
    "artist": 5,
    "actor": 5,
    "author": 3,
    "eligibleRegion": 4,
    "friendOf": 200,
    "follows": 200,
    "likes": 20,
    "subscribes": 9,
}
"""Predicates of which an entity may have more than one fact, and the most."""
DATATYPES = {
    "decimal": {"price"},
    "integer": {
        *("userId", "contentRating", "contentSize", "numberOfPages", "serialNumber"),
        *("eligibleQuantity", "rating", "totalVotes", "hits"),
    },
    "date": {"birthDate", "validFrom", "validThrough", "priceValidUntil", "purchaseDate"},
}

Fact = tuple[str, str, str]


def facts_of(triples: int, seed: int = 2014) -> list[Fact]:
    lines = b"".join(datasets.watdiv(triples, seed=seed).lines()).decode().splitlines()
    return [(s, p, o[:-2]) for s, p, o in (line.split(" ", 2) for line in lines)]


def last_word(address: str) -> str:
    return re.split(r"[/#]", address.strip("<>"))[-1]


def kind_of(subject: str) -> str:
    return last_word(subject).rstrip("0123456789")


@pytest.fixture(scope="module")
def middle() -> list[Fact]:
    return facts_of(MIDDLE)


def test_each_entity_has_predicates_of_its_class_only(middle: list[Fact]) -> None:
    seen = defaultdict(set)
    for subject, predicate, _ in middle:
        seen[kind_of(subject)].add(last_word(predicate))
    assert seen == {kind: set(words.split()) for kind, words in SAID.items()}


def test_functional_properties_are_functional_and_no_cap_is_passed(middle: list[Fact]) -> None:
    counts = Counter((subject, predicate) for subject, predicate, _ in middle)
    most: dict[str, int] = defaultdict(int)
    for (_, predicate), count in counts.items():
        most[last_word(predicate)] = max(most[last_word(predicate)], count)
    assert {name for name, count in most.items() if count > 1} == set(SEVERAL)
    for name, cap in SEVERAL.items():
        assert cap is None or most[name] <= cap


def test_what_belongs_to_one_belongs_to_nobody_else(middle: list[Fact]) -> None:
    for name in ("makesPurchase", "hasReview", "offers"):
        objects = [o for _, p, o in middle if last_word(p) == name]
        kind = kind_of(objects[0])
        assert len(objects) == len(set(objects)) == datasets.watdiv(MIDDLE).entities[kind]


def test_no_fact_is_there_twice_and_nobody_is_their_own_friend(middle: list[Fact]) -> None:
    assert len(set(middle)) == len(middle)
    assert all(s != o for s, p, o in middle if last_word(p) in {"friendOf", "follows"})


def test_every_entity_that_a_fact_names_is_there(middle: list[Fact]) -> None:
    sizes = datasets.watdiv(MIDDLE).entities
    for _, _, value in middle:
        if value.startswith(f"<{WSDBM}"):
            assert int(re.findall(r"[0-9]+", value)[-1]) < sizes[kind_of(value)]


def test_numbers_and_days_are_typed(middle: list[Fact]) -> None:
    typed = defaultdict(set)
    for _, predicate, value in middle:
        if value.startswith('"') and "^^" in value:
            typed[last_word(value.partition("^^")[2])].add(last_word(predicate))
    assert typed == DATATYPES
    ratings = {int(o.split('"')[1]) for _, p, o in middle if last_word(p) == "rating"}
    assert ratings == set(range(1, 11))
    prices = [o.split('"')[1] for _, p, o in middle if last_word(p) == "price"]
    assert all(re.fullmatch(r"[1-9][0-9]{0,2}\.[0-9]{2}", price) for price in prices)


def test_the_same_seed_gives_the_same_graph_on_every_machine() -> None:
    graph = datasets.watdiv(SMALL)
    lines = b"".join(graph.lines())
    assert b"".join(graph.lines()) == lines, "also when one and the same is gone through again"
    assert hashlib.sha256(lines).hexdigest() == (
        "65810d48eede08cf0644d4ceb91a335e1a312e695ca8fa83a4302f1de2595f13"
    )
    assert b"".join(datasets.watdiv(SMALL, seed=7).lines()) != lines


@pytest.mark.parametrize("wanted", [10_000, 12_345, 30_000, 100_000, 400_000])
def test_the_graph_is_as_large_as_wanted(wanted: int) -> None:
    for seed in range(5 if wanted <= MIDDLE else 1):
        count = sum(batch.count for batch in datasets.watdiv(wanted, seed=seed).facts())
        assert abs(count - wanted) <= 0.05 * wanted


def test_entities_grow_with_the_facts() -> None:
    one, ten = (datasets.watdiv(size).entities for size in (1_000_000, 10_000_000))
    for kind in ("User", "Product", "Offer", "Retailer", "Review", "Purchase", "Website"):
        assert ten[kind] == pytest.approx(10 * one[kind], rel=0.02)
    for kind in ("SubGenre", "City", "Country", "Topic", "Role"):
        assert ten[kind] == one[kind]
    assert one["User"] == pytest.approx(10_000, rel=0.05), "one user for each hundred facts"


def test_expected_sizes_never_fall_so_that_they_can_be_searched() -> None:
    sizes = [expected_facts(users) for users in range(1, 1500)]
    assert all(low < high for low, high in pairwise(sizes))
    assert users_for(MIDDLE) == min(
        range(1, 1500), key=lambda users: abs(sizes[users - 1] - MIDDLE)
    )


def test_shares_of_predicates_are_those_of_a_social_shop(middle: list[Fact]) -> None:
    counts = Counter(last_word(predicate) for _, predicate, _ in middle)
    assert [name for name, _ in counts.most_common(3)] == ["friendOf", "follows", "likes"]
    assert counts["friendOf"] == pytest.approx(0.40 * MIDDLE, rel=0.1)
    assert counts["follows"] == pytest.approx(0.30 * MIDDLE, rel=0.1)


def test_batches_do_not_grow_with_the_graph() -> None:
    largest = {}
    for size in (400_000, 1_200_000):
        largest[size] = max(batch.count for batch in datasets.watdiv(size).facts())
    # Two thousand users at a time, of whom four in ten have 100.5 friends on average.
    assert all(count <= 0.4 * CHUNK * 100.5 * 1.05 for count in largest.values())
    stream = datasets.watdiv(10_000_000).lines()
    assert next(stream).count(b"\n") == 240, "the cities, before anything else is drawn"


def test_progress_reaches_the_end_and_never_goes_beyond() -> None:
    steps: list[Step] = []
    for _ in datasets.watdiv(SMALL).facts(progress=steps.append):
        pass
    assert len(steps) > 50
    assert all(step.done <= (step.total or 0) for step in steps)
    assert [step.done for step in steps] == sorted(step.done for step in steps)


def test_the_lines_are_canonical_as_another_parser_writes_them(tmp_path: Path) -> None:
    graph = datasets.watdiv(SMALL)
    path = graph.write(tmp_path / "shop.nt")
    quads = pyoxigraph.parse(path=path, format=pyoxigraph.RdfFormat.N_TRIPLES)
    again = pyoxigraph.serialize(
        (quad.triple for quad in quads), format=pyoxigraph.RdfFormat.N_TRIPLES
    )
    assert again == path.read_bytes() == b"".join(graph.lines())


@pytest.mark.statistical
def test_popular_things_are_as_popular_as_the_law_says() -> None:
    draws = Draws(Seeded(5), {"Product": 200})
    drawn = draws.entities(EntityValue("Product", flat=5), 50_000)
    law = 1 / (np.arange(200) + 5)
    counts = np.bincount(drawn, minlength=200)
    assert stats.chisquare(counts, 50_000 * law / law.sum()).pvalue > 1e-6
    for other in (1 / (np.arange(200) + 4), 1 / (np.arange(200) + 6.25), np.ones(200)):
        assert stats.chisquare(counts, 50_000 * other / other.sum()).pvalue < 1e-6
    share = weights(1000, 0.25)
    assert share[0] / share[250] == pytest.approx(2, rel=1e-6), "a share of all"


def test_several_objects_are_different_and_as_many_as_the_mean_says() -> None:
    sizes = sizes_of(900)
    for wanted in (
        Property("friends", 100, EntityValue("User"), most=200),
        Property("follows", 100, EntityValue("User", flat=0.02), most=200, skewed=True),
    ):
        subjects, objects = Draws(Seeded(3), sizes).pairs(np.arange(900), wanted, "User")
        assert len({*zip(subjects.tolist(), objects.tolist(), strict=True)}) == subjects.size
        assert not (subjects == objects).any()
        degrees = np.bincount(subjects, minlength=900)
        assert (degrees.min(), degrees.max() <= 200) == (1, True)
        # A subject that was given too few different objects would show here.
        assert degrees.mean() == pytest.approx(mean_objects(wanted, sizes), rel=0.03)


def test_a_graph_is_not_written_over_another_by_oversight(tmp_path: Path) -> None:
    graph = datasets.watdiv(SMALL)
    for name in ("watdiv.nt", "watdiv.graph", "policy.toml"):
        (tmp_path / name).write_text("mine")
        with pytest.raises(InputError, match="exists already"):
            graph.save(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == [name]
        (tmp_path / name).unlink()


def test_a_graph_says_what_it_is() -> None:
    graph = datasets.watdiv(SMALL, seed=3)
    assert str(graph) == "WatDiv-like graph: about 10,000 facts, 178 users, made with seed 3"
    said = graph.as_dict()
    assert (said["triples"], said["users"], said["entities"]["City"]) == (10_000, 178, 240)


@pytest.mark.parametrize("triples", [0, 9_999, 10_000_001, 1e5 + 0.5, True, "100000", None])
def test_a_number_of_facts_that_is_none_is_refused(triples: object) -> None:
    with pytest.raises(InputError) as caught:
        datasets.watdiv(triples)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-D023"


@pytest.mark.parametrize("seed", [-1, 1.5, None, "x"])
def test_a_seed_that_is_none_is_refused(seed: object) -> None:
    with pytest.raises(InputError) as caught:
        datasets.watdiv(SMALL, seed=seed)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-D024"
