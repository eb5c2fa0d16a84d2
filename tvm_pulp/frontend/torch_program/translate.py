"""Translates an exported program node by node into an ONNX model in memory."""

import operator
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.imported import SourceNode, UnsupportedOperators
from tvm_pulp.frontend.onnx_folded_factors import with_folded_factors
from tvm_pulp.frontend.onnx_graph_builder import GraphBuilder, GraphValue, UniqueNames, declared
from tvm_pulp.frontend.onnx_integer_products import with_integer_products
from tvm_pulp.frontend.torch_program import program as programs
from tvm_pulp.frontend.torch_program.open_sizes import size_of
from tvm_pulp.frontend.torch_program.operators import OPERATORS

# Values of these are meant to stay integers beside their scales.
_KEPT = ("dequantize_", "quantize_")


def onnx_model(program: Any, shapes: Mapping[str, Any]) -> Any:
    """A program as an ONNX model; `shapes` are those the user wants for inputs."""
    return translated(programs.in_known_operators(programs.with_shapes(program, shapes), OPERATORS), {})


def translated(program: Any, sizes: Mapping[Any, int]) -> Any:
    """A program in known operators as an ONNX model, with numbers for the symbols of its sizes."""
    for name in program.graph_signature.buffers_to_mutate.values():
        raise UserError(
            f"the module changes its buffer '{name}' while it computes: pass what it keeps as an input and an output"
        )
    return with_integer_products(with_folded_factors(_Translation(program, sizes).model()))


class _Translation:
    """One program on its way."""

    def __init__(self, program: Any, sizes: Mapping[Any, int]) -> None:
        self.program = program
        import sympy

        self.sizes = {symbol: sympy.Integer(size) for symbol, size in sizes.items()}
        self.builder = GraphBuilder(fixed=not sizes)
        self.names = NodeNames()
        # Values of nodes; tensors of several results as lists.
        self.values: dict[Any, Any] = {}
        # Nodes that depend on no input, as PyTorch computes them.
        self.constants: dict[Any, Any] = {}

    def model(self) -> Any:
        self._check_known()
        inputs = self._placeholders()
        for node in self.program.graph.nodes:
            if node.op == "call_function" and programs.name_of(node) not in programs.CHECKS:
                self._node(node)
        return self.builder.model(inputs, self._outputs(), "torch.export")

    def _check_known(self) -> None:
        nodes = [n for n in self.program.graph.nodes if n.op not in ("placeholder", "output")]
        nodes = [n for n in nodes if programs.name_of(n) not in programs.CHECKS]
        for node in nodes:
            dims = getattr(node.meta.get("val"), "shape", ())
            if any(size_of(d, self.sizes) is None for d in dims):
                raise UserError(
                    f"node '{self.names.label(node)}' has a result whose size depends on values: use torch.where"
                )
        bad = [n for n in nodes if n.op != "call_function" or not self._known(n)]
        if not bad:
            return
        listed = ", ".join(sorted({f"{programs.name_of(n)} (node '{self.names.label(n)}')" for n in bad}))
        sources = [
            SourceNode(
                self.names.label(n),
                programs.name_of(n),
                tuple(i.name for i in n.all_input_nodes),
                (n.name,),
                unsupported=n in bad,
            )
            for n in nodes
        ]
        raise UnsupportedOperators(f"unsupported PyTorch operators: {listed}: replace them by others", sources)

    def _known(self, node: Any) -> bool:
        free = not any(i in self._varying for i in node.all_input_nodes)
        return (
            node.target is operator.getitem or programs.name_of(node) in OPERATORS or free or programs.is_number(node)
        )

    @cached_property
    def _varying(self) -> set[Any]:
        """Nodes that depend on an input, or stay in the graph as if they did."""
        given, found = set(self.program.graph_signature.user_inputs), set()
        for node in self.program.graph.nodes:
            fed = node.op == "placeholder" and node.name in given
            kept = any(k in str(node.target) for k in _KEPT)
            if fed or kept or (any(i in found for i in node.all_input_nodes) and not programs.is_number(node)):
                found.add(node)
        return found

    def _placeholders(self) -> list[Any]:
        """Inputs as ONNX declares them; parameters and buffers become constants."""
        signature, made = self.program.graph_signature, []
        lifted = signature.inputs_to_lifted_tensor_constants
        held = {**lifted, **signature.inputs_to_parameters, **signature.inputs_to_buffers}
        for node in (n for n in self.program.graph.nodes if n.op == "placeholder"):
            if node.name in held:
                key = held[node.name]
                tensor = self.program.state_dict.get(key, self.program.constants.get(key))
                refuse_if(tensor is None, f"the program holds no values for '{key}': save it with its state")
                self.constants[node] = tensor.detach()
                continue
            value = self._value(node, node.name)
            if value is not None:  # no number or None that was traced into the program
                self.values[node] = value
                made.append(declared(value.name, value.dtype, value.shape))
        return made

    def _value(self, node: Any, name: str, meta: Any = None) -> GraphValue | None:
        meta = node.meta.get("val") if meta is None else meta
        if not hasattr(meta, "shape"):
            return None
        shape = tuple(size_of(d, self.sizes) or 0 for d in meta.shape)
        return GraphValue(name, shape, numpy_type(meta.dtype, self.names.label(node)), len(node.users))

    def _node(self, node: Any) -> None:
        if node not in self._varying:
            self.constants[node] = self._computed(node)
            return
        if node.target is operator.getitem:
            value = self.values[node.args[0]][node.args[1]]
            if value is None and node.users:
                label = self.names.label(node.args[0])
                raise UserError(f"node '{label}': its result {node.args[1]} is not supported: use only the first one")
            self.values[node] = value
            return
        meta = node.meta.get("val")
        result = self._value(node, node.name) if hasattr(meta, "shape") else None
        self.builder.enter(self.names.label(node), node.name, result)
        made = OPERATORS[programs.name_of(node)](self.builder, *self._operands(node))
        if isinstance(made, str):
            if self.builder.made_now(made):
                self.builder.rename(made, node.name)
                made = node.name
            self.values[node] = self._value(node, made)
        else:
            self.values[node] = [
                None if name is None else self._value(node, name, m) for name, m in zip(made, meta, strict=False)
            ]

    def _computed(self, node: Any) -> Any:
        """The value that PyTorch computes for a node whose operands are known."""
        import torch

        if programs.is_number(node):
            return size_of(node.meta["val"], self.sizes)
        arguments, named = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: self.constants[n])
        with torch.no_grad():
            return node.target(*arguments, **named)

    def _operands(self, node: Any) -> list[Any]:
        """All arguments in the order of the operator's schema, defaults included; tensors as values."""
        given = list(node.args)
        for argument in node.target._schema.arguments[len(given) :]:
            given.append(node.kwargs.get(argument.name, argument.default_value))
        return [self._operand(a) for a in given]

    def _operand(self, argument: Any) -> Any:
        if isinstance(argument, (list, tuple)):
            return [self._operand(a) for a in argument]
        if not _is_node(argument):
            return argument
        if argument not in self.constants:
            return self.values[argument]
        return self.constants[argument] if programs.is_number(argument) else self._constant(argument)

    def _constant(self, node: Any) -> GraphValue:
        """A known tensor as a constant of the graph, under the program's name for it."""
        if node not in self.values:
            array = as_array(self.constants[node], self.names.label(node))
            self.builder.constants[node.name] = array
            self.values[node] = GraphValue(node.name, array.shape, str(array.dtype), len(node.users))
        made: GraphValue = self.values[node]
        return made

    def _outputs(self) -> list[Any]:
        """Results under the program's names for them."""
        (last,) = (n for n in self.program.graph.nodes if n.op == "output")
        made: list[Any] = []
        taken: set[str] = set()
        for node in last.args[0]:
            if not _is_node(node):
                continue
            value = self._operand(node)
            name = node.name
            if value.name != name or name in taken or node.op == "placeholder" or value.name in self.builder.constants:
                name = f"output_{len(made)}"
                self.builder.enter(name, name, value)
                self.builder.rename(self.builder.emit("Identity", value), name)
            taken.add(name)
            made.append(declared(name, value.dtype, value.shape))
        refuse_if(not made, "the program returns no tensor: nothing would be computed")
        return made


