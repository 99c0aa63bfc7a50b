"""Add and delete, rotation, switch: figures 8 and 9, and each precondition."""

import numpy as np
import pytest

from celosia.core.errors import InputError
from celosia.graphs.examples import G9_ADD_DELETE, G9_SWITCH, g9
from celosia.graphs.primitives import EditSession


def changed_degrees(session: EditSession) -> int:
    return int((session.graph.degrees != session.given.degrees).sum())


def test_figure_8_add_delete_changes_four_degrees() -> None:
    session = EditSession(g9())
    session.add_delete((0, 4), (5, 6))
    assert changed_degrees(session) == 4
    assert (session.graph.degrees - session.given.degrees)[[0, 4, 5, 6]].tolist() == [-1, -1, 1, 1]


def test_figure_8_rotation_changes_two_degrees() -> None:
    session = EditSession(g9())
    session.rotate(0, 4, 8)
    assert changed_degrees(session) == 2
    assert (session.graph.degrees - session.given.degrees)[[0, 4, 8]].tolist() == [0, -1, 1]


def test_figure_8_switch_changes_no_degree() -> None:
    session = EditSession(g9())
    session.switch((0, 1), (4, 3))
    assert changed_degrees(session) == 0
    assert not session.graph.same_edges(session.given)


def test_figure_9b_is_reached_by_two_changes() -> None:
    session = EditSession(g9())
    for gone, come in zip(G9_ADD_DELETE.delete, G9_ADD_DELETE.add, strict=True):
        session.add_delete((gone[0] - 1, gone[1] - 1), (come[0] - 1, come[1] - 1))
        assert (session.graph.order, session.graph.size) == (9, 12)
    assert tuple(session.graph.degrees.tolist()) == G9_ADD_DELETE.degrees
    assert [edit.kind for edit in session.log] == ["add-delete", "add-delete"]


def test_figure_9c_is_reached_by_one_switch_and_logged() -> None:
    session = EditSession(g9())
    session.switch((0, 1), (4, 3))
    assert tuple(session.graph.degrees.tolist()) == G9_SWITCH.degrees
    come = [(u - 1, v - 1) for u, v in G9_SWITCH.add]
    assert session.graph.has_edges(np.array(come)).all()
    assert session.log[0].as_dict() == {
        "kind": "switch",
        "deleted": [[0, 1], [3, 4]],
        "added": [[0, 3], [1, 4]],
    }
    assert str(session.log[0]) == "switch: 0-1 3-4 -> 0-3 1-4"


@pytest.mark.parametrize(
    ("call", "given", "problem"),
    [
        ("add_delete", ((0, 8), (5, 6)), "no such edge"),
        ("add_delete", ((0, 1), (2, 3)), "there already"),
        ("add_delete", ((0, 1), (1, 0)), "there already"),
        ("add_delete", ((0, 1), (5, 5)), "loop"),
        ("add_delete", ((0, 1), (5, 9)), "vertices 0 to 8"),
        ("add_delete", ((-1, 1), (5, 6)), "vertices 0 to 8"),
        ("rotate", (0, 8, 5), "no such edge"),
        ("rotate", (0, 1, 2), "there already"),
        ("rotate", (0, 1, 0), "loop"),
        ("switch", ((0, 1), (0, 2)), "four different"),
        ("switch", ((0, 1), (1, 0)), "four different"),
        ("switch", ((0, 1), (5, 6)), "no such edge"),
        ("switch", ((0, 1), (2, 3)), "there already"),
        ("switch", ((0, 2), (3, 5)), "there already"),
    ],
    ids=str,
)
def test_a_violated_precondition_is_refused_and_changes_nothing(
    call: str, given: tuple[object, ...], problem: str
) -> None:
    session = EditSession(g9())
    with pytest.raises(InputError, match=problem) as error:
        getattr(session, call)(*given)
    assert error.value.code == "CEL-G020"
    assert session.graph.same_edges(g9())
    assert not session.log
