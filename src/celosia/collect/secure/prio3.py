"""Prio3 for two aggregators, as the IETF standardises it (draft-irtf-cfrg-vdaf-18 and later).

A client splits its value into two shares, and proves that it is a valid one. Each aggregator checks
its share together with a share of the proof; both exchange the results of the check, which tell
nothing else, and add up their shares of valid reports. Only the two sums together tell anything.

Reference: Boneh, Boyle, Corrigan-Gibbs, Gilboa & Ishai 2019, "Zero-Knowledge Proofs on
Secret-Shared Data via Fully Linear PCPs"; draft-irtf-cfrg-vdaf, sections 7.2 and 7.3.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from celosia.collect.secure._keccak import SEED, expand
from celosia.collect.secure.circuits import Circuit
from celosia.collect.secure.fields import Vector
from celosia.core.errors import InputError

VERSION = 18
SHARES = 2
NONCE = 16
_PARTS, _SEEDED = 1, 2  # measurement and proof shares; the numbers are usages of the standard
_JOINT, _PROVE, _QUERY, _JOINT_SEED, _JOINT_PART = 3, 4, 5, 6, 7
_ONE_PROOF = b"\1"


@dataclass(frozen=True, slots=True)
class Report:
    """What a client sends: a part for everybody and a share for each aggregator."""

    nonce: bytes
    public: bytes = field(repr=False)
    shares: tuple[bytes, bytes] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Check:
    """What an aggregator has found of its share of a report."""

    output: Vector = field(repr=False)
    """Its share of the value; nobody else may see it."""
    seed: bytes = field(repr=False)
    verifier: bytes = field(repr=False)
    """What it tells the other aggregator."""


class Prio3:
    """The algorithm for one circuit and one application context."""

    def __init__(self, circuit: Circuit, context: bytes) -> None:
        self.circuit = circuit
        self.context = context
        self.random_bytes = SHARES * SEED * (2 if circuit.joint else 1)

    @property
    def public_bytes(self) -> int:
        """Bytes of the part for everybody."""
        return SHARES * SEED if self.circuit.joint else 0

    def share_bytes(self, aggregator: int) -> int:
        """Bytes of the share for an aggregator: the second gets a seed of its own."""
        blind = SEED if self.circuit.joint else 0
        if aggregator:
            return SEED + blind
        return (self.circuit.length + self.circuit.proof) * self.circuit.field.size + blind

    @property
    def verifier_bytes(self) -> int:
        """Bytes that an aggregator tells the other one of a report."""
        blind = SEED if self.circuit.joint else 0
        return (2 + self.circuit.arity) * self.circuit.field.size + blind

    def shard(self, value: int, nonce: bytes, random: bytes) -> Report:
        """Split a value.

        Args:
            value: as the circuit wants it.
            nonce: 16 random bytes, by which the report is known.
            random: as many bytes as `random_bytes` says, from the operating system.
        """
        circuit, order = self.circuit, self.circuit.field
        seeds = [random[at : at + SEED] for at in range(0, self.random_bytes, SEED)]
        helper, prove = seeds[0], seeds[-1]
        encoded = circuit.encode(value)
        theirs = self._vector(helper, _PARTS, b"\1", circuit.length)
        mine = order.subtract(encoded, theirs)
        public, blinds, joint = b"", (b"", b""), []
        if circuit.joint:
            blinds = (seeds[2], seeds[1])
            parts = [self._part(0, blinds[0], mine, nonce), self._part(1, blinds[1], theirs, nonce)]
            public = b"".join(parts)
            joint = self._joint(self._joint_seed(public))
        proof = self._prove(encoded, self._vector(prove, _PROVE, _ONE_PROOF, circuit.arity), joint)
        theirs = self._vector(helper, _SEEDED, _ONE_PROOF + b"\1", circuit.proof)
        leader = order.to_bytes(mine) + order.to_bytes(order.subtract(proof, theirs)) + blinds[0]
        return Report(nonce, public, (leader, helper + blinds[1]))

    def check(self, key: bytes, aggregator: int, report: tuple[bytes, bytes, bytes]) -> Check:
        """What an aggregator finds of its share.

        Args:
            key: 32 random bytes that both aggregators know, and no client.
            aggregator: 0, or 1.
            report: the nonce, the part for everybody and the share of this aggregator.

        Raises:
            InputError: CEL-R096 the share is damaged.
        """
        circuit, order = self.circuit, self.circuit.field
        nonce, public, share = report
        value, proof, blind = self._opened(aggregator, share)
        part, seed, joint = b"", b"", []
        if circuit.joint:
            part = self._part(aggregator, blind, value, nonce)
            at = aggregator * SEED  # its own part as it is, not as the client says
            seed = self._joint_seed(public[:at] + part + public[at + SEED :])
            joint = self._joint(seed)
        queries = self._vector(key, _QUERY, _ONE_PROOF + nonce, circuit.queries)
        verifier = self._query(value, proof, queries, joint)
        return Check(circuit.truncate(value), seed, order.to_bytes(verifier) + part)

    def decide(self, check: Check, verifiers: tuple[bytes, bytes]) -> bool:
        """Whether a report is valid, from what both aggregators have told."""
        circuit, order = self.circuit, self.circuit.field
        size = (2 + circuit.arity) * order.size
        try:
            first, second = (order.from_bytes(each[:size]) for each in verifiers)
        except InputError:
            return False
        result, *wires, told = order.add(first, second)
        if result or circuit.gadget(wires) != told:
            return False
        if not circuit.joint:
            return True
        return check.seed == self._joint_seed(verifiers[0][size:] + verifiers[1][size:])

    def _prove(self, value: Vector, seeds: Vector, joint: Vector) -> Vector:
        wires = [[seed] for seed in seeds]

        def gadget(inputs: Vector) -> int:
            for wire, each in zip(wires, inputs, strict=True):
                wire.append(each)
            return self.circuit.gadget(inputs)

        self.circuit.evaluate(value, joint, 1, gadget)
        doubled = [self.circuit.field.doubled(self._filled(wire)) for wire in wires]
        return [*seeds, *self.circuit.gadget_values(doubled)[:-1]]

    def _query(self, value: Vector, proof: Vector, queries: Vector, joint: Vector) -> Vector:
        circuit, order = self.circuit, self.circuit.field
        values = order.completed(proof[circuit.arity :])
        wires = [[seed] for seed in proof[: circuit.arity]]

        def gadget(inputs: Vector) -> int:
            for wire, each in zip(wires, inputs, strict=True):
                wire.append(each)
            return values[2 * (len(wires[0]) - 1)]

        found = circuit.evaluate(value, joint, SHARES, gadget)
        *scales, point = queries
        if pow(point, circuit.wire, order.modulus) == 1:
            raise InputError("CEL-R096.damaged")  # one chance in 2^50: the report is lost
        result = sum(s * f for s, f in zip(scales, found, strict=True)) if scales else found[0]
        at_point = [_dot(order.weights(circuit.wire, point), self._filled(each)) for each in wires]
        told = _dot(order.weights(2 * circuit.wire, point), values)
        return [each % order.modulus for each in (result, *at_point, told)]

    def _filled(self, wire: Vector) -> Vector:
        return wire + [0] * (self.circuit.wire - len(wire))

    def _opened(self, aggregator: int, share: bytes) -> tuple[Vector, Vector, bytes]:
        """The shares of value and proof, and the blind."""
        circuit, order = self.circuit, self.circuit.field
        if aggregator:
            value = self._vector(share[:SEED], _PARTS, b"\1", circuit.length)
            proof = self._vector(share[:SEED], _SEEDED, _ONE_PROOF + b"\1", circuit.proof)
            return value, proof, share[SEED:]
        first = circuit.length * order.size
        second = first + circuit.proof * order.size
        return (
            order.from_bytes(share[:first]),
            order.from_bytes(share[first:second]),
            share[second:],
        )

    def _tag(self, usage: int) -> bytes:
        number = self.circuit.number.to_bytes(4, "big")
        return bytes([VERSION, 0]) + number + usage.to_bytes(2, "big") + self.context

    def _vector(self, seed: bytes, usage: int, binder: bytes, length: int) -> Vector:
        return self.circuit.field.draw(expand(seed, self._tag(usage), binder), length)

    def _part(self, aggregator: int, blind: bytes, value: Vector, nonce: bytes) -> bytes:
        binder = bytes([aggregator]) + nonce + self.circuit.field.to_bytes(value)
        return expand(blind, self._tag(_JOINT_PART), binder).read(SEED)

    def _joint_seed(self, parts: bytes) -> bytes:
        return expand(bytes(SEED), self._tag(_JOINT_SEED), parts).read(SEED)

    def _joint(self, seed: bytes) -> Vector:
        return self._vector(seed, _JOINT, _ONE_PROOF, self.circuit.joint)


def _dot(one: Vector, other: Vector) -> int:
    return sum(a * b for a, b in zip(one, other, strict=True))
