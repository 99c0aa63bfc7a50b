"""`celosia publish`: formats, roles, limits, and files that are never lost."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.cli.running import MARK, Result, Run

from celosia import TableRelease, datasets, frames

FORMATS = ("csv", "tsv", "csv.gz", "parquet", "arrow", "jsonl", "xlsx")
ROLES = ("-q", "age", "-q", "zip", "--sensitive", "disease", "--identifier", "name")


def _rows(path: Path) -> Counter[tuple[str, ...]]:
    """The rows as texts, however often each comes; formats differ in their types only."""
    return Counter(tuple(map(str, row)) for row in frames.read(path).rows())


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_can_be_published(
    ending: str, people: Path, schema: Path, run: Run, tmp_path: Path
) -> None:
    frames.write(frames.read(people), tmp_path / f"in.{ending}")
    assert run("publish", people, "-s", schema, "--k", 5, "-o", "expected.csv").code == 0
    result = run("publish", f"in.{ending}", "-s", schema, "--k", 5, "-o", "safe.csv", "--json")
    assert result.data()["measures"]["risk"]["smallest"] == 12
    assert _rows(tmp_path / "safe.csv") == _rows(tmp_path / "expected.csv")


@pytest.mark.parametrize("how", ["--in-memory", "--stream"])
def test_run_times_and_statistics_of_intervals_are_told(
    how: str, people: Path, schema: Path, run: Run
) -> None:
    files = ("--overwrite", "-o", "safe.csv")
    intervals = 'hierarchy = { method = "intervals", bounds = [[20, 23, 25]] }\n[columns.zip]'
    schema.write_text(schema.read_text().replace("[columns.zip]", intervals))
    levels = ("--level", "age=1", "--level", "zip=3")
    command = ("publish", people, "-s", schema, "--k", 5, *levels, how, *files)
    told = run(*command, "--report", "report.html")
    assert re.search(r"time: [\d.]+ s \(reading .* search .* recoding .* writing ", told.out)
    assert "mean of the upper limits" in told.out
    page = Path("report.html").read_text()
    assert "How long it took" in page
    assert "mean of the upper limits" in page
    found = run(*command, "--json").data()
    stages = ["reading", "coding", "search", "recoding", "measuring", "writing", "total"]
    assert list(found["timings"]) == stages
    age = found["measures"]["intervals"]["age"]
    assert age["mean_lower"] < age["mean_midpoint"] < age["mean_upper"]


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_can_be_written_and_its_certificate_lies_beside(
    ending: str, people: Path, schema: Path, run: Run, tmp_path: Path
) -> None:
    safe = tmp_path / f"safe.{ending}"
    told = run("publish", people, "-s", schema, "--k", 5, "-o", safe)
    assert told.code == 0
    assert f"data: {safe}" in told.out
    assert f"certificate: {safe}.cert.json" in told.out
    assert TableRelease.load(safe).risk.smallest == 12
    assert frames.read(safe).columns == ["age", "zip", "disease"]
    assert sum(_rows(safe).values()) == 60


def test_columns_can_be_named_instead_of_a_schema(people: Path, run: Run, tmp_path: Path) -> None:
    assert run("publish", people, *ROLES, "--k", 5, "-o", "safe.csv").code == 0
    assert frames.read(tmp_path / "safe.csv").columns == ["age", "zip", "disease"]


def test_the_role_of_other_columns_can_be_given(people: Path, run: Run, tmp_path: Path) -> None:
    command = ("publish", people, "-q", "age", "--k", 5, "--keep-order")
    reason = ("--accept-raw", "name", "--accept-raw", "disease", "--reason", "a test")
    run(*command, "--other-columns", "insensitive", *reason, "-o", "all.csv")
    run(*command, "--other-columns", "identifier", "-o", "few.csv")
    assert frames.read(tmp_path / "all.csv").columns == ["name", "age", "zip", "disease"]
    assert frames.read(tmp_path / "few.csv").columns == ["age"]


def test_unique_raw_columns_are_refused_until_accepted_in_writing(
    people: Path, run: Run, tmp_path: Path
) -> None:
    command = ("publish", people, "-q", "age", "--k", 5, "--other-columns", "insensitive")
    refused = run(*command, "-o", "safe.csv", "--report", "report.html")
    refused.complains("CEL-P080", exit_code=1)
    assert "60 of 60 records (100.0%)" in refused.err
    assert [*tmp_path.glob("safe*"), *tmp_path.glob("report*")] == []
    run(*command, "--accept-raw", "name").complains("CEL-P081")
    run(*command, "--reason", "no column").complains("CEL-P081")
    both = ("--accept-raw", "name", "--accept-raw", "disease")
    accepted = (*both, "--reason", "names are invented")
    done = run(*command, *accepted, "-o", "safe.csv", "--report", "report.html")
    assert "Columns published as they are" in done.out
    assert "names are invented" in (tmp_path / "safe.csv.cert.json").read_text()
    assert "names are invented" in (tmp_path / "report.html").read_text()


def test_columns_without_a_role_are_refused(people: Path, run: Run) -> None:
    run("publish", people, "-q", "age", "--k", 5).complains("CEL-S011")


def test_an_unknown_role_is_answered_with_the_roles(people: Path, run: Run) -> None:
    refused = run("publish", people, "-q", "age", "--other-columns", "insensitiv", "--k", 5)
    refused.complains("CEL-S007")
    assert "identifier, quasi-identifier, sensitive, insensitive" in refused.err
    assert "did you mean 'insensitive'?" in refused.err
    run("publish", people, "-q", "age", "--other-columns", "quasi-identifier", "--k", 5).complains(
        "CEL-S002"
    )


@pytest.mark.parametrize(
    "roles",
    [
        ("-q", "age"),
        ("--sensitive", "age"),
        ("--identifier", "age"),
        ("--other-columns", "insensitive"),
    ],
    ids=str,
)
def test_a_schema_and_roles_together_are_refused(
    roles: tuple[str, str], people: Path, schema: Path, run: Run
) -> None:
    run("publish", people, "-s", schema, *roles, "--k", 5).complains("CEL-I031")


def test_a_column_that_is_not_there_is_answered_with_the_nearest(people: Path, run: Run) -> None:
    refused = run("publish", people, "-q", "agee", "--other-columns", "insensitive", "--k", 5)
    refused.complains("CEL-S010")
    assert "did you mean 'age'?" in refused.err


@pytest.mark.parametrize(
    ("text", "share"),
    [("5%", 0.05), ("0.05", 0.05), ("100%", 1.0), ("1", 1.0), ("0", 0.0), (" 2.5 % ", 0.025)],
)
def test_a_share_can_be_written_in_two_ways(
    text: str, share: float, people: Path, run: Run
) -> None:
    result = run("publish", people, *ROLES, "--k", 5, "--suppression", text, "--json").data()
    assert result["provenance"]["parameters"]["suppression"] == share


@pytest.mark.parametrize(
    "text",
    ["abc", "-1%", "-0.1", "101%", "5", "nan", "sNaN", "inf", "1e400", "1e999999999", "", "%"],
)
def test_what_is_no_share_is_refused(text: str, people: Path, run: Run) -> None:
    run("publish", people, *ROLES, "--k", 5, f"--suppression={text}").complains("CEL-I030")


@pytest.mark.parametrize("k", [1, 0, -5, 10**30])
def test_a_class_of_one_or_of_untold_many_is_no_promise(k: int, people: Path, run: Run) -> None:
    run("publish", people, *ROLES, "--k", k).complains("CEL-I060")


@pytest.mark.parametrize("k", [61, 10**9])
@pytest.mark.parametrize("limit", ["5%", "100%"])
def test_more_than_there_are_cannot_be_promised(k: int, limit: str, people: Path, run: Run) -> None:
    command = ("publish", people, *ROLES, "--k", k, "--suppression", limit)
    run(*command).complains("CEL-P001", 1)


def test_no_output_file_means_figures_only(people: Path, run: Run, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    told = run("publish", people, *ROLES, "--k", 5)
    assert told.code == 0
    assert "give -o FILE" in told.err
    assert told.out.splitlines()[-1].startswith("5-anonymity over age, zip: smallest class 12")
    assert sorted(tmp_path.iterdir()) == before


def test_a_report_is_one_page(people: Path, run: Run, tmp_path: Path) -> None:
    told = run("publish", people, *ROLES, "--k", 5, "--report", "report.html")
    assert "report: report.html" in told.out
    page = (tmp_path / "report.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert MARK not in page


@pytest.mark.parametrize("option", ["-o", "--report"])
def test_a_file_that_exists_is_refused_before_the_input_is_read(
    option: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "here.csv").write_text("old")
    command = ("publish", "not-there.csv", *ROLES, "--k", 5, option, "here.csv")
    run(*command).complains("CEL-I004")
    assert (tmp_path / "here.csv").read_text() == "old"
    run(*command, "--overwrite").complains("CEL-F010")


def test_a_certificate_that_exists_is_refused_before_the_input_is_read(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "safe.csv.cert.json").write_text("{}")
    command = ("publish", "not-there.csv", *ROLES, "--k", 5, "-o", "safe.csv")
    run(*command).complains("CEL-I004")


def test_force_overwrites(people: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "safe.csv").write_text("old")
    assert run("publish", people, *ROLES, "--k", 5, "-o", "safe.csv", "--overwrite").code == 0
    assert frames.read(tmp_path / "safe.csv").height == 60


@pytest.mark.parametrize("stream", ["--stream", "--in-memory"])
@pytest.mark.parametrize("option", ["-o", "--report"])
def test_what_is_read_is_never_overwritten(
    option: str, stream: str, people: Path, schema: Path, run: Run
) -> None:
    original, roles = people.read_text(), schema.read_text()
    for lost in ("./people.csv", "people.toml"):
        command = ("publish", "people.csv", "-s", schema, "--k", 5, option, lost, stream)
        run(*command).complains("CEL-I007")
        run(*command, "--overwrite").complains("CEL-I007")
    assert (people.read_text(), schema.read_text()) == (original, roles)


@pytest.mark.parametrize("report", ["safe.csv", "./safe.csv", "safe.csv.cert.json"])
def test_two_results_do_not_share_a_file(
    report: str, people: Path, run: Run, tmp_path: Path
) -> None:
    command = (
        "publish",
        people,
        *ROLES,
        "--k",
        5,
        "-o",
        "safe.csv",
        "--report",
        report,
        "--overwrite",
    )
    run(*command).complains("CEL-I043")
    assert not (tmp_path / "safe.csv").exists()


@pytest.mark.parametrize("stream", ["--stream", "--in-memory"])
def test_an_unknown_ending_is_refused_before_the_input_is_read(
    stream: str, run: Run, tmp_path: Path
) -> None:
    refused = run("publish", "not-there.csv", *ROLES, "--k", 5, "-o", "safe.docx", stream)
    refused.complains("CEL-F012")
    assert "safe.docx" in refused.err
    assert [*tmp_path.iterdir()] == []


def test_a_place_that_is_not_there_is_refused(people: Path, run: Run, tmp_path: Path) -> None:
    run("publish", people, *ROLES, "--k", 5, "-o", "no/safe.csv").complains("CEL-I005")
    run("publish", people, *ROLES, "--k", 5, "-o", tmp_path, "--overwrite").complains("CEL-I003")


def test_a_name_too_long_for_the_system_is_refused(people: Path, run: Run) -> None:
    run("publish", people, *ROLES, "--k", 5, "-o", "x" * 300 + ".csv").complains("CEL-I041")


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("census")
    frames.write(datasets.census(4_000), folder / "census.csv")
    (folder / "census.toml").write_text(datasets.schema_text())
    return folder / "census.csv", folder / "census.toml"


@pytest.mark.parametrize("choice", [(), ("--drop-suppressed",), ("--method", "mondrian")], ids=str)
def test_a_stream_gives_what_memory_gives_row_for_row(
    choice: tuple[str, ...], census: tuple[Path, Path], run: Run, tmp_path: Path
) -> None:
    command = ("publish", census[0], "-s", census[1], "--k", 5, "--keep-order", *choice, "--json")
    one = run(*command, "--in-memory", "-o", "one.csv").data()
    two = run(*command, "--stream", "-o", "two.csv").data()
    assert one["measures"] == two["measures"]
    assert one["measures"]["solution"]["suppressed"] > 0 or "mondrian" in choice
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_a_shuffled_stream_gives_the_same_rows_in_another_order(
    census: tuple[Path, Path], run: Run, tmp_path: Path
) -> None:
    command = ("publish", census[0], "-s", census[1], "--k", 5)
    run(*command, "--in-memory", "-o", "one.csv")
    run(*command, "--stream", "-o", "two.csv")
    one, two = ((tmp_path / name).read_text().splitlines() for name in ("one.csv", "two.csv"))
    assert sorted(one) == sorted(two)
    assert one != two


def test_a_stream_needs_a_file_to_flow_into(people: Path, run: Run) -> None:
    run("publish", people, *ROLES, "--k", 5, "--stream").complains("CEL-I038")


def test_a_workbook_in_chunks_is_refused_before_the_input_is_read(run: Run, tmp_path: Path) -> None:
    command = ("publish", "not-there.csv", *ROLES, "--k", 5, "--stream", "-o", "safe.xlsx")
    run(*command).complains("CEL-F025")
    assert [*tmp_path.iterdir()] == []


def test_a_file_too_large_for_memory_is_streamed_by_itself(
    people: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("celosia.cli.publish._memory", lambda: 100)
    result = run("publish", people, *ROLES, "--k", 5, "-o", "safe.csv", "--json").data()
    assert result["provenance"]["made_by"] == "celosia.tables.publish_file"


@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=str)
def test_a_seed_makes_a_simulation_that_says_so(
    as_json: tuple[str, ...], people: Path, run: Run, tmp_path: Path
) -> None:
    command = ("publish", people, *ROLES, "--k", 5, "--seed", 7, *as_json)
    first = run(*command, "-o", "one.csv")
    second = run(*command, "-o", "two.csv")
    for result in (first, second):
        assert "Simulation: made with a seed, not for release." in result.err
        assert not as_json or result.data()["guarantee"]["simulation"] is True
    assert (tmp_path / "one.csv").read_text() == (tmp_path / "two.csv").read_text()


def test_without_a_seed_it_is_no_simulation_and_the_order_differs(
    people: Path, run: Run, tmp_path: Path
) -> None:
    one = run("publish", people, *ROLES, "--k", 5, "-o", "one.csv", "--json")
    run("publish", people, *ROLES, "--k", 5, "-o", "two.csv")
    assert one.data()["guarantee"]["simulation"] is False
    assert (tmp_path / "one.csv").read_text() != (tmp_path / "two.csv").read_text()


def test_a_seed_below_zero_is_refused(people: Path, run: Run) -> None:
    run("publish", people, *ROLES, "--k", 5, "--seed", -1).complains("CEL-I002")


@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=str)
def test_a_warning_is_shown_beside_the_result(
    as_json: tuple[str, ...], run: Run, tmp_path: Path
) -> None:
    table: dict[str, Any] = {"age": [20] * 99 + [77]}
    frames.write(pl.DataFrame(table), tmp_path / "lone.csv")
    told = run("publish", "lone.csv", "-q", "age", "--k", 5, *as_json)
    assert told.code == 0
    assert "Warning: Only 1 record is suppressed" in told.err


def _parameters(result: Result) -> dict[str, Any]:
    found = result.data()["provenance"]["parameters"]
    assert isinstance(found, dict)
    return found


def test_every_model_named_is_promised(people: Path, run: Run) -> None:
    command = (
        "publish",
        people,
        *ROLES,
        "--k",
        4,
        "--l",
        "recursive:4,3",
        "--l",
        "entropy:2,column=disease",
    )
    made = run(*command, "--t", "1", "--model", "average-risk:0.5", "--json")
    assert [each["method"] for each in _parameters(made)["models"]] == [
        "k-anonymity",
        "recursive-diversity",
        "entropy-diversity",
        "t-closeness",
        "average-risk",
    ]
    assert made.err == ""


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ((), "CEL-I050"),
        (("--l", "entropi:3"), "CEL-I061"),
        (("--t", "x"), "CEL-I060"),
        (("--model", "k-map"), "CEL-I063"),
        (("--l", "3,column=age"), "CEL-P007"),
        (("--k", 5, "--metric", "los"), "CEL-I061"),
        (("--k", 5, "--metric", "height", "--weight", "age=2"), "CEL-I062"),
        (("--k", 5, "--weight", "age"), "CEL-I051"),
        (("--k", 5, "--weight", "age=2", "--weight", "age=3"), "CEL-I051"),
        (("--k", 5, "--weight", "age=nan"), "CEL-I051"),
        (("--k", 5, "--weight", "agee=2"), "CEL-P018"),
        (("--k", 5, "--level", "age=1.5"), "CEL-I051"),
        (("--k", 5, "--level", "agee=1"), "CEL-P008"),
        (("--k", 5, "--method", "magic"), "CEL-P061"),
        (("--k", 5, "--method", "mondrian", "--level", "age=1"), "CEL-P062"),
        (("--k", 5, "--method", "mondrian-relaxed", "--stream", "-o", "s.csv"), "CEL-I053"),
        (("--k", 5, "--population", "people.csv"), "CEL-P062"),
        (("--k", 5, "--time-limit", 0), "CEL-P063"),
        (("--model", "k-map:5"), "CEL-P062"),
    ],
    ids=str,
)
def test_choices_that_make_no_sense_are_refused(
    command: tuple[object, ...], code: str, people: Path, run: Run, tmp_path: Path
) -> None:
    run("publish", people, *ROLES, *command).complains(code)
    assert [*tmp_path.iterdir()] == [people]


@pytest.mark.parametrize("model", [("--l", "3"), ("--t", "0.9"), ("--model", "beta-likeness:50")])
def test_models_that_do_not_hide_whose_record_is_whose_say_so(
    model: tuple[str, str], people: Path, run: Run
) -> None:
    alone = run("publish", people, *ROLES, *model)
    assert alone.code == 0
    assert "do not prevent re-identification" in alone.err
    assert "re-identification" not in run("publish", people, *ROLES, *model, "--k", 4).err


@pytest.mark.parametrize(
    "command",
    [("--method", "magic"), ("--time-limit", 0), ("--local", "--level", "age=1")],
    ids=str,
)
def test_bad_choices_are_refused_before_the_input_is_read(
    command: tuple[object, ...], run: Run
) -> None:
    refused = run("publish", "not-there.csv", *ROLES, "--k", 5, *command)
    assert refused.err.startswith("CEL-P06")


def test_levels_are_taken_as_they_are_chosen(people: Path, schema: Path, run: Run) -> None:
    command = ("publish", people, "-s", schema, "--k", 5, "--level", "age=0", "--level", "zip=4")
    chosen = run(*command, "--json").data()["measures"]["solution"]
    assert [column["level"] for column in chosen["columns"]] == [0, 4]
    assert "levels chosen by hand, not compared with the other" in run(*command).out


def test_the_summary_tells_method_metric_and_proof(
    people: Path, census: tuple[Path, Path], run: Run
) -> None:
    told = run("publish", people, *ROLES, "--k", 5, "--metric", "height")
    assert "method: lattice; metric: height" in told.out
    assert "search: optimal among" in told.out
    cut = run("publish", people, *ROLES, "--k", 5, "--method", "mondrian")
    assert "method: mondrian; metric: loss" in cut.out
    assert "by record" in cut.out
    local = run("publish", census[0], "-s", census[1], "--k", 5, "--local")
    assert "local recoding in" in local.out


def test_a_search_that_ran_out_of_time_tells_how_good_it_is(
    census: tuple[Path, Path], run: Run
) -> None:
    told = run("publish", census[0], "-s", census[1], "--k", 5, "--time-limit", 1e-6)
    line = next(line for line in told.out.splitlines() if line.startswith("search:"))
    found = re.search(r"loss ([\d.]+)%, no better than ([\d.]+)% is possible \(gap ([\d.]+)%", line)
    assert found is not None, line
    score, least, gap = map(float, found.groups())
    assert least <= score
    assert gap == pytest.approx(score - least, abs=0.0011)  # each is rounded to three decimals


def test_a_population_is_read_for_the_models_that_need_it(
    people: Path, schema: Path, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "all.csv").write_bytes(people.read_bytes())
    command = ("publish", people, "-s", schema, "--model", "k-map:4", "--population", "all.csv")
    made = run(*command, "--json").data()
    assert made["measures"]["solution"]["loss"] == 0  # everybody has four people alike
    run(*command, "-o", "all.csv", "--overwrite").complains("CEL-I007")


def test_a_game_is_played_by_its_models_and_its_metric(
    people: Path, schema: Path, run: Run
) -> None:
    game = "benefit=100,loss=300,gain=50,cost=10"
    made = run(
        "publish", people, "-s", schema, "--model", f"profitable:{game}", "--suppression", "100%",
        "--metric", f"publisher-payoff:{game}", "--json",
    ).data()  # fmt: skip
    assert made["measures"]["solution"]["metric"] == "publisher-payoff"
    calm = run("publish", people, "-s", schema, "--model", "no-attack:50,10", "--json").data()
    assert calm["measures"]["risk"]["smallest"] >= 5
