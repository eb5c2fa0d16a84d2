"""Expressions that are nested too deeply are the model's fault, and said so in one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager

from tvm_pulp.errors import UserError


@contextmanager
def bounded_depth() -> Iterator[None]:
    """An expression nested deeper than Python's stack is the model's fault."""
    try:
        yield
    except RecursionError:
        raise UserError(
            "hundreds of operators between two quantizations are one float expression, nested too deeply to be "
            "compiled: put QuantizeLinear and DequantizeLinear between them"
        ) from None
