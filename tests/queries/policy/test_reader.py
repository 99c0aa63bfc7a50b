"""A policy file means what it says; what it cannot mean is refused, all of it at once."""

from __future__ import annotations

import re
import warnings
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.queries.policy.policies import SHOP

from celosia.core.errors import InputError, PrivacyWarning
from celosia.core.neighbours import Relation
from celosia.queries.policy import Policy, Spending, Unit, load_policy, read_policy
from celosia.queries.policy import reader as reading_module


def codes(text: str) -> list[str]:
    """The codes of all problems that the text is refused for, with its variant if it is one."""
    try:
        read_policy(text)
    except InputError as error:
        refusal = error
    else:
        return []
    problems = refusal.details["problems"]
    assert isinstance(problems, list)
    found = [problem["code"] for problem in problems]
    assert refusal.code == (found[0] if len(found) == 1 else "CEL-Q003")
    return [refusal.key] if len(found) == 1 else found


def changed(old: str, new: str) -> str:
    assert SHOP.count(old) >= 1, old
    return SHOP.replace(old, new, 1)


def test_a_policy_file_is_read_as_written() -> None:
    policy = read_policy(SHOP)
    assert policy.unit == Unit(name="customer", table="customer", key="custkey")
    assert policy.relation is Relation.ADD_REMOVE
    assert policy.budget == Spending(epsilon=Fraction(2), delta=Fraction(1, 10**6))
    assert dict(policy.analysts) == {
        "ana": Spending(epsilon=Fraction(1, 3), delta=Fraction(1, 10**6)),
        "ben": Spending(epsilon=Fraction(1, 10), delta=Fraction(0)),
    }
    orders = policy.table("ORDERS")
    assert orders is not None
    assert not orders.public
    assert orders.rows == 2_000_000
    assert orders.references == (("custkey", "customer", "custkey"),)
    price, day = orders.column("PRICE"), orders.column("orderdate")
    assert price is not None
    assert (price.lower, price.upper, price.grid) == (
        Fraction(-1, 10),
        Fraction(600_000),
        Fraction(1, 100),
    )
    assert day is not None
    assert day.keys == ("1998-01-01", "1998-01-02")


def test_the_example_of_the_documentation_is_a_policy() -> None:
    example = (reading_module.__doc__ or "").partition("TOML.\n")[2].partition("\nNumbers mean")[0]
    policy = read_policy(example)
    assert dict(policy.analysts)["ana"].epsilon == Fraction(1, 3)
    assert policy.database.path == "shop.duckdb"


