"""The small tables that textbooks mask by hand, as they were printed and as they are right."""

from __future__ import annotations

import polars as pl

MEDICAL = pl.DataFrame(
    {
        "id": range(1, 11),
        "postcode": [
            *("08500", "17600", "08242", "25128", "17488"),
            *("08401", "08760", "43840", "43500", "25310"),
        ],
        "gender": list("MFMMFFFFMF"),
        "age": [29, 48, 21, 36, 45, 58, 72, 22, 25, 43],
        "illness": [
            *("Cancer", "Hepatitis", "Flu", "Cancer", "Diabetes"),
            *("Flu", "Hepatitis", "Cancer", "Diabetes", "Flu"),
        ],
    }
)
"""T1: the table that all others come from."""
KEYS = ("postcode", "gender", "age")

NOISY = (32, 46, 28, 38, 48, 61, 59, 20, 24, 55)
"""T6: the ages with noise."""
AVERAGED = (27, 46, 21, 39, 46, 65, 65, 21, 27, 39)
"""T7: the ages in groups of two, their means cut to whole numbers."""
SWAPPED = (25, 45, 22, 43, 48, 72, 58, 21, 29, 36)
"""T8: the ages, each exchanged with its neighbour by rank."""

_PROVINCES = tuple(f"{code[:2]}***" for code in MEDICAL["postcode"])
RECODED = MEDICAL.with_columns(
    pl.Series("postcode", _PROVINCES),
    pl.Series(
        "age",
        [
            *("[20,30)", "[30,50)", "[20,30)", "[30,50)", "[30,50)"),
            *("[50,80)", "[50,80)", "[20,30)", "[20,30)", "[30,50)"),
        ],
    ),
)
"""T9: provinces and ranges of ages."""
ANONYMOUS = MEDICAL.with_columns(
    pl.Series("postcode", _PROVINCES),
    pl.Series("gender", list("MFM*FFF***")),
    pl.Series("age", [25.0, 46.5, 25.0, 39.5, 46.5, 65.0, 65.0, 23.5, 23.5, 39.5]),
)
"""T10: provinces, four genders suppressed, mean ages within the classes."""

SALARIES = (45, 30, 99, 92, 73, 27, 84, 94, 62, 14)
"""T2, in thousands."""
SALARIES_OF_D1 = (50_000, 58_000, 72_000, 59_000, 68_000)
"""In dollars; D2 has the salary of Pedro as well."""
SALARY_OF_PEDRO = 110_000
NOISY_SALARIES = (45, 30, 106, 93, 67, 27, 80, 94, 64, 16)

NATIONALITIES = pl.DataFrame(
    [
        ("13053", 28, "Russian", "Arrhythmia", "130**", "<30"),
        ("13068", 29, "Spanish", "Arrhythmia", "130**", "<30"),
        ("13068", 21, "Japanese", "Infection", "130**", "<30"),
        ("13053", 23, "Spanish", "Infection", "130**", "<30"),
        ("14853", 50, "Indian", "Cancer", "1485*", ">40"),
        ("14853", 55, "Russian", "Arrhythmia", "1485*", ">40"),
        ("14850", 47, "Spanish", "Infection", "1485*", ">40"),
        ("14850", 49, "Spanish", "Infection", "1485*", ">40"),
        ("13053", 31, "Spanish", "Cancer", "130**", "<40"),
        ("13053", 37, "Indian", "Cancer", "130**", "<40"),
        ("13068", 36, "Japanese", "Cancer", "130**", "<40"),
        ("13068", 35, "Spanish", "Cancer", "130**", "<40"),
    ],
    schema=["postcode", "age", "nationality", "illness", "shown_postcode", "shown_age"],
    orient="row",
)
"""T3, and what T4 shows of it; T4 was printed without one of the first two rows."""

SURVEY = pl.DataFrame(
    {
        "Key1": [1, 1, 1, 3, 4, 4, 6, 1],
        "Key2": [2, 2, 2, 3, 3, 3, 2, 2],
        "Key3": [5, 1, 1, 1, 1, 1, 1, 5],
        "Key4": [1, 1, 1, 5, 4, 1, 5, 1],
        "w": [18.0, 45.5, 39.0, 17.0, 541.0, 8.0, 5.0, 92.0],
    }
)
"""The sample of Capobianchi, Polettini and Lucarelli, which sdcMicro has as `francdat`."""
SAMPLE_FREQUENCIES = (2, 2, 2, 1, 1, 1, 1, 2)
POPULATION_FREQUENCIES = ("110", "84.5", "84.5", "17", "541", "8", "5", "110")
SURVEY_RISKS = ("0.017", "0.022", "0.022", "0.177", "0.012", "0.297", "0.402", "0.017")

_PLACES = [*["280**"] * 3, *["4100*"] * 3, *["280**"] * 3]
HOMOGENEOUS = pl.DataFrame(
    {
        "age": [*["40-70"] * 3, *[">70"] * 3, *["20-45"] * 3],
        "zip": _PLACES,
        "disease": [
            *("gastroenteritis", "covid", "covid"),
            *("pneumonia", "cancer", "covid"),
            *["mononucleosis"] * 3,
        ],
    }
)
"""Figure 2.2 of the thesis on telemetry: 3-anonymous, and a class with one disease."""
DIVERSIFIED = pl.DataFrame(
    {
        "age": [*["≥20"] * 3, *[">70"] * 3, *[">20"] * 3],
        "zip": _PLACES,
        "disease": [
            *("gastroenteritis", "mononucleosis", "covid"),
            *("pneumonia", "cancer", "covid"),
            *("mononucleosis", "covid", "mononucleosis"),
        ],
    }
)
"""Figure 2.3: the same people after diversification."""

PAY = pl.DataFrame({"job": ["a", "a", "b", "b"], "salary": [2700, 3500, 2950, 2760]})
"""Figures 2.8 and 2.9: salaries by job."""
TEMPERATURES = (36.9, 37.9, 38.8, 39.2, 38.2, 37.2)
SWAPPED_TEMPERATURES = (37.2, 38.2, 39.2, 38.8, 37.9, 36.9)
TEMPERATURE_RANGE = (36.5, 39.2)
WEIGHTS = (76.5, 54.6, 59.8, 81.2, 91.5, 50.9)
PRINTED_NOISE = (24.42, 42.45, 11.41, -5.50, 28.63, -12.40)
NOISY_WEIGHTS = (100.9, 97.0, 71.2, 75.6, 120.1, 38.4)
