"""Public domains."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.collect.refusals import refused

from celosia.collect.coins import Coin
from celosia.collect.oracles.hadamard_response import HadamardResponse
from celosia.collect.oracles.kary_response import KaryResponse
from celosia.collect.oracles.local_hashing import LocalHashing
from celosia.collect.oracles.projective_geometry import ProjectiveGeometry
from celosia.collect.oracles.pure import Domain
from celosia.collect.oracles.subset_selection import SubsetSelection
from celosia.collect.oracles.unary import OptimisedUnary, many_tosses
from celosia.collect.protocol import Protocol
from celosia.collect.registry import load_protocol, protocol_from, save_protocol
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded


@pytest.mark.parametrize(
    "values",
    [
        ["b", "a", "c", "a"],
        np.array(["b", "a", "c", "a"]),
        np.array(["b", "a", "c", "a"], dtype=object),
        pl.Series(["b", "a", "c", "a"]),
        ("b", "a", "c", "a"),
    ],
)
def test_values_of_all_kinds_of_columns_have_the_same_places(values: object) -> None:
    assert Domain(("a", "b", "c")).places(values).tolist() == [1, 0, 2, 0]
    assert Domain((7, 5)).places(np.array([5, 7, 5], dtype=np.int32)).tolist() == [1, 0, 1]


@pytest.mark.parametrize("values", [(), (1,), (1, 1), (True, 2), (1.5, 2), ([1], 2)])
def test_domains_that_are_none_are_refused(values: object) -> None:
    with refused("CEL-R050"):
        KaryResponse(epsilon=1, domain=values)  # type: ignore[arg-type]


@pytest.mark.parametrize("values", ["ab", None, 5])
def test_a_domain_is_a_list(values: object) -> None:
    with refused("CEL-I060"):
        KaryResponse(epsilon=1, domain=values)  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [["secret"], np.array(["secret"]), [["secret"]], [None], 5.5])
def test_a_value_outside_is_refused_and_not_told(values: object) -> None:
    protocol = KaryResponse(epsilon=1, domain=("a", "b"))
    with pytest.raises(InputError) as caught:
        protocol.client(rng=Seeded(1)).privatise(values)
    assert caught.value.code == "CEL-R051"
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_the_fingerprint_depends_on_every_value_and_their_order() -> None:
    domains = [("a", "b", "c"), ("a", "c", "b"), ("a", "b", "d"), (1, 2, 3), ("1", "2", "3")]
    prints = {KaryResponse(epsilon=1, domain=each).fingerprint for each in domains}
    assert len(prints) == 5
    listed = KaryResponse(epsilon=1, domain=["a", "b", "c"])
    assert listed.fingerprint == KaryResponse(epsilon=1, domain=domains[0]).fingerprint
    assert listed.parameters()["domain"] == ["a", "b", "c"]


def test_candidates_are_of_the_domain() -> None:
    with refused("CEL-R051"):
        KaryResponse(epsilon=1, domain=("a", "b")).server().estimate(["c"])


@pytest.mark.parametrize(
    ("size", "code"), [(-1, "CEL-I060"), (3, "CEL-R054"), (1.5, "CEL-I060"), (True, "CEL-I060")]
)
def test_subsets_out_of_range_are_refused(size: int, code: str) -> None:
    with refused(code):
        SubsetSelection(epsilon=1, domain=("a", "b", "c"), size=size)


@pytest.mark.parametrize("blocks", [-1, 3, 1.5, 2**21])
def test_blocks_that_are_no_power_of_two_are_refused(blocks: int) -> None:
    with refused("CEL-I060"):
        HadamardResponse(epsilon=1, domain=("a", "b", "c"), blocks=blocks)


@pytest.mark.statistical
@pytest.mark.parametrize("heads", [2**31, 2**24 + 5, 511_996_912, 2**23])
def test_many_tosses_have_the_chance_of_the_coin(heads: int) -> None:
    size = 2**22
    coin = Coin(heads)
    found = many_tosses(coin, size, Seeded(11))
    chance = heads / 2**32
    assert abs(found.mean() - chance) < 4 * np.sqrt(chance * (1 - chance) / size)


@pytest.mark.parametrize(
    "protocol",
    [
        KaryResponse(epsilon=1, domain=("a", "b", "ñ")),
        OptimisedUnary(epsilon=0.1, domain=range(9)),
        SubsetSelection(epsilon=Fraction(1, 3), domain=("a", "b", "c")),
        HadamardResponse(epsilon=2, domain=range(9)),
        ProjectiveGeometry(epsilon=2, domain=range(9)),
        LocalHashing(epsilon=2.5, pool=7),
    ],
)
def test_a_protocol_comes_back_from_its_parameters_and_its_file(
    protocol: Protocol, tmp_path: Path
) -> None:
    assert protocol_from(protocol.as_dict()).fingerprint == protocol.fingerprint
    save_protocol(protocol, tmp_path / "protocol.toml")
    assert load_protocol(tmp_path / "protocol.toml").fingerprint == protocol.fingerprint
