"""A function traced for symbolic lengths: traced again for every choice of numbers, values of the same names in all."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from onnx import helper

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_graph_builder import onnx_type


class OpenProgram:
    """A program whose lengths are open; `at_shapes` gives that for shapes of its inputs, in their order."""

    def __init__(self, inputs: Mapping[str, Any], at_shapes: Callable[[Sequence[Sequence[int]]], Any]) -> None:
        self._inputs, self._at = inputs, at_shapes

    def interface(self) -> Any:
        """A graph of nothing but inputs, symbolic sizes by name."""
        inputs = [
            helper.make_tensor_value_info(
                name, onnx_type(str(value.dtype)), [d if isinstance(d, int) else str(d) for d in value.shape]
            )
            for name, value in self._inputs.items()
        ]
        return helper.make_model(helper.make_graph([], "interface", inputs, []))

    def sample(self) -> Any:
        """The graph for some numbers, a different one for every symbol; sizes of inputs are symbolic as before."""
        sizes = [d for value in self._inputs.values() for d in value.shape if not isinstance(d, int)]
        symbols = sorted({symbol for d in sizes for symbol in d._get_vars()})
        numbers = {symbol: 5 + place for place, symbol in enumerate(symbols)}
        shapes = [
            [d if isinstance(d, int) else int(d._evaluate(numbers)) for d in value.shape]
            for value in self._inputs.values()
        ]
        model = self._model(shapes)
        del model.graph.input[:]
        model.graph.input.extend(self.interface().graph.input)
        return model

    def at(self, shapes: Mapping[str, Sequence[int]]) -> Any:
        """The graph for inputs of these shapes."""
        return self._model([list(shapes[name]) for name in self._inputs])

    def _model(self, shapes: Sequence[Sequence[int]]) -> Any:
        return self._at(shapes).translation.model

    def onnx_model(self, shapes: Mapping[str, Sequence[int]]) -> Any:
        """As a network of fixed shapes, which have to be stated."""
        missing = [
            n for n, v in self._inputs.items() if n not in shapes and not all(isinstance(d, int) for d in v.shape)
        ]
        if missing:
            raise UserError(
                f"input '{missing[0]}' has a symbolic length: state --capacity N for a decoder with caches, or "
                "--input-shapes"
            )
        return self.at({n: shapes.get(n, v.shape) for n, v in self._inputs.items()})
