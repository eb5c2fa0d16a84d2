"""Multiply-accumulates of a kernel that TVM generated: products that a loop adds to where it has stored before."""

from typing import Any

from tvm import tirx


def generated_macs(function: Any) -> int:
    """As often as such a statement runs; a kernel of unknown bounds counts none."""
    return _count(function.body, 1)


def _count(statement: Any, times: int) -> int:
    if isinstance(statement, tirx.For):
        extent = statement.extent
        return _count(statement.body, times * int(extent.value)) if isinstance(extent, tirx.IntImm) else 0
    if isinstance(statement, tirx.BufferStore):
        return times if _accumulates(statement) else 0
    if isinstance(statement, tirx.SeqStmt):
        return sum(_count(part, times) for part in statement.seq)
    if isinstance(statement, tirx.IfThenElse):
        branches = [statement.then_case, *([statement.else_case] if statement.else_case is not None else [])]
        return max(_count(branch, times) for branch in branches)
    body = getattr(statement, "body", None)
    return _count(body, times) if body is not None else 0


def _accumulates(store: Any) -> bool:
    """Tell whether a statement is c[i] = c[i] + ... a · b ..."""
    if type(store.value).__name__ != "Add":
        return False
    sides = [store.value.a, store.value.b]
    own = [type(s).__name__ == "TensorLoad" and s.source.same_as(store.buffer) for s in sides]
    return sum(own) == 1 and _has_product(sides[own.index(False)])


def _has_product(expression: Any) -> bool:
    """Tell whether two values are multiplied; what only computes an index does not count."""
    kind = type(expression).__name__
    if kind in ("Mul", "TensorLoad"):
        return kind == "Mul"
    names = ("a", "b", "value", "true_value", "false_value")
    return any(_has_product(getattr(expression, n)) for n in names if hasattr(getattr(expression, n, None), "ty"))
