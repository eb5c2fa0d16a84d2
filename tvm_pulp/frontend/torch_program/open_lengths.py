"""A program of `torch.export` with symbolic sizes, translated again for every choice of numbers."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.open_program import OpenProgram
from tvm_pulp.frontend.torch_program import program as programs
from tvm_pulp.frontend.torch_program.open_sizes import size_of
from tvm_pulp.frontend.torch_program.operators import OPERATORS
from tvm_pulp.frontend.torch_program.translate import numpy_type, translated


def open_program(program: Any) -> OpenProgram:
    """A program whose symbols of sizes are still open."""
    inputs = programs.user_inputs(program)
    known = cache(lambda: programs.in_known_operators(program, OPERATORS))

    def at(shapes: Mapping[str, Sequence[int]]) -> Any:
        import sympy

        sizes: dict[Any, Any] = {}
        for name, shape in shapes.items():
            for dim, size in zip(inputs[name].shape, shape, strict=True):
                if not isinstance(dim, int) and dim.node.expr.is_Symbol:
                    sizes.setdefault(dim.node.expr, sympy.Integer(size))
        for name, shape in shapes.items():
            traced = inputs[name].shape
            if [size_of(d, sizes) for d in traced] != list(shape):
                raise UserError(
                    f"input '{name}' was exported with the shape [{', '.join(map(str, traced))}], which "
                    f"{list(shape)} is not: export it with torch.export.Dim.DYNAMIC for lengths"
                )
        return translated(known(), sizes)

    stated = {name: (numpy_type(value.dtype, name), value.shape) for name, value in inputs.items()}
    return OpenProgram(
        stated, lambda size: size.node.expr.free_symbols, lambda numbers: translated(known(), numbers), at
    )
