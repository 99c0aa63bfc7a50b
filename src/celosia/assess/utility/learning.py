"""Machine learning: train on the release, test on the original records."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.assess.meaning import SUPPRESSED
from celosia.assess.utility.column_pair import ColumnPair
from celosia.assess.utility.comparison import Comparison
from celosia.assess.utility.spread import Spread, tally
from celosia.core.errors import InputError
from celosia.core.messages import Message, say, say_of
from celosia.core.methods import Method, PlainValues, by_name, parameter
from celosia.core.numbers import whole
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source

MOST_LABELS = 200
"""Of a category, the labels with a feature of their own; rarer ones have none."""

Table = NDArray[np.float64]


class Features(NamedTuple):
    """What the labels (for training) and the raw values (for testing) of a column become."""

    of_label: Table
    of_value: Table


def features(column: ColumnPair, codes: NDArray[np.int32], spread: Spread) -> Features:
    """The features of a column, learnt from the labels of the training rows.

    A category has one feature for each label, 1 where the row has it; an amount has one feature,
    the mean of what its label stands for, in standard deviations from the mean of the training
    rows. An empty amount counts as the mean. A value that no training label covers has no feature
    set, or its own amount.
    """
    counts = np.bincount(codes, minlength=spread.labels).astype(np.float64)
    chance = _posterior(spread, counts)
    if column.numbers is None:
        return _indicators(spread, counts, chance)
    return _amounts(column.numbers, spread, counts, chance)


def _posterior(spread: Spread, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(label | value) for each entry of the spread; 0 where no label of the value occurs."""
    weight = counts[spread.label] * spread.share
    total = tally(spread.value, weight, spread.values)[spread.value]
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)


def _indicators(
    spread: Spread, counts: NDArray[np.float64], chance: NDArray[np.float64]
) -> Features:
    frequent = np.argsort(-counts, kind="stable")[:MOST_LABELS]
    frequent = frequent[counts[frequent] > 0]
    feature = np.full(spread.labels, -1)
    feature[frequent] = np.arange(frequent.size)
    of_label = np.zeros((spread.labels, frequent.size))
    of_label[frequent, np.arange(frequent.size)] = 1.0
    of_value = np.zeros((spread.values, frequent.size))
    has = feature[spread.label] >= 0
    np.add.at(of_value, (spread.value[has], feature[spread.label[has]]), chance[has])
    return Features(of_label, of_value)


def _amounts(
    numbers: NDArray[np.float64],
    spread: Spread,
    counts: NDArray[np.float64],
    chance: NDArray[np.float64],
) -> Features:
    is_amount = ~np.isnan(numbers)
    # Squares of huge amounts would overflow.
    numbers = numbers / (float(np.abs(numbers[is_amount]).max(initial=0.0)) or 1.0)
    part = spread.expected(is_amount.astype(np.float64))
    total = spread.expected(np.where(is_amount, numbers, 0.0))
    mean = np.divide(total, part, out=np.full(spread.labels, np.nan), where=part > 0)
    known = ~np.isnan(mean)
    weights = counts * known
    filled = np.where(known, mean, 0.0)
    centre = float((filled * weights).sum() / max(weights.sum(), 1.0))
    of_label = np.where(known, mean, centre) - centre
    scale = float(np.sqrt((of_label**2 * weights).sum() / max(weights.sum(), 1.0))) or 1.0
    of_label /= scale
    mixed = tally(spread.value, chance * of_label[spread.label], spread.values)
    covered = tally(spread.value, chance, spread.values) > 0
    own = np.where(is_amount, (numbers - centre) / scale, 0.0)
    return Features(of_label[:, None], np.where(covered, mixed, own)[:, None])


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


