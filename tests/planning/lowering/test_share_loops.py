"""Which loops of generated kernels the cores share."""

from typing import Any

import pytest
from tvm import te, tirx

from tvm_pulp.planning.lowering.legalize_float import _lowered


def lowered(*tensors: Any) -> Any:
    """A kernel as build_network gets it."""
    import tvm

    function = te.create_prim_func(list(tensors)).with_attr("global_symbol", "kernel")
    return _lowered({tvm.ir.GlobalVar("kernel"): function}, narrow_index=True)["kernel"]


def outer_kinds(function: Any) -> list[Any]:
    body = function.body
    statements = list(body.seq) if type(body).__name__ == "SeqStmt" else [body]
    return [s.kind for s in statements if type(s).__name__ == "For"]


def rows(reduce: bool) -> Any:
    x = te.placeholder((6, 20), name="x")
    k = te.reduce_axis((0, 20), name="k")
    if reduce:
        total = te.compute((6,), lambda i: te.sum(x[i, k], axis=k), name="total")
        return lowered(x, te.compute((6, 20), lambda i, j: x[i, j] / total[i], name="y"))
    return lowered(x, te.compute((6, 20), lambda i, j: x[i, j] * tirx.const(2, "float32"), name="y"))


@pytest.mark.parametrize("reduce", [False, True])
def test_independent_rows_are_shared(reduce: bool) -> None:
    kernel = rows(reduce)
    assert kernel.parallel
    assert set(outer_kinds(kernel.function)) == {tirx.ForKind.PARALLEL}


def test_a_reduction_over_the_outermost_axis_is_not_shared() -> None:
    x = te.placeholder((6, 20), name="x")
    k = te.reduce_axis((0, 6), name="k")
    total = te.compute((1,), lambda i: te.sum(x[k, i], axis=k), name="total")
    kernel = lowered(x, total)
    # The only loop left is that of the sum: all its iterations add to the same element.
    assert not kernel.parallel and tirx.ForKind.PARALLEL not in outer_kinds(kernel.function)


def test_stages_that_read_each_other_across_rows_are_not_shared() -> None:
    # The second stage turns the first one's result: row i needs a column, which all cores wrote.
    x = te.placeholder((20, 20), name="x")
    doubled = te.compute((20, 20), lambda i, j: x[i, j] * tirx.const(2, "float32"), name="doubled")
    k = te.reduce_axis((0, 20), name="k")
    kernel = lowered(x, te.compute((20,), lambda i: te.sum(doubled[k, i], axis=k), name="y"))
    assert not kernel.parallel


def test_stages_of_different_length_are_not_shared() -> None:
    # The same share of 6 and of 20 iterations is not the same data.
    x = te.placeholder((6, 20), name="x")
    k = te.reduce_axis((0, 6), name="k")
    total = te.compute((20,), lambda i: te.sum(x[k, i], axis=k), name="total")
    kernel = lowered(x, te.compute((6, 20), lambda i, j: x[i, j] / total[j], name="y"))
    assert not kernel.parallel
