"""The privacy models in plain words: what each promises, what it leaves open, what it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from celosia.studio.language import _, number, percent, short


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that a model asks for."""

    key: str
    default: float
    low: float
    high: float
    step: float
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """A model that can be added: its parameters, and what they are at first."""

    name: str
    parameters: tuple[Parameter, ...]
    sensitive: bool = False
    """Whether it is about a sensitive column."""
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    flags: Mapping[str, bool] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()
    """Parameters that may be left empty."""

    def at_first(self) -> dict[str, Any]:
        """The model as it is added, as `Model.as_dict()` writes it."""
        made: dict[str, Any] = {"model": self.name}
        for each in self.parameters:
            made[each.key] = int(each.default) if each.whole else each.default
        made |= {key: words[0] for key, words in self.options.items()}
        made |= dict(self.flags)
        return made | ({"column": None} if self.sensitive else {})


_K = Parameter("k", 5, 2, 10_000, 1, whole=True)
_FRACTION = Parameter("sampling_fraction", 0.1, 0.0001, 1, 0.01)
KINDS: tuple[Kind, ...] = (
    Kind("k-anonymity", (_K,)),
    Kind("distinct-diversity", (Parameter("l", 3, 2, 1000, 1, whole=True),), sensitive=True),
    Kind(
        "entropy-diversity",
        (Parameter("l", 3, 1, 1000, 0.5),),
        sensitive=True,
        flags={"corrected": False},
    ),
    Kind(
        "recursive-diversity",
        (Parameter("c", 4, 0.01, 1000, 0.5), Parameter("l", 3, 2, 1000, 1, whole=True)),
        sensitive=True,
    ),
    Kind(
        "t-closeness",
        (Parameter("t", 0.2, 0, 1, 0.05),),
        sensitive=True,
        options={"distance": ("equal", "ordered", "hierarchical")},
    ),
    Kind(
        "beta-likeness",
        (Parameter("beta", 1, 0.01, 1000, 0.5),),
        sensitive=True,
        flags={"enhanced": True},
    ),
    Kind(
        "delta-disclosure",
        (Parameter("delta", 1, 0.01, 1000, 0.5),),
        sensitive=True,
        flags={"strict": True},
    ),
    Kind("alpha-k", (Parameter("alpha", 0.5, 0.01, 1, 0.05), _K), sensitive=True),
    Kind("p-sensitive", (Parameter("p", 2, 2, 1000, 1, whole=True), _K), sensitive=True),
    Kind("average-risk", (Parameter("most", 0.05, 0.0001, 1, 0.01),)),
    Kind(
        "k-map",
        (_K, _FRACTION, Parameter("confidence", 0.95, 0.5, 0.999999, 0.01)),
        optional=frozenset({"sampling_fraction"}),
    ),
    Kind(
        "delta-presence", (Parameter("lower", 0, 0, 1, 0.05), Parameter("upper", 0.5, 0, 1, 0.05))
    ),
    Kind("population-uniqueness", (Parameter("most", 0.01, 0, 1, 0.01), _FRACTION)),
)
"""The models in the order in which they are offered."""


def kind_of_model(name: str) -> Kind:
    """A model that can be added, by its name."""
    return next(each for each in KINDS if each.name == name)


def title(name: str) -> str:
    """What a model is called."""
    return {
        "k-anonymity": _("k-anonymity"),
        "distinct-diversity": _("distinct l-diversity"),
        "entropy-diversity": _("entropy l-diversity"),
        "recursive-diversity": _("recursive (c, l)-diversity"),
        "t-closeness": _("t-closeness"),
        "beta-likeness": _("beta-likeness"),
        "delta-disclosure": _("delta-disclosure privacy"),
        "alpha-k": _("(alpha, k)-anonymity"),
        "p-sensitive": _("p-sensitive k-anonymity"),
        "average-risk": _("average risk"),
        "k-map": _("k-map"),
        "delta-presence": _("delta-presence"),
        "population-uniqueness": _("population uniqueness"),
    }[name]


def purpose(name: str) -> str:
    """Why one would add a model, in a sentence."""
    return {
        "k-anonymity": _("Each record has the same quasi-identifiers as at least k - 1 others."),
        "distinct-diversity": _("Each group holds at least l different sensitive values."),
        "entropy-diversity": _("Sensitive values are spread evenly in each group, not just many."),
        "recursive-diversity": _("The most common sensitive value of a group is not too common."),
        "t-closeness": _("Each group looks like the whole table in its sensitive values."),
        "beta-likeness": _("No sensitive value is much likelier in a group than in the table."),
        "delta-disclosure": _("No sensitive value is much likelier or much rarer in a group."),
        "alpha-k": _(
            "Groups of at least k records, in which no sensitive value has a share above alpha."
        ),
        "p-sensitive": _(
            "Groups of at least k records with at least p different sensitive values."
        ),
        "average-risk": _("On average a record is re-identified with at most this chance."),
        "k-map": _("Each record fits at least k people of the population it is a sample of."),
        "delta-presence": _(
            "Bounds the probability that a person of the population is in the table."
        ),
        "population-uniqueness": _("By estimate, few people are unique in the population."),
    }[name]


