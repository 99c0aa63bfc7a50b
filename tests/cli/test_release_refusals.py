"""`celosia release` refused: a clear message before any noise, no value told, nothing written."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import polars as pl
import pytest
from tests.cli.running import MARK, Run

from celosia import frames
from celosia.core import randomness

BOUNDS = ("--lower", 0, "--upper", 100)
AGE = ("-c", "age", *BOUNDS)
EPSILON = ("-e", 0.5)


@pytest.fixture(autouse=True)
def no_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entropy that must not be drawn."""

    def refuse(*_: object) -> NoReturn:
        raise AssertionError("noise was drawn")

    monkeypatch.setattr(randomness.System, "raw", refuse)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        *(
            (("mean", *AGE, "--epsilon", bad), "CEL-I060")
            for bad in ("0", "-1", "nan", "inf", "1e9", "1e-12", "-inf")
        ),
        (("mean", *AGE, "--epsilon", "half"), "CEL-I040"),
        (("mean", *AGE, "--epsilon", "1/2"), "CEL-I040"),
        (("mean", *AGE), "CEL-M128"),
        (("mean", *AGE, *EPSILON, "--error", 3), "CEL-M128"),
        (("mean", *AGE, "--error", "nan"), "CEL-I060"),
        (("mean", *AGE, "--error", "-5"), "CEL-I060"),
        (("mean", *AGE, "--error", 5, "--size", 0), "CEL-I060"),
        (("mean", "-c", "age", "--lower", 9, "--upper", 3, *EPSILON), "CEL-M006"),
        (("mean", "-c", "age", "--lower", "nan", "--upper", 3, *EPSILON), "CEL-I060"),
        (("mean", "-c", "age", "--lower", 0, "--upper", "inf", *EPSILON), "CEL-I060"),
        (("mean", "-c", "age", "--lower", 0, *EPSILON), "CEL-I040"),
        (("mean", *AGE, *EPSILON, "--grid", 0), "CEL-M008"),
        (("mean", *AGE, *EPSILON, "--grid", "nan"), "CEL-M008"),
        (("mean", *AGE, *EPSILON, "--method", "best"), "CEL-I040"),
        (("mean", *AGE, *EPSILON, "--neighbours", "twins"), "CEL-I040"),
        (("mean", *AGE, *EPSILON, "--confidence", 1), "CEL-I060"),
        (("mean", *AGE, *EPSILON, "--confidence", "nan"), "CEL-I060"),
        (("mean", *AGE, *EPSILON, "--seed", -1), "CEL-I002"),
        (("mean", *AGE, *EPSILON, "--unit", "name"), "CEL-M126"),
        (("mean", *AGE, *EPSILON, "--rows-per-unit", 2), "CEL-M126"),
        (("mean", *AGE, *EPSILON, "--unit", "name", "--rows-per-unit", 0), "CEL-I060"),
        (("mean", *AGE, *EPSILON, "--unit", "nme", "--rows-per-unit", 1), "CEL-F022"),
        (("mean", *AGE, *EPSILON, "--sensitivity", "tiny"), "CEL-I040"),
        (("mean", *BOUNDS, *EPSILON), "CEL-M120"),
        (("mean", "-c", "agee", *BOUNDS, *EPSILON), "CEL-F022"),
        (("mean", "-c", "disease", *BOUNDS, *EPSILON), "CEL-F020"),
        (("median", "-c", "disease", *BOUNDS, *EPSILON), "CEL-F020"),
        (("mean", *AGE, *EPSILON, "-o", "answer.docx"), "CEL-F012"),
        (("mean", *AGE, *EPSILON, "-o", "no/answer.json"), "CEL-I005"),
        (("mean", *AGE, *EPSILON, "-o", "people.csv", "--overwrite"), "CEL-I007"),
        (("mean", *AGE, *EPSILON, "-o", "a.json", "--report", "a.json"), "CEL-I043"),
        (("count", "-c", "disease", *EPSILON), "CEL-M122"),
        (("count", "--equals", MARK[:3], *EPSILON), "CEL-M120"),
        (("quantile", *AGE, *EPSILON), "CEL-I040"),
        (("quantile", *AGE, "-q", 1.5, *EPSILON), "CEL-I060"),
        (("quantile", *AGE, "-q", "nan", "-q", 0.5, *EPSILON), "CEL-I060"),
        (("quantile", *AGE, "-q", 0.5, "-q", 0.5, *EPSILON), "CEL-M068"),
        (("histogram", "-c", "age", *EPSILON), "CEL-M130"),
        (("histogram", "-c", "age", "--edges", "0,9", "--delta", 0.1, *EPSILON), "CEL-M130"),
        (("histogram", "-c", "age", "--edges", "0,x", *EPSILON), "CEL-M129"),
        (("histogram", "-c", "age", "--edges", "0,nan", *EPSILON), "CEL-M086"),
        (("histogram", "-c", "age", "--edges", "9,0", *EPSILON), "CEL-M086"),
        (("histogram", "-c", "age", "--edges", "0,9", "--categories", "a", *EPSILON), "CEL-M086"),
        (("histogram", "-c", "zip", "--categories", "a,a", *EPSILON), "CEL-M086"),
        (("histogram", "-c", "zip", "--categories", "", *EPSILON), "CEL-M086"),
        (("histogram", "-c", "zip", "--delta", 0, *EPSILON), "CEL-I060"),
        (("histogram", "-c", "zip", "--delta", "nan", *EPSILON), "CEL-I060"),
        (("histogram", "-c", "disease", "--edges", "0,9", *EPSILON), "CEL-F020"),
        (("top", "-c", "zip", "--categories", "a,b", "--count", 3, *EPSILON), "CEL-M065"),
        (("top", "-c", "zip", *EPSILON), "CEL-I040"),
        (("above", "-c", "age", *EPSILON), "CEL-I040"),
        (("above", "-c", "age", "--threshold", "nan", *EPSILON), "CEL-M104"),
        (("above", "-c", "age", "--threshold", 5, "--sensitivity", "tiny", *EPSILON), "CEL-I040"),
        (("above", "-c", "age", "--threshold", 5, "--sensitivity", 0, *EPSILON), "CEL-I060"),
        (("above", "-c", "age", "--threshold", 5, "--positives", 0, *EPSILON), "CEL-I060"),
        (("above", "-c", "age", "--threshold", 5, "--numeric", 2, *EPSILON), "CEL-I060"),
        (("above", "-c", "disease", "--threshold", 5, *EPSILON), "CEL-F020"),
        (("above", "-c", "age", "--threshold", 5, "--unit", "", *EPSILON), "CEL-M001"),
        (("above", "-c", "age", "--threshold", 5, "--rows-per-unit", 3, *EPSILON), "CEL-I040"),
    ],
    ids=lambda case: " ".join(map(str, case)) if isinstance(case, tuple) else case,
)
def test_a_wrong_wish_is_refused_before_any_noise(
    command: tuple[object, ...], code: str, people: Path, run: Run, tmp_path: Path
) -> None:
    verb, *rest = command
    # The first place for files is the wish's own, where it has one.
    places = () if {"-o", "--report"} & set(rest) else ("-o", "a.json", "--report", "a.html")
    run("release", verb, "people.csv", *rest, *places).complains(code)
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "CEL-F013"),
        ("age\n", "CEL-F015"),
        ("age,name\n1,a\n,b\n3,c\n", "CEL-M123"),
        ("age,name\n1,a\nNaN,b\n3,c\n", "CEL-F020"),
        ("age,name\n1,a\ninf,b\n", "CEL-F020"),
        (f"age,name\n1,a\n{MARK},b\n", "CEL-F020"),
        (f"age,name\n'1',{MARK}\n'2',b\n", "CEL-F020"),
        ('age;name\n"1,5";a\n2.5;b\n', "CEL-F020"),
        (f"age,name\n1,a\n2,{MARK},3\n", "CEL-F016"),
        ("age,name\n1e400,a\n2,b\n", "CEL-F020"),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "command",
    [
        ("mean", *AGE),
        ("sum", *AGE),
        ("median", *AGE),
        ("quantile", *AGE, "-q", 0.1, "-q", 0.9),
        ("histogram", "-c", "age", "--edges", "0,50,100"),
        ("above", "-c", "age", "--threshold", 3),
    ],
    ids=lambda command: command[0],
)
def test_a_column_that_is_not_all_numbers_is_refused(
    command: tuple[object, ...], content: str, code: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text(content)
    verb, *rest = command
    refused = run("release", verb, "t.csv", *rest, *EPSILON, "-o", "a.json")
    refused.complains(code)
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_texts_that_should_be_numbers_are_named_by_column_and_row(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"age,name\n1,a\n{MARK},b\n3,c\n")
    refused = run("release", "mean", "t.csv", *AGE, *EPSILON)
    refused.complains("CEL-F020")
    assert "column 'age'" in refused.err
    assert "first at row 2" in refused.err
    frames.write(frames.as_frame({"age": ["1", MARK]}), tmp_path / "t.parquet")
    refused = run("release", "mean", "t.parquet", *AGE, *EPSILON)
    refused.complains("CEL-M122")
    assert "column 'age' holds texts, not numbers" in refused.err


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_missing_and_unfit_cells_of_a_typed_file_are_refused(
    kind: str, run: Run, tmp_path: Path
) -> None:
    for values, code in (
        ([1.0, None], "CEL-M123"),
        ([1.0, float("nan")], "CEL-M123"),
        ([1.0, float("inf")], "CEL-M081"),
    ):
        frames.write(pl.DataFrame({"age": values}), tmp_path / f"t.{kind}")
        run("release", "mean", f"t.{kind}", *AGE, *EPSILON).complains(code)


def test_rows_of_nobody_are_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"age,who\n1,{MARK}\n2,\n")
    command = ("--unit", "who", "--rows-per-unit", 1)
    run("release", "mean", "t.csv", *AGE, *EPSILON, *command).complains("CEL-M124")


