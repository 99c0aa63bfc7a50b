"""Classifiers that are trained on a release and on its original."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from celosia.core.errors import InputError
from celosia.core.methods import Method, parameter


class Classifier(Method, ABC):
    """A classifier of scikit-learn; a frozen dataclass whose fields are its parameters."""

    def make(self, seed: int) -> Any:
        """An untrained classifier.

        Raises:
            InputError: CEL-A080 scikit-learn is not installed.
        """
        try:
            return self._make(seed)
        except ImportError:
            raise InputError("CEL-A080") from None

    @abstractmethod
    def _make(self, seed: int) -> Any:
        """The same, where scikit-learn is installed; it is slow to load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogisticRegression(Classifier):
    """A linear model of the log-odds of each class."""

    steps: int = parameter(300, least=1)

    method_name: ClassVar[str] = "logistic-regression"

    def _make(self, seed: int) -> Any:
        from sklearn import linear_model  # optional

        return linear_model.LogisticRegression(max_iter=self.steps, random_state=seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientBoosting(Classifier):
    """Small trees, each trained on what the ones before got wrong."""

    trees: int = parameter(50, least=1)

    method_name: ClassVar[str] = "gradient-boosting"

    def _make(self, seed: int) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier  # optional

        return HistGradientBoostingClassifier(
            max_iter=self.trees, early_stopping=False, random_state=seed
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomForest(Classifier):
    """Trees that are each trained on a sample of rows and columns, and vote."""

    trees: int = parameter(50, least=1)
    leaf: int = parameter(5, least=1)

    method_name: ClassVar[str] = "random-forest"

    def _make(self, seed: int) -> Any:
        from sklearn.ensemble import RandomForestClassifier  # optional

        return RandomForestClassifier(
            n_estimators=self.trees, min_samples_leaf=self.leaf, random_state=seed
        )


CLASSIFIERS: Mapping[str, type[Classifier]] = {
    each.method_name: each for each in (LogisticRegression, GradientBoosting, RandomForest)
}
"""The classifiers by their names."""
