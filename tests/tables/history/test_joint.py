"""Joint classes of several releases, and the models that keep them large."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from celosia.tables.history.joint import EARLIER, JointClasses, JointClassSize, JointRemainder
from celosia.tables.models import Classes, Histogram, SensitiveColumn

releases = st.lists(
    st.dictionaries(st.integers(0, 9), st.integers(-1, 2), min_size=1), min_size=1, max_size=3
)


@given(releases, st.integers(1, 4))
def test_joint_classes_are_equal_histories(shown: list[dict[int, int]], people: int) -> None:
    joint = JointClasses.none()
    for each in shown:
        records = np.array(list(each), dtype=np.uint64)
        joint = joint.join(records, records % np.uint64(people), np.array(list(each.values())))
    everybody = {record for each in shown for record in each}
    histories = defaultdict(set)
    for record in everybody:
        history = tuple(each.get(record, -1) for each in shown)
        if any(entry >= 0 for entry in history):
            histories[history].add(record % people)
    assert Counter(joint.sizes().tolist()) == Counter(map(len, histories.values()))


def classes(rows: list[tuple[int, int]], totals: list[int]) -> Classes:
    """From the class and the earlier joint class of each record."""
    class_of, value_of = (np.array(each) for each in zip(*rows, strict=True))
    column = SensitiveColumn(EARLIER, np.array(totals))
    number = int(class_of.max()) + 1
    histogram = Histogram.of_rows(column, class_of, value_of.astype(np.int32), number)
    return Classes(np.bincount(class_of), {EARLIER: histogram})


def test_a_class_with_too_few_of_a_joint_class_fails_and_these_must_go() -> None:
    rows = [*[(0, 0)] * 3, *[(0, 1)] * 2, *[(1, 1)] * 3, *[(2, 0)] * 1, *[(2, 1)] * 2]
    verdict = JointClassSize(least=(3, 3)).judge(classes(rows, [4, 7]))
    assert verdict.satisfied.tolist() == [False, True, False]
    assert verdict.must_go.tolist() == [2, 0, 3]


def test_the_few_that_are_not_shown_take_the_others_of_their_joint_class_with_them() -> None:
    rows = [*[(0, 0)] * 4, *[(1, 0)] * 3, *[(1, 1)] * 3, *[(2, 1)] * 3, *[(3, 2)] * 3]
    model = JointRemainder(least=(3, 3, 3), totals=(8, 9, 3))
    # One of the first is not shown: classes 0 and 1 go, then 6 of the second are not shown.
    assert model.judge(classes(rows, [8, 9, 3])).satisfied.tolist() == [False, False, True, True]
    whole = JointRemainder(least=(3, 3, 3), totals=(7, 9, 3))
    assert whole.judge(classes(rows, [7, 9, 3])).satisfied.all()
