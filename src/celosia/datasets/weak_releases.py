"""Small releases that look safe and are not, one for each attack; short enough to check by hand.

The ethnic groups are peoples of Chile; the persons are invented.
"""

from __future__ import annotations

from itertools import product

import polars as pl

from celosia.tables.hierarchies import Hierarchy

STOMACH = "stomach disease"
LUNGS = "respiratory infection"


def insured() -> pl.DataFrame:
    """Seven insured people without names, of whom one can be found by sex, birth and postal code.

    Only the fifth is known from the literature; the others were invented around them.

    >>> insured().row(4)
    ('divorced', 'Fonasa', 'male', '15/03/1961', '1300000', 'cancer', 628030)
    """
    rows = [
        ("single", "Isapre", "female", "02/11/1984", "1300000", "flu", 541200),
        ("single", "Fonasa", "male", "27/06/1990", "1310000", "asthma", 487900),
        ("married", "Fonasa", "female", "15/03/1961", "1300000", "hypertension", 702450),
        ("married", "Isapre", "male", "09/09/1975", "1320000", "gastritis", 913000),
        ("divorced", "Fonasa", "male", "15/03/1961", "1300000", "cancer", 628030),
        ("widowed", "Fonasa", "female", "30/01/1949", "1310000", "arthritis", 356700),
        ("widowed", "Isapre", "male", "18/12/1952", "1320000", "diabetes", 398100),
    ]
    names = ["marital", "insurer", "sex", "birth", "postal", "disease", "salary"]
    return pl.DataFrame(rows, schema=names, orient="row")


def voters() -> pl.DataFrame:
    """A public list with names, to be linked with `insured`.

    >>> voters().join(insured(), on=["sex", "birth", "postal"])["name"].to_list()
    ['Lautaro Inventado']
    """
    rows = [
        ("Lautaro Inventado", "male", "15/03/1961", "1300000", "12 Olmo Street", "Concepción"),
        ("Berta Imaginaria", "female", "08/05/1970", "1300000", "3 Laurel Street", "Concepción"),
        ("Tomás Ficticio", "male", "15/03/1961", "1320000", "77 Roble Avenue", "Chillán"),
    ]
    names = ["name", "sex", "birth", "postal", "address", "city"]
    return pl.DataFrame(rows, schema=names, orient="row")


def in_order() -> pl.DataFrame:
    """Twelve people, one for every pair of ethnic group and postal code, in that order.

    >>> in_order().shape
    (12, 2)
    """
    groups = ("rapanui", "mapuche", "atacameño")
    codes = ("05345", "05346", "05351", "05352")
    return pl.DataFrame(list(product(groups, codes)), schema=["ethnic", "postal"], orient="row")


def in_order_releases() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two 2-anonymous releases of `in_order`, one column generalised in each, rows in place.

    Side by side they are the private table again.

    >>> first, second = in_order_releases()
    >>> first.select(second["ethnic"], "postal").equals(in_order())
    True
    """
    table = in_order()
    return (
        table.with_columns(ethnic=pl.lit("person")),
        table.with_columns(postal=pl.col("postal").str.head(4) + "0"),
    )


def twice_released() -> pl.DataFrame:
    """Twelve patients whose two releases give away two of them.

    >>> twice_released().shape
    (12, 5)

    Reference: after Sweeney 2002.
    """
    rows = [
        ("mapuche", "20/09/1965", "male", "05351", "short of breath"),
        ("mapuche", "14/02/1965", "male", "05351", "chest pain"),
        ("mapuche", "23/10/1965", "female", "05345", "eye pain"),
        ("mapuche", "24/08/1965", "female", "05345", "wheezing"),
        ("mapuche", "07/11/1964", "female", "05345", "obesity"),
        ("mapuche", "01/12/1964", "female", "05345", "chest pain"),
        ("rapanui", "23/10/1964", "male", "05345", "short of breath"),
        ("rapanui", "15/03/1965", "female", "05346", "hypertension"),
        ("rapanui", "13/08/1964", "male", "05346", "obesity"),
        ("rapanui", "05/05/1964", "male", "05346", "fever"),
        ("rapanui", "13/02/1967", "male", "05345", "vomiting"),
        ("rapanui", "21/03/1967", "male", "05345", "back pain"),
    ]
    names = ["ethnic", "birth", "sex", "postal", "problem"]
    return pl.DataFrame(rows, schema=names, orient="row")


def complementary_releases() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two 2-anonymous releases of `twice_released` that share the column of the problem.

    >>> first, second = complementary_releases()
    >>> sorted(first.group_by(first.columns[:-1]).len()["len"])
    [2, 2, 2, 3, 3]
    >>> sorted(second.group_by(second.columns[:-1]).len()["len"])
    [2, 3, 3, 4]
    """
    table = twice_released()
    return (
        table.with_columns(
            ethnic=pl.lit("person"),
            birth=pl.col("birth").str.tail(4),
            postal=pl.col("postal").str.head(4) + "0",
        ),
        table.with_columns(birth=pl.lit("[1960-1969]"), sex=pl.lit("not reported")),
    )


