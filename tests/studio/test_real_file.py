"""A file as an office has it goes from upload to a download without one typed parameter."""

from __future__ import annotations

from random import Random
from zipfile import ZipFile

import polars as pl
import pytest

from celosia.core import signatures
from celosia.studio.publish import jobs, results
from celosia.studio.publish.form import PublishForm
from celosia.studio.publish.readers import read_table
from celosia.studio.publish.results_solutions import Solutions
from celosia.studio.publish.suggestions import MANY_ROWS, ColumnFacts, suggest
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress

QUIET = JobProgress(lambda text: None)
ROWS = 600
HEAD = "nombre;correo;nacimiento;sexo;código_postal;municipio;ingresos;fecha_ingreso;diagnóstico\n"


def office_file() -> str:
    """Names, e-mails, dates, postcodes with a zero in front, decimal commas, empty cells."""
    rng = Random(7)
    lines = []
    for place in range(ROWS):
        name = f"{rng.choice(['María', 'José', 'Lucía'])} {rng.choice(['Núñez', 'García'])}"
        born = f"{rng.randrange(1, 29):02}/{rng.randrange(1, 13):02}/{rng.randrange(1930, 2005)}"
        code = f"0{rng.choice([1, 5, 8])}{rng.randrange(30):03}"
        town = rng.choice(["Ávila", "Cádiz", "León", ""])
        income = f"{rng.lognormvariate(10, 0.5):.2f}".replace(".", ",")
        came = f"{rng.randrange(1, 29):02}/{rng.randrange(1, 13):02}/2024"
        illness = rng.choice(["gripe", "asma", "cáncer"])
        lines.append(
            f"{name};p{place}@example.com;{born};{rng.choice('HM')};{code};{town};"
            f"{income};{came};{illness}\n"
        )
    return HEAD + "".join(lines)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Work:
    """The file as it was read and published with what was suggested."""
    folder = tmp_path_factory.mktemp("office") / "abcdefghijk"
    folder.mkdir()
    (folder / "upload.csv").write_text(office_file(), "utf-8")
    read_table(QUIET, folder=str(folder), file="upload.csv", shown="gente.csv", reading={})
    found = Work.at(str(folder))
    jobs.run(QUIET, folder=str(folder), form=PublishForm.load(found).as_dict())
    return found


def test_the_meaning_of_each_column_drives_its_role_and_its_hierarchy(work: Work) -> None:
    form = PublishForm.load(work)
    methods = {each.name: (each.hierarchy or {}).get("method") for each in form.columns}
    assert form.named("identifier") == ("nombre", "correo")
    assert form.named("sensitive") == ("diagnóstico",)
    assert methods["nacimiento"] == methods["fecha_ingreso"] == "dates"
    assert methods["código_postal"] == "mask"
    assert form.column("municipio").missing == "value"
    # Everybody has an e-mail address of her own, so those of one name are namesakes.
    assert (form.person, form.by_record) == (None, True)


def test_all_solutions_are_found_and_a_chosen_one_is_applied_and_taken_away(work: Work) -> None:
    found = results.load(work)
    assert found is not None
    assert found["not_computed"] == []
    solutions = Solutions.load(work)
    assert solutions is not None
    assert solutions.tried == solutions.nodes > 1000
    point = solutions.front[-1]
    form = PublishForm.load(work)
    levels = solutions.by_column(point)
    key = work.folder.with_name("house.key")
    signer = signatures.make_key(key)
    told = jobs.apply(
        QUIET, folder=str(work.folder), form=form.as_dict(), levels=levels, key=str(key)
    )
    assert told == {"rows": ROWS, "suppressed": point.suppressed}
    released = pl.read_csv(work.path("release.csv"), infer_schema=False)
    assert released.columns == [each.name for each in form.columns if each.role != "identifier"]
    sizes = released.group_by(form.named("quasi-identifier")).len()["len"]
    assert min(sizes.to_list()) >= 5
    codes = set(released["código_postal"])
    assert all(code == "*" or code.startswith("0") for code in codes)  # no zero was lost
    work.path("report.pdf").write_bytes(b"%PDF")  # to write it takes longest
    jobs.pack(QUIET, folder=str(work.folder))
    with ZipFile(work.path(jobs.ARCHIVE)) as archive:
        archive.extractall(key.with_name("taken"))
    for name in ("release.csv", "release.parquet"):
        found_key = signatures.verify(key.with_name("taken") / name, f"{key}.pub").signed_by
        assert found_key == signer
    assert work.path(jobs.SIGNATURE).is_file()


@pytest.mark.parametrize(
    ("repeated", "other", "person"),
    [
        ("personal name", "e-mail address", None),
        ("personal name", "key", "who"),  # a key may be that of the record
        ("medical record number", "e-mail address", "who"),
    ],
)
def test_a_repeated_identifier_is_the_person_unless_it_is_a_name_beside_an_address(
    repeated: str, other: str, person: str | None
) -> None:
    frame = pl.DataFrame({"who": ["a", "a", "b"], "other": ["x", "y", "z"]})
    facts = [
        ColumnFacts(
            name=name, kind="text", distinct=distinct, empty=0, alone=0, role="identifier",
            seems=seems, why="",
        )
        for name, distinct, seems in (("who", 2, repeated), ("other", 3, other))
    ]  # fmt: skip
    assert suggest("f.csv", frame, facts).person == person


def test_a_search_in_a_very_long_table_takes_the_best_of_some_seconds() -> None:
    frame = pl.DataFrame({"sex": ["F"]})
    facts = [
        ColumnFacts(name="sex", kind="text", distinct=1, empty=0, alone=0,
                    role="quasi-identifier", seems="demographic", why=""),
    ]  # fmt: skip
    assert suggest("f.csv", frame, facts).time_limit is None
    many = pl.select(pl.repeat("F", MANY_ROWS + 1).alias("sex"))
    assert suggest("f.csv", many, facts).time_limit is not None
