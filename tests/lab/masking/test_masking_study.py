"""The study of masking (specification of tables and graphs, sections 3 and 4; of telemetry, 3)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.lab.studies import findings

from celosia import lab
from celosia.core.errors import Cancelled, InputError
from celosia.core.progress import Step, silent
from celosia.core.report import Figure
from celosia.lab import Findings
from celosia.lab.masking import figures, medical, publication, reference, small_tables, thesis
from celosia.lab.masking.equivalence_classes import EquivalenceClasses, format_groups
from celosia.lab.masking.publication import ANONYMOUS, MEDICAL, NATIONALITIES, RECODED
from celosia.lab.masking.reference import losses

PARTS = {"masking/tables": 133, "masking/telemetry": 27}


@pytest.mark.parametrize(("name", "cells"), PARTS.items())
def test_every_part_is_reproduced(name: str, cells: int) -> None:
    found = findings(name)
    assert [str(row) for row in found.rows if row.differs] == []
    assert found.checked == cells
    assert len({(row.run, row.cell) for row in found.rows}) == len(found.rows)


def test_the_whole_needs_no_data() -> None:
    found = findings("masking")
    assert found.is_reproduced
    assert found.checked == sum(PARTS.values())


def test_the_facts_of_the_specification_are_compared() -> None:
    """Acceptance checks 1 to 8 of tables, and 23 and 24 of telemetry."""
    found = {(row.run, row.cell): row.stated for row in findings("masking").rows}
    stated = {
        ("T1, the original", "k"): 1,
        ("T9, provinces and ranges", "k"): 1,
        ("T10, 2-anonymous", "k"): 2,
        ("T10, 2-anonymous", "t"): 0.6,
        ("T4, claimed as 4-anonymous", "k of the 11 rows that were printed (erratum 1)"): 3,
        ("T4, claimed as 4-anonymous", "k with the row that was left out"): 4,
        ("T4, claimed as 4-anonymous", "t of class 3"): 0.5833,
        ("ages, k=3", "least SSE"): 374.083,
        ("ages, k=3", "SSE of MDAV"): 458.083,
        ("ages, k=4", "SSE of MDAV"): 818.083,
        ("ages, k=5", "least SSE"): 724,
        ("swapping within 20 % of the range", "largest difference"): 0.54,
        ("noise on weights, alpha = 0.1", "deviation of the noise"): 4.71,
        ("Figs 2.8 and 2.9", "salary of row 1"): 3100,
        ("Figs 2.8 and 2.9", "salary of row 3"): 2855,
    }
    assert {cell: found[cell] for cell in stated} == stated


def test_crowds_are_those_of_a_plain_count() -> None:
    for frame in (MEDICAL, RECODED, ANONYMOUS):
        keys = ["postcode", "gender", "age"]
        crowds = EquivalenceClasses.of(frame, keys, "illness")
        plain = frame.group_by(keys, maintain_order=True).agg("id", "illness")
        assert [list(each) for each in crowds.members] == plain["id"].to_list()
        assert list(crowds.distinct) == [len(set(each)) for each in plain["illness"]]
        for values, apart in zip(plain["illness"], crowds.distances, strict=True):
            gaps = [
                abs((values == ill).sum() / len(values) - (frame["illness"] == ill).sum() / 10)
                for ill in frame["illness"].unique()
            ]
            assert apart == pytest.approx(sum(gaps) / 2)


def test_groups_are_told_as_sets() -> None:
    assert format_groups([(1, 3), ()]) == "{1,3} {}"


def _noticed(rows: Iterable[lab.Row]) -> list[str]:
    return [row.run for row in rows if row.differs]


def test_a_wrong_age_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = MEDICAL.with_columns(pl.Series("age", [30, *MEDICAL["age"][1:]]))
    monkeypatch.setattr(medical, "MEDICAL", wrong)
    assert "T10, 2-anonymous" in _noticed(medical.rows())


def test_a_table_with_all_its_rows_is_no_erratum(monkeypatch: pytest.MonkeyPatch) -> None:
    padded = pl.concat([NATIONALITIES[:1], NATIONALITIES])
    monkeypatch.setattr(publication, "NATIONALITIES", padded)
    assert "T4, claimed as 4-anonymous" in _noticed(small_tables.rows())


def test_noise_that_was_right_would_be_no_erratum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publication, "PRINTED_NOISE", (2.1, -4.0, 6.3, -5.5, 1.2, 3.3))
    assert "noise on weights, alpha = 0.1" in _noticed(thesis.rows())


def test_without_the_reference_tables_it_says_how_to_get_them() -> None:
    with pytest.raises(InputError) as caught:
        lab.find("masking/reference").run()
    assert caught.value.code == "CEL-L010"
    assert "sdcMicro" in str(caught.value.fix)
    assert "--path" in str(caught.value.fix)


def test_a_folder_without_them_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        lab.find("masking/reference").run(path=tmp_path)
    assert caught.value.code == "CEL-L011"


@pytest.mark.parametrize("content", ["a,b\n1,2\n", "a\nplanted-7391\n", "a\n\n1\n", ""])
def test_another_table_is_refused_and_not_shown(tmp_path: Path, content: str) -> None:
    for name, _ in reference.FILES.values():
        (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(InputError) as caught:
        lab.find("masking").run(path=tmp_path)
    assert caught.value.code == "CEL-L012"
    assert "planted" not in str(caught.value)


def test_losses_are_compared_with_the_published_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On invented tables of smaller size the same losses are those published, or are not."""
    rng = np.random.default_rng(3)
    small_files = {name: (file, (60, 3)) for name, (file, _) in reference.FILES.items()}
    monkeypatch.setattr(reference, "FILES", small_files)
    truth = {}
    for name, (file, _) in small_files.items():
        table = np.round(rng.normal(size=(60, 3)), 3)
        pl.DataFrame(table, schema=["a", "b", "c"]).write_csv(tmp_path / file)
        truth[name] = {each.k: each.mdav for each in losses(table, [3])}
    monkeypatch.setattr(reference, "PUBLISHED", truth)
    found = lab.find("masking/reference").run(path=tmp_path).by_run()
    assert [[row.matches for row in rows[:1]] for rows in found.values()] == [[True]] * 2
    low = {name: {3: known[3] / 2} for name, known in truth.items()}
    monkeypatch.setattr(reference, "PUBLISHED", low)
    findings = lab.find("masking/reference").run(path=tmp_path)
    assert findings.checked == 4
    assert findings.matched == 0


def test_the_figure_tells_its_best_points() -> None:
    blocks = lab.find("masking").figures(Findings("masking", ()), silent)
    hierarchy, figure = [block for block in blocks if isinstance(block, Figure)]
    assert "08500 → 08*** → *****" in hierarchy.description
    assert "1,000 invented people" in figure.description
    assert "none: 100.0% linked, loss 0.000" in figure.description


def test_invented_incomes_hang_together() -> None:
    logs = figures.incomes().select(pl.all().log()).to_numpy()
    assert np.isfinite(logs).all()
    assert np.corrcoef(logs.T)[0, 1] > 0.9


def test_the_study_can_be_stopped() -> None:
    def stop(step: Step) -> None:
        if step.done == 1:
            raise Cancelled

    with pytest.raises(Cancelled):
        lab.find("masking").run(progress=stop)
