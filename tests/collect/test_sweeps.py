"""Sweeps over a grid: which points there are, what is measured, and that no run is done twice."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from celosia.collect import SweepOptions, simulate, sweep
from celosia.collect.simulation.protocol_fit import fit_protocol
from celosia.collect.simulation.run import simulate_collection
from celosia.collect.sweeps import run as sweep_run
from celosia.collect.sweeps.charts import charts
from celosia.collect.sweeps.options import numbers_from_list, values_from_list, vary_from_texts
from celosia.collect.sweeps.report import document
from celosia.core.errors import Cancelled, InputError
from celosia.core.progress import Step

LETTERS = {"letters": ["a"] * 60 + ["b"] * 30 + ["c"] * 10}
WORDS = {"words": ["cool"] * 300 + ["link"] * 200}
GRID = SweepOptions(
    protocol=("cms", "grr"),
    epsilon=(1, 4),
    users=(50, 100),
    vary={"hashes": (4, 16)},
    repeats=2,
    seed=7,
)


def test_every_combination_is_a_point_and_a_protocol_varies_only_in_its_own_parameters() -> None:
    found = sweep(LETTERS, GRID)
    points = [each.point for each in found.points]
    assert len(points) == len(set(points)) == 2 * 2 * 2 + 2 * 2
    assert {dict(each.settings).get("hashes") for each in points if each.protocol == "grr"} == {
        None
    }
    assert found.runs == 2 * len(points) == found.frame().height
    assert found.histograms["letters"] == (("a", 60), ("b", 30), ("c", 10))


def test_a_run_is_a_simulation_of_its_own_seed() -> None:
    options = SweepOptions(protocol=("oue",), epsilon=(2,), seed=3)
    first, again = sweep(LETTERS, options), sweep(LETTERS, options)
    assert first.points[0].runs[0].rmse == again.points[0].runs[0].rmse
    repeated = sweep(LETTERS, SweepOptions(protocol=("oue",), epsilon=(2,), seed=3, repeats=3))
    assert repeated.points[0].runs[0].rmse == first.points[0].runs[0].rmse
    assert len({run.rmse for run in repeated.points[0].runs}) > 1
    expected = simulate(
        LETTERS["letters"], protocol=fit_protocol("oue", LETTERS["letters"], epsilon=2), seed=1
    )
    assert repeated.points[0].mean.predicted_rmse == pytest.approx(expected.predicted_rmse)


@pytest.mark.parametrize("protocol", ["cms", "hcms", "sfp", "rappor", "dbitflip", "grr", "oue"])
def test_the_memory_is_that_of_the_counts_of_a_server(protocol: str) -> None:
    vary = {"fragment_hashes": (8,), "hashes": (8,)} if protocol == "sfp" else {}
    found = sweep(WORDS, SweepOptions(protocol=(protocol,), vary=vary, seed=1))
    settings = {name: values[0] for name, values in vary.items()}
    made = fit_protocol(protocol, WORDS["words"], epsilon=4, settings=settings)
    state = made.server()._state()
    # The numbers of reports, one for each row or position, are not counted as memory of cells.
    cells = sum(each.nbytes for name, each in state.items() if "reports" not in name)
    assert found.points[0].mean.server_bytes == cells
    assert found.points[0].mean.exact_bytes == 2 * 8


def test_a_sweep_that_is_stopped_goes_on_and_does_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[int] = []

    def counted(*given: object, **more: object) -> object:
        done.append(1)
        return simulate_collection(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(sweep_run, "simulate_collection", counted)

    def stopping(step: Step) -> None:
        if step.done == 9:
            raise Cancelled

    state = tmp_path / "a.sweep"
    with pytest.raises(Cancelled):
        sweep(LETTERS, GRID, state=state, progress=stopping)
    assert len(done) == 9
    found = sweep(LETTERS, GRID, state=state)
    assert (len(done), found.resumed) == (24, 9)
    fresh = sweep(LETTERS, GRID)
    assert [each.mean.rmse for each in found.points] == [each.mean.rmse for each in fresh.points]
    wider = SweepOptions(protocol=("cms",), epsilon=(1,), users=(50, 100), repeats=3, seed=7)
    assert sweep(LETTERS, wider, state=state).resumed == 0  # hashes of its own
    same = SweepOptions(
        protocol=("cms",), epsilon=(1,), users=(50,), vary={"hashes": (4,)}, repeats=3, seed=7
    )
    assert sweep(LETTERS, same, state=state).resumed == 2


def test_a_state_of_something_else_is_refused(tmp_path: Path) -> None:
    state = tmp_path / "a.sweep"
    one = SweepOptions(protocol=("grr",), seed=1)
    sweep(LETTERS, one, state=state)
    text = b"".join(
        row[0].encode() for row in sqlite3.connect(state).execute("SELECT result FROM runs")
    )
    assert b'"a"' not in text
    for values, options in ((WORDS, one), (LETTERS, SweepOptions(protocol=("grr",), seed=2))):
        with pytest.raises(InputError, match="other data") as refusal:
            sweep(values, options, state=state)
        assert refusal.value.code == "CEL-R108"
    (tmp_path / "text").write_text("this is a text and no state of a sweep" * 100)
    with pytest.raises(InputError) as refusal:
        sweep(LETTERS, one, state=tmp_path / "text")
    assert refusal.value.code == "CEL-R108"


def test_a_point_that_its_protocol_refuses_is_left_out_unless_all_are() -> None:
    found = sweep(LETTERS, SweepOptions(protocol=("dbitflip",), vary={"bits": (1, 2, 50)}, seed=1))
    assert [dict(each.point.settings)["bits"] for each in found.points] == [1, 2]
    assert [each.code for each in found.left_out] == ["CEL-R045"]
    with pytest.raises(InputError) as refusal:
        sweep(LETTERS, SweepOptions(protocol=("dbitflip",), vary={"bits": (50,)}))
    assert refusal.value.code == "CEL-R045"


def test_charts_show_errors_candidates_times_and_memory_along_what_was_varied() -> None:
    options = SweepOptions(
        protocol=("sfp",),
        epsilon=(8,),
        vary={"pieces": (5, 10), "fragment_hashes": (8, 16), "hashes": (16,), "tags": (8,)},
        seed=1,
    )
    found = sweep(WORDS, options)
    drawn = {(str(each.x_label), str(each.y_label)): each for each in charts(found)}
    for axis in ("pieces", "fragment_hashes"):
        for measure in ("mean error (users)", "time of the estimates (ms)", "values"):
            chart = drawn[axis, measure]
            assert len(chart.lines) == 2
            assert len(chart.places) == 2
    memory = drawn["different values", "bytes"]
    assert memory.lines[0][1][0] == 8 * memory.places[0]
    assert len(set(memory.lines[1][1])) == 1
    page = document(found).html()
    assert page.count("<figcaption") == len(drawn) + 1  # and a histogram


def test_the_error_is_drawn_along_users_and_nrmse_along_bits() -> None:
    users = charts(sweep(LETTERS, GRID))
    shares = [each for each in users if each.x_label == "users"]
    assert {str(each.y_label) for each in shares} == {"mean error (% of users)"}
    assert all(len(each.lines) <= 8 for each in users)
    bits = SweepOptions(protocol=("dbitflip",), epsilon=(1, 4), vary={"bits": (1, 3)}, seed=1)
    (first,) = [each for each in charts(sweep(LETTERS, bits)) if each.x_label == "bits"]
    assert [name for name, _ in first.lines] == ["epsilon=1", "epsilon=4"]
    assert str(first.y_label) == "nRMSE"


def test_lists_and_ranges_are_read() -> None:
    assert values_from_list("10..1000*10") == (10, 100, 1000)
    assert numbers_from_list("0.5, 1", "epsilon") == (0.5, 1)
    assert vary_from_texts(["hashes=1,2", "width = 4"]) == {"hashes": (1, 2), "width": (4,)}


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"protocol": ()}, "CEL-R107"),
        ({"users": (0,)}, "CEL-R107"),
        ({"users": (101,)}, "CEL-R107"),
        ({"repeats": 10**6}, "CEL-R107"),
        ({"vary": {"hashes": ()}}, "CEL-R107"),
        ({"epsilon": (0,)}, "CEL-I060"),
        ({"protocol": ("none",)}, "CEL-I061"),
        ({"vary": {"hashs": (1,)}}, "CEL-I062"),
    ],
    ids=str,
)
def test_a_grid_that_cannot_be_swept_is_refused_before_any_work(
    given: dict[str, object], code: str
) -> None:
    with pytest.raises(InputError) as refusal:
        sweep(LETTERS, SweepOptions(**given))  # type: ignore[arg-type]
    assert refusal.value.code == code


@pytest.mark.parametrize("text", ["1..x", "0..5", "5..9*1", "1..9*x"])
def test_a_range_without_an_end_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        values_from_list(text)
