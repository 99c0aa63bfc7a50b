"""The report of a published table: the key figures, no cell, nothing that runs or is fetched."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl
import pytest
from tests.outline import Outline

from celosia import KAnonymity, Seeded, datasets
from celosia.tables import (
    AverageRisk,
    EntropyDiversity,
    Intervals,
    Mask,
    Schema,
    TableRelease,
    TCloseness,
    exploration_report,
    explore,
    publish,
)

PATIENTS = Schema.of(
    quasi_identifiers={
        "zip": Mask(),
        "age": Intervals(bounds=((20, 30, 40, 60),), style="bracket"),
    },
    sensitive=["disease"],
)


@pytest.fixture(scope="module")
def release() -> TableRelease:
    return publish(datasets.examples.patients(), PATIENTS, KAnonymity(3), suppression=0)


@pytest.fixture(scope="module")
def page(release: TableRelease) -> str:
    return release.document().html()


def test_the_page_is_well_formed(page: str) -> None:
    assert page.startswith("<!DOCTYPE html>")
    assert {"html", "head", "body", "table", "svg"} <= {tag for tag, _ in Outline(page).elements}


def test_the_page_runs_nothing(page: str) -> None:
    for tag, attributes in Outline(page).elements:
        assert tag not in {"script", "iframe", "object", "embed", "link", "form"}
        assert not [name for name in attributes if name.startswith("on")]
        assert "javascript:" not in " ".join(value or "" for value in attributes.values())


def test_the_page_fetches_nothing(page: str) -> None:
    outline = Outline(page)
    for _, attributes in outline.elements:
        for name in ("href", "src", "xlink:href", "data", "action"):
            assert (attributes.get(name) or "#").startswith(("#", "data:"))
    assert not re.search(r"url\(\s*['\"]?(?!#|data:)", page)
    assert "@import" not in page


def test_the_page_shows_the_key_figures(page: str) -> None:
    words = " ".join(Outline(page).words)
    for figure in ("36.931%", "33.333%", "0 of 9 records", "3-anonymity over zip, age"):
        assert figure in words


def test_the_page_shows_the_level_of_every_column(page: str) -> None:
    rows = re.findall(r"<tr><th scope=\"row\">(zip|age)</th>(.*?)</tr>", page)
    cells = {name: re.findall(r"<td[^>]*>(.*?)</td>", rest)[:2] for name, rest in rows}
    assert cells == {"zip": ["2", "5"], "age": ["1", "2"]}


def test_the_page_tells_risk_before_and_after(page: str) -> None:
    words = " ".join(Outline(page).words)
    assert "Average risk 100.00% before, 33.33% after" in page
    assert "Records alone in their class" in words


def test_the_page_shows_no_cell_and_no_label_but_the_mode_of_intervals(page: str) -> None:
    shown = " ".join(Outline(page).words)
    assert "[20, 30[" in shown
    for cell in ("Heart Disease", "Cancer", "476", "47905", "[30, 40["):
        assert cell not in shown


def test_warnings_and_simulation_are_told_first() -> None:
    table = pl.DataFrame({"sex": ["F", "F", "M"]})
    schema = Schema.of(quasi_identifiers=["sex"])
    with pytest.warns(UserWarning, match="crowd"):
        release = publish(table, schema, KAnonymity(2), suppression=0.5, rng=Seeded(7))
    words = " ".join(Outline(release.document().html()).words)
    promise = words.index("What is promised", words.index("Simulation"))
    assert words.index("made with a seed, not for release") < promise
    assert words.index("a crowd of fewer than 2") < promise
    assert re.search(r"Seed\s+7", words)


@pytest.mark.parametrize(
    "name",
    [
        "<script>alert(1)</script>",
        "$x^2$",
        "$\\frac{a",
        "年齢",
        "a" * 300,
        "a\x01b",
        "x & 'y' \"z\"",
    ],
    ids=["markup", "mathematics", "broken mathematics", "Chinese", "long", "control", "quotes"],
)
def test_any_name_of_a_column_is_shown_as_it_is(name: str) -> None:
    table = pl.DataFrame({name: ["F", "F", "M", "M"]})
    release = publish(table, Schema.of(quasi_identifiers=[name]), KAnonymity(2))
    outline = Outline(release.document().html())
    assert "script" not in {tag for tag, _ in outline.elements}
    assert name.replace("\x01", "\N{REPLACEMENT CHARACTER}") in " ".join(outline.words)


def test_a_fully_general_table_has_a_report() -> None:
    table = pl.DataFrame({"sex": ["F", "M"]})
    release = publish(table, Schema.of(quasi_identifiers=["sex"]), KAnonymity(2), suppression=0)
    assert "100.000%" in " ".join(Outline(release.document().html()).words)


def _table() -> pl.DataFrame:
    return pl.DataFrame(
        {"age": [i % 12 for i in range(96)], "ill": [f"d{i % 5}" for i in range(96)]}
    )


AGES = Schema.of(quasi_identifiers={"age": Intervals(widths=(3, 6))}, sensitive=["ill"])


def test_each_model_says_what_it_protects_and_leaves_open() -> None:
    models = [KAnonymity(3), EntropyDiversity(2), TCloseness(0.5)]
    release = publish(_table(), AGES, models)
    words = " ".join(Outline(release.document().html()).words)
    places = []
    for model in (KAnonymity(3), EntropyDiversity(2, column="ill"), TCloseness(0.5, column="ill")):
        places.append(words.index(model.promise(), words.index("here is what each of them says")))
        protects, gaps = model.protects(), model.leaves_open()
        for text in (protects, *gaps):
            assert text[1:] in words[places[-1] :]
    assert places == sorted(places)


def test_the_gauges_hold_both_risks_against_what_is_accepted() -> None:
    both = publish(_table(), AGES, [KAnonymity(4), AverageRisk(0.2)]).document().html()
    assert "the promise accepts 25.00%" in both
    assert "the promise accepts 20.00%" in both
    loose = publish(_table(), AGES, TCloseness(0.9)).document().html()
    assert loose.count("no limit is promised") == 2


def test_a_solution_that_is_not_proven_tells_its_bound() -> None:
    release = publish(_table(), AGES, KAnonymity(3))
    search = release.solution.search
    assert search is not None
    unsure = replace(search, still_open=1, at_least=0.125)
    solution = replace(release.solution, search=unsure, score=0.5)
    words = " ".join(Outline(replace(release, solution=solution).document().html()).words)
    assert "no better than 12.500% is possible (gap 37.500%)" in words
    assert "optimal among" not in words
    proven = " ".join(Outline(release.document().html()).words)
    assert f"Optimal among {search.nodes} nodes" in proven


def test_levels_chosen_by_hand_and_partitions_claim_nothing() -> None:
    chosen = publish(_table(), AGES, KAnonymity(3), levels={"age": 2}).document().html()
    assert "Levels chosen by hand" in chosen
    assert "no better than" not in chosen
    cut = publish(_table(), AGES, KAnonymity(3), method="mondrian").document().html()
    assert "nothing is proven of other partitions" in cut
    assert "by record" in cut


def test_the_trade_off_of_an_exploration_is_drawn_and_listed() -> None:
    found = explore(datasets.examples.patients(), PATIENTS, KAnonymity(3), suppression=0)
    page = exploration_report.document(found, promise="3-anonymity").html()
    words = " ".join(Outline(page).words)
    assert "36.931%" in words
    assert "least loss" in words
    listed = re.findall(r"<tr><th scope=\"row\"[^>]*>(\d+) (\d+)</th>", page)
    assert [(int(a), int(b)) for a, b in listed] == [choice.levels for choice in found.front]
