"""Statistics by name: the mechanism behind each, and which options it needs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from celosia.core.errors import InputError
from celosia.core.messages import Message, did_you_mean
from celosia.core.neighbours import CHANGE_ONE, Neighbours, Relation

if TYPE_CHECKING:
    from celosia.mechanisms.calibration import AnyMechanism

Confidence = Annotated[float, "How often the error must not be exceeded, such as 0.95."]


@dataclass(frozen=True, slots=True)
class StatisticOptions:
    """The options of a statistic."""

    lower: Annotated[float | None, "The least value that a row may have."] = None
    upper: Annotated[float | None, "The largest value that a row may have."] = None
    rows: Annotated[int | None, "About how many rows there are."] = None
    bins: Annotated[int | None, "How many bins a histogram has."] = None
    candidates: Annotated[int | None, "How many candidates there are to choose."] = None
    questions: Annotated[int | None, "The largest number of questions."] = None
    q: Annotated[float | None, "--q -q", "Which quantile, such as 0.9."] = None
    sensitivity: Annotated[
        float | None, "The largest change of the number by one neighbour step."
    ] = None
    monotone: Annotated[bool, "--monotone", "One neighbour step moves all scores the same way."] = (
        False
    )
    neighbours: Annotated[Relation | None, "The neighbour relation."] = None

    def as_dict(self) -> dict[str, Any]:
        """Those that say something, as plain values."""
        return {
            name: value
            for name, value in asdict(self).items()
            if value is not None and value is not False
        }


@dataclass(frozen=True, slots=True)
class StatisticKind:
    """A statistic that has a name on the command line."""

    mechanism: str
    """Its name in `celosia.mechanisms`."""
    words: str
    """The key of its description, whose fields are its options."""
    unit: str
    """The key of the unit of its error."""
    needs: tuple[str, ...] = ()
    allows: tuple[str, ...] = ()
    size: str = ""
    """The option that `accuracy` calls its size."""


VALUES = "cli.unit.values"
RANKS = "cli.unit.ranks"
SCORES = "cli.unit.scores"
KINDS = {
    "count": StatisticKind("Count", "cli.statistic.count", "cli.unit.rows"),
    "sum": StatisticKind("Sum", "cli.statistic.sum", VALUES, ("lower", "upper")),
    "mean": StatisticKind(
        "Mean",
        "cli.statistic.mean",
        VALUES,
        ("lower", "upper", "rows"),
        size="rows",
    ),
    "variance": StatisticKind(
        "Variance",
        "cli.statistic.variance",
        "cli.unit.values_squared",
        ("lower", "upper", "rows"),
        size="rows",
    ),
    "standard-deviation": StatisticKind(
        "StandardDeviation",
        "cli.statistic.standard_deviation",
        VALUES,
        ("lower", "upper", "rows"),
        size="rows",
    ),
    "median": StatisticKind("Median", "cli.statistic.median", RANKS, ("lower", "upper")),
    "quantile": StatisticKind(
        "Quantile",
        "cli.statistic.quantile",
        RANKS,
        ("lower", "upper", "q"),
    ),
    "histogram": StatisticKind(
        "Histogram", "cli.statistic.histogram", "cli.unit.worst_bin", ("bins",)
    ),
    "noisy-max": StatisticKind(
        "NoisyMax",
        "cli.statistic.best",
        SCORES,
        ("candidates",),
        ("sensitivity", "monotone"),
        size="candidates",
    ),
    "exponential": StatisticKind(
        "Exponential",
        "cli.statistic.best",
        SCORES,
        ("candidates",),
        ("sensitivity", "monotone"),
        size="candidates",
    ),
    "permute-and-flip": StatisticKind(
        "PermuteAndFlip",
        "cli.statistic.best",
        SCORES,
        ("candidates",),
        ("sensitivity", "monotone"),
        size="candidates",
    ),
    "above-threshold": StatisticKind(
        "AboveThreshold",
        "cli.statistic.above_threshold",
        "cli.unit.threshold",
        ("questions",),
        size="questions",
    ),
    "laplace": StatisticKind(
        "Laplace",
        "cli.statistic.laplace",
        "cli.unit.number",
        ("sensitivity",),
    ),
    "gaussian": StatisticKind(
        "Gaussian",
        "cli.statistic.gaussian",
        "cli.unit.number",
        ("sensitivity",),
    ),
    "randomised-response": StatisticKind(
        "RandomisedResponse",
        "cli.statistic.randomised_response",
        "cli.unit.people",
        ("rows",),
        size="rows",
    ),
}
NAMES = ", ".join(KINDS)


@dataclass(frozen=True, slots=True)
class Statistic:
    """A statistic with its options, its description and its mechanism."""

    name: str
    words: str
    unit: str
    mechanism: AnyMechanism
    size: int
    options: StatisticOptions

    def as_dict(self) -> dict[str, Any]:
        """The statistic with its parameters."""
        return {
            "statistic": self.name,
            "parameters": self.options.as_dict(),
            "error_in": self.unit,
            "neighbours": str(self.mechanism.neighbours),
        }


def statistic(name: str, options: StatisticOptions, *, delta: float) -> Statistic:
    """The statistic of a name, with any epsilon.

    Args:
        name: as in `KINDS`.
        options: of the statistic.
        delta: of the promise; only Gaussian noise is drawn by it.
    """
    if name not in KINDS:
        raise InputError("CEL-B081.unknown", name=name, hint=did_you_mean(name, KINDS), names=NAMES)
    kind = KINDS[name]
    known = {*kind.needs, *kind.allows, "neighbours"}
    arguments = options.as_dict()
    missing = [f"--{need}" for need in kind.needs if need not in arguments]
    if missing:
        raise InputError("CEL-B081.missing", name=name, missing=missing)
    idle = [f"--{option}" for option in arguments if option not in known]
    if idle:
        raise InputError("CEL-B081.option", idle=idle[0], name=name, names=NAMES)
    size = arguments.pop(kind.size, 1)
    mechanism = _mechanism(kind, arguments, size=size, delta=delta)
    words = Message(kind.words, **asdict(options))
    return Statistic(name, words, Message(kind.unit), mechanism, size, options)


def _mechanism(
    kind: StatisticKind, arguments: dict[str, Any], *, size: int, delta: float
) -> AnyMechanism:
    from celosia import mechanisms
    from celosia.core.methods import build
    from celosia.mechanisms.parameters import check_whole

    check_whole(size, name=f"--{kind.size}")
    if "neighbours" in arguments:
        arguments["neighbours"] = Neighbours(arguments["neighbours"])
    if kind.mechanism == "RandomisedResponse":
        relation = arguments.get("neighbours", CHANGE_ONE)
        return mechanisms.RandomisedResponse.for_epsilon(1, neighbours=relation)
    if "bins" in arguments:
        bins = check_whole(arguments.pop("bins"), name="--bins", most=10**6)
        arguments["categories"] = tuple(range(bins))
    if kind.mechanism == "AboveThreshold":
        arguments["threshold"] = 0
    if kind.mechanism == "Gaussian":
        arguments["delta"] = delta
    known: dict[str, type[AnyMechanism]] = {
        kind.mechanism: getattr(mechanisms, kind.mechanism),
    }
    return build(known, kind.mechanism, {"epsilon": 1} | arguments)
