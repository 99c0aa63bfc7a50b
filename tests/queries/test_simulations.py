"""A simulation and real answers never meet in one ledger; ranks are not shared out by a program."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from tests.queries.vaults import opened, shop

from celosia.core.errors import CelosiaError, QueryRefused
from celosia.core.randomness import Seeded
from celosia.queries import Vault
from celosia.queries.policy import Spending

COUNT = "SELECT COUNT(*) FROM orders"


@pytest.mark.parametrize("first_is_simulation", [True, False])
def test_a_ledger_is_for_simulations_or_for_real_answers(
    first_is_simulation: bool, tmp_path: Path
) -> None:
    with opened(shop(Random(3)), tmp_path) as vault:
        found = replace(vault.policy, budget=Spending(epsilon=Fraction(10)))
    ledger = tmp_path / "shared.sqlite"
    seeded = Seeded(1)
    with Vault.open(found, ledger=ledger, rng=seeded if first_is_simulation else None) as vault:
        assert vault.sql(COUNT, epsilon=1).guarantee.simulation is first_is_simulation
    with pytest.raises(CelosiaError) as refused:
        Vault.open(found, ledger=ledger, rng=None if first_is_simulation else seeded)
    assert refused.value.code == "CEL-Q102"


def test_a_rank_over_rows_of_several_people_is_refused_before_the_data(tmp_path: Path) -> None:
    query = (
        "SELECT MAX(p.age) FROM message m JOIN message w ON m.receiver = w.sender "
        "JOIN person p ON p.id = m.sender"
    )
    with opened(shop(Random(3)), tmp_path) as vault, pytest.raises(QueryRefused) as refused:
        vault.explain(query, epsilon=1)
    assert refused.value.key == "CEL-Q144.rank_of_people"
