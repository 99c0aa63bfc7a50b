"""With Spanish as the language, reports of risk, utility, attacks and audits keep no English."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from tests.spanish import english_in

from celosia.assess import attack_report, utility_report
from celosia.assess.account_report import map_blocks, masked_document, synthetic_document
from celosia.assess.accounts import masked_account, synthetic_account
from celosia.assess.attacks import background, homogeneity, skewness, worst_background
from celosia.assess.audit import audit
from celosia.assess.audit.report import document as audit_document
from celosia.assess.individual_report import individual_document
from celosia.assess.labels import LABELS, label
from celosia.assess.risk import record_risks
from celosia.assess.risk_utility import risk_utility_map
from celosia.assess.utility import utility
from celosia.assess.utility.numeric import Regression
from celosia.core.messages import speaking
from celosia.core.randomness import Seeded
from celosia.core.report import Document
from celosia.mechanisms import Geometric


def people(records: int = 60, seed: int = 1) -> pl.DataFrame:
    drawn = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "edad": drawn.integers(18, 80, records),
            "paga": drawn.normal(1000, 200, records).round(2),
            "talla": drawn.normal(170, 10, records).round(1),
            "ill": drawn.choice(["flu", "cold"], records),
        }
    )


def noisy() -> pl.DataFrame:
    return people().with_columns(pl.col("edad") + 1, pl.col("paga") * 1.01)


def masked() -> Document:
    line = [Regression("paga", ("edad", "talla"))]
    return masked_document(masked_account(people(), noisy(), sensitive=["ill"], regressions=line))


def synthetic() -> Document:
    made = synthetic_account(
        people(), people(60, 3), holdout=people(60, 4), sensitive=["ill"], rng=Seeded(1)
    )
    return synthetic_document(made)


def mapped() -> Document:
    found = risk_utility_map(people().drop("ill"), {"noise": (noisy().drop("ill"), None)})
    return Document("", "", map_blocks(found))


def attacked() -> Document:
    table = pl.DataFrame(
        {"edad": ["20-40"] * 4 + ["41-60"] * 4, "ill": ["flu"] * 4 + ["flu", "cold", "x", "y"]}
    )
    found = [
        homogeneity(table, ["edad"], "ill"),
        skewness(table, ["edad"], "ill"),
        background(table, ["edad"], "ill", {"cold"}),
        worst_background(table, ["edad"], "ill", exclusions=1),
    ]
    return attack_report.document(found, rows=8)


def used() -> Document:
    table = people().select("edad", "ill")
    found = utility(
        table, table, quasi_identifiers=["edad"], meanings={}, rng=Seeded(1), target="ill"
    )
    return utility_report.document(found)


def individual() -> Document:
    table = people().with_columns(w=pl.lit(10.0))
    others = [name for name in table.columns if name not in ("ill", "w")]
    return individual_document(
        record_risks(
            table,
            keys=others[:2],
            weights="w",
            suda=True,
            log_linear="two-way",
            sensitive=["ill"],
        )
    )


def audited() -> Document:
    found = audit(Geometric(epsilon=3), 0, 1, claim=0.5, samples=1000, rng=Seeded(38))
    return audit_document([found])


@pytest.mark.parametrize("made", [masked, synthetic, mapped, attacked, used, individual, audited])
def test_a_report_in_spanish_has_no_english(made: Callable[[], Document]) -> None:
    with speaking("es"):
        page = made().html()
    assert english_in(page, "assess") <= {"noise"}


def test_a_label_is_its_value_in_english() -> None:
    for value in LABELS:
        assert label(value) == value.replace("_", " ")
