"""The results of publishing in the studio: measured, written, applied, compared, done again."""

from __future__ import annotations

import json
import runpy
import shlex
import subprocess
import sys
import tracemalloc
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import polars as pl
import pytest
from pypdf import PdfReader

from celosia import tables
from celosia.cli.main import main
from celosia.core.errors import InputError, PrivacyError
from celosia.studio.publish import (
    ColumnForm,
    PublishForm,
    jobs,
    models,
    results,
    results_solutions,
    results_table,
    results_tray,
    results_use,
    schema,
)
from celosia.studio.publish.form import HISTORY
from celosia.studio.publish.readers import read_sample
from celosia.studio.publish.results_solutions import Solutions
from celosia.studio.publish.results_tray import Candidate
from celosia.studio.visitors import Work
from celosia.studio.worker import JobEvent, JobProgress
from celosia.tables.account import RawColumns
from celosia.tables.history import ReleaseHistory

QUIET = JobProgress(lambda text: None)


def patients(folder: Path, **wishes: Any) -> tuple[Work, PublishForm]:
    """The sample of nine patients, chosen as it is suggested."""
    work = Work("aaaaaaaaaaa", folder)
    read_sample(QUIET, folder=str(folder), name="patients")
    chosen = PublishForm.load(work).with_options(
        **({"models": ({"method": "k-anonymity", "k": 3},), "suppression": 0.0} | wishes)
    )
    chosen.save(work)
    return work, chosen


def ran(folder: Path, **wishes: Any) -> tuple[Work, PublishForm, dict[str, Any], Solutions]:
    work, chosen = patients(folder, **wishes)
    jobs.run(QUIET, folder=str(folder), form=json.loads(json.dumps(chosen.as_dict())))
    text, solutions = results.load(work), Solutions.load(work)
    assert text is not None
    assert solutions is not None
    return work, chosen, text, solutions


