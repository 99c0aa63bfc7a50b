"""Methods for logs and for sets by their names on the command line and in certificates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celosia.core.methods import build
from celosia.core.notation import method_from_text as from_text
from celosia.logs.method import LogMethod, SetMethod


def log_methods() -> dict[str, type[LogMethod]]:
    """Every method for the records of a log by its name, sorted.

    >>> list(log_methods())
    ['fields', 'semantic-generalisation', 'user-microaggregation', 'user-threshold']
    """
    from celosia.logs.fields import Fields
    from celosia.logs.records.microaggregation import UserMicroaggregation
    from celosia.logs.records.semantic_generalisation import SemanticGeneralisation
    from celosia.logs.records.user_threshold import UserThreshold

    kinds: tuple[type[LogMethod], ...] = (
        Fields,
        SemanticGeneralisation,
        UserMicroaggregation,
        UserThreshold,
    )
    return {each.method_name: each for each in kinds}


def set_methods() -> dict[str, type[SetMethod[Any]]]:
    """Every method for transactions by its name, sorted.

    >>> "km-anonymity" in set_methods()
    True
    """
    # Here and not above: they load compiled kernels.
    from celosia.logs.sets.disassociation import Disassociation
    from celosia.logs.sets.km_anonymity import KmAnonymity
    from celosia.logs.sets.local_generalisation import LocalGeneralisation
    from celosia.logs.sets.suppression import Coherence, RhoUncertainty

    kinds: tuple[type[SetMethod[Any]], ...] = (
        Coherence,
        Disassociation,
        KmAnonymity,
        LocalGeneralisation,
        RhoUncertainty,
    )
    return {each.method_name: each for each in kinds}


def methods() -> dict[str, type[LogMethod] | type[SetMethod[Any]]]:
    """Every method by its name, sorted."""
    return dict(sorted((log_methods() | set_methods()).items()))


def method_from(name: Any, parameters: Mapping[str, Any]) -> LogMethod | SetMethod[Any]:
    """A method by its name with its parameters.

    Raises:
        InputError: as `core.methods.build` says.

    >>> method_from("user-threshold", {"k": 5}).as_dict()
    {'method': 'user-threshold', 'k': 5}
    """
    return build(methods(), name, parameters)


def method_from_text(text: str) -> LogMethod | SetMethod[Any]:
    """A method in the notation of the command line: NAME:VALUE,...,KEY=VALUE,...

    >>> method_from_text("km-anonymity:5,m=2")
    KmAnonymity(k=5, m=2, search='apriori', parts=4)

    Raises:
        InputError: as `core.notation.method_from_text` says.
    """
    return from_text(methods(), text)
