"""What stands in a row: numbers of the source, numbers of ours, tolerances and reasons, apart."""

from __future__ import annotations

import json
import re

import pytest
from tests.lab.studies import findings

from celosia import lab
from celosia.core.progress import silent
from celosia.core.report import Figure
from celosia.lab import Findings
from celosia.lab.collect import publication, rappor

PRINTED = {
    "mechanisms/belief": 65,
    "mechanisms/composition": 6,
    "mechanisms/selection": 3,
    "mechanisms/sparse": 7,
    "sql/sensitivities": 4,
    "sql/flex": 44,
    "sql/by-hand": 0,
    "sparql/sensitivities": 75,
    "sparql/by-hand": 0,
    "sparql/defects": 0,
    "tables/worked": 29,
    "masking/tables": 43,
    "masking/telemetry": 20,
    "graphs/shapes": 5,
    "graphs/perturbation": 9,
    "graphs/k-degree": 13,
    "graphs/uncertain": 0,
    "graphs/generalisation": 0,
    "texts/word-noise": 0,
    "texts/pseudonyms": 3,
    "logs/keys": 0,
    "logs/sets": 0,
    "logs/addresses": 4,
    "traces/noise": 0,
}
"""How many cells of each quick study a source prints; those of other studies are in their tests."""

WRONG = re.compile(r"\bC-(?:13|16|18|19)|erratum (?:1|3|8)\b|\bthe thesis says|misprinted|wrong")
"""Names of cells that say that a print is wrong."""


@pytest.mark.parametrize(("name", "printed"), PRINTED.items())
def test_published_is_what_the_source_prints_and_nothing_else(name: str, printed: int) -> None:
    found = findings(name)
    assert sum(row.published is not None for row in found.rows) == printed
    assert [str(row) for row in found.rows if row.differs] == []


@pytest.mark.parametrize("name", PRINTED)
def test_every_row_tells_where_its_number_is_from_and_how_near_it_must_be(name: str) -> None:
    plain = json.loads(json.dumps(findings(name).as_dict(), allow_nan=False))
    assert set(plain) == {"study", "checked", "matched", "rows"}
    for row in plain["rows"]:
        assert (row["expected"] is None) == (row["kind"] is None)
        assert row["published"] is not None or row["expected"] is not None or row["not_run"]
        assert row["tolerance"]["why"]
        assert (row["matches"] is None) == bool(row["not_run"])


@pytest.mark.parametrize("name", PRINTED)
def test_a_print_that_is_called_wrong_has_its_reason(name: str) -> None:
    for row in findings(name).rows:
        if row.published is not None and WRONG.search(row.cell):
            assert row.wrong, str(row)


FIGURES = {
    **{"mechanisms/belief": 1, "mechanisms/composition": 2, "mechanisms/selection": 0},
    **{"sql/columns": 2, "sql/flex": 0, "sparql/sensitivities": 3, "sparql/by-hand": 0},
    **{"collect/cms": 4, "collect/hcms": 4, "collect/sfp": 4, "collect/rappor": 2},
    **{"collect/dbitflip": 3, "tables/strangers": 0, "tables/reference": 0, "tables/worked": 6},
    **{"masking/telemetry": 0, "masking/reference": 0, "graphs/shapes": 3, "traces/noise": 0},
    **{"tables": 9, "graphs/perturbation": 1, "graphs/k-degree": 1, "graphs/uncertain": 1},
    **{"graphs/generalisation": 1, "graphs/planted": 0},
}
"""How many each draws from what was published; a study without figures promises none."""


@pytest.mark.parametrize(("name", "drawn"), FIGURES.items())
def test_a_study_draws_the_figures_of_its_original(name: str, drawn: int) -> None:
    study = lab.find(name)
    blocks = study.figures(Findings(name, ()), silent)
    shown = [block for block in blocks if isinstance(block, Figure)]
    assert len(shown) == drawn
    assert all(figure.description for figure in shown)


def test_the_figures_of_rappor_are_of_a_million_values_as_in_the_original() -> None:
    """What its text says of them holds: common values are well estimated; of the rare ones some
    vanish and some get hundreds."""
    shown = lab.find("collect/rappor").figures(Findings("", ()), silent)
    assert all("1,000,000 values" in each.caption for each in shown if isinstance(each, Figure))
    counts = publication.drawn_exponential_counts(publication.FIGURE_USERS)
    assert counts.sum() == 10**6
    found = rappor.one_fit(counts)
    assert max(abs(found[:6] / counts[:6] - 1)) < 0.1
    rare = found[-12:]
    assert (rare == 0).any()
    assert (rare > 10 * counts[-12:] + 100).any()