@dataclass(frozen=True)
class Results:
    """What a run left, for tests that only look at it."""

    work: Work
    chosen: PublishForm
    text: dict[str, Any]
    solutions: Solutions


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The results of the nine patients, published once."""
    return Results(*ran(tmp_path_factory.mktemp("found")))


def people(
    folder: Path, rows: list[tuple[str, int, str]], **wishes: Any
) -> tuple[Work, PublishForm]:
    """A table of postal codes, ages and illnesses with masked codes."""
    work = Work("aaaaaaaaaaa", folder)
    frame = pl.DataFrame(rows, schema=["zip", "age", "ill"], orient="row")
    frame.write_parquet(folder / "data.parquet")
    columns = (
        ColumnForm(name="zip", kind="text", role="quasi-identifier", hierarchy={"method": "mask"}),
        ColumnForm(name="age", kind="integer"),
        ColumnForm(name="ill", kind="text", role="sensitive"),
    )
    chosen = PublishForm(file="people.csv", rows=frame.height, columns=columns, **wishes)
    chosen.save(work)
    return work, chosen


def test_a_run_tells_what_publishing_tells_and_writes_what_can_be_checked(tmp_path: Path) -> None:
    work, chosen, text, _ = ran(tmp_path)
    frame = pl.read_parquet(work.path("data.parquet"))
    release = tables.publish(frame, schema(chosen), models(chosen), suppression=0.0)
    assert [each["level"] for each in text["solution"]["columns"]] == list(release.solution.levels)
    assert text["solution"]["loss"] == release.solution.loss
    assert text["risk"] == release.risk.as_dict()
    assert text["risk_before"] == release.risk_before.as_dict()
    assert text["intervals"]["age"] == release.intervals["age"].as_dict()
    assert {"reading", "search", "recoding", "writing", "total"} <= text["timings"].keys()
    saved = tables.TableRelease.load(work.path("release.csv"))
    assert saved.risk == release.risk
    assert tables.check(saved.data, schema(chosen), models(chosen)).holds
    parquet = pl.read_parquet(work.path("release.parquet"))
    assert parquet.sort(parquet.columns).equals(release.data.sort(parquet.columns))
    assert json.loads(work.path("certificate.json").read_text())["kind"] == "table"
    assert "<html" in work.path("report.html").read_text("utf-8")
    jobs.pack(QUIET, folder=str(work.folder))  # the PDF too, which few ask for
    assert release.guarantee.promise in " ".join(
        page.extract_text() for page in PdfReader(work.path("report.pdf")).pages
    )
    with ZipFile(work.path("release.zip")) as archive:
        unsigned = [name for name in jobs.KEPT if not name.endswith(".sig")]  # there is no key
        assert sorted(archive.namelist()) == sorted(unsigned)


def test_with_a_history_the_joint_risk_is_told_and_files_come_with_the_record(
    tmp_path: Path,
) -> None:
    first, second = tmp_path / "aaaaaaaaaaa", tmp_path / "bbbbbbbbbbb"
    rows = [(f"{n % 6}0", n // 6 % 6, "flu" if n % 5 else "gout") for n in range(72)]
    for folder in (first, second):
        folder.mkdir()
        work, chosen = people(folder, rows, history=first.name)
        chosen = chosen.with_column("age", role="quasi-identifier", hierarchy={"method": "mask"})
        own, other = ("zip", "age") if folder is first else ("age", "zip")
        levels = {own: 0, other: {"zip": 2, "age": 1}[other]}
        wanted = chosen.with_options(levels=levels).as_dict()
        if folder is second:
            with pytest.raises(PrivacyError) as refused:
                jobs.record(QUIET, folder=str(folder), form=wanted)
            assert refused.value.code == "CEL-P123"
            wanted = chosen.with_options(levels=levels, accept_joint="decided").as_dict()
        jobs.run(QUIET, folder=str(folder), form=wanted)
        text = results.load(work := Work(folder.name, folder))
        assert text is not None
        assert text["joint"]["earlier"] == (folder is second)
        assert not text["recorded"]
        assert not work.path("release.csv").exists()
        jobs.record(QUIET, folder=str(folder), form=text["form"])
        text = results.load(work)
        assert text is not None
        assert text["recorded"]
        assert tables.TableRelease.load(work.path("release.csv")).solution.joint is not None
        assert "--history releases.history" in work.path("publish.sh").read_text()
    assert text is not None
    assert text["joint"]["smallest"] == 2
    assert text["joint"]["accepted"] == "decided"
    assert RawColumns.from_dict(text["raw"]).together.combinations == 2
    with ReleaseHistory.open(first / HISTORY) as book:
        assert len(book.entries()) == 2
    assert not (second / HISTORY).exists()


def test_solutions_are_those_of_exploring(found: Results) -> None:
    chosen, solutions = found.chosen, found.solutions
    frame = pl.read_parquet(found.work.path("data.parquet"))
    explored = tables.explore(frame, schema(chosen), models(chosen), suppression=0.0)
    assert [point.levels for point in solutions.points] == [
        each.levels for each in explored.solutions
    ]
    assert [point.levels for point in solutions.front] == [each.levels for each in explored.front]
    assert solutions.nodes == solutions.tried == prod(solutions.shape)
    assert not solutions.is_cut
    assert not solutions.is_thinned


def test_applying_a_solution_gives_the_figures_of_its_point(tmp_path: Path) -> None:
    work, chosen, _, solutions = ran(tmp_path)
    before = work.path(results_solutions.FILE).read_bytes()
    for point in (solutions.points[-1], solutions.points[len(solutions.points) // 2]):
        jobs.apply(
            QUIET,
            folder=str(tmp_path),
            form=chosen.as_dict(),
            levels=solutions.by_column(point),
        )
        text = results.load(work)
        assert text is not None
        assert [each["level"] for each in text["solution"]["columns"]] == list(point.levels)
        assert text["solution"]["score"] == pytest.approx(point.score)
        assert text["risk"]["average"] == pytest.approx(point.average_risk)
        assert text["risk"]["smallest"] == point.smallest
        assert text["risk"]["classes"] == point.classes
        assert not results.is_outdated(text, chosen)
    assert work.path(results_solutions.FILE).read_bytes() == before


def test_the_texts_do_the_same_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work, chosen, _, solutions = ran(tmp_path)
    jobs.apply(
        QUIET,
        folder=str(tmp_path),
        form=chosen.as_dict(),
        levels=solutions.by_column(solutions.points[1]),
    )
    text = results.load(work)
    assert text is not None
    wanted = text["solution"]["loss"], text["risk"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    Path("schema.toml").write_bytes(work.path("schema.toml").read_bytes())
    lines = work.path("publish.sh").read_text("utf-8").replace("\\\n", " ").splitlines()
    assert [line.split()[:2] for line in lines] == [["celosia", "datasets"], ["celosia", "publish"]]
    monkeypatch.setattr(sys, "argv", shlex.split(lines[0]))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    program = str(Path(sys.executable).parent / "celosia")
    subprocess.run([program, *shlex.split(lines[1])[1:]], check=True, capture_output=True)
    facts = tables.TableRelease.load("release.csv")
    assert (facts.solution.loss, facts.risk.as_dict()) == wanted
    Path("release.csv").unlink()
    runpy.run_path(str(work.path("publish.py")))
    again = tables.TableRelease.load("release.csv")
    assert (again.solution.loss, again.risk.as_dict()) == wanted


def test_a_lattice_that_is_too_large_is_cut_and_the_run_still_ends(tmp_path: Path) -> None:
    work, chosen = patients(tmp_path)
    jobs.run(QUIET, folder=str(tmp_path), form=chosen.as_dict(), seconds=1e-9)
    solutions = Solutions.load(work)
    assert solutions is not None
    assert solutions.is_cut
    assert not solutions.is_small
    assert solutions.tried == 1
    assert results.load(work) is not None


def test_more_points_than_a_page_takes_are_thinned_and_the_front_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results_solutions, "MOST_POINTS", 3)
    _, _, _, solutions = ran(tmp_path)
    assert solutions.is_thinned
    assert len(solutions.points) < solutions.found
    assert {point.levels for point in solutions.front} <= {p.levels for p in solutions.points}
    assert len(solutions.front) >= 2


def test_mondrian_has_no_levels_but_all_the_rest(tmp_path: Path) -> None:
    work, _, text, solutions = ran(tmp_path, method="mondrian")
    assert all(each["level"] is None for each in text["solution"]["columns"])
    assert solutions.points  # those of the lattice, to compare with
    assert text["gauges"][0]["after"] == text["risk"]["maximum"]
    shown = results_table.joined(work, 1, ["zip", "age"])
    assert shown.classes == tuple(sorted(shown.classes))
    assert not any("left out" in row for row in shown.rows)


def test_models_that_only_mondrian_meets_leave_no_solutions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def impossible(*_: Any, **__: Any) -> None:
        raise InputError("CEL-P003")

    monkeypatch.setattr(jobs, "explore_table", impossible)
    _, _, text, solutions = ran(tmp_path)
    assert solutions.points == ()
    assert text["solution"]["rows"] == 9


def test_stages_are_told_on_the_way(tmp_path: Path) -> None:
    _, chosen = patients(tmp_path)
    heard: list[JobEvent] = []
    jobs.run(JobProgress(heard.append), folder=str(tmp_path), form=chosen.as_dict())
    stages = [each.value.stage for each in heard if each.kind == "step"]
    assert stages[0] == "Reading the table"
    assert stages[-1] == "Writing the files"
    assert "Trying every node" in stages


def test_both_sides_show_the_same_classes_and_the_suppressed_last(tmp_path: Path) -> None:
    rows = [("11", 1, "a")] * 3 + [("12", 2, "b")] * 3 + [("99", 3, "c")]
    work, chosen = people(
        tmp_path,
        rows,
        models=({"method": "k-anonymity", "k": 3},),
        suppression=0.2,
    )
    jobs.run(QUIET, folder=str(tmp_path), form=chosen.as_dict())
    names = chosen.named("quasi-identifier")
    shown = results_table.joined(work, 1, names)
    assert shown.heads[:2] == ("zip", "zip, released")
    assert shown.classes == (0, 0, 0, 1, 1, 1, -1)
    assert [row[:2] for row in shown.rows] == [("11", "11")] * 3 + [("12", "12")] * 3 + [
        ("99", "*")
    ]
    assert 1 in shown.released
    assert results_table.first_suppressed(work) == 1
    assert results_table.first_suppressed(work, size=2) == 4
    assert results_table.pages(work, size=2) == 4
    second = results_table.joined(work, 2, names, size=4)
    assert second.classes == (1, 1, -1)
    assert second.total == 7


@pytest.mark.parametrize("name", ["class", "*", "shown", "hidden", "c0", "^.*$"])
def test_sides_take_columns_of_any_name(tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame({name: ["1:", ":1", None, "1:"], "x": [1, 2, 3, 4]})
    column = ColumnForm(name=name, kind="text", role="quasi-identifier")
    chosen = PublishForm(
        file="x.csv", rows=4, columns=(column, ColumnForm(name="x", kind="integer"))
    )
    results_table.write_sides(tmp_path, frame, frame, np.arange(4), chosen)
    shown = results_table.joined(Work("aaaaaaaaaaa", tmp_path), 1, [name])
    assert shown.heads == (name, f"{name}, released", "x")
    assert shown.classes == (0, 1, 1, 2)
    assert [row[-1] for row in shown.rows] == [3, 1, 4, 2]
    assert all(row[0] == row[1] for row in shown.rows)


def test_a_record_that_is_left_out_of_the_release_is_suppressed(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": ["1", "2", "1"]})
    column = ColumnForm(name="age", kind="text", role="quasi-identifier")
    chosen = PublishForm(file="x.csv", rows=3, columns=(column,))
    results_table.write_sides(tmp_path, frame, frame[[2, 0]], np.array([2, 0]), chosen)
    shown = results_table.joined(Work("aaaaaaaaaaa", tmp_path), 1, ["age"])
    assert shown.classes == (0, 0, -1)
    assert shown.rows == (("1", "1"), ("1", "1"), ("2", "left out"))


def test_columns_that_are_not_published_are_folded_away(tmp_path: Path) -> None:
    frame = pl.DataFrame({"name": ["Ana", "Ben"], "age": ["1", "1"], "ill": ["a", "b"]})
    columns = tuple(
        ColumnForm(name=name, kind="text", role=role)
        for name, role in (
            ("name", "identifier"),
            ("age", "quasi-identifier"),
            ("ill", "sensitive"),
        )
    )
    chosen = PublishForm(file="x.csv", rows=2, columns=columns)
    released = pl.DataFrame({"age": ["0-9"] * 2, "ill": ["b", "a"]})
    results_table.write_sides(tmp_path, frame, released, np.array([1, 0]), chosen)
    work = Work("aaaaaaaaaaa", tmp_path)
    assert results_table.hidden_columns(work) == ["name"]
    assert results_table.joined(work, 1, ["age"]).rows == (("1", "0-9", "a"), ("1", "0-9", "b"))
    whole = results_table.joined(work, 1, ["age"], folded=False)
    assert whole.heads == ("age", "age, released", "ill", "name")
    assert whole.rows == (("1", "0-9", "a", "Ana"), ("1", "0-9", "b", "Ben"))


def test_the_journalist_sees_the_classes_of_the_population(tmp_path: Path) -> None:
    rows = [("11", 1, "a"), ("12", 2, "b"), ("21", 3, "c"), ("22", 4, "d")]
    work, chosen = people(
        tmp_path,
        rows,
        models=({"method": "k-map", "k": 4},),
        suppression=0.0,
        population="all.csv",
    )
    population = pl.DataFrame({"zip": ["11"] * 3 + ["12"] * 2 + ["21"] * 4 + ["22"]})
    population.write_parquet(work.path("population.parquet"))
    jobs.run(QUIET, folder=str(tmp_path), form=chosen.as_dict())
    text = results.load(work)
    assert text is not None
    [gauge] = [each for each in text["gauges"] if each["name"] == "journalist"]
    assert [each["level"] for each in text["solution"]["columns"]] == [1]  # 1* has 5, 2* has 5
    assert (gauge["before"], gauge["worst_before"]) == (1.0, 1)
    assert (gauge["after"], gauge["worst"]) == (pytest.approx(1 / 5), 5)
    assert gauge["at_risk_before"] == 1.0
    assert gauge["at_risk"] == 1.0  # 1/5 is above the threshold of 1/10


def test_gauges_and_attacks_know_before_and_after(found: Results) -> None:
    text = found.text
    gauges = {each["name"]: each for each in text["gauges"]}
    assert gauges["prosecutor"]["before"] == 1.0
    assert gauges["prosecutor"]["after"] == pytest.approx(1 / 3)
    assert gauges["journalist"]["after"] is None
    assert gauges["uniqueness"]["after"] == 0.0
    records = {each["name"]: each for each in text["record_measures"]}
    assert records["special"]["after"] == 0.0 < records["special"]["before"]
    assert records["separation"]["after"] < records["separation"]["before"]
    assert records["smallest_distinct_l"]["column"] == "disease"
    assert gauges["disclosure"]["column"] == "disease"
    attacks = {each["name"]: each for each in text["attacks"]}
    # The spec's nine patients: one class of three has heart disease alone.
    assert attacks["homogeneity"]["exposed"] == 3
    assert attacks["homogeneity"]["before"]["exposed"] == 9
    assert attacks["linkage"]["exposed"] == 0
    assert attacks["linkage"]["baseline"] == pytest.approx(1 / 9)


def test_statistics_distributions_and_pairs_are_of_both_sides(found: Results) -> None:
    text = found.text
    [age] = [each for each in text["statistics"] if each["column"] == "age"]
    assert age["before"]["count"] == 9
    assert age["generalised"]
    for shown in text["distributions"]:
        assert sum(shown["before"]) == pytest.approx(1)
        assert sum(shown["after"]) == pytest.approx(1)
    names = [each["column"] for each in text["distributions"]]
    assert len(text["pairs"]) == len(names) * (len(names) - 1) // 2
    assert json.loads(json.dumps(text, allow_nan=False)) == text


def test_many_categories_are_drawn_as_the_most_frequent_and_the_rest(tmp_path: Path) -> None:
    rows = [(f"{code:04}", 1, f"ill {code % 50}") for code in range(100)]
    _, plain = people(tmp_path, rows, models=({"method": "k-anonymity", "k": 2},))
    chosen = plain.with_column("ill", accept_raw="a test")
    jobs.run(QUIET, folder=str(tmp_path), form=chosen.as_dict())
    text = results.load(Work("aaaaaaaaaaa", tmp_path))
    assert text is not None
    [ill] = [each for each in text["distributions"] if each["column"] == "ill"]
    assert ill["others"] == 20
    assert len(ill["values"]) + 1 == len(ill["before"]) == 31
    assert sum(ill["before"]) == pytest.approx(1)


def test_the_diagram_has_every_node_and_each_step_up(found: Results) -> None:
    solutions = found.solutions
    nodes, pairs = solutions.diagram()
    assert {node.levels for node in nodes} == set(product(*map(range, solutions.shape)))
    ups = {(nodes[a].levels, nodes[b].levels) for a, b in pairs}
    assert all(sum(high) - sum(low) == 1 for low, high in ups)
    expected = sum(
        prod(size - (place == column) for place, size in enumerate(solutions.shape))
        for column in range(len(solutions.shape))
    )
    assert len(ups) == len(pairs) == expected
    states = [node.state for node in nodes]
    assert states.count("best") == 1
    assert states.count("meets") == len(solutions.points) - 1
    assert states.count("fails") == len(nodes) - len(solutions.points)
    assert len({(node.x, node.y) for node in nodes}) == len(nodes)


def test_the_grid_counts_every_solution_once_and_knows_the_best(found: Results) -> None:
    solutions = found.solutions
    first, second = solutions.columns
    cells = solutions.grid(first, second)
    assert sum(cell.solutions for line in cells for cell in line) == len(solutions.points)
    assert all(cell.nodes == 1 for line in cells for cell in line)
    best = [cell.best for line in cells for cell in line if cell.best is not None]
    assert min(best, key=lambda point: point.score) == solutions.points[0]


def test_addresses_name_nodes_and_nothing_else(found: Results) -> None:
    solutions = found.solutions
    top = "-".join(str(size - 1) for size in solutions.shape)
    assert solutions.parse(top) == tuple(size - 1 for size in solutions.shape)
    for text in ("", "1", "9-9", "a-b", "-1-0", "0-0-0", "²-0"):
        assert solutions.parse(text) is None
    with pytest.raises(InputError, match="no solution"):
        solutions.number(len(solutions.points))
    with pytest.raises(InputError, match="no solution"):
        solutions.point((0, 0))


def test_the_tray_holds_four_and_marks_what_differs(tmp_path: Path) -> None:
    work, _, text, solutions = ran(tmp_path)
    release = Candidate.of_release(text)
    assert release.levels == solutions.points[0].levels
    results_tray.add(work, release)
    assert results_tray.add(work, release) == [release]  # once is enough
    for point in solutions.points[1:4]:
        tray = results_tray.add(work, Candidate.of_point(point, solutions, text))
    assert results_tray.load(work) == tray
    assert len(tray) == results_tray.MOST
    with pytest.raises(InputError, match="holds 4 candidates"):
        results_tray.add(work, Candidate.of_point(solutions.points[4], solutions, text))
    assert "promise" not in results_tray.differing(tray)
    assert "score" in results_tray.differing(tray)
    assert results_tray.differing([release]) == set()
    assert results_tray.differing([release, replace(release, levels=(0, 0))]) >= {"level:zip"}
    assert results_tray.remove(work, 0) == tray[1:]


def test_other_choices_make_results_outdated(found: Results) -> None:
    chosen, text = found.chosen, found.text
    assert not results.is_outdated(text, chosen)
    assert not results.is_outdated(text, replace(chosen, levels={"age": 1}))
    assert results.is_outdated(text, replace(chosen, suppression=0.5))
    assert results.is_outdated(
        text, chosen.with_options(models=({"method": "k-anonymity", "k": 2},))
    )


def test_a_figure_that_fails_fails_alone_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: Any, **_how: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(results_use, "joint", fail)
    monkeypatch.setattr(results, "attack_facts", fail)
    _, _, text, _ = ran(tmp_path)
    assert text["pairs"] == []
    assert text["not_computed"] == ["attacks", "zip / age", "zip / disease", "age / disease"]
    assert text["distributions"]
    assert (tmp_path / "release.csv").exists()


def test_thousands_of_distinct_values_in_two_columns_are_measured() -> None:
    rows = 2_000
    values = pl.int_range(0, rows, eager=True)
    frame = pl.DataFrame({"day": values * 7_919 % 1_997, "income": values * 104_729 % 1_993})
    day = ColumnForm(
        name="day",
        kind="integer",
        role="quasi-identifier",
        hierarchy={"method": "intervals", "widths": [1_000, 5_000]},
    )
    income = ColumnForm(name="income", kind="integer", role="sensitive", accept_raw="a test")
    chosen = PublishForm(file="days.csv", rows=rows, columns=(day, income))
    release = tables.publish(frame, schema(chosen), models(chosen), levels={"day": 3})
    tracemalloc.start()
    text = results.measured(frame, release, chosen)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6  # all pairs of values would take three times as much
    assert text["not_computed"] == []
    assert [(each["first"], each["second"]) for each in text["pairs"]] == [("day", "income")]
