"""Permuted axes are a view where the bytes stay, else a transpose."""

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.permute import is_swap, permuted, swapped
from tvm_pulp.canonicalize.rewriter import is_op


def tensor(*shape: int) -> relax.Var:
    return relax.Var("x", relax.TensorType(shape, "int8"))


def test_axes_of_one_element_move_for_free() -> None:
    made = permuted(tensor(1, 1, 4, 5), [0, 2, 3, 1])
    assert is_op(made, "relax.reshape") and [int(d) for d in made.args[1].values] == [1, 4, 5, 1]


def test_longer_axes_are_transposed() -> None:
    made = permuted(tensor(1, 3, 4, 5), [0, 2, 3, 1])
    assert dict(qnn.attributes(made)) == {"axes": [0, 2, 3, 1]}


def test_heads_and_positions_are_swapped() -> None:
    assert is_swap(swapped(tensor(1, 2, 3, 4)))
    assert not is_swap(permuted(tensor(1, 3, 4, 5), [0, 2, 3, 1]))
    assert not is_swap(None)
