"""Reads a module of StableHLO, as JAX' library holds it, into nodes: calls are inlined, loops are written out."""

import re
from collections import ChainMap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.limits import LARGEST_FOLDED, MOST_NODES, check_shape
from tvm_pulp.frontend.stablehlo_program.meanings import evaluated
from tvm_pulp.frontend.stablehlo_program.node import StablehloNode, constant
from tvm_pulp.frontend.stablehlo_program.reducers import Run, kept_extreme, neutral, order_of

_TYPES = {
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    "i1": "bool",
    "i4": "int4",
    "ui4": "uint4",
}
_DEEPEST_CALL = 64
_MOST_STEPS = 1024
# Parts of a name's path that a transformation of JAX wrote, not the user.
_WRITTEN_BY_JAX = re.compile(
    r"\w+\(.*\)|StatefulPartitionedCall|while|body|cond|scan|closed_call|checkpoint|remat\d*|custom_[jv][a-z]+_call\w*"
)

Values = ChainMap[Any, StablehloNode]


@dataclass(frozen=True)
class _Scope:
    """The place of an operation: how deep, in the name of which layer, among which values."""

    depth: int
    caller: str
    values: list[Any]


class Reader:
    """One module on its way; `read` gives the nodes that main returns."""

    def __init__(self, module: Any) -> None:
        self.functions = {_symbol(f): f.operation for f in module.body.operations if f.operation.name == "func.func"}
        refuse_if("main" not in self.functions, "the module has no function 'main': export it with jax.export")
        self.main = self.functions["main"]
        # Types of main's arguments.
        self.arguments = [_type_of(a.type, f"argument {n}") for n, a in enumerate(_block(self.main).arguments)]
        self.count = 0

    def argument_name(self, number: int) -> str:
        """The name that the module gives an argument of main; "" for nothing."""
        return "/".join(_path(_block(self.main).arguments[number].location))

    def read(self, arguments: Sequence[StablehloNode]) -> list[StablehloNode]:
        return self._run(_block(self.main), arguments, _Scope(0, "", []), top=True)

    def _run(
        self,
        block: Any,
        arguments: Sequence[StablehloNode],
        scope: "_Scope",
        top: bool = False,
        around: Sequence[Any] = (),
    ) -> list[StablehloNode]:
        """Values that a block returns; it may read those of blocks around it."""
        refuse_if(scope.depth > _DEEPEST_CALL, "the module's functions call each other too deeply: inline them")
        values: Values = ChainMap(dict(zip(block.arguments, arguments, strict=True)), *around)
        place = 0
        for view in block.operations:
            operation = view.operation
            if any(o not in values for o in operation.operands):
                raise UserError("a region of the module reads a value from nowhere: the file is damaged")
            operands = [values[o] for o in operation.operands]
            if operation.name in ("func.return", "stablehlo.return"):
                return operands
            self.count += 1
            refuse_if(self.count > MOST_NODES, f"the program has more than {MOST_NODES} operators: it is not plausible")
            label = "/".join(_path(operation.location))
            inner = _Scope(scope.depth + 1, label if "/" in label else scope.caller or label, values.maps)
            results = self._operation(operation, operands, inner)
            for value, node in zip(operation.results, results, strict=True):
                if top and node.place is None and node.array is None:
                    node.place = place
                values[value] = node
                place += 1
        raise UserError("a function of the module returns nothing: the file is damaged")

    def _operation(self, operation: Any, operands: list[StablehloNode], scope: "_Scope") -> list[StablehloNode]:
        label = scope.caller
        name = operation.name.split(".", 1)[-1]
        if operation.name == "func.call" or name == "composite":
            return self._call(operation, operands, scope)
        if name == "while":
            return self._loop(operation, operands, scope)
        if name in ("if", "case"):
            return self._branches(operation, operands, scope)
        # These only say something about others.
        if name == "optimization_barrier" or _text(operation, "call_target_name") == "Sharding":
            return operands
        types = [_type_of(r.type, f"node '{label}'") for r in operation.results]
        if name == "convert" and types[0][1] == operands[0].dtype:  # TensorFlow writes them around every mean
            return operands
        attributes = _attributes(operation, label)
        if name == "dot":  # the older form of a plain product
            name, sides = "dot_general", (operands[0].rank - 1, 0)
            attributes = {f"{s}_batching_dimensions": [] for s in ("lhs", "rhs")}
            attributes |= {f"{s}_contracting_dimensions": [d] for s, d in zip(("lhs", "rhs"), sides, strict=True)}
        if name == "set_dimension_size" and operands[1].scalar == operands[0].shape[attributes["dimension"]]:
            return operands[:1]  # what a tensor has anyway
        if name == "sort":
            order = order_of(self._on_numbers(operation.regions[0], scope), [o.dtype for o in operands])
            attributes["order"] = order
        if name == "reduce" and len(operands) == 4:
            kept = kept_extreme(self._on_numbers(operation.regions[0], scope), [o.dtype for o in operands[:2]])
            attributes["extreme"] = kept
        if name in ("reduce", "reduce_window") and len(operands) == 2:
            return [self._reduction(name, operands, *types[0], attributes, label)]
        if len(types) == 1:
            return [self.make(name, operands, *types[0], attributes, label)]
        whole = StablehloNode(name, tuple(operands), (), "int64", attributes, label)
        return [
            StablehloNode("result", (whole,), shape, dtype, {"place": place}, label)
            for place, (shape, dtype) in enumerate(types)
        ]

    def _on_numbers(self, region: Any, scope: "_Scope") -> Run:
        """The function of a reduction or a sorting, for constants."""

        def run(values: Sequence[np.ndarray]) -> list[np.ndarray] | None:
            arrays = [n.array for n in self._inside(region, [constant(v) for v in values], scope)]
            return None if any(a is None for a in arrays) else [a for a in arrays if a is not None]

        return run

    def _reduction(
        self, op: str, operands: Sequence[StablehloNode], shape: Any, dtype: str, attributes: Any, label: str
    ) -> StablehloNode:
        """A reduction of one tensor; a number that it begins with, and that changes something, comes behind it."""
        (x, first), reducer = operands, attributes["reducer"]
        nothing = neutral(reducer, dtype)
        if nothing is None or (first.scalar is not None and first.scalar == nothing):
            return self.make(op, operands, shape, dtype, attributes, label)
        if reducer in ("add", "multiply") and np.any(attributes.get("padding", 0)):
            raise UserError(f"node '{label}' pads its windows with other numbers than {nothing}: begin with {nothing}")
        made = self.make(op, [x, constant(np.asarray(nothing, dtype))], shape, dtype, attributes, label)
        spread = self.make("broadcast_in_dim", [first], shape, dtype, {"broadcast_dimensions": []}, label)
        return self.make(reducer, [made, spread], shape, dtype, {}, label)

    def make(
        self, op: str, operands: Sequence[StablehloNode], shape: Any, dtype: str, attributes: Any, label: str
    ) -> StablehloNode:
        """A node; a constant where all of its operands are."""
        if op == "constant":
            return constant(attributes["value"], label)
        if op == "select" and operands[0].scalar is not None:  # as around a variance of no elements
            return operands[1] if operands[0].scalar else operands[2]
        node = StablehloNode(op, tuple(operands), shape, dtype, attributes, label)
        arrays = [o.array for o in operands]
        small = sum(a.nbytes for a in arrays if a is not None) <= LARGEST_FOLDED
        if small and all(a is not None for a in arrays) and np.prod(shape, dtype=float) <= LARGEST_FOLDED:
            array = evaluated(node, [a for a in arrays if a is not None])
            if array is not None:
                return constant(array, _name_of_parts(operands) or label)
        return node

    def _call(self, operation: Any, operands: list[StablehloNode], scope: "_Scope") -> list[StablehloNode]:
        label = scope.caller
        name = _text(operation, "callee" if operation.name == "func.call" else "decomposition")
        if name not in self.functions:
            raise UserError(f"node '{label}' calls '{name}', which the module does not define: the file is damaged")
        return self._run(_block(self.functions[name]), operands, scope)

    def _inside(self, region: Any, arguments: Sequence[StablehloNode], scope: "_Scope") -> list[StablehloNode]:
        return self._run(region.blocks[0], arguments, scope, around=scope.values)

    def _loop(self, operation: Any, state: list[StablehloNode], scope: "_Scope") -> list[StablehloNode]:
        """A loop whose end is known, step after step."""
        label, (condition, body) = scope.caller or "while", operation.regions
        for _ in range(_MOST_STEPS + 1):
            (goes_on,) = self._inside(condition, state, scope)
            if goes_on.array is None:
                raise UserError(
                    f"node '{label}' is a loop whose end depends on values: use jax.lax.scan or a fixed number of steps"
                )
            if not goes_on.array.reshape(-1)[0]:
                return state
            state = self._inside(body, state, scope)
        raise UserError(f"node '{label}' is a loop of more than {_MOST_STEPS} steps, too many to write out: shorten it")

    def _branches(self, operation: Any, operands: list[StablehloNode], scope: "_Scope") -> list[StablehloNode]:
        """The branch that is known to be taken; else all of them, and a choice of their results."""
        chosen, branches = operands[0], list(operation.regions)
        if operation.name.endswith("if"):
            branches.reverse()  # the first is the one of true
        if chosen.array is not None:
            number = min(max(int(chosen.array.reshape(-1)[0]), 0), len(branches) - 1)
            return self._inside(branches[number], (), scope)
        made = [self._inside(b, (), scope) for b in branches]
        results = made[-1]
        for number in reversed(range(len(made) - 1)):
            results = [
                self._choice(chosen, number, *pair, scope.caller) for pair in zip(made[number], results, strict=True)
            ]
        return results

    def _choice(
        self, chosen: StablehloNode, number: int, first: StablehloNode, second: StablehloNode, label: str
    ) -> StablehloNode:
        equal = {"comparison_direction": "EQ"}
        wanted = constant(np.asarray(number, chosen.dtype))
        is_first = self.make("compare", [chosen, wanted], (), "bool", equal, label)
        spread = self.make("broadcast_in_dim", [is_first], first.shape, "bool", {"broadcast_dimensions": []}, label)
        return self.make("select", [spread, first, second], first.shape, first.dtype, {}, label)


