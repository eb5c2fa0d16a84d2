"""A framework's program with symbolic sizes: ONNX graphs for choices of numbers, values of the same names in all."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onnx import helper

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_graph_builder import declared
from tvm_pulp.frontend.onnx_protos import replace_all


@dataclass(frozen=True)
class OpenProgram:
    """A program whose lengths are open."""

    # Types, as NumPy calls them, and shapes by name.
    inputs: Mapping[str, tuple[str, Sequence[Any]]]
    # Of a size that is no number.
    symbols_of: Callable[[Any], Iterable[Any]]
    # The graph for a number in the place of every symbol, and that for inputs of these shapes.
    with_numbers: Callable[[Mapping[Any, int]], Any]
    at: Callable[[Mapping[str, Sequence[int]]], Any]

    def interface(self) -> Any:
        """A graph of nothing but inputs, symbolic sizes by name."""
        inputs = [
            declared(name, dtype, [d if isinstance(d, int) else str(d) for d in shape])
            for name, (dtype, shape) in self.inputs.items()
        ]
        return helper.make_model(helper.make_graph([], "interface", inputs, []))

    def sample(self) -> Any:
        """The graph for some numbers, a different one for every symbol; sizes of inputs are symbolic as before."""
        sizes = [d for _, shape in self.inputs.values() for d in shape if not isinstance(d, int)]
        symbols = sorted({symbol for d in sizes for symbol in self.symbols_of(d)}, key=str)
        model = self.with_numbers({symbol: 5 + place for place, symbol in enumerate(symbols)})
        replace_all(model.graph.input, list(self.interface().graph.input))
        return model

    def onnx_model(self, shapes: Mapping[str, Sequence[int]]) -> Any:
        """As a network of fixed shapes, which have to be stated."""
        stated = {name: shapes.get(name, shape) for name, (_, shape) in self.inputs.items()}
        for name, shape in stated.items():
            if not all(isinstance(d, int) for d in shape):
                raise UserError(
                    f"input '{name}' has a symbolic length: state --capacity N for a decoder with caches, or "
                    "--input-shapes"
                )
        return self.at(stated)
