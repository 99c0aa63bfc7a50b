"""Many outputs of a mechanism by one call of its own code, where its law allows that."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Mechanism
from celosia.mechanisms.sparse import SparseMechanism


@dataclass(frozen=True, slots=True)
class EntrywiseMechanism:
    """A mechanism that treats every entry of a list by itself, asked about many equal entries.

    Each entry of such a release is an independent output on one entry, drawn by the same code: the
    answers of randomised response, the coordinates of additive noise. A mechanism that fixes its
    dimension is given a wider one, which must leave the law of a coordinate as it is.
    """

    mechanism: Mechanism[Any, Any]

    @property
    def __name__(self) -> str:
        return str(self.mechanism)

    def draw(self, data: Any, rng: Source, size: int) -> Any:
        """`size` independent outputs on one number or category."""
        wide = self.mechanism
        if any(item.name == "dimension" for item in fields(wide)):
            changed: dict[str, Any] = {"dimension": size, "one_coordinate": True}
            wide = replace(wide, **changed)
            assert wide.law == self.mechanism.law, "a wider release must not change the noise"  # type: ignore[attr-defined]
        equal = np.full(size, data) if isinstance(data, int | float) else [data] * size
        return wide.release(equal, rng=rng)


@dataclass(frozen=True, slots=True)
class StreamedMechanism:
    """A sparse vector mechanism asked one question at a time, as its users ask it."""

    mechanism: SparseMechanism

    @property
    def __name__(self) -> str:
        return f"a stream of {self.mechanism}"

    def __call__(self, data: Any, rng: Source) -> tuple[Any, ...]:
        """The replies until the stream is exhausted."""
        replies = []
        with self.mechanism.stream(rng=rng) as stream:
            for answer in data:
                if stream.left:
                    replies.append(stream.ask(answer))
        return tuple(replies)
