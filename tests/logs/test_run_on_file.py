"""Logs larger than memory: the same records as in memory, and nothing half-written."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from celosia import datasets
from celosia.core.errors import CelosiaError
from celosia.core.randomness import Seeded
from celosia.logs import (
    Fields,
    LogDeclaration,
    LogFileRelease,
    LogRelease,
    UserMicroaggregation,
    UserThreshold,
    publish,
    publish_file,
    read,
    run_on_file,
)
from celosia.logs.distinct_counts import ITEM, PERIOD, BlockCounts, PersonSupport
from celosia.logs.method import LogMethod

AGENTS = ("Firefox/128.0", "curl/8", "AnnsOwn/1")
LINE = '10.0.{a}.{b} - - [0{day}/Oct/2025:1{hour}:55:36 +0000] "GET /{page}?x=1 HTTP/1.1" 200 {n}'


@pytest.fixture(scope="module")
def access(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "access.log"
    lines = [
        LINE.format(a=n % 7, b=n % 11, day=1 + n % 3, hour=n % 5, page=n * n % 13, n=n)
        + f' "-" "{AGENTS[0 if n % 9 else 1 + n % 2]}"'
        for n in range(600)
    ]
    path.write_text("\n".join([*lines, "no line"]) + "\n", "utf-8")
    return path


def ordered(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.sort(frame.columns)


CASES: list[list[LogMethod]] = [
    [],
    [Fields(url="path"), UserThreshold(k=5)],
    [Fields(url="path", ip="drop", agent="device", agent_people=30), UserThreshold(k=40)],
    [Fields(url="path", time="day"), UserThreshold(k=8, period="day")],
    [Fields(url="path", time="drop"), UserThreshold(k=5)],
]


@pytest.mark.parametrize("methods", CASES, ids=["fields", "k=5", "k=40", "by day", "no time"])
def test_blocks_give_the_records_and_facts_of_the_whole(
    access: Path, tmp_path: Path, methods: list[LogMethod], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_on_file, "BUCKET", 50)  # several buckets, some for one hour
    whole = publish(read(access), methods, assess=False, rng=Seeded(1))
    target = tmp_path / "safe.csv"
    made = publish_file(access, target, methods, block=5_000, rng=Seeded(2))
    opened = LogRelease.load(target)
    assert ordered(opened.data).equals(ordered(whole.data))
    assert [each.facts for each in made.methods] == [each.facts for each in whole.methods]
    assert made.left_out == whole.left_out == {"no_access_log_line": 1}
    assert made.guarantee == whole.guarantee
    assert made.records == whole.data.height
    assert LogFileRelease.load(target).summary == made.summary == whole.summary
    if "time" in opened.data.columns:  # in the order of times, and within them at random
        assert opened.data["time"].is_sorted()
        assert opened.data["bytes"].to_list() != ordered(opened.data)["bytes"].to_list()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["safe.csv", "safe.csv.cert.json"]


def test_tables_are_published_by_blocks_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_on_file, "ROWS", 500)
    frame = datasets.searches(60, seed=1).frame
    declaration = LogDeclaration(person="user", time="when", text="query", ip="ip", agent="ua")
    frame.write_csv(tmp_path / "log.csv")
    frame.write_ndjson(tmp_path / "log.jsonl")
    whole = publish(read(tmp_path / "log.csv", declaration), UserThreshold(k=3), assess=False)
    for name in ("log.csv", "log.jsonl"):
        target = tmp_path / "safe.parquet"
        made = publish_file(tmp_path / name, target, UserThreshold(k=3), declare=declaration)
        assert ordered(pl.read_parquet(target)).equals(ordered(whole.data))
        assert made.methods[-1].facts == whole.methods[-1].facts


@pytest.mark.parametrize(
    ("methods", "code"),
    [
        ([UserMicroaggregation(k=3)], "CEL-U024"),
        ([UserThreshold(k=3), Fields()], "CEL-U024"),
        ([Fields(), UserThreshold(k=3), UserMicroaggregation(k=3)], "CEL-U024"),
        ([UserThreshold(k=500)], "CEL-U040"),
        ([Fields(url="path"), UserThreshold(k=77, period="day")], "CEL-U041"),
    ],
)
def test_what_cannot_be_published_leaves_nothing(
    access: Path, tmp_path: Path, methods: list[LogMethod], code: str
) -> None:
    with pytest.raises(CelosiaError) as caught:
        publish_file(access, tmp_path / "safe.csv", methods)
    assert caught.value.code == code
    assert list(tmp_path.iterdir()) == []


def test_pseudonyms_and_sessions_need_the_whole_log(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("user,query,sid\na,x,1\nb,x,2\n", "utf-8")
    declaration = LogDeclaration(person="user", text="query", session="sid")
    for fields in (Fields(person="pseudonym"), Fields(session="length")):
        with pytest.raises(CelosiaError) as caught:
            publish_file(path, tmp_path / "safe.csv", fields, declare=declaration)
        assert caught.value.code == "CEL-U024"


def test_one_person_or_no_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    declaration = LogDeclaration(person="user", text="query")
    for rows, code in (("a,x\na,y\n", "CEL-U013"), (",x\n", "CEL-U012")):
        path.write_text("user,query\n" + rows, "utf-8")
        with pytest.raises(CelosiaError) as caught:
            publish_file(path, tmp_path / "safe.csv", UserThreshold(k=2), declare=declaration)
        assert caught.value.code == code


def test_memory_grows_with_distinct_items_not_with_lines() -> None:
    """Of an item no more than k - 1 persons are kept, and none once it has k."""
    support = PersonSupport(4)
    for block in range(30):
        items = pl.DataFrame({ITEM: ["a", "b"], PERIOD: [0, 0]})
        people = pl.Series([block % 3, block], dtype=pl.UInt64)
        support.add(items, people)
    assert support.common.get_column(ITEM).to_list() == ["b"]
    assert support._open.height == 3
    counts = BlockCounts(persons=4, agent_persons=1)
    for _ in range(30):
        counts.add(
            2,
            people=pl.Series([1, 2], dtype=pl.UInt64),
            items=pl.DataFrame({ITEM: ["a", "b"], PERIOD: [0, 0]}),
            times=pl.Series(["t", "t"]),
            agents=None,
        )
    assert counts.records == 60
    assert (counts.persons_seen, counts.largest_share) == (2, 0.5)
    assert len(counts.distinct_items) == 2


def test_places_hold_about_so_many_records_and_whole_times() -> None:
    counts = BlockCounts(persons=2, agent_persons=1)
    times = pl.Series(["a"] * 3 + ["b"] * 3 + ["c"] * 25 + [None] * 2 + ["d"], dtype=pl.String)
    counts.add(34, people=None, items=None, times=times, agents=None)
    places = counts.places(10)
    frame = pl.DataFrame({"t": times, "n": range(34)})
    parts = dict(places.split(frame, "t", Seeded(1)))
    assert sum(part.height for part in parts.values()) == 34
    where = {time: {place for place in parts if time in parts[place]["t"]} for time in "abcd"}
    assert where["a"] == where["b"] == {0}
    assert len(where["c"]) == 3
    assert max(where["b"]) < min(where["c"]) <= max(where["c"]) < min(where["d"])
