"""Bad input of logs and sets (section 10): refused with a code and a count, nothing written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from celosia.core.errors import CelosiaError, PrivacyWarning
from celosia.core.randomness import Seeded
from celosia.logs import (
    Coherence,
    Fields,
    KmAnonymity,
    LogDeclaration,
    RhoUncertainty,
    UserThreshold,
    log_of,
    private,
    publish,
    publish_file,
    publish_sets,
    read,
    read_sets,
)
from celosia.logs.fields.addresses import NetworkTable

DECLARATION = LogDeclaration(person="user", text="query")
SECRET = "zebrafish"


def refused(code: str, error: CelosiaError) -> None:
    assert error.code == code
    assert SECRET not in str(error)


def test_an_email_in_two_cases_is_one_person() -> None:
    rows = {"user": ["Ann@x.org", "ann@x.org", " ANN@x.org", "Bob"], "query": ["rain"] * 4}
    log = log_of(pl.DataFrame(rows), DECLARATION)
    assert log.persons == 2
    with pytest.raises(CelosiaError) as caught:
        publish(log, UserThreshold(k=3))
    refused("CEL-U040", caught.value)


@pytest.mark.parametrize(
    "content",
    [
        f'{{"user": "a", "query": "{SECRET}"\n',
        f'{{"user": "a", "query": "{SECRET}\\x"}}\n',
        "",
    ],
)
def test_damaged_json_lines_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(content, "utf-8")
    with pytest.raises(CelosiaError) as caught:
        read(path, DECLARATION)
    assert caught.value.code.startswith("CEL-F")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "lines",
    [
        [f"{SECRET},A,*", f"{SECRET},B,*"],  # several parents
        ["a,A,*", "b,A,B"],  # two roots
        [f"A,{SECRET},*", f"{SECRET},A,*"],  # a circle: an item below itself
    ],
)
def test_hierarchies_that_are_no_tree_are_refused(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "items.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    with pytest.raises(CelosiaError) as caught:
        publish_sets([["a"], [SECRET]], KmAnonymity(k=2), hierarchy=path)
    assert caught.value.code in ("CEL-H003", "CEL-H004", "CEL-U030")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "build",
    [
        lambda: KmAnonymity(k=5, m=0),
        lambda: KmAnonymity(k=5, m=6),
        lambda: Coherence(k=5, p=0),
        lambda: Coherence(k=5, h=0),  # type: ignore[arg-type]
        lambda: RhoUncertainty(rho=2),  # type: ignore[arg-type]
        lambda: RhoUncertainty(p=9),
        lambda: private.LaplaceKeys(epsilon=1, delta=0),
        lambda: private.SipsKeys(epsilon=1, delta=1e-6, per_person=0),
        lambda: private.SipsKeys(epsilon=1, delta=1e-6, rounds=9),
    ],
)
def test_parameters_out_of_range_are_refused_before_any_data(build: object) -> None:
    with pytest.raises(CelosiaError) as caught:
        build()  # type: ignore[operator]
    assert caught.value.code == "CEL-I060"


def test_a_basket_file_without_an_item_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "baskets.txt"
    path.write_bytes(b"\n\n\xff\xfe\n")
    with pytest.raises(CelosiaError) as caught:
        read_sets(path)
    refused("CEL-U012", caught.value)


def test_addresses_are_named_by_a_table_and_the_longest_prefix_wins(tmp_path: Path) -> None:
    path = tmp_path / "networks.csv"
    path.write_text("192.0.0.0/16,FR\n192.0.2.0/24,ES\n2001:db8::/32,PT\n", "utf-8")
    frame = pl.DataFrame(
        {
            "user": ["a", "b", "c", "d", "e"],
            "ip": ["192.0.2.7", "192.0.9.1", "2001:db8::1", "10.0.0.1", "no address"],
        }
    )
    log = log_of(frame, LogDeclaration(person="user", ip="ip", damaged="drop"))
    made = publish(log, Fields(ip="table", networks=str(path)), rng=Seeded(1), assess=False)
    assert sorted(made.data["ip"].drop_nulls()) == ["ES", "FR", "PT", "other"]
    assert made.data["ip"].null_count() == 1


@pytest.mark.parametrize(
    "content", ["", "192.0.2.0/24\n", "192.0.2.1/24,ES\n", "nowhere,ES\n", "192.0.2.0/24, \n"]
)
def test_a_broken_table_of_networks_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "networks.csv"
    path.write_text(content, "utf-8")
    with pytest.raises(CelosiaError) as caught:
        NetworkTable.read(path)
    refused("CEL-U052", caught.value)
    with pytest.raises(CelosiaError) as caught:
        Fields(ip="table")
    refused("CEL-U052", caught.value)


@pytest.mark.parametrize("hashed", ["ab" * 16, "AB" * 32, "q" * 43 + "=", "A_-" * 7 + "A=="])
def test_a_column_of_hashes_is_kept_on_purpose_or_not_at_all(tmp_path: Path, hashed: str) -> None:
    """A8, W10: a hash is no pseudonym; in memory and block by block."""
    frame = pl.DataFrame(
        {"user": list("abcd"), "query": ["x"] * 4, "card": [None, hashed, "-", hashed]}
    )
    declared = LogDeclaration(person="user", text="query", keep=("card",))
    frame.write_csv(tmp_path / "log.csv")
    with pytest.raises(CelosiaError, match=r"'card'.*first at row 2") as caught:
        publish(log_of(frame, declared), UserThreshold(k=2), assess=False, rng=Seeded(1))
    refused("CEL-U015", caught.value)
    with pytest.raises(CelosiaError, match=r"'card'.*first at row 2") as caught:
        publish_file(tmp_path / "log.csv", tmp_path / "out.csv", declare=declared)
    refused("CEL-U015", caught.value)
    assert not (tmp_path / "out.csv").exists()
    kept = replace(declared, hashes="keep")
    with pytest.warns(PrivacyWarning, match="undone by listing"):
        release = publish(log_of(frame, kept), UserThreshold(k=2), assess=False, rng=Seeded(1))
    assert "'card'" in release.warnings[0]
    with pytest.warns(PrivacyWarning, match="undone by listing"):
        publish_file(tmp_path / "log.csv", tmp_path / "out.csv", declare=kept)
    some = frame.with_columns(card=pl.Series(["gold", "tin", "lead", hashed]))
    assert publish(log_of(some, declared), UserThreshold(k=2), assess=False).warnings == ()
