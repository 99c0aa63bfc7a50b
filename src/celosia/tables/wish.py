"""What is asked of a release, checked before any data is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from celosia.core.errors import InputError
from celosia.core.randomness import Source, System
from celosia.tables.models import Model
from celosia.tables.recoding import allowance


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The models to meet and the choices that go with them."""

    models: tuple[Model, ...]
    suppression: float
    keep_order: bool
    drop_suppressed: bool
    randomness: Source

    @classmethod
    def of(
        cls,
        models: Model | Iterable[Model],
        *,
        suppression: float,
        keep_order: bool,
        drop_suppressed: bool,
        randomness: Source | None,
    ) -> Wish:
        """The wish behind the arguments of `publish`.

        Raises:
            InputError: CEL-P014 no model, CEL-P016 not a model, CEL-P011 a suppression limit out
                of range, CEL-I006 not a source of randomness.
        """
        wanted = tuple(models) if isinstance(models, Iterable) else (models,)
        if not wanted:
            raise InputError(
                "CEL-P014", "no privacy model was given.", fix="Add one: KAnonymity(5)."
            )
        for model in wanted:
            if isinstance(model, type) or not isinstance(model, Model):
                raise InputError(
                    "CEL-P016",
                    f"a {type(model).__name__} is not a privacy model.",
                    fix="Write KAnonymity(5), or a list of models.",
                )
        if not (randomness is None or isinstance(randomness, Source)):
            raise InputError(
                "CEL-I006",
                f"a {type(randomness).__name__} is not a source of randomness.",
                fix="Leave it out for a real release, or write Seeded(7) for a simulation.",
            )
        allowance(suppression, 0)
        # NumPy's numbers do not fit into the JSON of a certificate.
        return cls(
            models=wanted,
            suppression=float(suppression),
            keep_order=bool(keep_order),
            drop_suppressed=bool(drop_suppressed),
            randomness=System() if randomness is None else randomness,
        )

    @property
    def smallest(self) -> int:
        """The fewest records that a class needs under all models."""
        return max(model.smallest for model in self.models)

    @property
    def simulation(self) -> bool:
        """Whether a seed had a part in the release: it has none where nothing is shuffled."""
        return self.randomness.simulation and not self.keep_order

    def as_dict(self) -> dict[str, Any]:
        """The parameters as plain values."""
        return {
            "models": [model.as_dict() for model in self.models],
            "suppression": self.suppression,
            "keep_order": self.keep_order,
            "drop_suppressed": self.drop_suppressed,
        }
