"""From a canonical or partitioned Relax module to a `Network`: layers, tensors, views, outputs."""

import re
from collections.abc import Container, Iterable
from dataclasses import replace
from itertools import count
from typing import Any

import tvm
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.qdq_operands import RESHAPES
from tvm_pulp.canonicalize.rewriter import integers
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.planning.lowering.generated_macs import generated_macs
from tvm_pulp.planning.lowering.legalize_float import LoweredKernels, legalize_float
from tvm_pulp.planning.lowering.operand_roles import operand_role
from tvm_pulp.planning.lowering.pieces import Readers, first_of_piece
from tvm_pulp.qnn import lineage
from tvm_pulp.qnn.indexing import SliceAttributes
from tvm_pulp.qnn.network import Layer, Network, Origin, State, Tensor
from tvm_pulp.qnn.operator import OPERATORS, PREFIX, Attributes, Operator, spec_of
from tvm_pulp.qnn.record import NoAttributes
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.region import join

# Words a tensor cannot be called after: C's own, what common headers and compilers define, what emitted code uses.
_RESERVED = re.compile(
    r"auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|inline|int|long"
    r"|register|restrict|return|short|signed|sizeof|static|struct|switch|typedef|union|unsigned|void|volatile|while"
    r"|bool|true|false|asm|typeof|main|linux|unix|mem(cpy|move|set|cmp)|u?int\w*_t|U?INT\w*|NULL|L1|L2|AT"
    r"|core|cores|dma|arena|inputs|outputs|(tvm|_)\w*",
    re.ASCII,
)


def unused_name(base: str, taken: Container[str]) -> str:
    """The first of `base`, `base_2`, `base_3` and so on that is free."""
    return next(name for n in count(1) if (name := base if n == 1 else f"{base}_{n}") not in taken)


class Names:
    """Turns any text into unique C identifiers."""

    def __init__(self, engines: Iterable[str] = ()) -> None:
        self._taken: set[str] = set()
        # Drivers begin their names with the engine's.
        self._drivers = tuple(f"{engine}_" for engine in engines)

    def pick(self, text: str) -> str:
        base = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")[:48].rstrip("_") or "value"
        # Emitted code may use a name already.
        if base[0].isdigit() or _RESERVED.fullmatch(base) or base.startswith(self._drivers):
            base = f"v_{base}"
        name = unused_name(base, self._taken)
        self._taken.add(name)
        return name


def build_network(
    module: Any, imported: Imported, name: str, states: tuple[State, ...] = (), engines: tuple[str, ...] = ()
) -> Network:
    """Layers of `main` in order, for these engines. Reshapes become views; results live in the caller's buffers."""
    lowered = legalize_float(module)
    names, made_of = (tuple(imported.inputs), tuple(imported.outputs)), lineage.read(lowered)
    module = lineage.removed(lowered)
    origin = Origin(module, *names, LoweredKernels(), imported.quantization, states, made_of, engines)
    return _Builder(origin, name).build()


def rebuild_network(network: Network, module: Any) -> Network:
    """The network of another module with the same inputs and outputs: one layer per region where it is partitioned."""
    assert network.origin is not None
    return _Builder(replace(network.origin, module=module), network.name).build()