def _block(function: Any) -> Any:
    if not len(function.regions) or not len(function.regions[0].blocks):
        raise UserError(f"function '{_symbol(function)}' of the module has no body: the file is damaged")
    return function.regions[0].blocks[0]


def _symbol(function: Any) -> str:
    return str(function.attributes["sym_name"]).strip('"')


def _text(operation: Any, name: str) -> str:
    return str(operation.attributes[name]).strip('@"') if name in operation.attributes else ""


def _type_of(value_type: Any, what: str) -> tuple[tuple[int, ...], str]:
    """Shape and type of a tensor."""
    from jaxlib.mlir import ir

    if not isinstance(value_type, ir.RankedTensorType):
        raise UserError(f"{what} is {value_type}, no tensor of known rank: export the model with fixed shapes")
    if any(value_type.is_dynamic_dim(d) for d in range(value_type.rank)):
        raise UserError(f"{what} has the dynamic shape {value_type}: export the model with fixed shapes")
    element = str(value_type.element_type)
    if element not in _TYPES:
        raise UserError(f"{what} has values of type {element}: convert the model's parameters and inputs to float32")
    check_shape(what, value_type.shape, 4)
    return tuple(value_type.shape), _TYPES[element]


def _path(location: Any) -> list[str]:
    """Layers and operator of a location, as the framework wrote them."""
    found = re.match(r'loc\((?:callsite\(|fused\[)*"((?:[^"\\]|\\.)*)"(?!:\d)', str(location)[:4000])
    if found is None:
        return []
    # TensorFlow lists a node under several names.
    parts = found.group(1).split(";")[0].rstrip(":").split("/")
    return [p for p in parts if p and not _WRITTEN_BY_JAX.fullmatch(p)]