def release_hierarchies() -> dict[str, Hierarchy]:
    """What the labels of `in_order_releases` and `complementary_releases` stand for.

    >>> release_hierarchies()["postal"].stands_for("05350").size
    2
    """
    births = twice_released()["birth"].unique(maintain_order=True)
    paths: dict[str, list[tuple[str, ...]]] = {
        "ethnic": [(group, "person") for group in ("rapanui", "mapuche", "atacameño")],
        "birth": [(day, day[-4:], "[1960-1969]") for day in births],
        "sex": [(sex, "not reported") for sex in ("female", "male")],
        "postal": [
            (code, code[:4] + "0", "05300") for code in in_order()["postal"].unique().sort()
        ],
    }
    return {name: Hierarchy.from_paths(rows) for name, rows in paths.items()}


def one_problem() -> pl.DataFrame:
    """Twelve patients in four classes of three, one class with flu alone (3-anonymous).

    >>> one_problem().group_by("age", "postal").len()["len"].to_list()
    [3, 3, 3, 3]

    Reference: after Machanavajjhala et al. 2006.
    """
    return _classes(
        ["age", "postal"],
        {
            ("<50", "053**"): ["flu", "chest pain", "back pain"],
            (">=50", "053**"): ["obesity", "vomiting", "vomiting"],
            ("<50", "054**"): ["flu", "flu", "flu"],
            (">=50", "054**"): ["vomiting", "back pain", "back pain"],
        },
    )


def distinct_diverse() -> pl.DataFrame:
    """Sixteen patients in four classes, each with three different problems.

    >>> distinct_diverse().group_by("age", "postal").n_unique()["problem"].to_list()
    [3, 3, 3, 3]
    """
    return _classes(
        ["age", "postal"],
        {
            ("<50", "053**"): ["flu", "chest pain", "chest pain", "back pain"],
            (">=50", "053**"): ["obesity", "fever", "vomiting", "vomiting"],
            ("<50", "054**"): ["fever", "fever", "eye pain", "hypertension"],
            (">=50", "054**"): ["vomiting", "flu", "flu", "back pain"],
        },
    )


def entropy_diverse() -> pl.DataFrame:
    """Twelve patients in three classes, each with the entropy of 2.83 equally common problems.

    >>> entropy_diverse().group_by("age", "postal").len()["len"].to_list()
    [4, 4, 4]
    """
    return _classes(
        ["age", "postal"],
        {
            ("<50", "0538*"): ["flu", "chest pain", "back pain", "back pain"],
            (">=50", "0647*"): ["back pain", "flu", "chest pain", "chest pain"],
            ("<50", "0539*"): ["flu", "chest pain", "back pain", "back pain"],
        },
    )


