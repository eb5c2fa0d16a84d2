"""A program with symbolic sizes as ONNX graphs: one for each choice of numbers, values of the same names in all."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from onnx import helper

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_graph_builder import onnx_type
from tvm_pulp.frontend.torch_program import program as programs
from tvm_pulp.frontend.torch_program.operators import OPERATORS
from tvm_pulp.frontend.torch_program.translate import numpy_type, translated


class OpenProgram:
    """A program whose symbols of sizes are still open."""

    def __init__(self, program: Any) -> None:
        self._traced = program
        self._inputs = programs.user_inputs(program)

    @cached_property
    def _program(self) -> Any:
        return programs.in_known_operators(self._traced, OPERATORS)

    def interface(self) -> Any:
        """A graph of nothing but inputs, symbolic sizes by name."""
        inputs = [
            helper.make_tensor_value_info(
                name,
                onnx_type(numpy_type(value.dtype, name)),
                [d if isinstance(d, int) else str(d) for d in value.shape],
            )
            for name, value in self._inputs.items()
        ]
        return helper.make_model(helper.make_graph([], "interface", inputs, []))

    def sample(self) -> Any:
        """The graph for some numbers, a different one for every symbol; sizes of inputs are symbolic as before."""
        dims = [d for value in self._inputs.values() for d in value.shape if not isinstance(d, int)]
        symbols = {symbol for d in dims for symbol in d.node.expr.free_symbols}
        model = translated(self._program, {s: place + 5 for place, s in enumerate(sorted(symbols, key=str))})
        del model.graph.input[:]
        model.graph.input.extend(self.interface().graph.input)
        return model

    def at(self, shapes: Mapping[str, Sequence[int]]) -> Any:
        """The graph for inputs of these shapes."""
        import sympy

        sizes: dict[Any, Any] = {}
        for name, shape in shapes.items():
            for dim, size in zip(self._inputs[name].shape, shape, strict=True):
                if not isinstance(dim, int) and dim.node.expr.is_Symbol:
                    sizes.setdefault(dim.node.expr, sympy.Integer(size))
        for name, shape in shapes.items():
            traced = self._inputs[name].shape
            if [programs.size_of(d, sizes) for d in traced] != list(shape):
                raise UserError(
                    f"input '{name}' was exported with the shape [{', '.join(map(str, traced))}], which "
                    f"{list(shape)} is not: export it with torch.export.Dim.DYNAMIC for lengths"
                )
        return translated(self._program, sizes)
