"""The methods that take networks with directions, weights, two sides or times."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.graphs.networks.network import KINDS, Kind, Network

if TYPE_CHECKING:
    from celosia.graphs.method import GraphMethod, MethodResult


class NetworkMethod(ABC):
    """A graph method that takes networks too, and declares which."""

    __slots__ = ()
    kinds: ClassVar[frozenset[Kind]]
    """What it protects or keeps of a network; anything else is refused."""

    @abstractmethod
    def apply_to_network(
        self, network: Network, *, rng: Source, progress: Progress = silent
    ) -> MethodResult[Network]:
        """Protect a network; the given one stays as it is."""

    def attacker_ratio(self) -> float:
        """How exactly the attacker of the account knows weighted degrees."""
        return 2.0

    def network_gaps(self, network: Network) -> tuple[str, ...]:
        """What it leaves open of a network, beyond what it leaves open of a graph."""
        return ()

    @abstractmethod
    def network_promise(self, network: Network) -> str | None:
        """What is guaranteed of what `apply_to_network` makes of this network."""


REMEDIES: dict[Kind, Message] = {
    "directed": Message("graphs.remedy.directed"),
    "weighted": Message("graphs.remedy.weighted"),
    "bipartite": Message("graphs.remedy.bipartite"),
    "temporal": Message("graphs.remedy.temporal"),
}


def network_methods(
    network: Network, methods: Iterable[GraphMethod[Any]]
) -> tuple[tuple[GraphMethod[Any], NetworkMethod], ...]:
    """The same methods, each known to take this network.

    Raises:
        InputError: CEL-G035 a method does not take this kind of network.
    """
    made = []
    for method in methods:
        taken = method.kinds if isinstance(method, NetworkMethod) else frozenset()
        missing = [kind for kind in network.kinds if kind not in taken]
        if missing or not isinstance(method, NetworkMethod):
            raise refusal(method.method_name, missing)
        made.append((method, method))
    return tuple(made)


def refusal(what: str, kinds: Iterable[Kind]) -> InputError:
    """The error for a method or a command that takes no network of these kinds."""
    found = tuple(kinds)
    return InputError(
        "CEL-G035",
        what=what,
        kinds=[KINDS[kind] for kind in found],
        remedies=[REMEDIES[kind] for kind in found],
    )
