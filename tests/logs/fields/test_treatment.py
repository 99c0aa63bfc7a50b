"""The treatment of fields: nothing that identifies by itself is published."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.logs import Fields, Log, LogDeclaration, log_of, publish
from celosia.logs.fields.times import floor_times, parse_times, sessions

DECLARATION = LogDeclaration(
    person="user", time="when", text="query", url="clicked", ip="ip", agent="ua", session="sid",
    damaged="drop",
)  # fmt: skip


def small_log(**changes: object) -> Log:
    frame = pl.DataFrame(
        {
            "user": ["ann", "ann", "bob", "cay"],
            "when": ["2026-09-01T10:05:00Z", "2026-09-02T10:20:00Z"] * 2,
            "query": ["weather", "flu", "weather", "weather"],
            "clicked": [
                "https://ann:pw@a.example.org/x?y=1#z",
                None,
                "https://b.example.org",
                None,
            ],
            "ip": ["192.0.2.7", "192.0.2.8", "2001:db8::1", "nobody"],
            "ua": ["Mozilla/5.0 Firefox/128.0"] * 3 + ["AnnsOwn/1"],
            "sid": ["s1", "s2", "s3", "s4"],
            "secret": ["a", "b", "c", "d"],
        }
    ).with_columns(**changes)  # type: ignore[arg-type]
    return log_of(frame, DECLARATION)


def test_the_default_drops_persons_and_sessions_and_coarsens_the_rest() -> None:
    made = publish(small_log(), rng=Seeded(1)).data
    assert made.columns == ["when", "query", "clicked", "ip", "ua"]
    assert set(made["when"]) == {"2026-09-01T10:00+00:00", "2026-09-02T10:00+00:00"}
    assert set(made["clicked"].drop_nulls()) == {"https://example.org"}
    assert set(made["ip"].drop_nulls()) == {"192.0.2.0/24", "2001:db8::/48"}
    assert set(made["ua"]) == {"other"}  # no family is used by five persons


def test_values_that_cannot_be_read_are_refused_with_their_row_or_emptied_and_counted() -> None:
    log = small_log(when=pl.Series(["2026-09-01T10:05:00Z", "x", "", "y"]))
    assert publish(log, rng=Seeded(1), assess=False).methods[0].facts == {
        "times_unread": 2,
        "ip_unread": 1,
    }
    strict = replace(DECLARATION, damaged="refuse")
    with pytest.raises(InputError, match=r"2 times cannot be read \(first at row 2\)") as caught:
        publish(replace(log, declaration=strict))
    assert caught.value.code == "CEL-U014"
    with pytest.raises(InputError, match=r"1 IP address cannot be read \(first at row 4\)"):
        publish(replace(small_log(), declaration=strict))


def test_columns_that_are_not_declared_are_never_published() -> None:
    release = publish(small_log(), Fields(person="pseudonym", session="pseudonym"), rng=Seeded(1))
    assert "secret" not in release.data.columns
    assert not set("abcd") & set(release.data.columns)


def test_a_pseudonym_is_fresh_for_each_person_and_period() -> None:
    by_day = publish(small_log(), Fields(person="pseudonym"), rng=Seeded(1)).data
    assert by_day["user"].n_unique() == 4
    whole = publish(small_log(), Fields(person="pseudonym", period="whole"), rng=Seeded(1)).data
    assert whole["user"].n_unique() == 3
    assert not {"ann", "bob", "cay"} & set(whole["user"].cast(pl.String))


def test_pseudonyms_by_period_need_times() -> None:
    declaration = LogDeclaration(person="user", text="query")
    log = log_of(small_log().frame, declaration)
    with pytest.raises(InputError) as caught:
        publish(log, Fields(person="pseudonym"))
    assert caught.value.code == "CEL-U022"


def test_records_of_the_same_hour_are_shuffled() -> None:
    count = 400
    frame = pl.DataFrame(
        {
            "user": [str(number % 50) for number in range(count)],
            "when": ["2026-09-01T10:05:00Z"] * count,
            "query": [f"q{number}" for number in range(count)],
        }
    )
    log = log_of(frame, LogDeclaration(person="user", time="when", text="query"))
    made = publish(log, rng=Seeded(3), assess=False).data["query"].to_list()
    assert made != frame["query"].to_list()
    assert sorted(made) == sorted(frame["query"])


def test_hours_are_floored_in_the_declared_zone_over_both_clock_changes() -> None:
    """Check 18, for logs: a day of 23 or 25 hours is a day."""
    moments = pl.Series(
        ["2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z", "2026-10-25T00:30:00Z",
         "2026-10-25T01:30:00Z"]
    ).str.to_datetime(time_zone="UTC")  # fmt: skip
    assert floor_times(moments, "hour", "Europe/Madrid").to_list() == [
        "2026-03-29T01:00+01:00",
        "2026-03-29T03:00+02:00",
        "2026-10-25T02:00+02:00",
        "2026-10-25T02:00+01:00",
    ]
    late = pl.Series(["2026-10-24T22:30:00Z"]).str.to_datetime(time_zone="UTC")
    assert floor_times(late, "day", "Europe/Madrid").to_list() == ["2026-10-25"]


@pytest.mark.parametrize(
    ("values", "settings", "code"),
    [
        (["2026-09-01 10:00:00"], {}, "CEL-U020"),
        ([1_790_000_000], {}, "CEL-U021"),
        ([1_790_000_000_000], {"epoch": "s"}, "CEL-U021"),
    ],
)
def test_times_without_a_zone_or_a_unit_are_refused(
    values: list[object], settings: dict[str, str], code: str
) -> None:
    declaration = LogDeclaration(time="t", **settings)  # type: ignore[arg-type]
    with pytest.raises(InputError) as caught:
        parse_times(pl.Series("t", values), declaration)
    assert caught.value.code == code


def test_times_in_several_forms_mean_the_same_moment() -> None:
    texts = pl.Series(
        ["2026-09-01T10:00:00Z", "2026-09-01 12:00:00+02:00", "2026-09-01 12:00:00", "never"]
    )
    found = parse_times(texts, LogDeclaration(time="t", zone="Europe/Madrid"))
    assert found.n_unique() == 2
    assert found.null_count() == 1
    numbers = parse_times(pl.Series([1_788_256_800]), LogDeclaration(time="t", epoch="s"))
    assert numbers[0] == found[0]


def test_a_session_ends_after_half_an_hour_without_a_record() -> None:
    moments = pl.from_epoch(pl.Series([0, 1_700, 3_600, 100]), time_unit="s").dt.replace_time_zone(
        "UTC"
    )
    assert sessions(np.array([1, 1, 1, 2]), moments).tolist() == [0, 0, 1, 2]


def test_sizes_become_powers_of_two() -> None:
    declaration = LogDeclaration(person="user", bytes="size")
    frame = pl.DataFrame({"user": ["a", "b"], "size": [1000, 0]})
    made = publish(log_of(frame, declaration), rng=Seeded(1), assess=False)
    assert sorted(made.data["size"]) == [0, 512]
