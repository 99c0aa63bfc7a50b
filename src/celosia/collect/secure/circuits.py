"""What a share is checked for: a bit, a number in a range, or one value of a list."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from math import ceil, sqrt

from celosia.collect.secure.fields import FIELD64, FIELD128, Field, Vector

Gadget = Callable[[Vector], int]


class Circuit(ABC):
    """A validity circuit with one gadget of degree 2 (section 7.4 of the standard)."""

    number: int
    """Of the algorithm, in the registry of the standard."""
    field: Field
    length: int
    """Elements of an encoded value."""
    outputs: int
    """Elements of an aggregate."""
    joint: int = 0
    """Random elements that client and aggregators share."""
    checks: int = 1
    """Numbers that must be 0 for a valid value."""
    arity: int
    calls: int

    @abstractmethod
    def encode(self, value: int) -> Vector:
        """A value as elements."""

    @abstractmethod
    def evaluate(self, value: Vector, joint: Vector, shares: int, gadget: Gadget) -> Vector:
        """The checks of an encoded value, or of a share of it."""

    @abstractmethod
    def gadget(self, inputs: Vector) -> int:
        """The one step that is not linear."""

    def gadget_values(self, wires: list[Vector]) -> Vector:
        """The gadget at each point of polynomials."""
        columns = zip(*wires, strict=True)
        return [self.gadget(list(each)) for each in columns]

    def truncate(self, value: Vector) -> Vector:
        """What is added up."""
        return value

    @cached_property
    def wire(self) -> int:
        """Values of a wire: a power of two, with one for each call and one for the seed."""
        return 1 << self.calls.bit_length()

    @property
    def proof(self) -> int:
        """Elements of a proof."""
        return self.arity + 2 * self.wire - 1

    @property
    def queries(self) -> int:
        """Random elements of a check."""
        return 1 + (self.checks if self.checks > 1 else 0)


class CountCircuit(Circuit):
    """0 or 1."""

    number, field, length, outputs, arity, calls = 1, FIELD64, 1, 1, 2, 1

    def encode(self, value: int) -> Vector:
        return [value]

    def evaluate(self, value: Vector, joint: Vector, shares: int, gadget: Gadget) -> Vector:
        return [(gadget([value[0], value[0]]) - value[0]) % self.field.modulus]

    def gadget(self, inputs: Vector) -> int:
        return inputs[0] * inputs[1] % self.field.modulus


class SumCircuit(Circuit):
    """A whole number from 0 to `most`, as bits; the weight of the last makes them add up to it."""

    number, field, outputs, arity = 2, FIELD64, 1, 1

    def __init__(self, most: int) -> None:
        self.calls = self.length = self.checks = most.bit_length()
        self.weights = [2**bit for bit in range(self.length - 1)]
        self.weights.append(most - sum(self.weights))

    def encode(self, value: int) -> Vector:
        last = value > sum(self.weights[:-1])
        rest = value - self.weights[-1] * last
        return [*(rest >> bit & 1 for bit in range(self.length - 1)), int(last)]

    def evaluate(self, value: Vector, joint: Vector, shares: int, gadget: Gadget) -> Vector:
        return [gadget([each]) for each in value]

    def gadget(self, inputs: Vector) -> int:
        return inputs[0] * (inputs[0] - 1) % self.field.modulus

    def truncate(self, value: Vector) -> Vector:
        pairs = zip(self.weights, value, strict=True)
        return [sum(weight * each for weight, each in pairs) % self.field.modulus]


class HistogramCircuit(Circuit):
    """A 1 for one value, and 0 for all others."""

    number, field, checks = 4, FIELD128, 2

    def __init__(self, length: int, chunk: int | None = None) -> None:
        self.length = self.outputs = length
        self.chunk = chunk or ceil(sqrt(length))
        self.arity = 2 * self.chunk
        self.calls = self.joint = -(-length // self.chunk)

    def encode(self, value: int) -> Vector:
        return [int(each == value) for each in range(self.length)]

    def evaluate(self, value: Vector, joint: Vector, shares: int, gadget: Gadget) -> Vector:
        modulus = self.field.modulus
        share = pow(shares, -1, modulus)
        total = 0
        for call, random in enumerate(joint):
            inputs, power = [], random
            for at in range(call * self.chunk, (call + 1) * self.chunk):
                each = value[at] if at < self.length else 0
                inputs += [power * each % modulus, (each - share) % modulus]
                power = power * random % modulus
            total += gadget(inputs)
        return [total % modulus, (sum(value) - share) % modulus]

    def gadget(self, inputs: Vector) -> int:
        pairs = zip(inputs[::2], inputs[1::2], strict=True)
        return sum(one * other for one, other in pairs) % self.field.modulus
