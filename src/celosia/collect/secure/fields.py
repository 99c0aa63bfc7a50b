"""Arithmetic modulo the primes of Prio3, and polynomials by their values at roots of unity."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from celosia.collect.secure._keccak import TurboShake128
from celosia.core.errors import InputError

Vector = list[int]


@dataclass(frozen=True, slots=True)
class Field:
    """Whole numbers modulo a prime with roots of unity of every small power of two."""

    modulus: int
    size: int
    """Bytes of an element, the lowest first."""
    cofactor: int
    """The order of the group, without its power of two; 7 generates the group."""

    def root(self, order: int) -> int:
        """A root of unity whose order is a power of two."""
        generator = pow(7, self.cofactor, self.modulus)
        return pow(generator, (self.modulus - 1) // self.cofactor // order, self.modulus)

    def add(self, one: Vector, other: Vector) -> Vector:
        """Element by element."""
        return [(a + b) % self.modulus for a, b in zip(one, other, strict=True)]

    def subtract(self, one: Vector, other: Vector) -> Vector:
        """Element by element."""
        return [(a - b) % self.modulus for a, b in zip(one, other, strict=True)]

    def draw(self, stream: TurboShake128, length: int) -> Vector:
        """Elements from a stream; numbers beyond the modulus are passed over."""
        found: Vector = []
        while len(found) < length:
            number = int.from_bytes(stream.read(self.size), "little")
            if number < self.modulus:
                found.append(number)
        return found

    def to_bytes(self, elements: Vector) -> bytes:
        """Elements one after the other."""
        return b"".join(each.to_bytes(self.size, "little") for each in elements)

    def from_bytes(self, data: bytes) -> Vector:
        """What `to_bytes` has written.

        Raises:
            InputError: CEL-R096 a number is beyond the modulus.
        """
        pieces = range(0, len(data), self.size)
        found = [int.from_bytes(data[at : at + self.size], "little") for at in pieces]
        if any(each >= self.modulus for each in found):
            raise InputError("CEL-R096.damaged")
        return found

    def doubled(self, values: Vector) -> Vector:
        """A polynomial of degree below n, by its values at n roots of unity, at 2n of them."""
        size = len(values)
        inverse = pow(size, -1, self.modulus)
        terms = _transform(values, pow(self.root(size), -1, self.modulus), self.modulus)
        padded = [each * inverse % self.modulus for each in terms] + [0] * size
        return _transform(padded, self.root(2 * size), self.modulus)

    def weights(self, size: int, point: int) -> Vector:
        """What each value at a root of unity weighs in the value at a point (Lagrange)."""
        return _weights(self, size, point)

    def completed(self, values: Vector) -> Vector:
        """The last of n values at roots of unity, of a polynomial of degree below n - 1."""
        root = self.root(len(values) + 1)
        total, power = 0, 1
        for each in values:  # the coefficient of x^(n - 1) is 0
            total, power = total + each * power, power * root % self.modulus
        return [*values, -root * total % self.modulus]


@lru_cache(maxsize=8)
def _weights(field: Field, size: int, point: int) -> Vector:
    modulus, root = field.modulus, field.root(size)
    scale = (pow(point, size, modulus) - 1) * pow(size, -1, modulus) % modulus
    found, power = [], 1
    for _ in range(size):
        found.append(scale * power % modulus * pow(point - power, -1, modulus) % modulus)
        power = power * root % modulus
    return found


def _transform(values: Vector, root: int, modulus: int) -> Vector:
    """Values of a polynomial at all powers of a root of unity, from its coefficients."""
    size = len(values)
    if size == 1:
        return values
    square = root * root % modulus
    even = _transform(values[::2], square, modulus)
    odd = _transform(values[1::2], square, modulus)
    found, power = [0] * size, 1
    for at in range(size // 2):
        turned = power * odd[at] % modulus
        found[at] = (even[at] + turned) % modulus
        found[at + size // 2] = (even[at] - turned) % modulus
        power = power * root % modulus
    return found


FIELD64 = Field(2**32 * 4294967295 + 1, 8, 4294967295)
FIELD128 = Field(2**66 * 4611686018427387897 + 1, 16, 4611686018427387897)
