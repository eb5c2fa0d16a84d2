"""Sums of two tensors of bytes as calls of a CPU's kernels: a summand of each value by a table, and one fitted rule."""

import numpy as np

from tvm_pulp.codegen.cpu_kernels.fit_rule import Sums, fit_rule
from tvm_pulp.codegen.cpu_kernels.kernel_call import RANGES, SATURATIONS, Call, KernelCall
from tvm_pulp.qnn import fixed_point
from tvm_pulp.qnn.add import left_shift, rules, split
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.soc.cpu import Cpu

# Of a sum: a result's fraction of 16 bits and some more.
_SUM_BITS = 27


def call_add(layer: Layer, cpu: Cpu) -> KernelCall | None:
    """The call; None where shapes do not fit, a value has more bits, or no constants give the network's results."""
    a, b, y = layer.inputs[0], layer.inputs[1], layer.outputs[0]
    if any(t.spec.dtype not in RANGES for t in (a, b, y)) or not all(_is_row(t.spec, y.spec) for t in (a, b)):
        return None
    count = min(t.spec.elements for t in (a, b))
    if any(t.spec.elements > 1 for t in layer.inputs[2:]):
        return None
    requant, operands = _rule_of_sum(layer)
    clipped = (requant.low, requant.high)
    if clipped not in SATURATIONS or not requant.operands:
        return None
    tables, sums = _sums(requant, operands, _tables(layer))
    if sums is None:
        return None
    fitted = fit_rule(sums, clipped, doubled=cpu.doubled)
    if fitted is None:
        return None
    # What a sum begins with is part of a table.
    tables = [tables[0] + fitted.start[0], tables[1]]
    less = np.zeros(1, np.int64) if fitted.less is None else fitted.less
    scale = np.concatenate([fitted.shift, fitted.multiply, fitted.add, less]).astype(np.int32)
    call = Call(layer, [a, b])
    call.constant("tables", np.concatenate(tables).astype(np.int32))
    call.constant("scale", scale)
    suffix = SATURATIONS[clipped] + ("" if fitted.less is None else "_away")
    pointers = [
        name if t.spec.dtype == "uint8" else f"(const uint8_t *){name}" for name, t in zip("ab", (a, b), strict=True)
    ]
    call.result()
    end = f"{count}, tables, scale, TVM_PULP_{suffix.upper()});"
    if count == y.spec.elements:
        body = [f"  tvm_pulp_add({', '.join(pointers)}, {call.y}, {end}"]
    else:
        moved = [f"{p} + i" if t.spec.elements > count else p for p, t in zip(pointers, (a, b), strict=True)]
        body = [
            f"  for (int32_t i = 0; i < {y.spec.elements}; i += {count})",
            f"    tvm_pulp_add({', '.join(moved)}, {call.y} + i, {end}",
        ]
    whole = [i for i, t in enumerate((a, b)) if t.spec.elements == y.spec.elements]
    return call.made(["  /* Summands by tables. */", *body], "add.h", overwrites=whole)


def _is_row(spec: TensorSpec, whole: TensorSpec) -> bool:
    """Tell if a tensor is as large as another, or one that every row of it is added to."""
    shape = spec.shape
    while shape and shape[0] == 1:
        shape = shape[1:]
    return spec.elements == whole.elements or (len(shape) > 0 and shape == whole.shape[-len(shape) :])


def _rule_of_sum(layer: Layer) -> tuple[Requant, tuple[np.ndarray, np.ndarray]]:
    attributes = layer.attributes
    rule = rules(attributes)[2]
    if attributes["form"] == "half_even":
        requant = Requant("half_even", 0, rule.zero_point, rule.low, rule.high, True, rule.dtype)
        return requant, (np.array([1]), np.array([attributes["shift"]]))
    tensors = split(attributes, [t.values for t in layer.inputs[2:]])[2]
    first, second = (np.asarray(t, np.int64).reshape(-1) for t in tensors) if tensors else (np.zeros(1), np.zeros(1))
    return rule, (first, second)


def _sums(
    requant: Requant, operands: tuple[np.ndarray, np.ndarray], tables: list[np.ndarray]
) -> tuple[list[np.ndarray], Sums | None]:
    """Summands with as many bits as fit, and their sums; None where exact sums that round apart become the same."""
    exact = (tables[0][:, None] + tables[1][None, :]).reshape(-1)
    excess = int(np.abs(exact).max()).bit_length() - _SUM_BITS if requant.kind == "half_even" else 0
    if excess <= 0:
        reachable = np.unique(exact)
        return tables, Sums(requant, operands, np.zeros(1, np.int64), reachable[:1], reachable[-1:], reachable)
    tables = [(table + (1 << excess >> 1)) >> excess for table in tables]
    sums = (tables[0][:, None] + tables[1][None, :]).reshape(-1)
    order = np.argsort(sums, kind="stable")
    reachable, first = np.unique(sums[order], return_index=True)
    results = requant.apply(exact[None, order], operands, axis=0).astype(np.int64)[0]
    known = np.minimum.reduceat(results, first)
    if (known != np.maximum.reduceat(results, first)).any() or (np.diff(known) < 0).any():
        return tables, None
    rule = (operands[0], operands[1] - excess)
    return tables, Sums(requant, rule, np.zeros(1, np.int64), reachable[:1], reachable[-1:], reachable, known)


def _tables(layer: Layer) -> list[np.ndarray]:
    """Summands of all values of both operands, by their bits."""
    attributes, made = layer.attributes, []
    handed = split(attributes, [t.values for t in layer.inputs[2:]])
    for place, tensor in enumerate(layer.inputs[:2]):
        values = np.arange(256, dtype=np.uint8).view(tensor.spec.dtype).astype(np.int64)
        if attributes["form"] == "plain":
            summand = rules(attributes)[place].apply(values, handed[place]).astype(np.int64)
        else:
            centred = values - attributes["zero_point_b" if place else "zero_point_a"]
            factor = attributes["multipliers"][place]
            if attributes["form"] == "half_even":
                summand = centred * factor
            else:
                exponent = attributes["exponents"][place]
                summand = fixed_point.multiply(centred << left_shift(attributes), factor, exponent)
                summand = -summand if place and attributes["subtract"] else summand
        made.append(summand)
    return made
