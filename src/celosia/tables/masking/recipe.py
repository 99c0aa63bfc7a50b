"""A recipe: the role of each column, and the methods that mask them one after the other.

[table]
other_columns = "insensitive"

[columns.name]
role = "identifier"

[columns.age]
role = "quasi-identifier"

[[steps]]
method = "mdav"
columns = ["age", "income"]
k = 5
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from celosia import frames
from celosia.core import notation
from celosia.core.errors import InputError
from celosia.core.files import read_toml
from celosia.core.lazy_imports import ClassesByName
from celosia.core.messages import Message
from celosia.core.methods import build
from celosia.tables.masking.method import MaskingMethod
from celosia.tables.schema import Role, Schema, check_keys, name_list

METHODS: Mapping[str, type[MaskingMethod]] = ClassesByName(
    "celosia.tables",
    {
        "adaptive-marginals": "private.adaptive.AdaptiveMarginals",
        "bayesian-network": "synthesis.bayesian_network.BayesianNetwork",
        "contingency": "private.contingency.Contingency",
        "copula": "synthesis.copula.Copula",
        "distribution": "synthesis.distribution.Distribution",
        "local-suppression": "masking.suppression.method.LocalSuppression",
        "marginals": "private.marginals.Marginals",
        "mdav": "masking.microaggregation.multivariate.Mdav",
        "mdav-refined": "masking.microaggregation.multivariate.RefinedMdav",
        "microaggregation": "masking.microaggregation.ranking.Microaggregation",
        "noise": "masking.perturbation.noise.Noise",
        "noisy-histogram": "private.histogram.NoisyHistogram",
        "pram": "masking.perturbation.pram.Pram",
        "principal-component": "masking.microaggregation.multivariate.PrincipalComponent",
        "private-microaggregation": "private.microaggregation.PrivateMicroaggregation",
        "probabilistic-k": "masking.perturbation.probabilistic_k.ProbabilisticK",
        "rank-swap": "masking.perturbation.rank_swap.RankSwap",
        "recoding": "masking.coding.recoding.Recoding",
        "resampling": "masking.perturbation.resampling.Resampling",
        "rounding": "masking.perturbation.rounding.Rounding",
        "safe-pub": "private.safe_pub.SafePub",
        "sampling": "masking.coding.sampling.Sampling",
        "shuffling": "masking.perturbation.shuffling.Shuffling",
        "top-bottom": "masking.coding.top_bottom.TopBottom",
        "trees": "synthesis.trees.Trees",
        "v-mdav": "masking.microaggregation.multivariate.VariableMdav",
    },
)
"""Every method by its name, sorted; most load compiled kernels."""


def methods() -> Mapping[str, type[MaskingMethod]]:
    """Every method by its name, sorted.

    >>> {"mdav", "noise", "rank-swap", "pram", "sampling", "copula"} <= set(methods())
    True
    """
    return METHODS


def method_from(name: Any, parameters: Mapping[str, Any]) -> MaskingMethod:
    """A method by its name with its parameters, as a step of a recipe gives them.

    Raises:
        InputError: as `core.methods.build` says.

    >>> method_from("mdav", {"k": 5}).as_dict()
    {'method': 'mdav', 'k': 5}
    """
    return build(METHODS, name, parameters)


def method_from_text(text: str) -> MaskingMethod:
    """A method in the notation of the command line: NAME, or NAME:VALUE,...,KEY=VALUE,...

    Raises:
        InputError: as `core.notation.method_from_text` says.

    >>> method_from_text("microaggregation:5,fixed").as_dict()
    {'method': 'microaggregation', 'k': 5, 'variant': 'fixed'}
    """
    return notation.method_from_text(METHODS, text)


@dataclass(frozen=True, slots=True)
class RecipeStep:
    """A method and the columns it masks."""

    method: MaskingMethod
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(name_list(self.columns)))

    def as_dict(self) -> dict[str, Any]:
        """The step as a recipe has it."""
        values = self.method.as_dict()
        return {"method": values.pop("method"), "columns": list(self.columns)} | values

    def describe(self) -> Message:
        """The step in words."""
        return Message("masking.step", method=self.method.method_name, columns=list(self.columns))

    def __str__(self) -> str:
        return str(self.describe())


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is done to a table, in order.

    >>> from celosia.tables.masking import Mdav, Noise
    >>> schema = Schema.of(quasi_identifiers=["age", "income"], other_columns="insensitive")
    >>> recipe = Recipe.of(schema, [(Mdav(k=5), ["age", "income"])])
    >>> print(recipe)
    mdav of age, income
    """

    schema: Schema
    steps: tuple[RecipeStep, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self.steps))
        if not self.steps:
            raise InputError("CEL-V013")
        hidden = set(self.schema.named(Role.IDENTIFIER))
        for number, step in enumerate(self.steps, 1):
            named = sorted(hidden & set(step.columns))
            if named:
                raise InputError(
                    "CEL-V014", number=number, method=step.method.method_name, column=named[0]
                )

    @classmethod
    def of(
        cls, schema: Schema, steps: Iterable[tuple[MaskingMethod, Iterable[str] | str]]
    ) -> Recipe:
        """A recipe from pairs of a method and its columns."""
        return cls(
            schema, tuple(RecipeStep(method, tuple(name_list(names))) for method, names in steps)
        )

    @classmethod
    def load(cls, path: str | Path) -> Recipe:
        """Read a recipe file; a schema or hierarchy that it names lies relative to it.

        Raises:
            InputError: CEL-V015 not readable or not TOML, CEL-V016 a step that is none, or what
                the schema and the methods refuse.
        """
        source = Path(path)
        table = read_toml(source, "CEL-V015.unreadable", "CEL-V015.not_toml")
        return cls.from_table(table, folder=source.parent)

    @classmethod
    def from_table(
        cls, table: Mapping[str, Any], *, folder: Path = Path(), schema: Schema | None = None
    ) -> Recipe:
        """A recipe from the parsed content of its file; `schema` takes the place of its own."""
        check_keys(table, {"schema", "table", "columns", "steps"}, Message("tables.place.recipe"))
        return cls(
            schema or _schema(table, folder),
            tuple(_step(each, number, folder) for number, each in enumerate(_listed(table), 1)),
        )

    def as_dict(self) -> dict[str, Any]:
        """The steps as plain values."""
        return {"steps": [step.as_dict() for step in self.steps]}

    def __str__(self) -> str:
        return "; ".join(map(str, self.steps))