def _name_of_parts(operands: Sequence[StablehloNode]) -> str:
    """The parameter that a constant is made of."""
    return next((o.label for o in operands if o.label.startswith("@")), "")


# Classes of attributes that hold several lists of axes, and the lists.
_DIMENSIONS = {
    "dot_dimension_numbers": (
        "DotDimensionNumbers",
        *("lhs_batching_dimensions", "rhs_batching_dimensions"),
        *("lhs_contracting_dimensions", "rhs_contracting_dimensions"),
    ),
    "gather": (
        "GatherDimensionNumbers",
        *("offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims"),
        *("start_index_map", "index_vector_dim"),
    ),
    "scatter_dimension_numbers": (
        "ScatterDimensionNumbers",
        *("update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims"),
        *("scattered_dims_to_operand_dims", "index_vector_dim"),
    ),
    "convolution": (
        "ConvDimensionNumbers",
        *("input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"),
        *("kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions"),
        *("output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions"),
    ),
}


def _attributes(operation: Any, label: str) -> dict[str, Any]:
    """Attributes as numbers, texts, lists and arrays; regions by what they do."""
    from jaxlib.mlir.dialects import stablehlo

    if operation.name == "stablehlo.custom_call":
        return {"call_target_name": _text(operation, "call_target_name")}
    made: dict[str, Any] = {}
    for key, value in _items(operation.attributes):
        if "layout" in key:  # of memory, which is nobody's business here
            continue
        kind = operation.name.split(".")[-1] if key == "dimension_numbers" else key
        if kind in _DIMENSIONS:
            group, *names = _DIMENSIONS[kind]
            numbers = getattr(stablehlo, group)(value)
            made |= {name: _list(getattr(numbers, name)) for name in names}
        else:
            made[key] = _plain(value, label)
    if len(operation.regions):
        # The operators of a reduction's body, in order; a plain one has a single one.
        body = operation.regions[0].blocks[0].operations
        inner = [o.operation for o in body][:-1]
        made["reducer"] = "/".join(o.name.split(".", 1)[-1] for o in inner)
    return made


