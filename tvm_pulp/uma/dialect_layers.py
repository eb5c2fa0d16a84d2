"""Operators of a canonical module as layers, before anything is lowered: what patterns and checks look at."""

from typing import Any

import tvm
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.qnn.lineage import bindings_of
from tvm_pulp.qnn.network import Layer, Network, Origin, Tensor
from tvm_pulp.qnn.operator import OPERATORS, PREFIX, spec_of
from tvm_pulp.qnn.tensor_spec import TensorSpec


def dialect_layers(module: Any) -> Network:
    """One layer per operator of the dialect; other operators of `main` are not listed, what they compute is."""
    main = module["main"]
    tensors: dict[Any, Tensor] = {p: Tensor(p.name, spec_of(p), "input", p.name) for p in main.params}
    layers = []

    def tensor(expression: Any) -> Tensor:
        if isinstance(expression, tvm.ir.GenericConst):
            data = expression.value.numpy()
            return Tensor("constant", TensorSpec(tuple(data.shape), str(data.dtype)), "constant", data=data)
        return tensors[expression]

    for binding in bindings_of(main):
        name, call = binding.var.name, binding.value
        if isinstance(binding.var.ty, relax.TensorType):
            tensors[binding.var] = Tensor(name, spec_of(binding.var), "activation", name)
        if qnn.is_qnn(call):
            operator, attributes = OPERATORS[call.op.name.removeprefix(PREFIX)], qnn.attributes(call)
            inputs, output = [tensor(a) for a in call.args], tensors[binding.var]
            macs = operator.macs(attributes, [t.spec for t in inputs], output.spec)
            operands = (attributes, inputs, [output])
            layers.append(Layer(name, operator.name, *operands, macs=macs, variables=(binding.var,)))
    return Network("main", layers, [tensors[p] for p in main.params], [], Origin(module, (), (), None))
