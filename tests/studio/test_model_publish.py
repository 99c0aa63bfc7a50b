"""What is chosen for a table in the studio: kept, checked, written down and done the same."""

from __future__ import annotations

import shlex
import sys
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia import datasets, tables
from celosia.assess.risk.content import LIKELY, PATTERNS
from celosia.cli.main import main
from celosia.core.errors import DataWarning, InputError
from celosia.studio import language
from celosia.studio.publish import (
    ColumnForm,
    PublishForm,
    arguments,
    command_text,
    estimates,
    models,
    publish_options,
    python_text,
    schema,
    schema_text,
)
from celosia.studio.publish.code import toml_text
from celosia.studio.publish.form import schema_table
from celosia.studio.publish.labels import FINDINGS, finding
from celosia.studio.publish.model_kinds import (
    OFFERED,
    at_first,
    caveat,
    declared,
    promise,
    purpose,
    title,
)
from celosia.studio.publish.readers import PROFILE, read_population, read_sample, read_table
from celosia.studio.publish.rules import has_no_groups
from celosia.studio.publish.samples import SAMPLES, load_sample
from celosia.studio.publish.suggestions import column_facts, exposure, suggest
from celosia.studio.uploads import read_table_file
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress
from celosia.tables.models.notation import (
    closeness_from_text,
    diversity_from_text,
    model_from_dict,
    model_from_text,
)

QUIET = JobProgress(lambda text: None)


def sample(name: str) -> tuple[pl.DataFrame, PublishForm]:
    frame = load_sample(name)
    return frame, suggest(f"{name}.csv", frame, column_facts(frame), sample=name)


@pytest.fixture
def work(tmp_path: Path) -> Work:
    folder = tmp_path / "abcdefghijk"
    folder.mkdir()
    return Work(folder.name, folder)


def test_choices_are_kept_and_found_again(work: Work) -> None:
    _frame, form = sample("five-attributes")
    form = form.with_options(weights={"birth": 2.5}, levels={"birth": 1}, time_limit=3.0)
    form.save(work)
    assert PublishForm.load(work) == form


def test_work_without_a_table_is_told_so(work: Work) -> None:
    with pytest.raises(InputError, match="no table") as caught:
        PublishForm.load(work)
    assert caught.value.code == "CEL-W050"


def test_levels_that_were_taken_go_when_anything_else_changes() -> None:
    _frame, form = sample("patients")
    taken = form.with_options(levels={"zip": 2, "age": 1})
    assert taken.levels is not None
    assert taken.with_options(suppression=0.2).levels is None
    assert taken.with_column("age", role="insensitive").levels is None
    weighted = form.with_options(weights={"age": 2.0})
    assert weighted.with_column("age", role="insensitive").weights == {}


def test_an_unknown_column_is_refused() -> None:
    _frame, form = sample("patients")
    with pytest.raises(InputError) as caught:
        form.with_column("name", role="identifier")
    assert caught.value.code == "CEL-W051"


def test_a_hierarchy_of_the_studio_never_opens_a_file() -> None:
    _frame, form = sample("patients")
    evil = form.with_column("zip", hierarchy={"file": "/etc/passwd"})
    with pytest.raises(InputError) as caught:
        schema(evil)
    assert caught.value.code == "CEL-W052"


@pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")
@pytest.mark.parametrize("each", SAMPLES, ids=lambda each: each.name)
def test_each_sample_is_what_its_card_says_and_ready_to_run(each: Any) -> None:
    frame, form = sample(each.name)
    assert frame.shape == (each.rows, each.columns)
    publish_options(form)
    if frame.height < 100:
        tables.publish(frame, schema(form), models(form), **arguments(form))


def test_the_census_has_its_published_schema() -> None:
    frame = datasets.census(200)
    facts = column_facts(frame)
    chosen = schema(suggest("census.csv", frame, facts, sample="census"))
    published = datasets.census_schema()
    assert [(c.name, c.role, c.hierarchy) for c in chosen.columns] == [
        (c.name, c.role, c.hierarchy)
        for c in sorted(published.columns, key=lambda c: frame.columns.index(c.name))
    ]


def test_values_that_one_record_alone_has_are_counted() -> None:
    (facts,) = column_facts(pl.DataFrame({"code": ["a", "b", "b", "c", "d", None]}))
    assert (facts.distinct, facts.empty, facts.alone) == (4, 1, 3)


