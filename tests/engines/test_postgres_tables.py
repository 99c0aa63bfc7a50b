"""Publishing on PostgreSQL gives what publishing in memory gives, on a real server."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import Any

import polars as pl
import pytest
from tests.engines.server import postgres_server
from tests.engines.tables import CELLS, as_rows, same_rows, table_of
from tests.engines.visits import SCHEMA as VISITS
from tests.engines.visits import check_series, visits

from celosia import EngineError, InputError, KAnonymity, Role, Schema, Seeded, datasets, frames
from celosia.core.progress import Step
from celosia.engines import PostgresTables, postgres_tables
from celosia.engines.postgres_types import server_type
from celosia.engines.tables import Output
from celosia.tables import DistinctDiversity, publish, publish_on
from celosia.tables.release import PublishedTable

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")

SCHEMA = datasets.census_schema()
pytestmark = pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")


@pytest.fixture(scope="module")
def census() -> pl.DataFrame:
    return datasets.census(2000, seed=8)


@pytest.fixture(scope="module")
def owner(postgres: str) -> Iterator[Any]:
    with psycopg.connect(postgres, autocommit=True, prepare_threshold=None) as connection:
        yield connection


@pytest.fixture(scope="module")
def people(owner: Any, census: pl.DataFrame) -> str:
    owner.execute("CREATE SCHEMA raw")
    store(owner, "raw.people", census)
    return "raw.people"


def store(owner: Any, name: str, frame: pl.DataFrame) -> None:
    columns = ", ".join(
        '"' + column.replace('"', '""') + f'" {server_type(kind)}'
        for column, kind in frame.schema.items()
    )
    owner.execute(f"DROP TABLE IF EXISTS {name}")
    owner.execute(f"CREATE TABLE {name} ({columns})")
    with owner.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN") as copy:
        for row in frame.iter_rows():
            copy.write_row(row)


def fetched(owner: Any, name: str, like: pl.DataFrame) -> pl.DataFrame:
    owner.execute("SET timezone = 'UTC'")
    rows = owner.execute(f"SELECT * FROM {name}")
    assert [each.name for each in rows.description] == like.columns
    return pl.DataFrame(rows.fetchall(), schema=like.schema, orient="row")


def left_over(owner: Any) -> list[Any]:
    query = "SELECT relname FROM pg_class WHERE relname LIKE 'celosia%'"
    return list(owner.execute(query).fetchall())


@pytest.mark.parametrize(
    ("models", "options"),
    [
        (KAnonymity(5), {}),
        (KAnonymity(5), {"drop_suppressed": True}),
        (KAnonymity(5), {"local": True}),
        (KAnonymity(5), {"method": "mondrian"}),
        ([KAnonymity(5), DistinctDiversity(3, column="occupation")], {}),
    ],
    ids=lambda value: " ".join(value) or "plain" if isinstance(value, dict) else None,
)
def test_a_server_gives_the_rows_and_figures_that_memory_gives(  # noqa: PLR0917 - fixtures
    postgres: str,
    owner: Any,
    people: str,
    census: pl.DataFrame,
    tmp_path: Path,
    models: Any,
    options: dict[str, Any],
) -> None:
    whole = publish(census, SCHEMA, models, keep_order=True, **options)
    paper = tmp_path / "safe.cert.json"
    with PostgresTables(postgres) as engine:
        table = publish_on(engine, people, "raw.safe", SCHEMA, models, certificate=paper, **options)
    with PostgresTables(postgres) as engine:
        file = publish_on(engine, people, tmp_path / "safe.parquet", SCHEMA, models, **options)
    assert table.measures() == file.measures() == whole.measures()
    assert same_rows(fetched(owner, "raw.safe", whole.data), whole.data)
    assert same_rows(frames.read(tmp_path / "safe.parquet"), whole.data)
    assert table.rows_written == whole.data.height
    assert left_over(owner) == []


def test_people_are_counted_and_a_history_is_kept_as_in_memory(
    postgres: str, owner: Any, tmp_path: Path
) -> None:
    store(owner, "visits", visits())

    def run(**how: Any) -> PublishedTable:
        with PostgresTables(postgres) as engine:
            paper = tmp_path / "visits.cert.json"
            return publish_on(
                engine, "visits", "safe_visits", VISITS, KAnonymity(5), certificate=paper, **how
            )

    check_series(run, tmp_path)
    assert left_over(owner) == []


def test_the_order_is_kept_only_where_that_is_asked_for(
    postgres: str, owner: Any, people: str, census: pl.DataFrame, tmp_path: Path
) -> None:
    whole = publish(census, SCHEMA, KAnonymity(5), keep_order=True).data
    for kept in (True, False):
        with PostgresTables(postgres) as engine:
            publish_on(
                engine, people, "ordered", SCHEMA, KAnonymity(5), keep_order=kept,
                certificate=tmp_path / "c.json",
            )  # fmt: skip
        assert fetched(owner, "ordered", whole).equals(whole) == kept


@pytest.mark.parametrize("name", CELLS)
def test_every_type_comes_through_as_in_memory(
    name: str, postgres: str, owner: Any, tmp_path: Path
) -> None:
    table = table_of(name)
    store(owner, "typed", table)
    schema = Schema.from_table(
        {
            "columns": {
                "row": {"role": "insensitive", "accept_raw": "a test"},
                "other": {"role": "insensitive", "accept_raw": "a test"},
                "cell": {"role": "quasi-identifier", "missing": "value"},
                "group": {"role": "quasi-identifier"},
            },
            "table": {"other_columns": "insensitive"},
        }
    )
    for k in (3, 6):  # as it is, and generalised
        whole = publish(table, schema, KAnonymity(k), keep_order=True, suppression=1.0).data
        for target in ("typed_safe", tmp_path / "safe.parquet"):
            with PostgresTables(postgres) as engine:
                publish_on(
                    engine, "typed", target, schema, KAnonymity(k), suppression=1.0,
                    certificate=tmp_path / "c.json",
                )  # fmt: skip
        assert as_rows(fetched(owner, "typed_safe", whole)) == as_rows(whole)
        found = frames.read(tmp_path / "safe.parquet")
        assert found.schema == whole.schema
        assert as_rows(found) == as_rows(whole)


def test_padding_collations_and_named_values_do_not_join_what_differs(
    postgres: str, owner: Any, tmp_path: Path
) -> None:
    owner.execute(
        "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
    )
    owner.execute("CREATE TYPE mood AS ENUM ('sad', 'ok')")
    owner.execute('CREATE TABLE "Odd" ("A" text COLLATE loose, "a" char(4), "m""q" mood)')
    owner.execute("""INSERT INTO "Odd" VALUES ('x', 'p', 'ok'), ('x', 'p', 'ok'),
        ('X', 'p ', 'sad'), ('X', 'p', 'sad')""")
    schema = Schema.of(quasi_identifiers=["A", "a", 'm"q'])
    with PostgresTables(postgres) as engine:
        publish_on(engine, "Odd", tmp_path / "safe.parquet", schema, KAnonymity(2))
    found = frames.read(tmp_path / "safe.parquet")
    assert sorted(found.rows()) == [("X", "p", "sad")] * 2 + [("x", "p", "ok")] * 2


def test_what_cannot_be_done_is_refused(postgres: str, owner: Any, tmp_path: Path) -> None:
    owner.execute("CREATE TABLE odd_types (zip text, j jsonb, n numeric)")
    owner.execute("CREATE TABLE taken (zip text)")
    schema = Schema.of(quasi_identifiers=["zip"], other_columns=Role.INSENSITIVE)
    cases: list[tuple[str, Any, str]] = [
        ("nobody", "a", "CEL-E021"),
        ("odd_types", "a", "CEL-E022"),
        ("taken", "taken", "CEL-I007"),
        ("public.taken", "taken", "CEL-I007"),
    ]
    for source, target, code in cases:
        with PostgresTables(postgres) as engine, pytest.raises((InputError, EngineError)) as error:
            publish_on(
                engine, source, target, schema, KAnonymity(2), certificate=tmp_path / "c.json"
            )
        assert error.value.code == code
    with PostgresTables(postgres) as engine, pytest.raises(InputError) as refused:
        publish_on(
            engine, "raw.people", "taken", SCHEMA, KAnonymity(2), overwrite=False,
            certificate=tmp_path / "c.json",
        )  # fmt: skip
    assert refused.value.code == "CEL-P110"
    assert [*tmp_path.iterdir()] == []


def test_a_table_that_is_replaced_keeps_its_grants_comments_and_indexes(
    owner: Any, people: str, postgres: str, tmp_path: Path
) -> None:
    owner.execute("DROP TABLE IF EXISTS kept")
    owner.execute(
        'CREATE TABLE kept (age text, sex text, "salary-class" text, gone int, id int PRIMARY KEY)'
    )
    owner.execute("DROP ROLE IF EXISTS reader")
    owner.execute("CREATE ROLE reader")
    owner.execute("GRANT SELECT ON kept TO reader WITH GRANT OPTION")
    owner.execute("GRANT UPDATE (age, gone) ON kept TO PUBLIC")
    owner.execute("COMMENT ON TABLE kept IS 'the census'' table'")
    owner.execute("COMMENT ON COLUMN kept.age IS 'in years'")
    owner.execute("CREATE INDEX kept_age ON kept (age, lower(sex))")
    owner.execute("CREATE UNIQUE INDEX kept_sex ON kept (sex)")
    with PostgresTables(postgres) as engine:
        publish_on(
            engine, people, "kept", SCHEMA, KAnonymity(5), certificate=tmp_path / "kept.json"
        )
    asked = owner.execute(
        "SELECT has_table_privilege('reader', 'kept', 'SELECT WITH GRANT OPTION'), "
        "has_column_privilege('reader', 'kept', 'age', 'UPDATE'), "
        "has_table_privilege('reader', 'kept', 'INSERT'), "
        "obj_description('kept'::regclass, 'pg_class'), col_description('kept'::regclass, "
        "(SELECT attnum FROM pg_attribute WHERE attrelid = 'kept'::regclass AND attname = 'age'))"
    ).fetchone()
    assert asked == (True, True, False, "the census' table", "in years")
    names = owner.execute("SELECT indexname FROM pg_indexes WHERE tablename = 'kept'").fetchall()
    assert names == [("kept_age",)]  # sexes are not unique, and there is no column id any more
    assert owner.execute("SELECT count(*) FROM kept").fetchone()[0] > 0
    owner.execute("DROP TABLE kept")
    owner.execute("DROP ROLE reader")


def test_a_server_that_is_not_there_is_told_without_its_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NOWHERE", "postgresql://me:SECRET@127.0.0.1:1/none")
    for url in ("$NOWHERE", "$UNSET_ANYWHERE", "not a url"):
        with pytest.raises(EngineError) as failed:
            PostgresTables(url)
        assert failed.value.code == "CEL-E014"
        assert "SECRET" not in str(failed.value)


def at_recoding(act: Callable[[], object]) -> Callable[[Step], None]:
    """A progress that does something when the search is over."""

    def progress(step: Step) -> None:
        if step.stage == "Recoding on the engine":
            act()

    return progress


@pytest.mark.parametrize("target", ["killed", "killed.parquet"])
def test_a_connection_that_is_cut_leaves_nothing_and_a_second_run_succeeds(
    postgres: str, owner: Any, people: str, tmp_path: Path, target: str
) -> None:
    place = tmp_path / target if "." in target else target
    paper = tmp_path / "killed.cert.json"

    def cut() -> None:
        owner.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            "AND backend_type = 'client backend'"
        )

    with PostgresTables(postgres) as engine, pytest.raises(EngineError) as failed:
        publish_on(
            engine, people, place, SCHEMA, KAnonymity(5), certificate=paper,
            progress=at_recoding(cut),
        )  # fmt: skip
    assert failed.value.code == "CEL-E020"
    assert failed.value.__context__ is None
    assert [*tmp_path.iterdir()] == []
    assert owner.execute("SELECT to_regclass('killed')").fetchone() == (None,)
    assert left_over(owner) == []
    with PostgresTables(postgres) as engine:
        release = publish_on(engine, people, place, SCHEMA, KAnonymity(5), certificate=paper)
    assert release.rows_written == 2000
    assert left_over(owner) == []
    owner.execute("DROP TABLE IF EXISTS killed")


def test_rows_that_others_write_meanwhile_are_not_seen(
    postgres: str, owner: Any, census: pl.DataFrame, tmp_path: Path
) -> None:
    store(owner, "busy", census)

    def write() -> None:
        owner.execute("INSERT INTO busy SELECT * FROM busy LIMIT 100")

    with PostgresTables(postgres) as engine:
        release = publish_on(
            engine, "busy", tmp_path / "safe.parquet", SCHEMA, KAnonymity(5),
            progress=at_recoding(write),
        )  # fmt: skip
    assert release.rows_written == 2000
    whole = publish(census, SCHEMA, KAnonymity(5), keep_order=True).data
    assert same_rows(frames.read(tmp_path / "safe.parquet"), whole)


def test_columns_may_have_the_names_of_our_own(postgres: str, owner: Any, tmp_path: Path) -> None:
    names = ["id", "n", "hidden", "k0", "r0", "c0", "o", "p", "t", "m", "q", 'say "hi"', "A", "a"]
    table = pl.DataFrame({name: [f"{n}", f"{n}", "x", "x"] for n, name in enumerate(names)})
    store(owner, "named", table)
    schema = Schema.of(
        quasi_identifiers=["id", "hidden", "r0", "m"], other_columns=Role.INSENSITIVE
    )
    for kept in (True, False):
        with PostgresTables(postgres) as engine:
            publish_on(
                engine, "named", tmp_path / "safe.parquet", schema, KAnonymity(2), keep_order=kept
            )
        assert same_rows(frames.read(tmp_path / "safe.parquet"), table)


@pytest.mark.parametrize(
    ("kind", "cell", "message"),
    [
        ("numeric(12, 2)", "NaN", "NaN"),
        ("date", "infinity", "infinite"),
        ("date", "0044-03-15 BC", "years"),
        ("timestamp", "-infinity", "infinite"),
        ("timestamptz", "20000-01-01", "years"),
        ("time", "24:00", "24:00"),
    ],
)
def test_values_that_have_no_counterpart_are_a_clear_error(  # noqa: PLR0917 - fixtures
    postgres: str, owner: Any, tmp_path: Path, kind: str, cell: str, message: str
) -> None:
    owner.execute("DROP TABLE IF EXISTS strange")
    owner.execute(f"CREATE TABLE strange (zip text, odd {kind})")
    owner.execute("INSERT INTO strange VALUES ('1', NULL), ('1', %s), ('1', %s)", (cell, cell))
    target = tmp_path / "safe.parquet"
    columns = {"zip": {"role": "quasi-identifier"}, "odd": {"role": "insensitive"}}
    as_it_is = Schema.from_table({"columns": columns})
    columns["odd"] = {"role": "quasi-identifier", "missing": "value"}
    recoded = Schema.from_table({"columns": columns})
    for schema in (as_it_is, recoded):
        with (
            PostgresTables(postgres) as engine,
            pytest.raises(EngineError, match=message) as refused,
        ):
            publish_on(engine, "strange", target, schema, KAnonymity(2), suppression=1.0)
        assert refused.value.code == "CEL-E022"
        assert "'odd'" in str(refused.value)
        assert [*tmp_path.iterdir()] == []
    with PostgresTables(postgres) as engine, pytest.raises(EngineError, match=message):
        engine.map_batches(
            "strange",
            Output(place=target, order="kept", rng=Seeded(1), overwrite=True),
            lambda rows: rows,
            {},
        )
    # From table to table nothing needs to come here.
    with PostgresTables(postgres) as engine:
        publish_on(
            engine, "strange", "strange_safe", as_it_is, KAnonymity(2),
            certificate=tmp_path / "c.json",
        )  # fmt: skip
    query = "SELECT odd::text, count(*) FROM {} GROUP BY 1 ORDER BY 1"
    found, expected = (
        owner.execute(query.format(name)).fetchall() for name in ("strange_safe", "strange")
    )
    assert found == expected


def test_a_view_is_read_once_and_its_order_can_be_kept(
    postgres: str, owner: Any, census: pl.DataFrame, people: str, tmp_path: Path
) -> None:
    owner.execute(f"CREATE VIEW backwards AS SELECT * FROM {people} ORDER BY age DESC")
    target = tmp_path / "safe.parquet"
    with PostgresTables(postgres) as engine:
        publish_on(
            engine, "backwards", target, SCHEMA, KAnonymity(2), keep_order=True, suppression=1.0,
            levels={"age": 0, "sex": 0},
        )  # fmt: skip
    found = frames.read(target)["age"]
    assert len(found) == census.height
    shown = [int(age) for age in found if age != "*"]
    assert shown == sorted(shown, reverse=True)
    # Each look at this one gives other rows.
    owner.execute(
        "CREATE VIEW drawn AS SELECT (random() * 3)::int AS zip FROM generate_series(1, 5000) "
        "WHERE random() < 0.5"
    )
    for drop in (True, False):
        with PostgresTables(postgres) as engine:
            release = publish_on(
                engine, "drawn", target, Schema.of(quasi_identifiers=["zip"]), KAnonymity(2),
                drop_suppressed=drop,
            )  # fmt: skip
        assert release.rows_written == release.risk_before.records
    assert left_over(owner) == []


def test_the_order_of_a_table_in_parts_is_kept(postgres: str, owner: Any, tmp_path: Path) -> None:
    owner.execute("CREATE TABLE parted (zip int) PARTITION BY RANGE (zip)")
    for number in range(3):
        owner.execute(
            f"CREATE TABLE parted_{number} PARTITION OF parted "
            f"FOR VALUES FROM ({number}) TO ({number + 1})"
        )
    owner.execute("INSERT INTO parted SELECT n % 3 FROM generate_series(1, 30) AS s(n)")
    with PostgresTables(postgres) as engine:
        publish_on(
            engine, "parted", tmp_path / "safe.parquet", Schema.of(quasi_identifiers=["zip"]),
            KAnonymity(2), keep_order=True,
        )  # fmt: skip
    found = frames.read(tmp_path / "safe.parquet")["zip"]
    assert found.to_list() == [number for number in range(3) for _ in range(10)]


@pytest.mark.parametrize("drop", [True, False])
@pytest.mark.parametrize("target", ["judged", "judged.parquet"])
@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO changing VALUES ('50')",
        "INSERT INTO changing VALUES ('11')",
        "INSERT INTO changing VALUES (NULL)",
        "UPDATE changing SET zip = '50' WHERE ctid = '(0,1)'",
        "DELETE FROM changing WHERE ctid = '(0,1)'",
    ],
)
def test_a_row_that_nobody_judged_never_passes(  # noqa: PLR0917 - fixtures
    postgres: str, owner: Any, tmp_path: Path, target: str, drop: bool, change: str
) -> None:
    place = tmp_path / target if "." in target else target
    store(owner, "changing", pl.DataFrame({"zip": ["11"] * 6 + ["99"]}))
    with PostgresTables(postgres) as engine:
        # By the same transaction, which alone could see it.
        write = at_recoding(lambda: engine._run(change))
        with pytest.raises(EngineError) as refused:
            publish_on(
                engine, "changing", place, Schema.of(quasi_identifiers=["zip"]), KAnonymity(5),
                suppression=0.2, levels={"zip": 0}, progress=write, drop_suppressed=drop,
                certificate=tmp_path / "c.json",
            )  # fmt: skip
    assert refused.value.code == "CEL-E002"
    assert [*tmp_path.iterdir()] == []
    assert owner.execute("SELECT to_regclass('judged')").fetchone() == (None,)
    assert left_over(owner) == []


def test_an_older_certificate_stays_if_the_server_does_not_take_the_new_table(
    postgres: str, owner: Any, people: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = tmp_path / "c.json"
    with PostgresTables(postgres) as engine:
        publish_on(engine, people, "twice", SCHEMA, KAnonymity(5), certificate=paper)
    older, rows = paper.read_bytes(), owner.execute("SELECT * FROM twice").fetchall()
    renaming = postgres_tables.TableDraft.commit

    def cut(draft: postgres_tables.TableDraft) -> None:
        draft._connection.close()
        renaming(draft)

    monkeypatch.setattr(postgres_tables.TableDraft, "commit", cut)
    with PostgresTables(postgres) as engine, pytest.raises(EngineError) as failed:
        publish_on(engine, people, "twice", SCHEMA, KAnonymity(9), certificate=paper)
    assert failed.value.code == "CEL-E020"
    assert paper.read_bytes() == older
    assert [*tmp_path.iterdir()] == [paper]
    assert owner.execute("SELECT * FROM twice").fetchall() == rows
    assert left_over(owner) == []


def test_a_server_that_crashes_in_the_middle_leaves_nothing_and_a_second_run_succeeds(
    tmp_path: Path,
) -> None:
    table = pl.DataFrame({"zip": [f"{n % 10}" for n in range(1000)]})
    schema = Schema.of(quasi_identifiers=["zip"])
    paper = tmp_path / "c.json"
    with postgres_server() as url:
        with psycopg.connect(url, autocommit=True) as owner:
            store(owner, "people", table)
            before = checkpointer(owner)
        with PostgresTables(url) as engine:
            pid = engine._connection.info.backend_pid
            # A backend that dies so takes the whole server down, which then recovers.
            crash = at_recoding(lambda: os.kill(pid, signal.SIGKILL))
            with pytest.raises(EngineError) as failed:
                publish_on(
                    engine, "people", "safe", schema, KAnonymity(5), certificate=paper,
                    progress=crash,
                )  # fmt: skip
        assert failed.value.code == "CEL-E020"
        assert failed.value.__context__ is None
        assert [*tmp_path.iterdir()] == []
        owner = recovered(url, before)
        with owner:
            assert owner.execute("SELECT to_regclass('safe')").fetchone() == (None,)
            assert left_over(owner) == []
        with PostgresTables(url) as engine:
            release = publish_on(engine, "people", "safe", schema, KAnonymity(5), certificate=paper)
        assert release.rows_written == 1000


def checkpointer(owner: Any) -> Any:
    """A process of the server that a crash replaces."""
    query = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'"
    return owner.execute(query).fetchone()


def recovered(url: str, before: Any) -> Any:
    """A connection to a server that crashed, once it has noticed and has recovered."""
    for _ in range(300):
        with suppress(psycopg.OperationalError):
            owner = psycopg.connect(url, autocommit=True)
            if checkpointer(owner) not in (before, None):
                return owner
            owner.close()
        sleep(0.1)
    raise AssertionError("the server did not come back")


@pytest.mark.parametrize("target", ["mapped", "mapped.parquet"])
def test_batches_are_mapped(  # noqa: PLR0917 - fixtures
    postgres: str, owner: Any, people: str, census: pl.DataFrame, tmp_path: Path, target: str
) -> None:
    place = tmp_path / target if "." in target else target
    columns = {"age": pl.Int64(), "sex": pl.String()}

    def halved(rows: pl.DataFrame) -> pl.DataFrame:
        return rows.select((rows["age"] // 2).alias("age"), "sex")

    with (
        PostgresTables(postgres) as engine,
        engine.map_batches(
            people,
            Output(place=place, order="kept", rng=Seeded(1), overwrite=True),
            halved,
            columns,
        ) as draft,
    ):
        draft.commit()
    expected = halved(census)
    found = fetched(owner, "mapped", expected) if place == target else frames.read(place)
    assert found.equals(expected)