def similar_problems() -> pl.DataFrame:
    """Nine patients in three classes, one of which has nothing but stomach problems, and low pay.

    >>> similar_problems().filter(pl.col("age") == "40")["problem"].to_list()
    ['gastric ulcer', 'gastritis', 'stomach cancer']

    Reference: after Li, Li and Venkatasubramanian 2007, table 3; salaries in thousands.
    """
    return _with_salaries(
        {
            ("40", "0538*"): ["gastric ulcer", "gastritis", "stomach cancer"],
            (">=50", "0647*"): ["gastritis", "flu", "bronchitis"],
            ("30", "0539*"): ["bronchitis", "pneumonia", "stomach cancer"],
        },
        [3, 4, 5, 6, 11, 8, 7, 9, 10],
    )


def close_salaries() -> pl.DataFrame:
    """Nine patients in three classes, each with low, middle and high salaries (0.167-close).

    >>> close_salaries()["salary"].to_list()
    [3, 5, 9, 6, 11, 8, 4, 7, 10]

    Reference: after Li, Li and Venkatasubramanian 2007, table 5; salaries in thousands.
    """
    return _with_salaries(
        {
            ("40", "0538*"): ["gastric ulcer", "stomach cancer", "pneumonia"],
            (">=50", "0647*"): ["gastritis", "flu", "bronchitis"],
            ("40", "0539*"): ["gastritis", "bronchitis", "stomach cancer"],
        },
        [3, 5, 9, 6, 11, 8, 4, 7, 10],
    )


def problem_categories() -> dict[str, str]:
    """The category of each problem of `similar_problems` and `close_salaries`.

    >>> problem_categories()["flu"]
    'respiratory infection'
    """
    stomach = ("gastric ulcer", "gastritis", "stomach cancer")
    lungs = ("flu", "bronchitis", "pneumonia")
    return {**dict.fromkeys(stomach, STOMACH), **dict.fromkeys(lungs, LUNGS)}


def skewed_tests() -> pl.DataFrame:
    """A thousand people of whom ten have a positive test; in one class every second person.

    The classes: five of ten positive; one of fifty; four of nine hundred; none of forty, which
    cannot be diverse and need not be.

    >>> skewed_tests().group_by("test").len().sort("test").rows()
    [('negative', 990), ('positive', 10)]

    Reference: after Li, Li and Venkatasubramanian 2007.
    """
    shape = {"20-29": (5, 10), "30-39": (1, 50), "40-49": (4, 900), "50-59": (0, 40)}
    rows = [
        (age, "positive" if number < positive else "negative")
        for age, (positive, size) in shape.items()
        for number in range(size)
    ]
    return pl.DataFrame(rows, schema=["age", "test"], orient="row")


def too_general() -> tuple[pl.DataFrame, pl.DataFrame]:
    """A release of seven people, and the quasi-identifiers that it was generalised from.

    At most half of a class may have HIV. The two cooks broke that rule, so all people became
    one class, and a reader who knows the rule learns why.

    >>> release, finer = too_general()
    >>> release["disease"].to_list().count("HIV"), finer["job"].to_list().count("cook")
    (2, 2)

    Reference: after Wong, Fu, Wang and Pei 2007.
    """
    finer = pl.DataFrame({"job": ["cook"] * 2 + ["nurse"] * 5})
    diseases = ["none", "HIV", "none", "none", "HIV", "none", "none"]
    return pl.DataFrame({"job": ["person"] * 7, "disease": diseases}), finer


def _classes(names: list[str], classes: dict[tuple[str, str], list[str]]) -> pl.DataFrame:
    rows = [(*labels, problem) for labels, problems in classes.items() for problem in problems]
    return pl.DataFrame(rows, schema=[*names, "problem"], orient="row")


def _with_salaries(classes: dict[tuple[str, str], list[str]], salaries: list[int]) -> pl.DataFrame:
    table = _classes(["age", "postal"], classes)
    return table.insert_column(2, pl.Series("salary", salaries))
