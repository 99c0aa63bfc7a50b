"""`celosia sketch`: sketches of columns, merged and exchanged with DataSketches."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import Run

from celosia.sketches import DataSketchesTheta, HyperLogLog, Sketch, read_datasketches


@pytest.fixture
def days(tmp_path: Path) -> Path:
    """Two tables of visits that share the users 200 to 299."""
    for name, first in (("monday", 0), ("tuesday", 200)):
        rows = [f"{user},page {user % 3}" for user in range(first, first + 300)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["user,page", *rows]) + "\n")
    return tmp_path


def test_sets_of_two_days_are_exchanged_with_datasketches(run: Run, days: Path) -> None:
    for day in ("monday", "tuesday"):
        made = run(
            *("sketch", "build", f"{day}.csv", "--column", "user", "--kind", "theta"),
            *("--datasketches", "-o", f"{day}.bin"),
        )
        assert "protects nothing" in made.err
        assert "hashes at most): estimate 300 different values" in made.out
    (days / "more.bin").write_bytes(DataSketchesTheta(most=20).update([1000]).to_datasketches())
    found = {}
    for operation in ("union", "intersection", "difference"):
        told = run(
            *("sketch", "merge", "monday.bin", "tuesday.bin", "-o", f"{operation}.bin"),
            *("--operation", operation, "--json"),
        ).data()
        found[operation] = told["estimate"]
        assert read_datasketches((days / f"{operation}.bin").read_bytes()).as_dict()["estimate"]
    assert found == {"union": 500, "intersection": 100, "difference": 200}
    merged = run("sketch", "merge", "monday.bin", "more.bin", "-o", "all.bin", "--json").data()
    assert merged["estimate"] == 301
    peer = pytest.importorskip("datasketches")
    theirs = peer.compact_theta_sketch.deserialize((days / "union.bin").read_bytes())
    assert theirs.get_estimate() == 500


def test_counts_are_asked_for_by_value(run: Run, days: Path) -> None:
    build = ("sketch", "build", "monday.csv", "-c", "page", "--kind", "count-min")
    for more in (("-o", "own.sketch"), ("-o", "their.bin", "--datasketches")):
        run(*build, *more)
    asked = ("sketch", "show", "own.sketch", "their.bin", "--value", "page 1", "--value", "none")
    told = run(*asked, "--json").data()["sketches"]
    assert [told[each]["counts"]["page 1"] for each in ("own.sketch", "their.bin")] == [100, 100]
    assert "  page 1: 100" in run(*asked).out
    run("sketch", "merge", "own.sketch", "their.bin", "-o", "no.bin").complains("CEL-K006")


def test_what_a_sketch_cannot_do_is_said(run: Run, days: Path) -> None:
    made = run("sketch", "build", "monday.csv", "-c", "user", "-o", "users.sketch")
    assert isinstance(Sketch.from_bytes((days / "users.sketch").read_bytes()), HyperLogLog)
    assert made.out.startswith("users.sketch: hyperloglog (16,384 registers): estimate")
    pair = ("users.sketch", "users.sketch")
    run("sketch", "merge", *pair, "-o", "a", "--operation", "difference").complains("CEL-K011")
    run("sketch", "merge", *pair, "-o", "a", "--operation", "both").complains("CEL-I061")
    run("sketch", "show", "users.sketch", "--value", "1").complains("CEL-K011")
    run("sketch", "show", "nothing.bin").complains("CEL-K011")
    several = run("sketch", "show", "users.sketch", "monday.csv")
    several.complains("CEL-K011")
    assert "monday.csv is no sketch that can be read: these bytes" in several.err
    run("sketch", "build", "monday.csv", "-c", "user", "--kind", "x", "-o", "b").complains(
        "CEL-I061"
    )
    run("sketch", "build", "monday.csv", "-c", "user", "-o", "users.sketch").complains("CEL-I004")
