"""The statement of an operator of the dialect, and its registration, also with TVM."""

import json
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
import tvm
import tvm_ffi
from tvm import relax

from tvm_pulp.qnn.loops import Loops, call, i32, i64, less
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import Arrays, Attributes, Specs, TensorSpec
from tvm_pulp.qnn.tiles import TileRule

__all__ = ["OPERATORS", "PREFIX", "Operator", "attributes", "emit", "is_qnn", "name_of", "register", "relax_name"]
# What the files of operators are written with.
__all__ += ["Arrays", "Attributes", "Loops", "Requant", "Specs", "TensorSpec", "call", "i32", "i64", "less", "spec_of"]

PREFIX = "tvm_pulp.qnn."
AnOperator = TypeVar("AnOperator", bound="Operator")


class Operator:
    """One operator: all that is said about it, whoever runs it.

    Attributes are plain Python values (int, str, lists of them). Constant operands follow the data operands.
    """

    name: ClassVar[str]
    # Names of its attributes, one space apart; a star stands for a rule of requantization (`attribute_names`).
    attribute_names: ClassVar[str] = ""
    # Names of its operands in order, one space apart: constants are called after them.
    operand_names: ClassVar[str] = ""
    # How a part of the result is computed from parts of the operands; None: the cores run it whole.
    tile: ClassVar[TileRule | None] = None
    # Element type of its results, where that is always the same, or the name of the operand that has it.
    result: ClassVar[str] = ""
    # It computes in single precision although its operands are integers.
    single_precision: ClassVar[bool] = False

    def result_type(self, attributes: Attributes) -> str:
        """Element type of the result: the stated one, else the attribute `dtype`, else that of the requantization."""
        return str(self.result or attributes.get("dtype") or Requant.of(attributes).out_dtype)

    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        """Type of the result; that of its elements and the shape of the first operand, unless an operator differs."""
        operands = dict(zip(self.operand_names.split(), inputs, strict=False))
        known = operands.get(self.result)
        return TensorSpec(inputs[0].shape, known.dtype if known else self.result_type(attributes))

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        """The exact result, in numpy."""
        raise NotImplementedError

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        """Write the kernel's loops: parameters are the inputs in order, then the output."""
        raise NotImplementedError

    def lower(self, attributes: Attributes, inputs: Specs, output: TensorSpec) -> Any:
        """The kernel as a lowered PrimFunc."""
        loops = Loops()
        self.body(loops, attributes, inputs, output)
        return loops.finish(self.name)

    def macs(self, attributes: Attributes, inputs: Specs, output: TensorSpec) -> int:
        """Multiply-accumulate operations of matrix products; 0 for everything else."""
        return 0

    def rounds_by_tensors(self, attributes: Attributes) -> bool:
        """Tell if the rule of requantization comes with tensors, which follow all other operands."""
        return True

    def uses_float(self, attributes: Attributes) -> bool:
        """Tell if a call computes in single precision."""
        return self.single_precision


OPERATORS: dict[str, Operator] = {}


def register(
    name: str,
    *,
    attributes: str = "",
    operands: str = "",
    tile: TileRule | None = None,
    result: str = "",
    single_precision: bool = False,
) -> Callable[[type[AnOperator]], type[AnOperator]]:
    """Class decorator: make an operator known here and to Relax, and with it to every stage of the compiler.

    `attributes` and `operands` are names, one space apart; what they and the rest mean is said at `Operator`.
    """

    def known(kind: type[AnOperator]) -> type[AnOperator]:
        kind.name, kind.attribute_names, kind.operand_names = name, attributes, operands
        kind.tile, kind.result, kind.single_precision = tile, result, single_precision
        OPERATORS[name] = kind()
        _tell_relax(OPERATORS[name])
        return kind

    return known


def _tell_relax(operator: Operator) -> None:
    """Type inference and legalization of calls."""
    full = PREFIX + operator.name
    if full not in tvm.ir.Op.list_op_names():
        tvm_ffi.get_global_func("ir.RegisterOp")(full, f"tvm_pulp integer operator {operator.name}")

    def infer(call: Any, _builder: Any) -> Any:
        out = operator.infer(attributes(call), [spec_of(a) for a in call.args])
        return relax.TensorType(out.shape, out.dtype)

    def legalize(builder: Any, call: Any) -> Any:
        function = operator.lower(attributes(call), [spec_of(a) for a in call.args], spec_of(call))
        return relax.call_tir(builder.add_func(function, operator.name), list(call.args), out_ty=call.ty)

    tvm.ir.register_op_attr(full, "FInferType", infer)
    tvm.ir.register_op_attr(full, "FPurity", True)
    tvm.ir.register_op_attr(full, "FLegalize", legalize)


def spec_of(expression: Any) -> TensorSpec:
    kind = expression.ty
    return TensorSpec(tuple(int(d) for d in kind.shape.values), str(kind.dtype))


def attributes(call: Any) -> dict[str, Any]:
    """A call's attributes as plain Python values."""
    # One JSON string instead of nested FFI containers: exact, ordered, cheap to read back.
    decoded: dict[str, Any] = json.loads(str(call.attrs["values"]))
    return decoded


def emit(name: str, arguments: Sequence[Any], values: dict[str, Any] | None = None) -> Any:
    """A call of operator `name`, to be bound by a block builder; arrays among its arguments become constants."""
    attrs = tvm.ir.make_node("ir.DictAttrs", values=json.dumps(values or {}, sort_keys=True))
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