def test_a_missing_key_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"ward,n\n{MARK},1\n,2\n")
    for rest in (("histogram", "--delta", 0.001), ("top", "--categories", "a,b")):
        verb, *options = rest
        run("release", verb, "t.csv", "-c", "ward", *options, *EPSILON).complains("CEL-M123")


def test_a_rare_key_is_not_told(people: Path, run: Run, tmp_path: Path) -> None:
    # Each of the sixty diseases has one row: a key is released with a chance below 1e-9.
    command = ("release", "histogram", "people.csv", "-c", "disease", "--delta", 1e-9, "-e", 1)
    told = run(*command, "--seed", 5, "-o", "h.csv", "--report", "h.html")
    assert told.code == 0, told.err
    assert "histogram of disease: nothing" in told.out
    for path in ("h.csv", "h.csv.cert.json", "h.html"):
        assert MARK not in (tmp_path / path).read_text("utf-8")
    assert MARK not in told.out + told.err


def _stop(*_: Any, **__: Any) -> NoReturn:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "where",
    [
        "celosia.frames.read",
        "celosia.mechanisms.table_release.release_with_guarantee",
        "celosia.frames.write",
        "celosia.mechanisms.NoisyAnswer.certificate",
    ],
)
def test_stopping_leaves_nothing(
    where: str, people: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, _stop)
    stopped = run("release", "count", "people.csv", *EPSILON, "--seed", 1, "-o", "a.csv")
    assert stopped.code == 130
    assert "CEL-C001" in stopped.err
    assert stopped.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.parametrize("error", [ValueError(MARK), KeyError(MARK)], ids=repr)
def test_a_fault_tells_no_value(
    error: Exception, people: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> NoReturn:
        raise error

    monkeypatch.setattr("celosia.mechanisms.table_release.release_with_guarantee", fail)
    run("release", "count", "people.csv", *EPSILON).complains("CEL-X001", 70)


def test_what_cannot_be_promised_ends_with_its_own_code(people: Path, run: Run) -> None:
    command = ("release", "above", "people.csv", "-c", "age", "--threshold", 5, "--monotone")
    run(*command, "--neighbours", "change-one", *EPSILON).complains("CEL-M107", 1)