CLASSIFIERS: Mapping[str, type[Classifier]] = by_name(
    LogisticRegression, GradientBoosting, RandomForest
)
"""The classifiers by their names."""


Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifierScores(PlainValues):
    """One kind of classifier, trained on the release and trained on the original."""

    classifier: Classifier
    accuracy: float
    """Of the classifier that saw the release alone."""
    balanced_accuracy: float
    """The mean over the classes of the part that was recognised."""
    original_accuracy: float
    """Of the classifier that saw the original."""
    original_balanced_accuracy: float

    @property
    def title(self) -> str:
        """What the classifier is called."""
        return Message(f"methods.{self.classifier.method_name}.title")

    @property
    def kept(self) -> float:
        """Accuracy from the release as a part of that from the original."""
        return self.accuracy / self.original_accuracy if self.original_accuracy else 0.0

    def as_dict(self) -> dict[str, Any]:
        scores = {each.name: getattr(self, each.name) for each in fields(self)[1:]}
        return self.classifier.as_dict() | scores | {"kept": self.kept}

    def __str__(self) -> str:
        return say_of("assess.line.classifier", self, model=self.title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning(PlainValues):
    """How well a column can be predicted from the others, with and without the original."""

    target: str
    folds: int
    is_held_out: bool
    """Whether no record was tested by a classifier that had been trained on it."""
    majority: float
    """Accuracy of always guessing the most frequent class."""
    majority_balanced: float
    lessons: tuple[ClassifierScores, ...]

    def as_dict(self) -> dict[str, Any]:
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        return plain | {"lessons": [lesson.as_dict() for lesson in self.lessons]}

    def __str__(self) -> str:
        lessons = "; ".join(map(str, self.lessons))
        return say(
            "assess.line.learning", target=self.target, majority=self.majority, lessons=lessons
        )


def learning(
    comparison: Comparison,
    target: str,
    *,
    rng: Source,
    classifiers: Sequence[Classifier] = (LogisticRegression(), GradientBoosting()),
    folds: int = 3,
    progress: Progress = silent,
) -> Learning:
    """Train on the release, test on the original, and set it against training on the original.

    The features are the other columns of the comparison, encoded so that the raw values of a test
    record meet the labels that the classifier knows: each value is mapped up to the labels that
    cover it, by their chances given the value. Released records with `*` in every feature or
    without a clear target teach nothing and are left out; a release that teaches nothing at all
    gets the majority guess.

    With `aligned` tables each fold of the records is tested by classifiers that saw neither them
    nor their released versions. Otherwise released records cannot be matched with people: a
    classifier then learns from a random sample of the release (all but one fold), and the one to
    compare it with from an independent sample of the original of the same share, so that both have
    seen the tested people equally often. Read such accuracies as relative to each other.

    Args:
        comparison: the two tables; its columns are the features and the target.
        target: the column to predict.
        rng: where the folds come from; a seeded one gives the same figures again.
        classifiers: what is trained.
        folds: how many parts the records are split into.
        progress: called before each training.

    Raises:
        InputError: CEL-A080 scikit-learn is not installed, CEL-A081 no classifier or no feature,
            CEL-A082 folds that cannot be made, CEL-A071 an unknown target.
    """
    goal = comparison.column(target)
    inputs = [column for column in comparison.columns if column.name != target]
    _check(inputs, classifiers, folds, comparison.rows_before)
    each_once = tuple(dict.fromkeys(classifiers))
    seed = int(rng.integers(2**31 - 1, 1)[0])
    untrained = {each: each.make(seed) for each in each_once}  # refused before any work
    splits = _splits(comparison, folds, rng)
    guesses = {(each, side): np.empty_like(goal.before) for each in each_once for side in (0, 1)}
    done = 0
    for test, *training in splits:
        for side, rows in enumerate(training):
            x, y, questions = _training_set(inputs, goal, rows, test, from_release=side == 0)
            for each in each_once:
                progress(Step(Message("assess.stage.learning"), done, 2 * folds * len(each_once)))
                guesses[each, side][test] = _predict(untrained[each], x, y, questions, goal)
                done += 1
    progress(Step(Message("assess.stage.learning"), done, done))
    most = np.full_like(goal.before, int(np.argmax(goal.counts_before())))
    scores = {key: _scores(goal.before, guess) for key, guess in guesses.items()}
    majority, majority_balanced = _scores(goal.before, most)
    return Learning(
        target=target,
        folds=folds,
        is_held_out=comparison.is_aligned,
        majority=majority,
        majority_balanced=majority_balanced,
        lessons=tuple(
            ClassifierScores(
                classifier=each,
                accuracy=scores[each, 0][0],
                balanced_accuracy=scores[each, 0][1],
                original_accuracy=scores[each, 1][0],
                original_balanced_accuracy=scores[each, 1][1],
            )
            for each in each_once
        ),
    )


def _splits(comparison: Comparison, folds: int, rng: Source) -> list[tuple[Rows, Rows, Rows]]:
    """For each fold: the tested records, the released rows and the original rows to train on."""
    tested = rng.permutation(comparison.rows_before)
    released, original = tested, tested
    if not comparison.is_aligned:
        released = rng.permutation(comparison.rows_after)
        original = rng.permutation(comparison.rows_before)
    return [
        (tested[fold::folds], _without(released, fold, folds), _without(original, fold, folds))
        for fold in range(folds)
    ]


def _without(order: Rows, fold: int, folds: int) -> Rows:
    return np.sort(order[np.arange(order.size) % folds != fold])


def _training_set(
    inputs: Sequence[ColumnPair], goal: ColumnPair, rows: Rows, test: Rows, *, from_release: bool
) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.float32]]:
    """Features and classes to train on, and the features of the tested records."""
    if from_release:
        rows, classes = _training_rows(inputs, goal, rows)
    else:
        classes = goal.before[rows]
    known, asked = [], []
    for column in inputs:
        codes, spread = _side(column, from_release=from_release)
        found = features(column, codes[rows], spread)
        known.append(found.of_label[codes[rows]])
        asked.append(found.of_value[column.before[test]])
    x, questions = (np.concatenate(part, axis=1, dtype=np.float32) for part in (known, asked))
    return x, classes, questions


