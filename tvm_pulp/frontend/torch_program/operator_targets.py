"""Operators that a program in a file may call: functions of tensors and sizes, by the names that PyTorch writes."""

import math
import operator
import re
from typing import Any

# Namespaces of operators that compute; in others there are those that print, load libraries or run Python.
_OPERATOR = re.compile(r"torch\.ops\.(aten|prims|quantized_decomposed|torchao)\.([a-zA-Z]\w*|_[a-zA-Z]\w*)\.(\w+)")
_IN_PYTHON = re.compile(r"torch\.ops\.aten\.__i?(and|or|xor|lshift|rshift)__\.(Scalar|Tensor)")
# Attributes of a group of operators that are none of its members.
_NO_MEMBERS = {"op", "overloads", "schemas"}
# Those that hold parts of a program.
_OF_GRAPHS = {"cond", "while_loop", "map", "map_impl", "scan", "associative_scan", "wrap_with_set_grad_enabled"} | {
    *("wrap_with_autocast", "out_dtype", "hints_wrapper", "flex_attention", "invoke_subgraph"),
}
_OF_SIZES = {
    *("eq", "ne", "le", "ge", "lt", "gt", "neg", "pos", "mul", "add", "sub", "floordiv", "mod", "pow", "truediv"),
    *("and_", "or_", "not_", "lshift", "rshift", "getitem", "abs"),
}
_MATHEMATICS = {"trunc", "floor", "ceil", "sqrt"}
_SYMBOLIC = {
    *("sym_not", "sym_int", "sym_float", "sym_ite", "sym_max", "sym_min", "sym_sqrt", "sym_sum", "sym_fresh_size"),
}
# Names of operands that are texts, in PyTorch's schemas; none of them names a file.
_TEXT_OPERANDS = {
    *(
        "UPLO",
        "activation",
        "algorithm",
        "approximate",
        "assert_msg",
        "driver",
        "equation",
        "indexing",
        "interpolation",
    ),
    *("mode", "norm", "ord", "p", "pad_mode", "padding", "padding_mode", "padding_side", "reduce", "rounding_mode"),
    *("side", "output_dtype", "input_dtype", "zero_point_domain", "mapping_type"),
}


def is_operator(target: str) -> bool:
    """Tell if this names an operator on tensors or sizes."""
    found = _OPERATOR.fullmatch(target)
    if found is not None:
        return found[3] not in _NO_MEMBERS and not found[3].startswith("_")
    first, _, name = target.rpartition(".")
    known = {"torch.ops.higher_order": _OF_GRAPHS, "_operator": _OF_SIZES, "math": _MATHEMATICS, "torch": _SYMBOLIC}
    return name in known.get(first, ()) or _IN_PYTHON.fullmatch(target) is not None


def is_text_operand(name: str, text: str) -> bool:
    """Tell if an operand of this name may be a text."""
    return name in _TEXT_OPERANDS and text.isprintable()


def is_pure(target: Any) -> bool:
    """Tell if what PyTorch found under a name is an operator, or one of the functions above."""
    import torch

    if isinstance(target, torch._ops.OpOverload):
        return is_operator(f"torch.ops.{target.namespace}.{target._opname}.{target._overloadname}")
    if isinstance(target, torch._ops.HigherOrderOperator):
        return target.name() in _OF_GRAPHS
    owners = ((operator, _OF_SIZES), (math, _MATHEMATICS), (torch, _SYMBOLIC))
    return any(target is getattr(owner, name, None) for owner, names in owners for name in names)
