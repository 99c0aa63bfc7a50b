"""Streams: records are masked as they arrive, and a restart neither loses nor repeats one."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Iterator
from math import log
from pathlib import Path

import polars as pl
import pytest
from tests.cli.running import Run

from celosia.core.errors import InputError
from celosia.tables import Schema
from celosia.tables.masking import (
    Mdav,
    Noise,
    Pram,
    Recipe,
    Rounding,
    StreamMasker,
    StreamOptions,
    mask_stream,
)

REFERENCE = pl.DataFrame({"name": ["Ana", "Bob"], "age": [20, 40], "pay": [100.0, 300.0]})
SCHEMA = Schema.of(identifiers=["name"], quasi_identifiers=["age"], sensitive=["pay"])
RECIPE = Recipe.of(SCHEMA, [(Rounding(base=10), ["age"]), (Noise(amount=0.1), ["pay"])])
PEOPLE = ["Ana", "Bob", "Ana", "Eve", "Ana"]
LINES = ["name,age,pay\n", *(f"{name},{20 + 7 * at},{at}.5\n" for at, name in enumerate(PEOPLE))]


def masked(tmp_path: Path, lines: Iterator[str] | list[str], **options: int | str) -> list[str]:
    asked = StreamOptions(**{"batch": 2, "seed": 1} | options)  # type: ignore[arg-type]
    mask_stream(
        lines,
        tmp_path / "out.csv",
        RECIPE,
        reference=REFERENCE,
        state=tmp_path / "s.stream",
        options=asked,
    )
    return (tmp_path / "out.csv").read_text().splitlines()


def test_records_are_masked_in_order_without_identifiers(tmp_path: Path) -> None:
    found = masked(tmp_path, LINES)
    assert found[0] == "age,pay"
    assert [line.split(",")[0] for line in found[1:]] == ["20", "30", "30", "40", "50"]
    # Noise of a tenth of the deviation of the reference, 141: none is beyond 8 deviations of 14.
    assert all(
        0 < abs(float(line.split(",")[1]) - at - 0.5) < 113 for at, line in enumerate(found[1:])
    )


class PowerCutError(Exception):
    """The machine stops."""


def test_a_restart_neither_loses_nor_repeats_a_record(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    whole = masked(tmp_path / "whole", LINES)

    def cut() -> Iterator[str]:
        yield from LINES[:4]  # a batch of two, and half of the next
        raise PowerCutError

    with pytest.raises(PowerCutError):
        masked(tmp_path, cut())
    assert (tmp_path / "out.csv").read_text().splitlines() == whole[:3]
    with (tmp_path / "out.csv").open("a") as file:
        file.write("50,9")  # half a record that the state does not vouch for
    assert masked(tmp_path, LINES) == whole
    assert masked(tmp_path, LINES) == whole  # nothing is left to do


def test_a_person_has_a_budget_of_records_that_survives_a_restart(tmp_path: Path) -> None:
    limit: dict[str, int | str] = {"person": "name", "most": 2}
    assert len(masked(tmp_path, LINES[:4], **limit)) == 1 + 3
    assert len(masked(tmp_path, LINES, **limit)) == 1 + 4  # the third record of Ana is withheld
    state = tmp_path / "s.stream"
    assert b"Ana" not in state.read_bytes()
    assert stat.S_IMODE(state.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("lines", "variant", "kept"),
    [
        (["age,pay\n"], "header", 0),
        ([*LINES[:3], "Eve,30\n"], "width", 2),
        ([*LINES[:3], "Eve,thirty,1\n"], "cell", 2),
        ([*LINES[:3], '"Eve,30,1\n'], "csv", 2),
    ],
)
def test_a_bad_record_stops_the_stream_and_all_before_it_is_released(
    lines: list[str], variant: str, kept: int, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as refusal:
        masked(tmp_path, lines)
    assert refusal.value.key == f"CEL-V345.{variant}"
    assert "thirty" not in str(refusal.value)
    out = tmp_path / "out.csv"
    assert (len(out.read_text().splitlines()) - 1 if out.exists() else 0) == kept


def test_another_recipe_a_cut_output_and_a_second_process_are_refused(tmp_path: Path) -> None:
    masked(tmp_path, LINES)
    with pytest.raises(InputError, match="another recipe"):
        masked(tmp_path, LINES, seed=2)
    (tmp_path / "out.csv").write_text("age,pay\n")
    with pytest.raises(InputError, match="shorter"):
        masked(tmp_path, LINES)
    (tmp_path / "s.stream").write_text("no state of a stream " * 100)
    with pytest.raises(InputError, match="no state"):
        masked(tmp_path, LINES)
    (tmp_path / "s.stream").unlink()
    with pytest.raises(InputError) as refusal:
        masked(tmp_path, LINES)
    assert refusal.value.code == "CEL-I004"

    def second() -> Iterator[str]:
        yield from LINES[:2]
        masked(tmp_path / "b", LINES)

    (tmp_path / "b").mkdir()
    with pytest.raises(InputError, match="another process"):
        masked(tmp_path / "b", second())


def test_a_method_that_needs_all_rows_is_refused() -> None:
    recipe = Recipe.of(SCHEMA, [(Mdav(k=2), ["age"])])
    with pytest.raises(InputError) as refusal:
        StreamMasker(recipe, REFERENCE)
    assert refusal.value.code == "CEL-V207"
    with pytest.raises(InputError):
        StreamOptions(person="name")


def test_the_command_masks_a_file_and_goes_on(run: Run, tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(
        '[columns.name]\nrole = "identifier"\n[columns.age]\nrole = "quasi-identifier"\n'
        '[columns.pay]\nrole = "sensitive"\n'
        '[[steps]]\nmethod = "rounding"\nbase = 10\ncolumns = ["age"]\n'
    )
    REFERENCE.write_csv(tmp_path / "known.csv")
    command = (
        *("stream", "people.csv", "--recipe", "r.toml", "--reference", "known.csv"),
        *("--state", "s.stream", "-o", "out.csv"),
    )
    (tmp_path / "people.csv").write_text("".join(LINES[:3]))
    assert run(*command).out.splitlines()[-1] == "2 records read, 2 released"
    (tmp_path / "people.csv").write_text("".join(LINES))
    told = run(*command, "--json").data()
    assert (told["records"], told["released"], told["resumed"]) == (5, 5, 2)
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 6
    run("stream", "none.csv", *command[2:]).complains("CEL-V345")


ANSWERS = Recipe.of(
    Schema.of(identifiers=["name"], quasi_identifiers=["town"], sensitive=["vote"]),
    [(Pram(stay=0.75), ["vote"]), (Pram(stay=0.5), ["town"])],
)
VOTERS = pl.DataFrame(
    {"name": ["Ana", "Bob", "Eve"], "vote": ["no", "yes", "no"], "town": list("abc")}
)


def test_randomised_response_has_an_epsilon_and_a_certificate(tmp_path: Path) -> None:
    lines = ["name,vote,town\n", "Ana,yes,a\n", "Ana,no,b\n", "Ana,yes,c\n"]
    out = tmp_path / "out.csv"
    found = mask_stream(
        lines,
        out,
        ANSWERS,
        reference=VOTERS,
        state=tmp_path / "s.stream",
        options=StreamOptions(person="name", most=2),
    )
    # By the matrices: 0.75 over 0.25, and 0.5 over 0.25.
    assert found.loss.columns["vote"] == pytest.approx(log(3), abs=1e-12)
    assert found.loss.columns["town"] == pytest.approx(log(2), abs=1e-12)
    assert found.loss.columns["vote"] >= log(3)
    assert found.loss.record == pytest.approx(log(6))
    assert found.loss.person == pytest.approx(2 * log(6))
    assert "epsilon 1.792 for each record, 3.584 for a person" in found.guarantee.promise
    paper = json.loads((tmp_path / "out.csv.cert.json").read_text("utf-8"))
    assert paper["kind"] == "masked stream"
    assert paper["data"]["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    assert paper["measures"]["epsilon"]["person"] == found.loss.person
    assert "Ana" not in json.dumps(paper)


def test_a_record_with_a_column_that_is_not_randomised_has_no_epsilon(tmp_path: Path) -> None:
    steps = [(Pram(stay=0.75), ["vote"])]
    half = StreamMasker(Recipe.of(ANSWERS.schema, steps), VOTERS)
    assert half.loss(3).columns.keys() == {"vote"}
    assert half.loss(3).record is half.loss(3).person is None
    assert any("covers only vote, so" in gap for gap in half.promise(3).leaves_open)
    never = Pram(matrix=((1.0, 0.0), (0.5, 0.5)), values=("no", "yes"))
    sure = Recipe.of(ANSWERS.schema, [(never, ["vote"]), (Pram(stay=0.5), ["town"])])
    assert StreamMasker(sure, VOTERS).loss().record is None


def test_without_a_limit_a_person_has_no_epsilon() -> None:
    masker = StreamMasker(ANSWERS, VOTERS)
    assert masker.loss().person is None
    assert any("--most" in gap for gap in masker.promise().leaves_open)


def test_a_stream_that_is_stopped_has_the_certificate_of_what_was_written(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        masked(tmp_path, [*LINES[:3], "Eve,thirty,1\n"])
    paper = json.loads((tmp_path / "out.csv.cert.json").read_text("utf-8"))
    written = (tmp_path / "out.csv").read_bytes()
    assert paper["data"]["sha256"] == hashlib.sha256(written).hexdigest()
    assert paper["measures"]["released"] == 2
    assert paper["guarantee"]["simulation"]
