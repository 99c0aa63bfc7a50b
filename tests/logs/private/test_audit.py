"""An audit of private itemsets (A12) with a planted fault; the study `logs/audits` has others."""

from __future__ import annotations

import importlib

import pytest

from celosia.lab.logs.audits import KEYS, common, verdict
from celosia.logs.private import PrivateItemsets
from celosia.mechanisms.noise import DiscreteLaplace

itemsets = importlib.import_module("celosia.logs.private.itemsets")  # a function has its name
BASES = PrivateItemsets(epsilon=3, delta=0.01, per_person=KEYS, items=KEYS, top=KEYS)


def test_an_audit_catches_cells_whose_noise_ignores_the_number_of_bases(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nine bases of one item, with noise for a single one; items and pairs are the same always."""
    monkeypatch.setattr(PrivateItemsets, "_pairs", lambda *_given: [])
    monkeypatch.setattr(itemsets, "make_bases", lambda n, _pairs: [(one,) for one in range(n)])
    third = float(BASES.third)
    assert verdict(BASES, *common(), claim=third) != "violated"
    law = DiscreteLaplace
    monkeypatch.setattr(itemsets, "DiscreteLaplace", lambda scale: law(scale / KEYS))
    assert verdict(BASES, *common(), claim=third) == "violated"