def _is_node(argument: Any) -> bool:
    import torch

    return isinstance(argument, torch.fx.Node)


def numpy_type(dtype: Any, where: str) -> str:
    """NumPy's name of a type of PyTorch."""
    name = str(dtype).removeprefix("torch.")
    if name not in ("float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"):
        raise UserError(f"node '{where}' has values of type {name}: convert the module with .float()")
    return name


def as_array(tensor: Any, where: str) -> np.ndarray:
    """A tensor of PyTorch as an array."""
    numpy_type(tensor.dtype, where)
    return np.asarray(tensor.detach().cpu().contiguous().numpy())


class NodeNames(UniqueNames):
    """Names by the module that a node belongs to.

    The first operator of a layer of `torch.nn` is called as the layer (`layer1.0.conv1`), further ones, and functions
    that a module calls, by module and function (`layer1.0/add`).
    """

    def stem(self, node: Any) -> str:
        path, layer = _module(node)
        return path if layer and path not in self.taken else "/".join(p for p in (path, node.name) if p)


def _module(node: Any) -> tuple[str, bool]:
    """Path of the innermost module, and whether it is one of PyTorch's own layers."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    if not stack:
        return "", False
    path, kind = stack[-1][0], str(stack[-1][1])
    path = re.sub(r"^L\['self'\]\.?", "", str(path)).replace("slice(None, None, None)", "")
    kind = kind.removeprefix("<class '")
    return path, bool(path) and kind.startswith(("torch.nn.", "torch.ao.nn.", "torchvision."))