def test_paths_start_from_the_folder_of_the_policy(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_bytes(b"\xef\xbb\xbf" + SHOP.replace("\n", "\r\n").encode())
    database = load_policy(path).database
    assert database.resolve_path(dict(database.files)["orders"]) == str(
        tmp_path / "data/orders.parquet"
    )
    assert database.resolve_path("/else/x.csv") == "/else/x.csv"
    assert load_policy(path) == read_policy(SHOP)


def test_numbers_are_the_decimals_that_are_written() -> None:
    more_digits = "0.10000000000000000000000000001"
    policy = read_policy(changed("epsilon = 0.1", f"epsilon = {more_digits}"))
    assert dict(policy.analysts)["ben"].epsilon == Fraction(more_digits)


MISTAKES = {
    "no name": ('name = "shop"\n', "", "CEL-Q005.no_name"),
    "misspelt top key": ('name = "shop"', 'name = "shop"\nelastc = true', "CEL-Q004"),
    "misspelt table key": ("rows = 25", "row = 25", "CEL-Q004"),
    "misspelt column key": ("most = 50", "mots = 50", "CEL-Q004"),
    "misspelt unit key": ('name = "customer"', 'nam = "customer"', "CEL-Q004"),
    "unknown type": ('shipped = "timestamp"', 'shipped = "time"', "CEL-Q005.unknown_word"),
    "column without type": ('type = "integer", most = 50', "most = 50", "CEL-Q005.no_type"),
    "column that is a number": ('shipped = "timestamp"', "shipped = 3", "CEL-Q005.not_a_column"),
    "public in quotes": ("public = true", 'public = "true"', "CEL-Q005.not_a_flag"),
    "unique in numbers": ("unique = true }\n\n", "unique = 1 }\n\n", "CEL-Q005.not_a_flag"),
    "rows in quotes": ("rows = 25", 'rows = "25"', "CEL-Q005.not_whole"),
    "rows with a fraction": ("rows = 25", "rows = 25.0", "CEL-Q005.not_whole"),
    "negative rows": ("rows = 25", "rows = -1", "CEL-Q006.cap_out_of_range"),
    "a cap of nothing": ("most = 50", "most = 0", "CEL-Q006.cap_out_of_range"),
    "a cap that is true": ("most = 50", "most = true", "CEL-Q005.not_whole"),
    "a cap of a unique column": (
        "unique = true }\ncustkey",
        "unique = true, most = 2 }\ncustkey",
        "CEL-Q006.cap_unique_with_most",
    ),
    "no unit bound": (
        'name = "shop"',
        'name = "shop"\nmost_per_unit = 0',
        "CEL-Q006.cap_out_of_range",
    ),
    "bounds turned round": (
        "lower = -0.1, upper = 600000",
        "lower = 5, upper = 2",
        "CEL-Q006.not_below",
    ),
    "equal bounds": (
        "lower = -0.1, upper = 600000",
        "lower = 5, upper = 5.0",
        "CEL-Q006.not_below",
    ),
    "one bound": ("lower = -0.1, upper = 600000, grid = 0.01", "lower = 5", "CEL-Q006.one_bound"),
    "bounds of a text": (
        'keys = ["BUILDING", "MACHINERY"]',
        "lower = 0, upper = 1",
        "CEL-Q006.not_numeric",
    ),
    "half an integer": ("most = 50", "lower = 0.5, upper = 2", "CEL-Q006.not_whole"),
    "infinite bound": ("upper = 600000", "upper = inf", "CEL-Q005.no_number"),
    "bound that is no number": ("upper = 600000", "upper = nan", "CEL-Q005.no_number"),
    "no grid": ("grid = 0.01", "grid = 0", "CEL-Q006.grid_not_positive"),
    "negative grid": ("grid = 0.01", "grid = -0.01", "CEL-Q006.grid_not_positive"),
    "grid beyond the bounds": ("grid = 0.01", "grid = 600001", "CEL-Q006.grid_too_wide"),
    "grid without bounds": ("lower = -0.1, upper = 600000, ", "", "CEL-Q006.grid_no_bounds"),
    "too fine a grid": ("grid = 0.01", "grid = 1e-12", "CEL-Q006.grid_too_fine"),
    "too far a bound": ("most = 50", "lower = 0, upper = 1e16", "CEL-Q006.grid_too_fine"),
    "half a grid of integers": (
        "most = 50",
        "lower = 0, upper = 9, grid = 0.5",
        "CEL-Q006.grid_not_whole",
    ),
    "keys of another type": (
        'keys = ["BUILDING", "MACHINERY"]',
        "keys = [1, 2]",
        "CEL-Q006.keys_other_type",
    ),
    "numbers for truth": ("keys = [true, false]", "keys = [1, 0]", "CEL-Q006.keys_other_type"),
    "truth for numbers": ("most = 50", "keys = [true, 2]", "CEL-Q006.keys_other_type"),
    "a key twice": (
        'keys = ["BUILDING", "MACHINERY"]',
        'keys = ["A", "A"]',
        "CEL-Q006.keys_repeated",
    ),
    "the same day twice": (
        '[1998-01-01, "1998-01-02"]',
        '[1998-01-01, "1998-01-01"]',
        "CEL-Q006.keys_repeated",
    ),
    "not a day": ('"1998-01-02"', '"1998-02-30"', "CEL-Q006.keys_other_type"),
    "a day in a short form": ('"1998-01-02"', '"19980102"', "CEL-Q006.keys_other_type"),
    "no keys": ('keys = ["BUILDING", "MACHINERY"]', "keys = []", "CEL-Q006.keys_wrong_number"),
    "keys of numbers": ("grid = 0.01", "grid = 0.01, keys = [1]", "CEL-Q006.keys_no_keys_for_type"),
    "fractions as keys": ("most = 50", "keys = [1.5]", "CEL-Q005.not_keys"),
    "keys beyond 64 bits": ("most = 50", f"keys = [{2**63}]", "CEL-Q006.keys_other_type"),
    "one key alone": (
        'keys = ["BUILDING", "MACHINERY"]',
        'keys = "BUILDING"',
        "CEL-Q005.not_a_list",
    ),
    "reference without a column": ('"customer.custkey"', '"customer"', "CEL-Q009.no_target"),
    "reference to no table": (
        '"customer.custkey"',
        '"costumer.custkey"',
        "CEL-Q009.to_unknown_table",
    ),
    "reference to no column": (
        '"customer.custkey"',
        '"customer.custky"',
        "CEL-Q009.to_unknown_column",
    ),
    "reference from no column": ("{ custkey = ", "{ kustkey = ", "CEL-Q009.from_unknown_column"),
    "reference to a text": ('"customer.custkey"', '"customer.segment"', "CEL-Q009.not_unique"),
    "reference to many": ('"nation.nationkey"', '"customer.nationkey"', "CEL-Q009.not_unique"),
    "no way to a person": (
        'references = { custkey = "customer.custkey" }\n',
        "",
        "CEL-Q009.no_owner",
    ),
    "public to private": (
        "rows = 25",
        'rows = 25\nreferences = { nationkey = "customer.custkey" }',
        "CEL-Q009.public_to_private",
    ),
    "a table of its own": ('"nation.nationkey"', '"customer.custkey"', "CEL-Q009.circle"),
    "a longer circle": ('"nation.nationkey"', '"orders.orderkey"', "CEL-Q009.circle"),
    "no unit": (
        '[unit]\nname = "customer"\ntable = "customer"\nkey = "custkey"\n',
        "",
        "CEL-Q010.no_section",
    ),
    "an empty unit": (
        'name = "customer"\ntable = "customer"\nkey = "custkey"\n',
        "",
        "CEL-Q010.empty",
    ),
    "a unit without key": ('key = "custkey"\n', "", "CEL-Q010.half_a_key"),
    "a unit without table": ('table = "customer"\n', "", "CEL-Q010.half_a_key"),
    "a unit of words only": ('table = "customer"\nkey = "custkey"\n', "", "CEL-Q010.no_table"),
    "a person called row": (
        '[unit]\nname = "customer"',
        '[unit]\nname = "Row"',
        "CEL-Q010.row_with_table",
    ),
    "a unit of no column": ('key = "custkey"', 'key = "id"', "CEL-Q010.unknown_key"),
    "a unit that is not unique": ('key = "custkey"', 'key = "segment"', "CEL-Q010.key_not_unique"),
    "no budget": ("[budget]\nepsilon = 2\ndelta = 1e-6\n", "", "CEL-Q013.no_epsilon"),
    "nothing to spend": ("epsilon = 2", "epsilon = 0", "CEL-Q013.epsilon_out_of_range"),
    "less than nothing": ("epsilon = 2", "epsilon = -1", "CEL-Q013.epsilon_out_of_range"),
    "budget without end": ("epsilon = 2", "epsilon = inf", "CEL-Q005.no_number"),
    "budget in words": ("epsilon = 2", 'epsilon = "two"', "CEL-Q005.no_number"),
    "budget by nothing": ('epsilon = "1/3"', 'epsilon = "1/0"', "CEL-Q005.no_number"),
    "certain failure": ("delta = 1e-6", "delta = 1", "CEL-Q013.delta_out_of_range"),
    "an analyst beyond the total": ('epsilon = "1/3"', 'epsilon = "7/3"', "CEL-Q014.above_budget"),
    "an analyst's delta beyond": (
        "epsilon = 0.1\ndelta = 0",
        "delta = 0.1",
        "CEL-Q014.above_budget",
    ),
    "an analyst with nothing": ("epsilon = 0.1", "epsilon = 0", "CEL-Q014.epsilon_out_of_range"),
    "the same analyst twice": ("[analysts.ben]", "[analysts.ANA]", "CEL-Q005.name_repeated"),
    "the same table twice": (
        "[tables.orders.columns]",
        "[tables.NATION.columns]\nx = 'text'\n[tables.orders.columns]",
        None,
    ),
    "the same column twice": (
        'shipped = "timestamp"',
        'PRICE = "number"',
        "CEL-Q005.name_repeated",
    ),
    "an empty name": ('name = "shop"', 'name = ""', "CEL-Q005.name_not_a_name"),
    "a name of two lines": ('name = "shop"', 'name = "a\\nb"', "CEL-Q005.name_not_a_name"),
    "a long name": ('name = "shop"', f'name = "{"x" * 64}"', "CEL-Q005.name_not_a_name"),
    "spaces around": ('name = "shop"', 'name = " shop"', "CEL-Q005.name_not_a_name"),
    "unknown neighbours": (
        'name = "shop"',
        'name = "shop"\nneighbours = "bounded"',
        "CEL-Q005.unknown_word",
    ),
    "unknown database": (
        "[database.files]",
        'database.kind = "my"\n[database.files]',
        "CEL-Q005.unknown_word",
    ),
    "a file of no table": ('"nation.csv"', '"nation.csv"\nx = "x.csv"', "CEL-Q017.unknown_table"),
    "a table of no file": ('nation = "nation.csv"\n', "", "CEL-Q017.no_place"),
    "a file from elsewhere": ('"nation.csv"', '"https://x.org/nation.csv"', "CEL-Q017.not_a_path"),
    "a file of another kind": ('"nation.csv"', '"nation.xlsx"', "CEL-Q017.file_ending"),
    "a url for files": (
        "[database.files]",
        '[database]\nurl = "$X"\n[database.files]',
        "CEL-Q017.duckdb_url",
    ),
    "tables that are a text": ('name = "shop"', 'name = "shop"\nanalysts = "ana"', None),
}


@pytest.mark.parametrize("mistake", [name for name, case in MISTAKES.items() if case[2]])
def test_each_mistake_is_refused_for_its_own_reason(mistake: str) -> None:
    old, new, code = MISTAKES[mistake]
    assert codes(changed(old, new)) == [code]


@pytest.mark.parametrize("mistake", [name for name, case in MISTAKES.items() if not case[2]])
def test_mistakes_that_break_more_are_refused_too(mistake: str) -> None:
    old, new, _ = MISTAKES[mistake]
    with pytest.raises(InputError):
        read_policy(changed(old, new))


def test_all_problems_are_told_at_once() -> None:
    text = changed("rows = 25", "row = 25").replace("epsilon = 2\n", "epsilon = 0\n")
    text = text.replace("most = 50", "most = 0").replace('"customer.custkey"', '"customer.id"')
    with pytest.raises(InputError) as caught:
        read_policy(text)
    error = caught.value
    assert error.code == "CEL-Q003"
    problems = error.details["problems"]
    assert isinstance(problems, list)
    found = {problem["code"] for problem in problems}
    assert found == {"CEL-Q004", "CEL-Q013", "CEL-Q006", "CEL-Q009"}
    assert "(did you mean 'rows'?)" in str(error)
    assert all(problem["error"] in str(error) for problem in problems)


def test_a_message_of_many_problems_stays_readable() -> None:
    text = SHOP + "".join(f"c{number} = 1\n" for number in range(1000))
    with pytest.raises(InputError, match="and 980 more") as caught:
        read_policy(text)
    assert len(str(caught.value)) < 10_000
    assert len(caught.value.details["problems"]) == 1000  # type: ignore[arg-type]


def test_the_near_name_is_offered() -> None:
    with pytest.raises(InputError, match=re.escape("did you mean 'most'?")):
        read_policy(changed("most = 50", "mots = 50"))
    with pytest.raises(InputError, match=re.escape("did you mean 'customer'?")):
        read_policy(changed('"customer.custkey"', '"costumer.custkey"'))


@pytest.mark.parametrize(
    "text",
    [
        "name = ",
        "name = 'a'\nname = 'b'",
        "[tables.a]\n[tables.a]",
        "x = " + "[" * 100_000,
        "x = " + "{a=" * 3_000,
        "epsilon = " + "9" * 5_000,
        "\0",
        "name = \"\ud800\"",
    ],
)  # fmt: skip
def test_hostile_texts_are_refused_as_no_toml(text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_policy(text)
    assert caught.value.code in {"CEL-Q001", "CEL-Q003"}


@pytest.mark.parametrize("number", ["1e999999999", "1e-999999999", "0." + "1" * 5000, "9" * 4000])
def test_a_number_that_would_not_fit_on_a_page_is_refused_at_once(number: str) -> None:
    assert codes(changed("epsilon = 2", f"epsilon = {number}"))[0].startswith("CEL-Q005")


@pytest.mark.parametrize(
    "amount", ["1/3/3", " 1/3", "1 / 3", "\u0661/3", "1e5", "0x1", "1_0", "9" * 81]
)
def test_a_text_that_only_looks_like_a_fraction_is_refused(amount: str) -> None:
    assert codes(changed('epsilon = "1/3"', f'epsilon = "{amount}"')) == ["CEL-Q005.no_number"]


@given(st.text(max_size=60), st.integers(0, len(SHOP)), st.integers(0, 40))
def test_any_damage_to_a_policy_is_read_or_refused_but_never_crashes(
    noise: str, place: int, length: int
) -> None:
    text = SHOP[:place] + noise + SHOP[place + length :]
    with warnings.catch_warnings(), suppress(InputError):
        warnings.simplefilter("ignore", PrivacyWarning)  # a digit more is a larger budget
        assert isinstance(read_policy(text), Policy)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    large = tmp_path / "large.toml"
    with large.open("wb") as file:
        file.truncate(reading_module.LARGEST_FILE + 1)
    for path in (tmp_path, tmp_path / "none.toml", large, "a\0b"):
        with pytest.raises(InputError) as caught:
            load_policy(path)
        assert caught.value.code == "CEL-Q001"
    broken = tmp_path / "latin.toml"
    broken.write_bytes(b'name = "caf\xe9"')
    with pytest.raises(InputError) as caught:
        load_policy(broken)
    assert caught.value.key == "CEL-Q001.not_toml"


def test_an_empty_list_of_analysts_is_neither_nobody_nor_everybody() -> None:
    start, end = SHOP.index("[analysts.ana]"), SHOP.index("[tables.nation]")
    assert codes(SHOP[:start] + "[analysts]\n" + SHOP[end:]) == ["CEL-Q014.no_analyst"]
    assert codes(SHOP[:start] + SHOP[end:]) == []


def test_analysts_may_have_more_together_than_there_is() -> None:
    text = changed('epsilon = "1/3"', "epsilon = 2").replace("epsilon = 0.1", "epsilon = 2")
    assert codes(text) == []


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [("epsilon = 2", "epsilon = 21", "budget"), ("1e-6", "1.1e-6", "the number of people is not")],
)
def test_a_budget_that_protects_little_is_warned_of(old: str, new: str, reason: str) -> None:
    with pytest.warns(PrivacyWarning, match=reason) as caught:
        read_policy(changed(old, new))
    assert len(caught) == 1


def test_a_delta_of_one_in_the_declared_people_is_warned_of() -> None:
    people = ("[tables.customer]\n", "[tables.customer]\nrows = 1000\n")
    read_policy(changed("1e-6", "0.000999").replace(*people))
    with pytest.warns(PrivacyWarning, match="not below 1/1,000"):
        read_policy(changed("1e-6", "0.001").replace(*people))


def test_a_table_with_dots_in_its_names_can_be_referenced() -> None:
    text = SHOP.replace("tables.customer", 'tables."sales.customer"')
    text = text.replace('"customer.custkey"', '"sales.customer.custkey"')
    text = text.replace('table = "customer"', 'table = "sales.customer"')
    text = text.replace("customer = ", '"sales.customer" = ')
    policy = read_policy(text)
    assert policy.tables[-1].references == (("custkey", "sales.customer", "custkey"),)
