"""What is published about the 1994 extract, and its real rows where they are installed."""

from __future__ import annotations

import polars as pl
import pytest

from celosia import datasets

_PUBLISHED = """
sex: Male 20380, Female 9782
race: White 25933, Black 2817, Asian-Pac-Islander 895, Amer-Indian-Eskimo 286, Other 231
marital-status: Married-civ-spouse 14065, Never-married 9726, Divorced 4214, Separated 939,
 Widowed 827, Married-spouse-absent 370, Married-AF-spouse 21
workclass: Private 22286, Self-emp-not-inc 2499, Local-gov 2067, State-gov 1279, Self-emp-inc 1074,
 Federal-gov 943, Without-pay 14
salary-class: <=50K 22654, >50K 7508
education: HS-grad 9840, Some-college 6678, Bachelors 5044, Masters 1627, Assoc-voc 1307, 11th 1048,
 Assoc-acdm 1008, 10th 820, 7th-8th 557, Prof-school 542, 9th 455, 12th 377, Doctorate 375,
 5th-6th 288, 1st-4th 151, Preschool 45
native-country: United-States 27504, Mexico 610, Philippines 188, Holand-Netherlands 1
occupation: Prof-specialty 4038, Craft-repair 4030, Exec-managerial 3992, Adm-clerical 3721,
 Sales 3584, Other-service 3212, Machine-op-inspct 1966, Transport-moving 1572,
 Handlers-cleaners 1350, Farming-fishing 989, Tech-support 912, Protective-serv 644,
 Priv-house-serv 143, Armed-Forces 9
"""


@pytest.fixture(scope="session")
def published() -> dict[str, dict[str, int]]:
    """Published value counts; of native-country only some."""
    counts: dict[str, dict[str, int]] = {}
    for line in _PUBLISHED.strip().replace("\n ", " ").splitlines():
        column, _, pairs = line.partition(": ")
        cells = [pair.split(" ") for pair in pairs.split(", ")]
        counts[column] = {value: int(count) for value, count in cells}
    return counts


@pytest.fixture(scope="session")
def people() -> pl.DataFrame:
    """The generated table of default size and seed."""
    return datasets.census()
