"""Schema files: what they say, and what is said about a wrong one."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from celosia.core.errors import InputError
from celosia.tables import Column, Hierarchy, Intervals, Mask, Role, Schema, Tree

FULL = """
[table]
other_columns = "insensitive"

[columns.name]
role = "identifier"

[columns.zip]
role = "quasi-identifier"
type = "string"
missing = "value"
hierarchy = { method = "mask" }

[columns.age]
role = "quasi-identifier"
type = "integer"

[columns.disease]
role = "sensitive"
"""


def parse(text: str, folder: Path = Path()) -> Schema:
    return Schema.from_table(tomllib.loads(text), folder=folder)


def refusal(text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        parse(text)
    return caught.value


def test_a_file_gives_each_column_its_role_type_rule_and_care() -> None:
    assert parse(FULL).columns == (
        Column("name", Role.IDENTIFIER),
        Column("zip", Role.QUASI_IDENTIFIER, "string", Mask(), "value"),
        Column("age", Role.QUASI_IDENTIFIER, "integer"),
        Column("disease", Role.SENSITIVE),
    )


def test_a_file_is_read_from_its_path(tmp_path: Path) -> None:
    path = tmp_path / "people.toml"
    path.write_text(FULL, "utf-8")
    assert Schema.load(path) == Schema.load(str(path)) == parse(FULL)


def test_quasi_identifiers_keep_the_order_of_the_file() -> None:
    assert [column.name for column in parse(FULL).quasi_identifiers] == ["zip", "age"]
    assert parse(FULL).named(Role.QUASI_IDENTIFIER) == ("zip", "age")


def test_declared_types_are_told_by_name() -> None:
    assert parse(FULL).types() == {"zip": "string", "age": "integer"}


def test_other_columns_have_the_role_of_the_rest() -> None:
    schema = parse(FULL)
    assert schema.role_of("disease") is Role.SENSITIVE
    assert schema.role_of("hobby") is Role.INSENSITIVE
    schema.check_columns(["name", "zip", "age", "disease", "hobby", "pet"])


@pytest.mark.parametrize("role", ["identifier", "sensitive", "insensitive"])
def test_other_columns_may_have_any_role_but_one(role: str) -> None:
    assert parse(FULL.replace('"insensitive"', f'"{role}"')).role_of("hobby") == role


def test_hierarchy_files_are_found_beside_the_schema(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "sex.csv").write_text("Male;*\nFemale;*\n")
    path = tmp_path / "people.toml"
    path.write_text(
        '[columns.sex]\nrole = "quasi-identifier"\nhierarchy = { file = "rules/sex.csv" }\n'
    )
    (column,) = Schema.load(path).columns
    assert isinstance(column.hierarchy, Hierarchy)
    assert column.hierarchy.leaves == ("Male", "Female")


def test_names_in_a_file_may_hold_any_characters() -> None:
    schema = parse('[columns."código postal, \\"zip\\""]\nrole = "quasi-identifier"')
    assert schema.columns[0].name == 'código postal, "zip"'


def test_a_schema_can_be_made_from_names() -> None:
    schema = Schema.of(
        identifiers=["name"],
        quasi_identifiers=["age", "zip"],
        sensitive=["disease"],
        insensitive=["pet"],
        other_columns=Role.IDENTIFIER,
    )
    roles = {column.name: column.role for column in schema.columns}
    assert roles == {
        "age": Role.QUASI_IDENTIFIER,
        "zip": Role.QUASI_IDENTIFIER,
        "name": Role.IDENTIFIER,
        "disease": Role.SENSITIVE,
        "pet": Role.INSENSITIVE,
    }
    assert schema.role_of("unheard of") is Role.IDENTIFIER


def test_a_schema_made_from_names_takes_hierarchies() -> None:
    schema = Schema.of(quasi_identifiers={"zip": Mask(), "age": None})
    assert [column.hierarchy for column in schema.quasi_identifiers] == [Mask(), None]


def test_one_name_instead_of_a_list_is_not_taken_letter_by_letter() -> None:
    try:
        schema = Schema.of(quasi_identifiers="age")
    except InputError:
        return
    assert schema.named(Role.QUASI_IDENTIFIER) == ("age",)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Column("a", "idenfitier"),  # type: ignore[arg-type]
        lambda: Column("a", Role.SENSITIVE, type="intger"),  # type: ignore[arg-type]
        lambda: Column("a", Role.QUASI_IDENTIFIER, missing="refused"),  # type: ignore[arg-type]
        lambda: Schema((), other_columns="public"),  # type: ignore[arg-type]
    ],
    ids=["role", "type", "missing", "other columns"],
)
def test_a_wrong_choice_in_python_is_refused_as_in_a_file(wrong: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        wrong()


def test_a_column_without_a_rule_gets_a_hierarchy_all_the_same() -> None:
    column = Column("age", Role.QUASI_IDENTIFIER)
    assert column.hierarchy_for(pl.Series([17, 39, 90])).label("39", level=1) == "35-39"


def test_a_finished_hierarchy_is_used_as_it_is() -> None:
    hierarchy = Hierarchy.from_paths([("a", "*")])
    column = Column("x", Role.QUASI_IDENTIFIER, hierarchy=hierarchy)
    assert column.hierarchy_for(pl.Series(["b"])) is hierarchy


def test_a_column_named_twice_is_refused() -> None:
    with pytest.raises(InputError, match="'age' more than once") as caught:
        Schema.of(quasi_identifiers=["age", "zip"], sensitive=["age"])
    assert caught.value.code == "CEL-S001"


def test_other_columns_cannot_be_quasi_identifiers() -> None:
    assert refusal(FULL.replace('"insensitive"', '"quasi-identifier"')).code == "CEL-S002"


def test_a_missing_file_is_refused_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.toml cannot be read") as caught:
        Schema.load(tmp_path / "nothing.toml")
    assert caught.value.code == "CEL-S003"


def test_a_folder_is_no_schema(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Schema.load(tmp_path)
    assert caught.value.code == "CEL-S003"


@pytest.mark.parametrize(
    "content", [b"[columns.age\n", b"role = ", b"\xff\xfe\x00", b"a = 1\na = 2\n"]
)
def test_what_is_no_toml_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "people.toml"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is not valid TOML") as caught:
        Schema.load(path)
    assert caught.value.code == "CEL-S004"


def test_a_byte_order_mark_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "people.toml"
    path.write_text(FULL, "utf-8-sig")
    assert Schema.load(path) == parse(FULL)


@pytest.mark.parametrize("text", ["", "[table]\n", "[columns]\n"])
def test_a_schema_without_columns_is_refused(text: str) -> None:
    assert refusal(text).code == "CEL-S005"


def test_a_column_without_a_role_is_refused() -> None:
    error = refusal('[columns.age]\ntype = "integer"')
    assert (error.code, error.details["column"]) == ("CEL-S006", "age")
    assert "quasi-identifier" in error.fix


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('role = "quasi-identifer"', "did you mean 'quasi-identifier'?"),
        ('role = "sensitive"\ntype = "intger"', "did you mean 'integer'?"),
        ('role = "sensitive"\nmissing = "valu"', "did you mean 'value'?"),
        ("role = 3", "the role of column 'age' must be one of"),
        ('role = ["sensitive"]', "the role of column 'age' must be one of"),
        ('role = "sensitive"\ntype = true', "the type of column 'age' must be one of"),
    ],
)
def test_a_wrong_choice_is_refused_with_the_right_ones(text: str, message: str) -> None:
    error = refusal(f"[columns.age]\n{text}")
    assert error.code == "CEL-S007"
    assert message in str(error)


def test_a_wrong_role_of_other_columns_is_refused() -> None:
    assert refusal(FULL.replace('"insensitive"', '"public"')).code == "CEL-S007"


@pytest.mark.parametrize(
    "text", ['columns = "age"', '[columns]\nage = "quasi-identifier"', "table = 3\n[columns.a]"]
)
def test_a_value_where_a_section_belongs_is_refused(text: str) -> None:
    assert refusal(text).code == "CEL-S008"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[column.age]", "'column' (did you mean 'columns'?)"),
        ('[table]\nother_column = "sensitive"', "(did you mean 'other_columns'?)"),
        ('[columns.age]\nrol = "sensitive"', "column 'age' has the unknown key 'rol'"),
        ('[columns.age]\nrole = "sensitive"\nheirarchy = 1', "(did you mean 'hierarchy'?)"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest(text: str, message: str) -> None:
    error = refusal(text)
    assert error.code == "CEL-S009"
    assert message in str(error)


def test_a_wrong_hierarchy_is_refused_under_the_name_of_its_column() -> None:
    error = refusal('[columns.age]\nrole = "quasi-identifier"\nhierarchy = { method = "masc" }')
    assert (error.code, error.details["column"]) == ("CEL-I061", "age")
    assert str(error).startswith("column 'age': ")
    assert "did you mean 'mask'?" in str(error)


def test_a_missing_hierarchy_file_is_refused_under_the_name_of_its_column() -> None:
    error = refusal('[columns.age]\nrole = "quasi-identifier"\nhierarchy = { file = "no.csv" }')
    assert (error.code, error.details["column"]) == ("CEL-H011", "age")


def test_columns_that_the_table_lacks_are_all_named_with_the_nearest() -> None:
    schema = Schema.of(quasi_identifiers=["age", "zipp", "sex"])
    with pytest.raises(InputError) as caught:
        schema.check_columns(["age", "zip"])
    assert (caught.value.code, caught.value.details["columns"]) == ("CEL-S010", ["zipp", "sex"])
    assert "'zipp' (did you mean 'zip'?), 'sex'" in str(caught.value)


def test_columns_without_a_role_are_all_named() -> None:
    with pytest.raises(InputError, match="'name', 'zip'") as caught:
        Schema.of(quasi_identifiers=["age"]).check_columns(["name", "age", "zip"])
    assert (caught.value.code, caught.value.details["columns"]) == ("CEL-S011", ["name", "zip"])


@pytest.mark.parametrize(
    "rule",
    [Mask(levels=(1, 3)), Intervals(widths=(5, 10)), Tree({"x": ["a", "b"], "y": ["c"]})],
    ids=["mask", "intervals", "tree"],
)
def test_a_rule_written_to_a_schema_is_read_back(rule: Any) -> None:
    table = {"columns": {"c": {"role": "quasi-identifier", "hierarchy": rule.as_dict()}}}
    assert Schema.from_table(table).columns[0].hierarchy == rule
