"""`celosia release`: the same answer as from Python, with its promise, files and dry runs."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import MARK, Run

from celosia import frames
from celosia.core.neighbours import Neighbours
from celosia.core.randomness import Seeded
from celosia.mechanisms import (
    CHANGE_ONE,
    Count,
    DirectMean,
    ExponentialMean,
    Grid,
    Histogram,
    KeyHistogram,
    Mean,
    Median,
    MostFrequent,
    NoisyAnswer,
    Quantile,
    Quantiles,
    SparseVector,
    StandardDeviation,
    Sum,
    SumCountMean,
    Variance,
    per_unit,
    release_from_table,
)

BOUNDS = ("--lower", 0, "--upper", 200_000)
WITHIN: dict[str, Any] = {"lower": 0.0, "upper": 200_000.0}
SALARY = ("-c", "salary", *BOUNDS)


@pytest.fixture
def salaries(run: Run, tmp_path: Path) -> Path:
    """Three hundred salaries of a hundred people in three departments, and a planted note."""
    path = tmp_path / "salaries.csv"
    rows = [
        f"p{i % 100},{20_000 + 137 * i},{('it', 'hr', 'ops')[i * i % 3]},{MARK}" for i in range(300)
    ]
    path.write_text("\n".join(["person,salary,dept,note", *rows]) + "\n")
    return path


def _id(case: object) -> str:
    return " ".join(map(str, case)) if isinstance(case, tuple) else ""


UNIT = ("--unit", "person", "--rows-per-unit", 2)
CASES: list[tuple[tuple[object, ...], Any, dict[str, Any]]] = [
    (("count",), Count(epsilon=0.5), {}),
    (("sum", *SALARY), Sum(epsilon=0.5, **WITHIN), {"column": "salary"}),
    (
        ("sum", *SALARY, "--grid", 10),
        Sum(epsilon=0.5, grid=Grid(Fraction(10)), **WITHIN),
        {"column": "salary"},
    ),
    (("mean", *SALARY), Mean(epsilon=0.5, **WITHIN), {"column": "salary"}),
    (
        ("mean", *SALARY, "--neighbours", "change-one"),
        Mean(epsilon=0.5, neighbours=CHANGE_ONE, **WITHIN),
        {"column": "salary"},
    ),
    (
        ("mean", *SALARY, "--method", "sum-count"),
        SumCountMean(epsilon=0.5, **WITHIN),
        {"column": "salary"},
    ),
    (
        ("mean", *SALARY, "--method", "direct"),
        DirectMean(epsilon=0.5, **WITHIN),
        {"column": "salary"},
    ),
    (
        ("mean", *SALARY, "--method", "exponential", "--grid", 1000),
        ExponentialMean(epsilon=0.5, grid=Grid(Fraction(1000)), **WITHIN),
        {"column": "salary"},
    ),
    (
        ("mean", *SALARY, *UNIT),
        Mean(epsilon=0.5, **WITHIN),
        {"column": "salary", "unit": "person", "rows_per_unit": 2},
    ),
    (("variance", *SALARY), Variance(epsilon=0.5, **WITHIN), {"column": "salary"}),
    (
        ("variance", *SALARY, "--deviation"),
        StandardDeviation(epsilon=0.5, **WITHIN),
        {"column": "salary"},
    ),
    (("median", *SALARY), Median(epsilon=0.5, **WITHIN), {"column": "salary"}),
    (
        ("quantile", *SALARY, "-q", 0.9),
        Quantile(epsilon=0.5, q=0.9, **WITHIN),
        {"column": "salary"},
    ),
    (
        ("quantile", *SALARY, "-q", 0.9, "--interval", *UNIT),
        Quantile(epsilon=0.5, q=0.9, confidence=0.95, **WITHIN),
        {"column": "salary", "unit": "person", "rows_per_unit": 2},
    ),
    (
        ("median", *SALARY, "--interval"),
        Median(epsilon=0.5, confidence=0.95, **WITHIN),
        {"column": "salary"},
    ),
    (
        ("quantile", *SALARY, "-q", 0.75, "-q", 0.25),
        Quantiles(epsilon=0.5, q=(0.25, 0.75), **WITHIN),
        {"column": "salary"},
    ),
    (
        ("quantile", *SALARY, "-q", 0.75, "-q", 0.25, "--interval"),
        Quantiles(epsilon=0.5, q=(0.25, 0.75), confidence=0.95, **WITHIN),
        {"column": "salary"},
    ),
    (
        ("histogram", "-c", "salary", "--edges", "0,30000,200000"),
        Histogram(epsilon=0.5, edges=[0, 30_000, 200_000]),
        {"column": "salary"},
    ),
    (
        ("histogram", "-c", "dept", "--categories", "it,hr", "--other"),
        Histogram(epsilon=0.5, categories=["it", "hr"], other=True),
        {"column": "dept"},
    ),
    (
        ("histogram", "-c", "dept", "--delta", 1e-6),
        KeyHistogram(epsilon=0.5, delta=1e-6),
        {"column": "dept"},
    ),
    (
        ("histogram", "-c", "dept", "--delta", 1e-6, *UNIT),
        KeyHistogram(epsilon=0.5, delta=1e-6, keys_per_unit=2),
        {"column": "dept", "unit": "person"},
    ),
    (
        ("top", "-c", "dept", "--categories", "it,hr,ops", "--count", 2),
        MostFrequent(epsilon=0.5, categories=["it", "hr", "ops"], count=2),
        {"column": "dept"},
    ),
    (
        ("top", "-c", "dept", "--categories", "it,hr,ops", "--method", "noisy-max", *UNIT),
        MostFrequent(epsilon=0.5, categories=["it", "hr", "ops"], selection="noisy-max"),
        {"column": "dept", "unit": "person", "rows_per_unit": 2},
    ),
    (
        ("above", "-c", "salary", "--threshold", 40_000, "--positives", 3, "--monotone"),
        SparseVector(
            0.5, threshold=40_000, positives=3, monotone=True, neighbours=Neighbours(unit="person")
        ),
        {"column": "salary"},
    ),
    (
        ("above", "-c", "salary", "--threshold", 40_000, "--numeric", 0.5, "--unit", "clerk"),
        SparseVector(0.5, threshold=40_000, numeric=0.5, neighbours=Neighbours(unit="clerk")),
        {"column": "salary"},
    ),
]


@pytest.mark.parametrize(
    ("words", "mechanism", "asked"),
    CASES,
    ids=_id,
)
def test_the_command_line_answers_as_python_does(
    words: tuple[object, ...], mechanism: Any, asked: dict[str, Any], salaries: Path, run: Run
) -> None:
    verb, *rest = words
    command = ("release", verb, "salaries.csv", *rest, "--epsilon", 0.5, "--seed", 11)
    expected = release_from_table(salaries, mechanism, rng=Seeded(11), **asked)
    found = run(*command, "--json")
    data = found.data()
    assert data["kind"] == "answer"
    assert data["measures"] == json.loads(json.dumps(expected.measures()))
    assert data["guarantee"] == json.loads(json.dumps(expected.guarantee.as_dict()))
    assert data["guarantee"]["simulation"] is True
    assert data["provenance"]["seed"] == 11
    assert "Simulation: made with a seed" in found.err
    told = run(*command)
    assert told.code == 0, told.err
    assert told.out.splitlines()[-1] == str(expected)
    assert "from the seed 11" in told.out
    assert MARK not in told.out + told.err + found.out


def test_the_example_of_the_documentation_works(salaries: Path, run: Run) -> None:
    line = "release mean salaries.csv --column salary --lower 0 --upper 200000 --epsilon 0.5"
    told = run(*line.split())
    assert told.code == 0, told.err
    assert told.err == ""
    last = told.out.splitlines()[-1]
    assert last.startswith("mean of salary: ")
    assert "(95% interval " in last
    assert last.endswith("; 0.5-differential privacy")
    assert "neighbours: add or remove one row" in told.out
    assert "no answer becomes more than 1.649 times as likely" in told.out
    assert "the operating system's entropy" in told.out


def test_real_answers_differ(salaries: Path, run: Run) -> None:
    words = ("release", "mean", "salaries.csv", *SALARY, "-e", 1, "--json")
    found = {run(*words).data()["measures"]["value"] for _ in range(4)}
    # Clipping needs 60 scales of noise, a chance of about e^-60. A mean that is not clipped comes
    # from one noisy sum for each noisy count, and no noise of the sum is likelier than 1 in 2^22:
    # three equal the first with a chance below 2^-66.
    assert len(found) > 1


@pytest.mark.parametrize("name", ["answer.json", "answer.csv", "answer.parquet"])
def test_an_answer_is_written_with_its_certificate(
    name: str, salaries: Path, run: Run, tmp_path: Path
) -> None:
    words = ("release", "histogram", "salaries.csv", "-c", "dept", "--categories", "it,hr", "-e", 1)
    told = run(*words, "--seed", 3, "-o", name, "--report", "report.html")
    assert told.code == 0, told.err
    for line in (f"data: {name}", f"certificate: {name}.cert.json", "report: report.html"):
        assert line in told.out.splitlines()
    expected = release_from_table(
        salaries, Histogram(epsilon=1, categories=["it", "hr"]), column="dept", rng=Seeded(3)
    )
    back = NoisyAnswer.load(tmp_path / name)
    assert back.measures() == expected.measures()
    if name != "answer.json":
        assert frames.read(tmp_path / name).rows() == expected.to_polars().rows()
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Simulation" in page
    assert "<figure>" in page
    assert MARK not in page
    again = run(*words, "-o", name)
    again.complains("CEL-I004")
    assert run(*words, "-o", name, "--overwrite").code == 0


def test_the_number_of_rows_with_a_value_is_counted(salaries: Path, run: Run) -> None:
    exact = sum(("it", "hr", "ops")[i * i % 3] == "hr" for i in range(300))
    words = ("release", "count", "salaries.csv", "-c", "dept", "--equals", "hr", "-e", 100)
    found = run(*words, "--seed", 1, "--json").data()["measures"]
    assert (found["question"], found["value"]) == ("number of rows with dept hr", exact)
    run("release", "count", "salaries.csv", "--equals", "hr", "-e", 1).complains("CEL-M120")


def test_numbers_of_a_typed_file_can_be_categories(run: Run, tmp_path: Path) -> None:
    frames.write(frames.as_frame({"code": [1] * 40 + [2] * 30}), tmp_path / "codes.parquet")
    words = (
        "release",
        "histogram",
        "codes.parquet",
        "-c",
        "code",
        "-e",
        100,
        "--seed",
        1,
        "--json",
    )
    found = run(*words, "--categories", "1,2").data()["measures"]["value"]
    assert found == {"pairs": [["1", 40], ["2", 30]]}
    unknown = run(*words, "--delta", 1e-9).data()["measures"]["value"]
    assert unknown == {"pairs": [["1", 40], ["2", 30]]}


def test_an_error_finds_the_least_epsilon(salaries: Path, run: Run) -> None:
    words = ("release", "mean", "salaries.csv", *SALARY, "--error", 20_000, "--size", 300)
    found = run(*words, "--json", "--seed", 1).data()["measures"]["epsilon"]
    expected = Mean(epsilon=1, **WITHIN).with_accuracy(20_000, size=300)
    assert found == float(expected.epsilon)
    less = Mean(epsilon=0.99 * found, **WITHIN)
    assert less.accuracy(0.95, size=300) > 20_000 >= expected.accuracy(0.95, size=300)
    by_unit = run(*words, *UNIT, "--json", "--seed", 1).data()["measures"]["epsilon"]
    bounded = per_unit(Mean(epsilon=1, **WITHIN), 2).with_accuracy(20_000, size=300)
    assert by_unit == float(getattr(bounded.mechanism, "epsilon", 0))
    assert by_unit > found
    run(*words[:-4], "--error", 1e-9).complains("CEL-M011", 1)


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("words", [case[0] for case in CASES], ids=_id)
def test_explain_reads_nothing(
    words: tuple[object, ...],
    as_json: bool,
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a file was read")

    monkeypatch.setattr(frames, "read", refuse)
    verb, *rest = words
    # Neither the file nor the column is there.
    given = ["nothing" if word in {"salary", "dept"} else word for word in rest]
    told = run(
        "release",
        verb,
        "missing.csv",
        *given,
        "-e",
        0.5,
        "--explain",
        "-o",
        "a.json",
        *(["--json"] if as_json else []),
    )
    assert told.code == 0, told.err
    assert [*tmp_path.iterdir()] == []
    if as_json:
        data = told.data()
        assert (data["explain"], data["epsilon"], data["confidence"]) == (True, 0.5, 0.95)
        assert data["error"] > 0
        assert data["guarantee"]["promise"].endswith("differential privacy")
        return
    assert "mechanism: " in told.out
    assert "price: " in told.out
    assert "promise: " in told.out
    assert "error of at most" in told.out.splitlines()[-1]
    assert "Nothing was read" in told.err


def test_explain_shows_the_error_of_python(run: Run) -> None:
    words = ("release", "mean", "x.csv", *SALARY, "-e", 0.5, "--explain", "--json", "--size", 5000)
    found = run(*words, "--confidence", 0.9).data()
    assert found["error"] == Mean(epsilon=0.5, **WITHIN).accuracy(0.9, size=5000)
    bounded = per_unit(Mean(epsilon=0.5, **WITHIN), 2, unit="person")
    assert run(*words, *UNIT).data()["error"] == bounded.accuracy(0.95, size=5000)


def test_a_large_epsilon_is_warned_of(salaries: Path, run: Run) -> None:
    told = run("release", "count", "salaries.csv", "-e", 10)
    assert told.code == 0
    assert "Warning: an epsilon of 10 gives almost no protection" in told.err
    dry = run("release", "count", "salaries.csv", "-e", 10, "--explain", "--json")
    assert "Warning: an epsilon of 10" in dry.err
    assert dry.data()["epsilon"] == 10


def test_an_empty_table_is_answered_only_if_that_is_allowed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "none.csv").write_text("salary\n")
    words = ("release", "mean", "none.csv", *SALARY, "-e", 1, "--header", "--seed", 1)
    run(*words).complains("CEL-M082")
    told = run(*words, "--may-be-empty", "--json").data()
    assert 0 <= told["measures"]["value"] <= 200_000
    assert "that the table is not empty is no secret" not in told["guarantee"]["assumes"]


def test_long_answers_are_cut_on_the_terminal_and_whole_in_the_file(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("n\n" + "".join(f"{i % 150}\n" for i in range(900)))
    edges = ",".join(map(str, range(151)))
    told = run("release", "histogram", "t.csv", "-c", "n", "--edges", edges, "-e", 1, "-o", "h.csv")
    assert "50 more are in the file" in told.err
    assert "(150 in all)" in told.out.splitlines()[-1]
    assert frames.read(tmp_path / "h.csv").height == 150
