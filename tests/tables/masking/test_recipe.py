"""Recipes: read from a file, refused with the step that is wrong, told as they were written."""

from __future__ import annotations

import tomllib
from pathlib import Path

import polars as pl
import pytest

from celosia import Schema, Seeded
from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.core.methods import checked, help_of, parameters
from celosia.core.notation import notation
from celosia.tables.masking import Mdav, Noise, Recipe, method_from, method_from_text, methods

TEXT = """
[table]
other_columns = "insensitive"
[columns.name]
role = "identifier"
[columns.age]
role = "quasi-identifier"
[[steps]]
method = "mdav"
columns = ["age", "income"]
k = 4
[[steps]]
method = "noise"
columns = "income"
amount = 0.1
"""


def _with(change: str) -> Recipe:
    return Recipe.from_table(tomllib.loads(change))


def test_a_recipe_is_a_schema_with_steps(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(TEXT)
    recipe = Recipe.load(path)
    assert [step.method for step in recipe.steps] == [Mdav(k=4), Noise(amount=0.1)]
    assert [step.columns for step in recipe.steps] == [("age", "income"), ("income",)]
    assert recipe.as_dict() == {"steps": tomllib.loads(TEXT)["steps"][:1]} | {
        "steps": [
            {"method": "mdav", "columns": ["age", "income"], "k": 4},
            {"method": "noise", "columns": ["income"], "amount": 0.1},
        ]
    }
    assert _with(TEXT) == recipe


def test_a_recipe_may_name_the_file_of_its_schema(tmp_path: Path) -> None:
    (tmp_path / "people.toml").write_text('[columns.age]\nrole = "quasi-identifier"\n')
    path = tmp_path / "recipe.toml"
    path.write_text(
        'schema = "people.toml"\n[[steps]]\nmethod = "mdav"\ncolumns = ["age"]\nk = 3\n'
    )
    assert Recipe.load(path).schema == Schema.of(quasi_identifiers=["age"])


@pytest.mark.parametrize(
    ("change", "code", "word"),
    [
        (TEXT.replace("mdav", "mdaw"), "CEL-I061", "mdav"),
        (TEXT.replace("amount", "amont"), "CEL-I062", "amount"),
        (TEXT.replace("mdav", "marginals").replace("k = 4", ""), "CEL-I063", "'epsilon'"),
        (TEXT.partition("[[steps]]")[0], "CEL-V013", "no steps"),
        (TEXT.replace('"age", "income"', '"name"'), "CEL-V014", "step 1"),
        (TEXT.replace('columns = "income"', ""), "CEL-V016", "step 2"),
        (TEXT.replace('"income"\namount', "3\namount"), "CEL-V016", "step 2"),
        ("steps = 3\n" + TEXT.partition("[[steps]]")[0], "CEL-V016", "list"),
        ('schema = "a.toml"\n' + TEXT, "CEL-V017", "schema"),
        (TEXT.replace("[table]", "[tabel]"), "CEL-S009", "tabel"),
        (TEXT.replace("k = 4", "k = 1"), "CEL-I060", "step 1"),
    ],
    ids=[
        "unknown method",
        "unknown parameter",
        "missing parameter",
        "no steps",
        "identifier",
        "no columns",
        "columns a number",
        "steps a number",
        "two schemas",
        "unknown section",
        "a value the method refuses",
    ],
)
def test_what_is_wrong_is_named_with_its_step(change: str, code: str, word: str) -> None:
    with pytest.raises(InputError) as refusal:
        _with(change)
    assert refusal.value.code.startswith(code)
    assert word in str(refusal.value)


def test_a_file_that_is_no_recipe_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    with pytest.raises(InputError, match="cannot be read"):
        Recipe.load(path)
    path.write_text("steps = [")
    with pytest.raises(InputError, match="not valid TOML"):
        Recipe.load(path)


def test_a_hierarchy_file_lies_beside_the_recipe(tmp_path: Path) -> None:
    (tmp_path / "zip.csv").write_text("08500;08***;*\n08242;08***;*\n")
    path = tmp_path / "recipe.toml"
    path.write_text(
        '[columns.zip]\nrole = "quasi-identifier"\n[[steps]]\nmethod = "recoding"\n'
        'columns = ["zip"]\nlevel = 1\nhierarchy = { file = "zip.csv" }\n'
    )
    table = pl.DataFrame({"zip": ["08500", "08242", "08500"]})
    step = Recipe.load(path).steps[0]
    made = step.method.apply(table, step.columns, rng=Seeded(1))
    assert made.frame["zip"].to_list() == ["08***"] * 3


@pytest.mark.parametrize("name", list(methods()))
def test_every_method_says_what_it_is(name: str) -> None:
    kind = methods()[name]
    assert kind.method_name == name
    assert say(f"methods.{name}.title")
    assert say(f"methods.{name}.summary").endswith(".")
    for each in parameters(kind):
        assert help_of(name, each.name), each.name
        if each.start is not None:
            assert checked(name, each, each.start) == each.start
    assert isinstance(kind.randomised, bool)
    assert isinstance(kind.truthful, bool)


def test_a_method_tells_the_step_that_makes_it_again() -> None:
    for name, given in (("mdav", {"k": 7}), ("noise", {"alpha": 0.2, "correlated": True})):
        values = method_from(name, given).as_dict()
        assert method_from(values.pop("method"), values) == method_from(name, given)


@pytest.mark.parametrize(
    ("text", "given"),
    {
        "mdav:7": {"k": 7},
        "noise:0.1,correct=exact,correlated=true": {
            "amount": 0.1,
            "correlated": True,
            "correct": "exact",
        },
        "pram:matrix=[[0.8, 0.2], [0.2, 0.8]],values=[a, 'b c']": {
            "matrix": [[0.8, 0.2], [0.2, 0.8]],
            "values": ["a", "b c"],
        },
        "recoding:mapping={ a = 'x' },other=y": {"mapping": {"a": "x"}, "other": "y"},
        "recoding:hierarchy={ method = 'mask' },level=2": {
            "hierarchy": {"method": "mask"},
            "level": 2,
        },
        "marginals:1,bounds={ age = [0, 100] }": {"epsilon": 1.0, "bounds": {"age": [0, 100]}},
        "sampling:rows=5,by=sex": {"rows": 5, "by": ["sex"]},
    }.items(),
)
def test_a_method_is_read_from_its_notation_and_written_back(
    text: str, given: dict[str, object]
) -> None:
    method = method_from_text(text)
    assert method.as_dict() == {"method": text.partition(":")[0]} | given
    assert method_from_text(notation(method)) == method
