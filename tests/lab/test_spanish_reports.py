"""With Spanish as the language, the report of a study keeps no English."""

from __future__ import annotations

import pytest
from tests.spanish import english_in

from celosia import lab
from celosia.core.messages import Message, speaking

QUICK = (
    "graphs/shapes",
    "graphs/generalisation",
    "masking/tables",
    "mechanisms/belief",
    "sql/flex",
)


@pytest.mark.parametrize("name", QUICK)
def test_a_report_of_a_study_in_spanish_has_no_english(name: str) -> None:
    study = lab.find(name)
    with speaking("es"):
        page = lab.document(study, study.run()).html()
    assert english_in(page, "lab") <= {"none"}  # the name of a masking in a chart


@pytest.mark.parametrize("name", QUICK)
def test_cells_are_found_by_the_same_names_in_every_language(name: str) -> None:
    study = lab.find(name)
    with speaking("es"):
        spanish = study.run()
    assert spanish.as_dict() == study.run().as_dict()
    assert any(isinstance(row.cell, Message) for row in spanish.rows)
