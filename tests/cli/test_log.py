"""`celosia log`: declare, describe and publish logs and sets."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.cli.running import MARK, Run

from celosia import datasets
from celosia.logs import LogRelease, SetRelease


@pytest.fixture
def searches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a search log in which every person bears the mark."""
    monkeypatch.chdir(tmp_path)
    frame = datasets.searches(150, seed=3).frame
    frame.with_columns(user=f"{MARK}-" + pl.col("user")).write_csv("searches.csv")
    return tmp_path


@pytest.fixture
def baskets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> Path:
    monkeypatch.chdir(tmp_path)
    made = ("datasets", "get", "baskets", "--rows", 300, "-o", "baskets.txt")
    assert run(*made, "--hierarchy", "items.csv").code == 0
    return tmp_path


def test_a_log_is_declared_described_and_published(run: Run, searches: Path) -> None:
    """Check 48: the examples of the help run."""
    assert run("log", "init", "searches.csv", "-o", "log.toml").code == 0
    described = run("log", "info", "searches.csv", "--declare", "log.toml")
    assert "150 persons" in described.out
    done = run(
        *("log", "publish", "searches.csv", "--declare", "log.toml", "--min-people", 5),
        *("-o", "safe.csv", "--report", "r.html"),
    )
    assert done.code == 0, done.err
    assert done.out.splitlines()[-1].startswith("every published query was asked by at least 5")
    assert MARK not in done.out + done.err + described.out
    for name in ("safe.csv", "safe.csv.cert.json", "r.html"):
        assert MARK not in (searches / name).read_text("utf-8"), name
    release = LogRelease.load(searches / "safe.csv")
    assert release.data.columns == ["when", "query", "clicked", "ip", "ua"]


def test_sets_are_published_by_lines_or_clusters(run: Run, baskets: Path) -> None:
    sets = ("log", "publish", "baskets.txt", "--sets")
    done = run(*sets, "--km", 5, 2, "--hierarchy", "items.csv", "-o", "safe.txt")
    assert done.code == 0, done.err
    assert "independent code" in done.out
    assert SetRelease.load(baskets / "safe.txt").data.count == 300
    assert run(*sets, "--method", "disassociation:5", "-o", "safe.json").code == 0
    asked = ("baskets.txt", "--sets", "-e", 9, "--delta", "1e-3", "--per-person", 5)
    named = run("log", "release", "itemsets", *asked, "-o", "sets.csv")
    assert named.code == 0, named.err
    assert run("log", "release", "keys", *asked, "--method", "sips").code == 0
    run(*sets, "--method", "disassociation:5", "-o", "other.txt").complains("CEL-U043")
    run(*sets, "--km", 5, 2).complains("CEL-U033")
    run(*sets).complains("CEL-U023")
    run("log", "publish", "baskets.txt", "--hierarchy", "items.csv").complains("CEL-U044")