def _schema(table: Mapping[str, Any], folder: Path) -> Schema:
    own = {key: table[key] for key in ("table", "columns") if key in table}
    named = table.get("schema")
    if named is None:
        return Schema.from_table(own, folder=folder)
    if own or not isinstance(named, str):
        raise InputError("CEL-V017")
    return Schema.load(folder / named)


def _listed(table: Mapping[str, Any]) -> list[Any]:
    steps = table.get("steps", [])
    if not isinstance(steps, list):
        raise InputError("CEL-V016.not_a_list")
    return steps


def _step(given: Any, number: int, folder: Path) -> RecipeStep:
    place = Message("tables.place.step", number=number)
    if not isinstance(given, Mapping) or not {"method", "columns"} <= set(given):
        raise InputError("CEL-V016.incomplete_step", place=place)
    names = given["columns"]
    if isinstance(names, str):
        names = [names]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError("CEL-V016.bad_columns", place=place)
    parameters = {key: value for key, value in given.items() if key not in ("method", "columns")}
    hierarchy = parameters.get("hierarchy")
    if isinstance(hierarchy, Mapping) and isinstance(hierarchy.get("file"), str):
        parameters["hierarchy"] = {**hierarchy, "file": str(folder / hierarchy["file"])}
    try:
        return RecipeStep(method_from(given["method"], parameters), tuple(names))
    except InputError as error:
        raise error.within(place) from error


DIALECT = ("delimiter", "encoding", "header", "decimal")
"""What `frames.read` can be told of how a file of text is written."""
LARGEST = 2.0**53
"""Of a whole number: bounds are within it, so that to clip there changes nothing."""


def read_for_methods(
    path: str | Path,
    methods: Iterable[MaskingMethod],
    *,
    types: Mapping[str, frames.ColumnType] | None = None,
    **reading: Any,
) -> pl.DataFrame:
    """The table in a file; columns that a private method declares by their declarations alone.

    The type of a column of text is found out from its cells: a single "x" among ages makes all of
    them text, and a differentially private step would then refuse the table, or release decimals
    in place of whole numbers. Either tells that a record has such a cell.

    In a file of text, a column with whole `bounds` such as [0, 100] holds whole numbers (decimals
    are rounded), one with bounds such as [0.0, 100.0] decimals, and one with a domain what its
    values are. A cell that is none of these is empty. Files that have types of their own keep them.
    Where semicolons or tabulators are between the cells, a comma in a number is a decimal comma,
    also in 1,234: no other cell may be asked whether it stands between thousands.

    Args:
        path: the file.
        methods: what is to be done; only differentially private ones matter here.
        types: what certain columns must hold, by a schema.
        reading: how else to read it, as for `frames.read`.
    """
    return read_declared(path, _declared(methods), types=types, **reading)


def read_declared(
    path: str | Path,
    declared: Mapping[str, tuple[Any, ...]],
    *,
    types: Mapping[str, frames.ColumnType] | None = None,
    **reading: Any,
) -> pl.DataFrame:
    """The table in a file, with columns read as their declared values or bounds are.

    Args:
        path: the file.
        declared: by column; no cell decides what these hold, see `read_for_methods`.
        types: what certain other columns must hold.
        reading: how else to read it, as for `frames.read`.
    """
    wanted: dict[str, frames.ColumnType] = dict(types or {})
    if frames.source_format_of(path) not in ("csv", "tsv"):
        return frames.read(path, types=wanted, **reading)
    texts: dict[str, frames.ColumnType] = dict.fromkeys(declared, "string")
    frame = frames.read(path, types=wanted | texts, **reading)
    dialect = {key: reading[key] for key in DIALECT if key in reading}
    marks = frames.possible_marks(path, **dialect)
    return frame.with_columns(
        _typed(frame.get_column(name), values, marks).alias(name)
        for name, values in declared.items()
    )


def _declared(methods: Iterable[MaskingMethod]) -> dict[str, tuple[Any, ...]]:
    """The values or bounds that the first private method declares of each column."""
    found: dict[str, tuple[Any, ...]] = {}
    for method in methods:
        for name, values in method.declared_values().items():
            found.setdefault(name, values)
    return found


def _typed(texts: pl.Series, declared: tuple[Any, ...], marks: Sequence[frames.Mark]) -> pl.Series:
    """Text as declared; what cannot be read so is empty."""
    cells = texts.alias("")
    if any(isinstance(value, str | bool) for value in declared):
        return cells
    written = frames.with_points(cells.str.strip_chars(), marks)
    numbers = written.cast(pl.Float64, strict=False)
    if all(isinstance(value, int) for value in declared):
        return numbers.fill_nan(None).clip(-LARGEST, LARGEST).round(0).cast(pl.Int64)
    return numbers
