"""Draw many outputs of a mechanism or of a user's function."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, Protocol, runtime_checkable

import numpy as np

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement, Mechanism

AT_ONCE = 1000
"""Outputs between two reports of progress."""


@runtime_checkable
class Sampler(Protocol):
    """Anything that draws many independent outputs at once.

    A function `f(data, rng, size)` is taken as one too; `f(data, rng)` is called once an output.
    """

    def draw(self, data: Any, rng: Source, size: int) -> Any:
        """`size` outputs: an array with a row for each, or a sequence."""


Auditable = Mechanism[Any, Any] | Sampler | Callable[..., Any]
"""What can be audited."""


def name_of(mechanism: Auditable) -> str:
    """A mechanism as one would write it, a function by its name."""
    if isinstance(mechanism, Mechanism):
        return str(mechanism)
    return str(getattr(mechanism, "__name__", None) or type(mechanism).__name__)


def draw(
    mechanism: Auditable, data: Any, size: int, rng: Source, progress: Progress = silent
) -> Any:
    """`size` independent outputs on one input.

    Raises:
        InputError: CEL-A102 it cannot be called; CEL-A103 it gave another number of outputs.
    """
    if isinstance(mechanism, Mechanism):
        return _one_by_one(lambda: _everything(mechanism.measure(data, rng=rng)), size, progress)
    if isinstance(mechanism, Sampler):
        return _check_outputs(mechanism.draw(data, rng, size), size)
    if not callable(mechanism):
        raise InputError("CEL-A102", name=type(mechanism).__name__)
    if _takes_size(mechanism):
        return _check_outputs(mechanism(data, rng, size), size)
    return _one_by_one(lambda: mechanism(data, rng), size, progress)


def _everything(measurement: Measurement[Any]) -> Any:
    """All that was released: the parts are paid for and may be published too."""
    value, parts = measurement.value, measurement.parts
    # The parts of a stream of replies repeat which of them are positive.
    return (value, parts) if parts and not isinstance(value, tuple) else value


def _one_by_one(output: Callable[[], Any], size: int, progress: Progress) -> list[Any]:
    found = []
    for done in range(size):
        if done % AT_ONCE == 0:
            progress(Step(Message("assess.stage.sample"), done, size))
        found.append(output())
    return found


def _takes_size(function: Callable[..., Any]) -> bool:
    """Whether a function has a third argument called `size`."""
    try:
        parameters = list(signature(function).parameters.values())
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    plain = [parameter.name for parameter in parameters if parameter.kind in positional]
    return plain[2:3] == ["size"]


def _check_outputs(outputs: Any, size: int) -> Any:
    if not isinstance(outputs, np.ndarray | list | tuple):
        raise InputError("CEL-A103.no_list", size=size)
    if len(outputs) != size:
        raise InputError("CEL-A103.another_number", size=size, found=len(outputs))
    return outputs
