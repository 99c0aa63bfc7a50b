"""A stream of threshold questions: asked one at a time, paid for once, stopped in time."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from celosia.accounting.losses import Loss
from celosia.core.errors import InputError, PrivacyError
from celosia.core.neighbours import Neighbours
from celosia.core.randomness import Source
from celosia.core.resources import Closeable
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.sparse.placement import place, place_threshold
from celosia.mechanisms.sparse.scales import Scales

if TYPE_CHECKING:
    from celosia.mechanisms.sparse.base import SparseMechanism


class ThresholdAnswer(Enum):
    """Whether a noisy answer reached the noisy threshold.

    >>> bool(ThresholdAnswer.ABOVE), bool(ThresholdAnswer.BELOW), str(ThresholdAnswer.BELOW)
    (True, False, 'below')
    """

    BELOW = "below"
    """Below the threshold; costs nothing, however often it is said."""
    ABOVE = "above"
    """At or above the threshold; a stream says it a limited number of times."""

    def __bool__(self) -> bool:
        return self is ThresholdAnswer.ABOVE

    def __str__(self) -> str:
        return self.value


ABOVE = ThresholdAnswer.ABOVE
BELOW = ThresholdAnswer.BELOW

Reply = ThresholdAnswer | float
"""`BELOW`, or what is said of an answer above: `ABOVE`, or its own noisy number."""


NOTHING: Any = object()


class SpendableBudget(Protocol):
    """Whatever a loss can be charged to; it refuses by raising."""

    def spend(self, loss: Loss, /, *, neighbours: Neighbours) -> object:
        """Charge a loss under a neighbour relation, or raise."""


class Stream(Closeable):
    """An open stream of questions; made by the `stream` method of a mechanism.

    The noisy threshold lives in a closure: it is no attribute, is not printed, and cannot be copied
    or pickled with the stream. Code that runs in the same process and is determined to can still
    dig it out, as it can read the data; give analysts the answers, not the stream.
    """

    __slots__ = ("__asked", "__decide", "__left", "__lock", "__mechanism", "__number", "__process")

    def __init__(self, mechanism: SparseMechanism, rng: Source):
        scales = mechanism.scales
        self.__mechanism = mechanism
        self.__left = mechanism.limit
        self.__asked = 0
        self.__lock = Lock()
        self.__process = os.getpid()
        self.__decide: Callable[[int], bool] | None = _comparison(scales, rng)
        self.__number = _draws(scales.release, rng) if scales.release is not None else None

    @property
    def loss(self) -> Loss:
        """What the whole stream cost when it was opened, however it is used."""
        return self.__mechanism.privacy_loss()

    @property
    def asked(self) -> int:
        """How many questions were answered."""
        return self.__asked

    @property
    def left(self) -> int:
        """How many more positive answers it may give."""
        return self.__left

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self.__decide is None

    def ask(
        self,
        query: float | Callable[[Any], float],
        data: Any = NOTHING,
        *,
        threshold: float | None = None,
    ) -> Reply:
        """Answer one question: `ask(answer)`, or `ask(query, data)` for `query(data)`.

        Args:
            query: the exact answer, or a function of the data that has the declared sensitivity.
            data: what the function is applied to.
            threshold: for this question only; it must not come from the data.

        Raises:
            PrivacyError: CEL-M100 all positive answers have been given; CEL-M102 the stream belongs
                to another process.
            InputError: CEL-M101 the stream is closed; CEL-M009, CEL-M103 the answer is not on the
                grid; CEL-M104, CEL-M105 no threshold; CEL-M110 not a function.
        """
        self.__refuse()
        self.__threshold(threshold)  # refuses before the function is called
        if data is not NOTHING and not callable(query):
            raise InputError("CEL-M110")
        # Before the lock is taken: the function may be slow, or fail, or ask this very stream.
        answer = query(*(() if data is NOTHING else (data,))) if callable(query) else query
        mechanism = self.__mechanism
        index = place(answer, grid=mechanism.grid, rounded=mechanism.rounded)
        with self.__lock:
            decide = self.__refuse()
            # Only now: others may have asked while the function ran, each with its own threshold.
            above = decide(index - self.__threshold(threshold))
            self.__asked += 1
            self.__left -= above
            if not above:
                return BELOW
            if self.__number is None:
                return ABOVE
            return mechanism.grid.value(index + self.__number())

    def close(self) -> None:
        """Forget the noise; nothing more is answered. The price stays paid."""
        self.__decide = self.__number = None

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"positive answers left: {self.left}"
        return f"<Stream of {self.__mechanism}: {self.asked} answered, {state}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise PrivacyError("CEL-M102.copied")

    def __refuse(self) -> Callable[[int], bool]:
        if os.getpid() != self.__process:
            raise PrivacyError("CEL-M102.forked")
        if self.__decide is None:
            raise InputError("CEL-M101")
        if self.__left < 1:
            raise PrivacyError("CEL-M100", limit=self.__mechanism.limit)
        return self.__decide

    def __threshold(self, own: float | None) -> int:
        mechanism = self.__mechanism
        if own is not None:
            return place_threshold(own, grid=mechanism.grid)
        return mechanism.limit_at(self.__asked)


def _comparison(scales: Scales, rng: Source) -> Callable[[int], bool]:
    """Whether `answer - threshold` plus noise reaches the secret noise of the threshold.

    Nothing is raised in here on purpose: a traceback shows the local variables of its frames.
    """
    hide, blur = _draws(scales.threshold, rng), _draws(scales.query, rng)
    secret = hide()

    def decide(margin: int) -> bool:
        nonlocal secret
        above = margin + blur() >= secret
        if above and scales.redraw:
            secret = hide()
        return above

    return decide


def _draws(scale: Fraction, rng: Source) -> Callable[[], int]:
    """Fresh noise of one scale at every call."""
    law = DiscreteLaplace(scale)
    return lambda: int(law.draw(1, rng)[0])