class _Builder:
    def __init__(self, origin: Origin, name: str) -> None:
        self._origin, self._module, self._name = origin, origin.module, name
        self._kernels = origin.kernels.of(origin.module)
        self._names = Names(origin.engines)
        self._values: dict[Any, Any] = {}
        self._constants: dict[Any, Tensor] = {}
        self._layers: list[Layer] = []
        self._readers = Readers(origin.module)

    def build(self) -> Network:
        function = self._module["main"]
        inputs = []
        for parameter, source in zip(function.params, self._origin.inputs, strict=True):
            inputs.append(Tensor(self._names.pick(source), spec_of(parameter), "input", source))
            inputs[-1].quantization = self._origin.quantization.get(("input", source))
            self._values[parameter] = inputs[-1]
        for state in self._origin.states:
            inputs[state.past].level = state.level
        for block in function.body.blocks:
            for binding in block.bindings:
                self._values[binding.var] = self._value(binding.var, binding.value)
        results, outputs = self._tensor(function.body.body), []
        for result, source in zip(
            results if isinstance(results, list) else [results], self._origin.outputs, strict=True
        ):
            outputs.append(self._output(result, source))
            outputs[-1].quantization = self._origin.quantization.get(("output", source))
        for state in self._origin.states:
            if state.together > 1 and state.rows == 1:
                outputs[state.present].storage.apart = state.together
        network = Network(self._name, self._layers, inputs, outputs, self._origin)
        for joined in network.joined_caches():
            # In L1 the past is followed by the new rows already: what joins them is the buffer itself.
            joined.level = "l1"
        return network

    def _tensor(self, expression: Any) -> Any:
        if isinstance(expression, relax.Tuple):
            return [self._tensor(f) for f in expression.fields]
        if isinstance(expression, tvm.ir.GenericConst):
            return self._constant(expression)
        return self._values[expression]

    def _constant(self, expression: Any) -> Tensor:
        data = expression.value.numpy()
        key = (str(data.dtype), data.shape, data.tobytes())
        if key not in self._constants:
            spec = TensorSpec(tuple(data.shape), str(data.dtype))
            self._constants[key] = Tensor(self._names.pick("constant"), spec, "constant", data=data)
        return self._constants[key]

    def _value(self, variable: Any, value: Any) -> Any:
        if isinstance(value, relax.Var | relax.Tuple | tvm.ir.GenericConst):
            return self._tensor(value)
        if isinstance(value, relax.TupleGetItem):
            return self._tensor(value.tuple_value)[value.index]
        if isinstance(value, relax.ShapeExpr):
            return value
        if isinstance(value.op, tvm.ir.GlobalVar):
            return self._region(variable, value)
        if value.op.name in RESHAPES:
            source, name = self._tensor(value.args[0]), self._names.pick(variable.name)
            return Tensor(name, spec_of(value), source.kind, variable.name, view_of=source)
        if qnn.is_qnn(value):
            return self._piece(variable, value) or self._dialect(variable, value)
        if value.op.name == "relax.call_tir":
            return self._generated(variable, value)
        raise TypeError(f"no kernel for {value.op.name}")

    def _piece(self, variable: Any, call: Any) -> Tensor | None:
        """Floats that lie in another tensor without a gap, where functions of single elements are all that reads them.

        Those take them from any place; what else reads a tensor may want it to begin where a vector does.
        """
        first = first_of_piece(call)
        if first is None or spec_of(call).dtype != "float32" or not self._readers.only_maps(variable):
            return None
        source = self._tensor(call.args[0])
        if source.storage.kind != "activation":
            return None
        name = self._names.pick(variable.name)
        return Tensor(name, spec_of(call), source.kind, variable.name, view_of=source, offset=first)

    def _dialect(self, variable: Any, call: Any) -> Tensor:
        operator, attributes = OPERATORS[call.op.name.removeprefix(PREFIX)], qnn.attributes(call)
        inputs = [self._tensor(a) for a in call.args]
        output = self._activation(variable.name, spec_of(call))
        macs = operator.macs(attributes, [t.spec for t in inputs], output.spec)
        self._name_constants(operator, attributes, inputs, output)
        layer = Layer(output.name, operator.name, attributes, inputs, [output], macs=macs, variables=(variable,))
        self._add(layer, variable)
        return output

    def _region(self, variable: Any, call: Any) -> Any:
        """The function of a region becomes one layer; its last operator is called after the call's variable."""
        function, body = self._module[call.op], self._module[call.op].body
        for parameter, argument in zip(function.params, call.args, strict=True):
            self._values[parameter] = self._tensor(argument)
        outside, self._layers = self._layers, []
        inside: list[Any] = []
        for binding in (b for block in body.blocks for b in block.bindings):
            made = variable if binding.var.same_as(body.body) else binding.var
            self._values[binding.var] = self._value(made, binding.value)
            inside.append(made)
        parts, self._layers = self._layers, outside
        if parts:
            layer = join(parts, inside)
            stated = function.attrs or {}
            layer.composite, layer.codegen = (str(stated.get(name, "")) for name in ("Composite", "Codegen"))
            self._layers.append(layer)
        return self._tensor(body.body)

    def _generated(self, variable: Any, call: Any) -> Any:
        kernel = self._kernels[call.args[0].name_hint]
        inputs = [self._tensor(a) for a in call.args[1].fields]
        is_tuple = isinstance(call.ty_args[0], relax.TupleType)
        outputs = [
            self._activation(variable.name, TensorSpec(tuple(integers(k.shape.values)), str(k.dtype)))
            for k in (call.ty_args[0].fields if is_tuple else call.ty_args)
        ]
        stem = f"{outputs[0].name}_workspace"
        spaces = [Tensor(self._names.pick(stem), spec, "workspace") for spec in kernel.workspaces]
        operator = f"tir.{call.args[0].name_hint}"
        layer = Layer(outputs[0].name, operator, NoAttributes(), inputs, outputs, kernel.function, workspaces=spaces)
        layer.parallel, layer.variables, layer.macs = kernel.parallel, (variable,), generated_macs(kernel.function)
        self._add(layer, variable)
        return outputs if is_tuple else outputs[0]

    def _add(self, layer: Layer, variable: Any) -> None:
        """Add a layer, with the nodes of the model file that its variable was made of."""
        known = self._origin.made_of.get(str(variable.name))
        layer.nodes = known.nodes if known is not None else ()
        self._layers.append(layer)

    def _activation(self, source: str, spec: TensorSpec) -> Tensor:
        return Tensor(self._names.pick(source), spec, "activation", source)

    def _name_constants(self, operator: Operator, attributes: Attributes, inputs: list[Tensor], output: Tensor) -> None:
        """Constants are called after the first layer that uses them and what it uses them for."""
        for position, tensor in enumerate(inputs):
            if tensor.kind == "constant" and tensor.name.startswith("constant"):
                role = operand_role(operator, attributes, position, len(inputs))
                tensor.name = self._names.pick(f"{output.name}_{role}")

    def _output(self, tensor: Tensor, source: str) -> Tensor:
        """Let the producer write into the caller's buffer; copy where it cannot."""
        storage = tensor.storage
        if storage.kind == "activation":
            storage.kind, storage.source, tensor.source = "output", source, source
            for layer in self._layers:
                for operand in layer.operands:
                    if operand.storage is storage:
                        operand.kind = "output"
            return tensor
        copy = Tensor(self._names.pick(f"{source}_copy"), tensor.spec, "output", source)
        shape = list(tensor.spec.shape) or [1]
        axes = len(shape)
        attributes = SliceAttributes(begin=(0,) * axes, stride=(1,) * axes, size=tuple(shape))
        self._layers.append(Layer(copy.name, "slice", attributes, [tensor], [copy]))
        return copy