def test_roles_and_hierarchies_are_suggested_by_names_and_cells() -> None:
    table = pl.DataFrame(
        {
            "contact": [f"p{place}@example.org" for place in range(20)],
            "age": [20 + place for place in range(20)],
            "zip": [f"{5340 + place:05}" for place in range(20)],
            "disease": ["flu", None] * 10,
            "shoe": [40] * 20,
        }
    )
    form = suggest("people.csv", table, column_facts(table))
    assert [column.role for column in form.columns] == [
        "identifier",
        "quasi-identifier",
        "quasi-identifier",
        "sensitive",
        "insensitive",
    ]
    kinds = [dict(form.column(name).hierarchy or {})["method"] for name in ("age", "zip")]
    assert kinds == ["intervals", "mask"]
    assert form.column("disease").missing == "value"
    assert form.models[0]["k"] == 2  # a table of twenty rows


def test_exposure_counts_the_records_that_stand_alone(tmp_path: Path) -> None:
    frame = datasets.census(500).rename({"sex": "a.*", "age": "*"})
    frame.write_parquet(tmp_path / "data.parquet")
    found = exposure(tmp_path / "data.parquet", [0, 1, 3])
    columns = [frame.to_series(place).to_list() for place in (0, 1, 3)]
    counted = Counter(zip(*columns, strict=True))
    assert found.unique == sum(size == 1 for size in counted.values())
    assert found.classes == len(counted)
    assert found.smallest == min(counted.values())
    assert exposure(tmp_path / "data.parquet", []).records == 0


VARIANTS: tuple[dict[str, Any], ...] = (
    {},
    {
        "models": (
            {"method": "k-anonymity", "k": 3},
            {"method": "distinct-diversity", "l": 2, "column": "disease"},
        ),
        "suppression": 0.4,
    },
    {"metric": "precision", "weights": {"age": 2.5}},
    {"method": "mondrian", "drop_suppressed": True, "keep_order": True},
    {"levels": {"zip": 2, "age": 1}},
    {"local": True, "suppression": 0.5},
    {"sort": ("disease", "age")},
)


@pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")
@pytest.mark.parametrize("changes", VARIANTS, ids=range(len(VARIANTS)))
def test_the_texts_do_what_the_studio_does(
    changes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, form = sample("patients")
    form = form.with_options(**changes)
    here = tables.publish(frame, schema(form), models(form), **arguments(form))
    monkeypatch.chdir(tmp_path)
    Path("schema.toml").write_text(schema_text(form), "utf-8")
    command, python = command_text(form), python_text(form)
    if changes:  # reports take their time, and one is enough
        command = command.replace(" --report report.html", "")
        python = python.replace('release.report("report.html")', "")
    for line in command.replace("\\\n", " ").splitlines():
        monkeypatch.setattr(sys, "argv", shlex.split(line))
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 0
    on_command_line = pl.read_csv("release.csv", infer_schema=False)
    Path("release.csv").unlink()
    assert Path("report.html").exists() == (not changes)
    Path("report.html").unlink(missing_ok=True)
    made: dict[str, Any] = {}
    exec(compile(python, "text", "exec"), made)
    in_python = made["release"]
    expected = sorted(here.data.select(pl.all().cast(pl.String)).rows())
    assert sorted(on_command_line.rows()) == expected
    assert sorted(in_python.data.select(pl.all().cast(pl.String)).rows()) == expected
    assert in_python.solution == here.solution
    if "sort" in changes:
        shown = in_python.data.select("disease", "age").cast(pl.String).rows()
        assert shown == sorted(shown)


@pytest.mark.parametrize("name", OFFERED)
def test_each_model_is_written_so_that_the_command_line_reads_it_back(name: str) -> None:
    asked = declared(name)
    named = {each.name: "it's @ home" for each in asked if each.kind == "column"}
    made = at_first(name) | named
    _read_back(made)
    for each in asked:
        for value in (True, False) if each.kind == "flag" else each.choices:
            _read_back(made | {each.name: value})


def _read_back(made: dict[str, Any]) -> None:
    column = ColumnForm(name="it's @ home", kind="text", role="sensitive")
    quasi = ColumnForm(name="age", kind="integer", role="quasi-identifier")
    form = PublishForm(file="x.csv", rows=9, columns=(quasi, column), models=(made,))
    words = shlex.split(command_text(form).replace("\\\n", " "))
    place = next(at for at, each in enumerate(words) if each in ("--k", "--l", "--t", "--model"))
    read: dict[str, Callable[[str], tables.Model]] = {
        "--k": lambda text: tables.KAnonymity(int(text)),
        "--l": diversity_from_text,
        "--t": closeness_from_text,
        "--model": model_from_text,
    }
    assert read[words[place]](words[place + 1]) == model_from_dict(made)


@pytest.mark.parametrize("name", OFFERED)
@pytest.mark.parametrize("spoken", language.LANGUAGES)
def test_each_model_is_explained_in_both_languages(name: str, spoken: language.Language) -> None:
    token = language.chosen.set(spoken)
    try:
        texts = [
            title(name),
            purpose(name),
            promise(at_first(name)),
            caveat({name}),
        ]
    finally:
        language.chosen.reset(token)
    assert all(texts)
    assert not any("{" in text for text in texts)


def test_every_finding_has_its_spanish_words() -> None:
    kinds = {pattern.kind for pattern in (*PATTERNS, *LIKELY)}
    kinds |= {"age", "age over 89", "free text", "key", "unique key", *FINDINGS}
    token = language.chosen.set("es")
    try:
        assert [kind for kind in sorted(kinds) if finding(kind) == kind] == []
        why = column_facts(pl.DataFrame({"age": [41, 52]}))[0].as_dict()["why"]
        assert language._(why) != why
    finally:
        language.chosen.reset(token)


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@given(st.dictionaries(texts, st.lists(texts, min_size=1, max_size=3), min_size=1, max_size=4))
def test_any_name_and_label_survives_the_schema_text(tree: dict[str, list[str]]) -> None:
    table = {"columns": {name: {"role": "x", "hierarchy": {"tree": tree}} for name in tree}}
    assert tomllib.loads(toml_text(table)) == table


def test_hostile_names_are_quoted_in_every_text() -> None:
    column = ColumnForm(name="a'; rm -rf /\n#", kind="integer", role="quasi-identifier")
    form = PublishForm(
        file="..\\..\\-x $(reboot).csv",
        rows=9,
        columns=(column,),
        weights={"a'; rm -rf /\n#": 2.0},
        levels={"a'; rm -rf /\n#": 1},
    )
    words = shlex.split(command_text(form).replace(" \\\n", " "))
    assert words[:3] == ["celosia", "publish", "./-x $(reboot).csv"]
    assert "a'; rm -rf /\n#=2" in words
    compile(python_text(form), "text", "exec")
    assert tomllib.loads(schema_text(form)) == schema_table(form)


def test_what_does_not_go_together_is_refused_with_its_reason() -> None:
    _frame, form = sample("patients")
    with pytest.raises(InputError, match="Mondrian is local"):
        publish_options(form.with_options(method="mondrian", local=True))
    with pytest.raises(InputError, match="population"):
        publish_options(
            form.with_options(models=({"method": "delta-presence", "lower": 0, "upper": 0.5},))
        )
    with pytest.raises(InputError, match="no quasi-identifier"):
        publish_options(
            form.with_column("zip", role="insensitive").with_column("age", role="identifier")
        )
    with pytest.raises(InputError, match="no metric"):
        publish_options(form.with_options(metric="beauty"))


def test_an_uploaded_table_is_read_and_its_file_removed(work: Work) -> None:
    upload = work.path("upload.csv")
    upload.write_bytes("año;edad;sexo\n1;30;F\n2;31;M\n".encode("windows-1252"))
    read_table(QUIET, folder=str(work.folder), file="upload.csv", shown="mía.csv", reading={})
    assert not upload.exists()
    form = PublishForm.load(work)
    assert (form.file, form.rows) == ("mía.csv", 2)
    assert form.named("quasi-identifier") == ("año", "edad", "sexo")
    assert [each["distinct"] for each in work.load(PROFILE)] == [2, 2, 2]


def test_a_messy_table_is_published_as_it_is_suggested(work: Work) -> None:
    towns = ("Lugo", "Vigo", "", "Ferrol", "NA", "Soria", "Elche", "Toro", "Cuenca", "Burgos")
    rows = [
        f"{('', 'NA', '31', '47')[i % 4]},{('27001', '', '27002', 'NA')[i % 4]},{towns[i % 10]}"
        for i in range(80)
    ]
    work.path("upload.csv").write_text("\n".join(["age,zip,town", *rows]) + "\n")
    read_table(QUIET, folder=str(work.folder), file="upload.csv", shown="m.csv", reading={})
    form = PublishForm.load(work)
    assert form.named("quasi-identifier") == ("age", "zip", "town")
    assert [column.missing for column in form.columns] == ["value"] * 3
    town = form.column("town")
    assert town.hierarchy == {"method": "ordered"}
    assert has_no_groups(town, town.hierarchy, 10)
    frame = pl.read_parquet(work.path("data.parquet"))
    release = tables.publish(frame, schema(form), models(form), **arguments(form))
    assert release.risk.maximum <= 1 / 5


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("upload.csv", b""),
        ("upload.csv", b"a,b\n"),
        ("upload.csv", b'a,b\n1,"2\n'),
        ("upload.parquet", b"PAR1 not really"),
        ("upload.xlsx", b"PK\x03\x04 not a workbook"),
        ("upload.jsonl", b'{"a": {"b": 1}}\n'),
        ("upload.json", b"[1, 2"),
    ],
    ids=["empty", "no-rows", "open-quote", "parquet", "excel", "nested", "json"],
)
def test_a_file_that_is_no_table_is_refused_and_removed(
    work: Work, name: str, content: bytes
) -> None:
    work.path(name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_table(QUIET, folder=str(work.folder), file=name, shown="mine.csv", reading={})
    assert list(work.folder.iterdir()) == []
    text = f"{caught.value} {caught.value.details}"
    assert str(work.folder) not in text
    assert work.id not in text


def test_a_table_of_nobody_is_refused(work: Work) -> None:
    pl.DataFrame({"age": []}).write_parquet(work.path("upload.parquet"))
    how: dict[str, Any] = {"folder": str(work.folder), "file": "upload.parquet", "reading": {}}
    with pytest.raises(InputError) as caught:
        read_table(QUIET, shown="nobody.parquet", **how)
    assert caught.value.code == "CEL-W058"


def test_a_table_of_too_many_columns_is_refused(work: Work) -> None:
    names = [f"c{place}" for place in range(301)]
    pl.DataFrame({name: [1] for name in names}).write_parquet(work.path("upload.parquet"))
    with pytest.raises(InputError) as caught:
        read_table(
            QUIET, folder=str(work.folder), file="upload.parquet", shown="wide.parquet", reading={}
        )
    assert caught.value.code == "CEL-W059"


def test_a_population_must_have_the_quasi_identifiers(work: Work) -> None:
    read_sample(QUIET, folder=str(work.folder), name="patients")
    work.path("people.csv").write_text("zip,disease\n47677,Flu\n")
    how: dict[str, Any] = {"folder": str(work.folder), "file": "people.csv", "reading": {}}
    with pytest.raises(InputError) as caught:
        read_population(QUIET, shown="all.csv", **how)
    assert caught.value.code == "CEL-W057"
    work.path("people.csv").write_text("zip,age\n47677,29\n47602,22\n")
    assert read_population(QUIET, shown="all.csv", **how) == {"rows": 2}
    assert PublishForm.load(work).population == "all.csv"
    assert "--population all.csv" in command_text(PublishForm.load(work))


def test_an_identifier_in_several_records_is_suggested_as_the_person() -> None:
    frame = pl.DataFrame(
        {
            "email": [f"p{n % 40}@example.org" for n in range(120)],
            "age": [20 + n % 40 for n in range(120)],
        }
    )
    form = suggest("visits.csv", frame, column_facts(frame))
    assert form.person == "email"
    assert schema(form).unit_column == "email"
    assert 'person = "email"' in schema_text(form)
    by_record = form.with_options(person=None, by_record=True)
    assert schema(by_record).unit == "record"
    other = form.with_column("email", role="sensitive")
    assert schema(other).unit is None


def test_an_estimate_is_what_a_run_comes_to(work: Work) -> None:
    silent = JobProgress(lambda event: None)
    read_sample(silent, folder=str(work.folder), name="patients")
    form = PublishForm.load(work)
    found = estimates.estimate(silent, folder=str(work.folder), form=form.as_dict())
    release = tables.publish(
        pl.read_parquet(work.path("data.parquet")),
        schema(form),
        tables.models.KAnonymity(int(form.models[0]["k"])),
        suppression=form.suppression,
    )
    assert found == estimates.facts(release, rows=form.rows)
    assert found["looked_at"] == found["rows"] == form.rows


def test_an_estimate_of_a_large_table_looks_at_a_sample(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = JobProgress(lambda event: None)
    read_sample(silent, folder=str(work.folder), name="patients")
    monkeypatch.setattr(estimates, "ROWS", 6)
    form = PublishForm.load(work)
    found = estimates.estimate(silent, folder=str(work.folder), form=form.as_dict())
    assert (found["looked_at"], found["rows"]) == (6, form.rows)


def test_a_warning_about_an_upload_calls_it_as_the_visitor_does(tmp_path: Path) -> None:
    ours = tmp_path / "8f3a.csv"
    ours.write_text("age,zip,age\n30,1,31\n", "utf-8")
    with pytest.warns(DataWarning, match=r"people\.csv: .*age \(2\)") as told:
        frame = read_table_file(lambda step: None, ours, "people.csv")  # type: ignore[arg-type]
    assert frame.columns == ["age", "zip", "age (2)"]
    assert not any(
        str(tmp_path) in str(each.message) or "8f3a" in str(each.message) for each in told
    )
    assert not ours.exists()
