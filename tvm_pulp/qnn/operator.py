"""What an operator of the dialect is, and its registration with TVM."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import tvm
import tvm_ffi
from tvm import relax

from tvm_pulp.qnn.tensor_spec import TensorSpec

PREFIX = "tvm_pulp.qnn."


class Operator:
    """One operator: type rule, numpy reference, lowering, work.

    Attributes are plain Python values (int, str, lists of them). Constant operands follow the data operands.
    """

    name: ClassVar[str]
    # Whether it computes in single precision although its operands are integers.
    single_precision: ClassVar[bool] = False

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        """Type of the result."""
        raise NotImplementedError

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        """The exact result, in numpy."""
        raise NotImplementedError

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        """The kernel as a lowered PrimFunc: inputs in order, then the output."""
        raise NotImplementedError

    @staticmethod
    def macs(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> int:
        """Multiply-accumulate operations of matrix products; 0 for everything else."""
        return 0

    @staticmethod
    def bytes(inputs: Sequence[TensorSpec], output: TensorSpec) -> int:
        """Bytes read and written once each."""
        return sum(i.bytes for i in inputs) + output.bytes


OPERATORS: dict[str, type[Operator]] = {}


def register(operator: type[Operator]) -> type[Operator]:
    """Class decorator: make the operator known here and to Relax."""
    OPERATORS[operator.name] = operator
    full = PREFIX + operator.name
    if full not in tvm.ir.Op.list_op_names():
        tvm_ffi.get_global_func("ir.RegisterOp")(full, f"tvm_pulp integer operator {operator.name}")

    def infer(call: Any, _builder: Any) -> Any:
        out = operator.infer(attributes(call), [spec_of(a) for a in call.args])
        return relax.TensorType(out.shape, out.dtype)

    def legalize(builder: Any, call: Any) -> Any:
        specs = [spec_of(a) for a in call.args]
        function = operator.lower(attributes(call), specs, spec_of(call))
        return relax.call_tir(builder.add_func(function, operator.name), list(call.args), out_ty=call.ty)

    tvm.ir.register_op_attr(full, "FInferType", infer)
    tvm.ir.register_op_attr(full, "FPurity", True)
    tvm.ir.register_op_attr(full, "FLegalize", legalize)
    return operator


def spec_of(expression: Any) -> TensorSpec:
    """Type of a Relax expression."""
    kind = expression.ty
    return TensorSpec(tuple(int(d) for d in kind.shape.values), str(kind.dtype))


def attributes(call: Any) -> dict[str, Any]:
    """A call's attributes as plain Python values."""
    # One JSON string instead of nested FFI containers: exact, ordered, cheap to read back.
    decoded: dict[str, Any] = json.loads(str(call.attrs["values"]))
    return decoded


def emit(name: str, arguments: Sequence[Any], values: dict[str, Any] | None = None) -> Any:
    """A call of operator `name`, to be bound by a block builder; arrays among its arguments become constants."""
    encoded = json.dumps(values or {}, sort_keys=True)
    attrs = tvm.ir.make_node("ir.DictAttrs", values=encoded)
    operands = [relax.const(np.asarray(a, order="C")) if isinstance(a, np.ndarray) else a for a in arguments]
    return relax.Call(tvm.ir.Op.get(PREFIX + name), operands, attrs)


def relax_name(expression: Any) -> str:
    """The full name of the operator that an expression calls; empty where it calls none."""
    is_call = isinstance(expression, relax.Call) and isinstance(expression.op, tvm.ir.Op)
    return str(expression.op.name) if is_call else ""


def name_of(expression: Any) -> str:
    """The dialect's name of the operator that an expression calls; empty where it calls none of them."""
    full = relax_name(expression)
    return full.removeprefix(PREFIX) if full.startswith(PREFIX) else ""


def is_qnn(expression: Any, *names: str) -> bool:
    """Tell if an expression is a call of the dialect (of one of several operators, if named)."""
    found = name_of(expression)
    return found in names if names else bool(found)