def promise(model: Mapping[str, Any]) -> str:
    """What a model with its parameters promises, as a sentence for whoever answers for it."""
    name = model["model"]
    column = model.get("column")
    what = _("“{column}”", column=column) if column else _("each sensitive column")
    value: Any = model.get
    return {
        "k-anonymity": lambda: _(
            "An attacker who knows the quasi-identifiers of a person finds at least {k} "
            "matching records, and picks the right one with probability at most {chance}.",
            k=number(value("k")),
            chance=percent(1 / max(1, value("k"))),
        ),
        "distinct-diversity": lambda: _(
            "Each equivalence class has at least {l} different values of {what}.",
            l=number(value("l")),
            what=what,
        ),
        "entropy-diversity": lambda: _(
            "In each group the values of {what} are spread as evenly as {l} equally common ones.",
            l=short(value("l")),
            what=what,
        ),
        "recursive-diversity": lambda: _(
            "In each group the most common value of {what} comes less than {c} times as often as "
            "all from the {l}-th most common on together.",
            c=short(value("c")),
            l=number(value("l")),
            what=what,
        ),
        "t-closeness": lambda: _(
            "In each group the values of {what} are distributed as in the whole table, up to a "
            "distance of {t}.",
            t=short(value("t")),
            what=what,
        ),
        "beta-likeness": lambda: _(
            "No value of {what} is in a group more than {times} times as likely as in the table.",
            times=short(1 + value("beta")),
            what=what,
        ),
        "delta-disclosure": lambda: _(
            "What a group says about {what} differs from the table by a factor of less than "
            "e to the power of {delta}, up or down.",
            delta=short(value("delta")),
            what=what,
        ),
        "alpha-k": lambda: _(
            "Each group has at least {k} records, and no value of {what} fills more than {share} "
            "of it.",
            k=number(value("k")),
            share=percent(value("alpha")),
            what=what,
        ),
        "p-sensitive": lambda: _(
            "Each group has at least {k} records with at least {p} different values of {what}.",
            k=number(value("k")),
            p=number(value("p")),
            what=what,
        ),
        "average-risk": lambda: _(
            "An attacker who guesses at every record is right with a chance of at most {chance} "
            "on average.",
            chance=percent(value("most")),
        ),
        "k-map": lambda: _(
            "Each record fits at least {k} people of the population.", k=number(value("k"))
        ),
        "delta-presence": lambda: _(
            "The chance that a given person of the population is in the table stays between "
            "{lower} and {upper}.",
            lower=percent(value("lower")),
            upper=percent(value("upper")),
        ),
        "population-uniqueness": lambda: _(
            "By estimate at most {share} of the people in the table are unique in the population.",
            share=percent(value("most")),
        ),
    }[name]()


def caveat(names: set[str]) -> str:
    """What all models together leave open, as a sentence."""
    hiding = {"k-anonymity", "alpha-k", "p-sensitive"}
    if not names & (hiding | {"average-risk", "k-map", "population-uniqueness"}):
        return _(
            "Not covered: re-identification. Without k-anonymity an attacker may still find "
            "the record of a person; add k-anonymity."
        )
    if names & {"t-closeness", "beta-likeness", "delta-disclosure"}:
        return _(
            "Left open: what the whole table tells about everybody, and what two releases of the "
            "same people tell when they are joined."
        )
    if names & {
        "distinct-diversity",
        "entropy-diversity",
        "recursive-diversity",
        "alpha-k",
        "p-sensitive",
    }:
        return _(
            "Left open: a sensitive value may be far more common in a group than in the table "
            "(skewness), and different values may mean much the same (similarity)."
        )
    return _(
        "Left open: if all records of a group share a sensitive value, it is told without naming "
        "anybody (homogeneity); l-diversity or t-closeness repairs that."
    )


def parameter_name(key: str) -> str:
    """What a parameter is called on its field."""
    return {
        "k": _("k: records alike, at least"),
        "l": _("l: well-represented values"),
        "c": _("c: how much more common the first may be"),
        "t": _("t: largest distance, 0 to 1"),
        "beta": _("beta: largest relative gain"),
        "delta": _("delta: largest change, as a logarithm"),
        "alpha": _("alpha: largest share of one value, 0 to 1"),
        "p": _("p: different values, at least"),
        "most": _("at most, as a share from 0 to 1"),
        "sampling_fraction": _("share of the population that is in the table"),
        "confidence": _("confidence, 0 to 1"),
        "lower": _("lowest chance, 0 to 1"),
        "upper": _("highest chance, 0 to 1"),
        "distance": _("distance between values"),
        "enhanced": _("also bound common values (enhanced)"),
        "strict": _("every group must have every value (strict)"),
        "corrected": _("correct for small groups"),
    }[key]


def word(key: str) -> str:
    """One of the words that a parameter can be."""
    return {
        "equal": _("equal: all values are as far apart"),
        "ordered": _("ordered: numbers or ranks"),
        "hierarchical": _("hierarchical: by the column's hierarchy"),
    }[key]
