"""What is said of each parameter of a method, and the range that a control offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal[
    "whole", "number", "choice", "flag", "column", "columns", "several", "values", "text", "toml"
]
"""How a parameter is asked for: a number, one of some words, yes or no, columns of the table, words
to choose several of, a list of values, a text, or anything else as a TOML file has it."""


@dataclass(frozen=True, slots=True)
class Words:
    """What to say of a parameter; where `kind` is None, its type decides how it is asked for."""

    help: str
    least: float | None = None
    most: float | None = None
    start: Any = None
    kind: Kind | None = None
    choices: tuple[str, ...] = ()
    main: bool = False
    example: str = ""


HIDDEN = frozenset({"domains", "bounds", "edges"})
"""Asked for elsewhere (what a private method must be told of the columns), or not in the studio."""

_ROWS = Words("How many rows are made; as many as are given where it is left out.", 1, 1_000_000)
_PUBLIC_ROWS = Words(
    "How many rows are made, if that number is public; else the noisy number of rows.", 1, 1_000_000
)
_OUTPUT = ("rows", "counts")
_EPSILON = "The privacy loss: the smaller, the more noise and the stronger the promise."

WORDS: dict[str, Words] = {
    # Groups
    "k": Words("The least number of records in a group.", 2, 100_000, start=5),
    "local-suppression.k": Words(
        "How often each combination of key values must occur.", 2, 100_000, start=3
    ),
    "private-microaggregation.k": Words(
        "How many rows a group has at least.", 2, 100_000, start=50
    ),
    "nominal": Words("Which columns are categories without an order.", kind="columns"),
    "ordinal": Words("Which columns are categories in an order.", kind="columns"),
    "orders": Words(
        "The categories of ordered columns, from least to greatest.",
        kind="toml",
        example='{ size = ["S", "M", "L"] }',
    ),
    "contingency.orders": Words(
        "How many columns the margins have that are counted besides the whole table.",
        kind="toml",
        example="[1, 2]",
    ),
    "representative": Words(
        "What stands for a group of numbers.", kind="choice", choices=("mean", "median")
    ),
    "microaggregation.representative": Words(
        "What stands for a group: the mean of numbers, the median of ordered values, the mode of "
        "categories.",
        kind="choice",
        choices=("mean", "median", "mode"),
    ),
    "rare_patterns": Words(
        "Where fewer than k records have the same cells empty: refuse, or empty all their cells.",
        kind="choice",
        choices=("refuse", "empty"),
    ),
    "integer": Words("Round to whole numbers.", main=True),
    "truncate": Words("Cut numbers to whole ones towards zero, which shifts means."),
    "block": Words(
        "Cut the records into blocks of at most so many first: faster, at some loss.", 4
    ),
    "gamma": Words(
        "How readily groups grow: 0 never, 0.2 for scattered records, 1.1 for clusters.", 0, 10
    ),
    "variant": Words(
        "Optimal cuts where the squared error is least, fixed after every k values.",
        kind="choice",
        choices=("optimal", "fixed"),
    ),
    "by": Words("Group by equal values of this column instead.", kind="column"),
    "sampling.by": Words(
        "Columns whose combinations of values each give their share of the sample.", kind="columns"
    ),
    "order": Words(
        "The categories from least to greatest, with commas between them.", kind="values"
    ),
    "copula.order": Words(
        "For columns of categories that have an order: their values from least to greatest.",
        kind="toml",
        example='{ size = ["S", "M", "L"] }',
    ),
    "private-microaggregation.order": Words(
        "Separate: each column by itself, with less noise. Joint: whole rows, so that relations "
        "survive.",
        kind="choice",
        choices=("separate", "joint"),
    ),
    "grouping": Words("Groups of near records (mdav), or of records that follow when sorted."),
    # Noise and swaps
    "amount": Words(
        "Standard deviation of the noise over that of the column; 0 changes nothing.",
        0,
        10,
        start=0.1,
    ),
    "alpha": Words("Instead of amount: the ratio of the variances.", 0, 100),
    "correlated": Words(
        "Noise with the correlations of the columns, which are kept so.", main=True
    ),
    "multiplicative": Words("Multiply instead of adding: large values move more."),
    "distribution": Words("The distribution of the noise."),
    "correct": Words(
        "A linear correction afterwards: means and variances kept on average, or exactly."
    ),
    "lower": Words("No masked value lies below this."),
    "upper": Words("No masked value lies above this."),
    "window": Words("Instead of percent: how many ranks a value may move at most.", 1),
    "percent": Words(
        "How far a value may move, as a percentage of the ranks.", 0.001, 100, start=5
    ),
    "range_percent": Words(
        "Instead of percent: how far two values may differ, as a percentage of the range.",
        0.001,
        100,
    ),
    "value_range": Words(
        "With range_percent: the least and greatest value that could occur.",
        kind="toml",
        example="[0, 100]",
    ),
    "stay": Words("The chance that a category stays as it is.", 0, 1, start=0.8),
    "theta": Words("Instead of stay: how often categories change, expected counts kept.", 0, 1),
    "matrix": Words(
        "Instead of stay: the chances themselves, one row for each value.",
        kind="toml",
        example="[[0.8, 0.2], [0.2, 0.8]]",
    ),
    "rest": Words("With stay: whether the others are equally likely, or as frequent as they are."),
    "invariant": Words("A second change that undoes the first in expectation."),
    "values": Words("With matrix: the categories in its order, with commas.", kind="values"),
    "samples": Words(
        "How many samples are averaged: more bring values nearer to the originals.", 1
    ),
    "base": Words("The distance of the multiples that numbers are rounded to.", 0, start=100),
    "offset": Words("One of the multiples."),
    "random": Words("Up or down by chance, so that expected values stay.", main=True),
    "given": Words(
        "Columns of numbers that predict the others and stay as they are.", kind="columns"
    ),
    # Coding and suppression
    "breaks": Words(
        "Rising numbers at which intervals begin.", kind="toml", example="[20, 40, 60]", main=True
    ),
    "labels": Words("With breaks: labels of the intervals, with commas.", kind="values"),
    "mapping": Words(
        "Instead of breaks: the label of each value.",
        kind="toml",
        example='{ Divorced = "alone", Widowed = "alone" }',
        main=True,
    ),
    "other": Words("With mapping: the label of values it does not name.", kind="text"),
    "hierarchy": Words(
        "Instead of breaks: a hierarchy as a schema writes it.",
        kind="toml",
        example='{ kind = "intervals", widths = [10] }',
        main=True,
    ),
    "level": Words("With hierarchy: how many levels above the values.", 1, 20),
    "fraction": Words("The share of the records that is released.", 0.001, 1, start=0.5),
    "sampling.rows": Words("Instead of fraction: the number of records.", 1),
    "top": Words("Values above it are coded.", main=True),
    "bottom": Words("Values below it are coded.", main=True),
    "top_quantile": Words("Instead of top: the quantile of the threshold.", 0, 1, start=0.95),
    "bottom_quantile": Words("Instead of bottom: the quantile of the threshold.", 0, 1, start=0.05),
    "inclusive": Words("Values equal to a threshold are coded too."),
    "replace": Words(
        "What stands for the coded values: the threshold as a label, their mean or their median.",
        main=True,
    ),
    "reading": Words(
        "What a blank cell is to an attacker: a value of its own, or any value.",
        kind="choice",
        choices=("own", "any"),
    ),
    "weights": Words(
        "The importance of columns: cells of important ones are blanked last.",
        kind="toml",
        example="{ age = 3 }",
    ),
    "subsets": Words("Only combinations of so many of the columns must be frequent.", 1),
    "marker": Words("What stands in a blanked cell; its column becomes text.", kind="text"),
    # Synthesis
    "rows": _ROWS,
    "contingency.rows": _PUBLIC_ROWS,
    "marginals.rows": _PUBLIC_ROWS,
    "noisy-histogram.rows": _PUBLIC_ROWS,
    "distribution.rows": Words(
        "How many rows are drawn; only of all columns, and without ranks.", 1, 1_000_000
    ),
    "degree": Words("How many columns a column may depend on.", 1, 6),
    "bins": Words("How many bins numbers are put in.", 2, 1_000, kind="whole"),
    "prior": Words("Smoothing: rows that the shares of a whole column weigh in each case.", 0, 1e6),
    "marginals": Words(
        "How numbers are distributed: as they are, or by the best family of curves.",
        kind="choice",
        choices=("empirical", "parametric"),
        main=True,
    ),
    "keep_ranks": Words("Whether the draws are placed by the ranks of the values.", main=True),
    "families": Words(
        "The families of curves that are tried.",
        kind="several",
        choices=("normal", "lognormal", "gamma", "weibull", "exponential", "laplace", "uniform"),
    ),
    "fit": Words(
        "What the best family is told by: aic, or ks, the Kolmogorov-Smirnov distance.",
        kind="choice",
        choices=("aic", "ks"),
    ),
    "within_range": Words("Whether draws stay between the least and the greatest value."),
    "leaf": Words("The least number of real rows in a leaf of a tree.", 1, 100_000, start=5),
    "bayesian": Words("Whether the rows of a leaf are weighted at random."),
    "partial": Words("Whether the rows stay and only the columns given are drawn anew."),
    "epsilon": Words(_EPSILON, 0.001, 1_000, start=1),
    "delta": Words("The chance that the promise fails; 0 for Laplace noise.", 0, 0.1),
    "output": Words("What is released: rows, or counts.", kind="choice", choices=_OUTPUT),
}
"""By METHOD.PARAMETER, or by the parameter alone where methods share it."""