def _side(column: ColumnPair, *, from_release: bool) -> tuple[NDArray[np.int32], Spread]:
    return (column.after, column.spread) if from_release else (column.before, column.itself())


def _training_rows(
    inputs: Sequence[ColumnPair], goal: ColumnPair, rows: Rows
) -> tuple[Rows, NDArray[np.int32]]:
    """The released rows that say something, and their classes."""
    empty = np.ones(rows.size, dtype=np.bool_)
    for column in inputs:
        star = column.labels.index(SUPPRESSED) if SUPPRESSED in column.labels else -1
        empty &= column.after[rows] == star
    sizes = np.bincount(goal.spread.label, minlength=goal.spread.labels)
    class_of = np.zeros(goal.spread.labels, dtype=np.int32)
    class_of[goal.spread.label] = goal.spread.value
    clear = rows[~empty & (sizes[goal.after[rows]] == 1)]
    return clear, class_of[goal.after[clear]]


def _predict(
    model: Any,
    x: NDArray[np.float32],
    y: NDArray[np.int32],
    questions: NDArray[np.float32],
    goal: ColumnPair,
) -> NDArray[np.int32]:
    if y.size == 0:
        return np.full(len(questions), int(np.argmax(goal.counts_before())), dtype=np.int32)
    if (y == y[0]).all() or x.shape[1] == 0:
        return np.full(len(questions), int(np.argmax(np.bincount(y))), dtype=np.int32)
    with warnings.catch_warnings():
        # A model that has not settled after its steps is still a fair comparison.
        warnings.simplefilter("ignore")
        model.fit(x, y)
        return np.asarray(model.predict(questions), dtype=np.int32)


def _scores(truth: NDArray[np.int32], guess: NDArray[np.int32]) -> tuple[float, float]:
    """Accuracy, and its mean over the classes."""
    right = truth == guess
    totals = np.bincount(truth)
    recognised = np.bincount(truth, weights=right)[totals > 0] / totals[totals > 0]
    return float(right.mean()), float(recognised.mean())


def _check(
    inputs: Sequence[ColumnPair], classifiers: Sequence[Classifier], folds: object, rows: int
) -> None:
    if not inputs or not classifiers:
        raise InputError("CEL-A081", features=len(inputs), classifiers=len(classifiers))
    number = whole(folds)
    if number is None or not 2 <= number <= rows:
        raise InputError("CEL-A082", rows=rows, folds=folds)