def test_an_access_log_needs_no_declaration(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = '192.0.2.{} - {} [10/Oct/2025:13:55:36 +0200] "GET /{}?x={} HTTP/1.1" 200 9 "-" "curl/8"'
    lines = [line.format(n % 20, MARK, n % 3, MARK) for n in range(60)] + [MARK]
    Path("access.log").write_text("\n".join(lines), "utf-8")
    done = run(
        *("log", "publish", "access.log", "--method", "fields:url=path", "--min-people", 3),
        *("-o", "safe.csv"),
    )
    assert done.code == 0, done.err
    assert "left out: 1 (lines that are no record of an access log)" in done.err
    assert MARK not in done.out + done.err + Path("safe.csv").read_text("utf-8")
    assert set(pl.read_csv("safe.csv")["url"]) == {"/0", "/1", "/2"}
    fields = ("log", "publish", "access.log", "--method", "fields:url=path", "--min-people", 3)
    streamed = run(*fields, "--stream", "-o", "streamed.csv")
    assert streamed.code == 0, streamed.err
    one, other = (pl.read_csv(name) for name in ("safe.csv", "streamed.csv"))
    assert one.sort(one.columns).equals(other.sort(other.columns))
    assert MARK not in streamed.out + streamed.err + Path("streamed.csv").read_text("utf-8")
    run(*fields, "--stream").complains("CEL-U024")


def test_the_methods_are_listed(run: Run) -> None:
    listed = run("log", "methods", "--json").data()
    assert {each["method"] for each in listed} >= {"km-anonymity", "user-threshold", "fields"}
    assert {each["data"] for each in listed} == {"records", "sets"}


@pytest.mark.usefixtures("searches")
def test_frequent_queries_are_released_privately(run: Run) -> None:
    assert run("log", "init", "searches.csv", "-o", "log.toml").code == 0
    common = ("searches.csv", "--declare", "log.toml", "--epsilon", 1, "--delta", "1e-6")
    done = run("log", "release", "keys", *common, "--per-person", 20, "-o", "keys.csv")
    assert done.code == 0, done.err
    assert MARK not in done.out + Path("keys.csv").read_text("utf-8")
    named = run("log", "release", "keys", *common, "--method", "optimal", "--json").data()
    assert named["measures"]["delta"] == 1e-6
    run("log", "release", "keys", *common, "--per-person", 0).complains("CEL-I060")
    assert run("log", "release", "itemsets", *common, "--per-person", 5, "--top", 3).code == 0
    large = run("log", "release", "keys", *common[:-1], "0.1")
    assert "one in the number of persons" in large.err


def test_a_plan_needs_no_data(run: Run) -> None:
    rows = run(
        *("log", "plan", "--people", 300, "-e", 1, "--delta", "1e-4", "--per-person", 5),
        *("--runs", 1, "--json"),
    ).data()
    assert {row["method"] for row in rows} == {"laplace", "optimal", "gaussian", "sips"}


@pytest.mark.usefixtures("searches")
def test_a_release_is_attacked_and_assessed(run: Run) -> None:
    declared = ("--declare", "log.toml")
    assert run("log", "init", "searches.csv", "-o", "log.toml").code == 0
    publish = ("log", "publish", "searches.csv", *declared, "--min-people", 5, "-o", "safe.csv")
    assert run(*publish).code == 0
    before = run("log", "attack", "searches.csv", *declared, "--seed", 1, "--json").data()
    after = run("log", "attack", "searches.csv", "safe.csv", *declared, "--json").data()
    assert before[1]["share_exposed"] > 0.5
    assert after[1]["share_exposed"] == 0
    made = run(
        *("log", "attack", "searches.csv", *declared, "--method", "user-threshold:5"),
        *("--attack", "rare-queries", "--attack", "hash-columns:10", "--report", "a.html"),
    )
    assert made.code == 0, made.err
    assert MARK not in made.out + Path("a.html").read_text("utf-8")
    figures = run("log", "assess", "searches.csv", "safe.csv", *declared, "--json").data()
    assert 0 < figures["utility"]["records_kept"] < 1
    run("log", "attack", "searches.csv", "safe.csv", *declared, "--method", "fields").complains(
        "CEL-U045"
    )


def test_baskets_are_attacked_assessed_and_verified(run: Run, baskets: Path) -> None:
    lines = (baskets / "baskets.txt").read_text("utf-8").splitlines()
    items = sorted({item for line in lines for item in line.split()})
    (baskets / "secret.txt").write_text("\n".join(items[:40]), "utf-8")
    tree = ("--sets", "--hierarchy", "items.csv")
    publish = ("log", "publish", "baskets.txt", "--no-assess")
    assert run(*publish, *tree, "--km", 5, 2, "-o", "safe.txt").code == 0
    attack = ("log", "attack", "baskets.txt")
    before = run(*attack, *tree, "--seed", 1, "--json").data()
    after = run(*attack, "safe.txt", *tree, "--seed", 1, "--json").data()
    assert before[1]["share_exposed"] > after[1]["share_exposed"] == 0
    assert after[1]["smallest"] >= 5
    wanted = (*attack, *tree, "--sensitive", "secret.txt", "--attack", "association:2,above=0.6")
    made = run(*wanted, "--method", "disassociation:5", "--report", "a.html")
    assert made.code == 0, made.err
    assert len(run(*attack, *tree, "--sensitive", "secret.txt", "--json").data()) == 4
    assess = ("log", "assess", "baskets.txt", "safe.txt")
    figures = run(*assess, *tree, "--json").data()
    assert set(figures["utility"]) == {"items_kept", "top_items_overlap", "pair_error"}
    assert figures["violations"] is None
    run(*assess, "--sets").complains("CEL-U046")
    run(*assess, "--hierarchy", "items.csv").complains("CEL-U044")
    run(*attack, *tree, "--attack", "association").complains("CEL-U035")
    verify = ("log", "verify", "safe.txt", "--method")
    assert "holds" in run(*verify, "km-anonymity:5,2").out
    run(*verify, "km-anonymity:300,2").complains("CEL-U047", 1)
    run(*verify, "fields").complains("CEL-U048")
    run(*verify, "user-threshold:5").complains("CEL-U048")
    run("log", "verify", "nowhere.json", "--method", "disassociation:5").complains("CEL-U046")


@pytest.mark.usefixtures("searches")
def test_a_planted_query_of_one_person_fails_the_check(run: Run) -> None:
    assert run("log", "init", "searches.csv", "-o", "log.toml").code == 0
    declared = ("--declare", "log.toml")
    publish = ("log", "publish", "searches.csv", *declared, "--min-people", 5, "--no-assess")
    assert run(*publish, "-o", "safe.csv").code == 0
    verify = ("--method", "user-threshold:5", "--original", "searches.csv", *declared)
    assert run("log", "verify", "safe.csv", *verify).code == 0
    safe, raw = pl.read_csv("safe.csv"), pl.read_csv("searches.csv")
    rare = raw.filter(pl.len().over("query") == 1)["query"][0]
    safe.with_columns(query=pl.lit(rare)).write_csv("planted.csv")
    run("log", "verify", "planted.csv", *verify).complains("CEL-U047", 1)