def _items(attributes: Any) -> list[tuple[str, Any]]:
    return [(a.name, a.attr) if hasattr(a, "attr") else (a, attributes[a]) for a in attributes]


def _list(value: Any) -> Any:
    return value if isinstance(value, int) else [int(v) for v in value]


def _plain(attribute: Any, label: str) -> Any:
    """An attribute as Python has it; one of the dialect's words as its last word."""
    from jaxlib.mlir import ir

    if isinstance(attribute, ir.DenseElementsAttr):
        _, dtype = _type_of(attribute.type, f"constant '{label}'")
        try:
            held = np.array(attribute)
        except Exception:  # bytes that do not fit the shape, or a type that the library cannot show
            raise UserError(f"a constant of node '{label}' cannot be read: the file is damaged") from None
        shape = tuple(ir.ShapedType(attribute.type).shape)
        return (
            np.broadcast_to(held.reshape(-1)[:1].reshape([1] * len(shape)), shape).astype(dtype, copy=False)
            if (attribute.is_splat and held.size)
            else held.reshape(shape).astype(dtype, copy=False)
        )
    for kind in (ir.BoolAttr, ir.IntegerAttr, ir.StringAttr, ir.FloatAttr):
        if isinstance(attribute, kind):
            return attribute.value
    if isinstance(attribute, (ir.DenseI64ArrayAttr, ir.DenseBoolArrayAttr, ir.ArrayAttr)):
        return [v if isinstance(v, (int, bool)) else _plain(v, label) for v in attribute]
    words = re.findall(r"\w+", str(attribute)[:200])
    return words[-1] if words else ""
