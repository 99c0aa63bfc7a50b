"""Tables with decimal commas: what was found is said, and what is meant can be said."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import Run

PRICES = "id;price\n" + "".join(f"{n};{n % 7},5\n" for n in range(40))
DOUBTFUL = "id;price\n" + "".join(f"{n};{n % 7 + 1},250\n" for n in range(40))
MEAN = ("--column", "price", "--lower", 0, "--upper", 10, "-e", 1, "--seed", 1, "--json")


def test_a_column_with_decimal_commas_can_be_asked_as_one_with_points(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "commas.csv").write_text(PRICES)
    (tmp_path / "points.csv").write_text(PRICES.replace(",", "."))
    commas, points = (
        run("release", "mean", f"{name}.csv", *MEAN).data() for name in ("commas", "points")
    )
    assert commas["measures"] == points["measures"]


def test_a_mark_in_doubt_is_refused_until_it_is_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text(DOUBTFUL)
    run("release", "mean", "prices.csv", *MEAN[:-1]).complains("CEL-F060")
    run("release", "mean", "prices.csv", *MEAN, "--decimal", ",").data()
    run("release", "mean", "prices.csv", *MEAN[:-1], "--decimal", ".").complains("CEL-F020")
    run("release", "mean", "prices.csv", *MEAN[:-1], "--decimal", ";").complains("CEL-F021")


@pytest.mark.parametrize(
    ("text", "reading", "said"),
    [
        (PRICES, (), 'decimal: ","'),
        (DOUBTFUL, (), "decimal: unclear"),
        (PRICES, ("--decimal", ","), None),
        (PRICES.replace(",", "."), (), None),
        (PRICES.replace(",", ".").replace(";", ","), (), None),
    ],
)
def test_the_mark_that_was_found_is_said(
    text: str, reading: tuple[str, ...], said: str | None, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "prices.csv").write_text(text)
    told = run("assess", "identifiers", "prices.csv", *reading)
    assert told.code == 0, told.err
    assert (said in told.err) if said else ("decimal" not in told.err)
