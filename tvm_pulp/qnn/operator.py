"""The statement of an operator of the dialect, and its registration, also with TVM."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar, overload

import numpy as np
import tvm
import tvm_ffi
from tvm import relax

from tvm_pulp.qnn.loops import Loops, call, i32, i64, less
from tvm_pulp.qnn.record import Attributes, NoAttributes, named_record
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import Arrays, Specs, TensorSpec
from tvm_pulp.qnn.tiles import TileRule

__all__ = ["OPERATORS", "PREFIX", "Operator", "attributes", "emit", "is_qnn", "name_of", "register", "relax_name"]
# What the files of operators are written with.
__all__ += ["Arrays", "Attributes", "Loops", "Requant", "Specs", "TensorSpec", "call", "i32", "i64", "less", "spec_of"]

PREFIX = "tvm_pulp.qnn."
AnOperator = TypeVar("AnOperator", bound="Operator[Any]")
Stated = TypeVar("Stated", bound=Attributes)


class Operator(Generic[Stated]):
    """One operator: all that is said about it, whoever runs it. Constant operands follow the data operands."""

    name: ClassVar[str]
    # The record of its attributes.
    record: ClassVar[type[Attributes]] = NoAttributes
    # Names of its operands in order, one space apart: constants are called after them.
    operand_names: ClassVar[str] = ""
    # How a part of the result is computed from parts of the operands; None: the cores run it whole.
    tile: ClassVar[TileRule | None] = None
    # Element type of its results, where that is always the same, or the name of the operand that has it.
    result: ClassVar[str] = ""
    # It computes in single precision although its operands are integers.
    single_precision: ClassVar[bool] = False

    def stated(self, values: Mapping[str, Any]) -> Stated:
        """Attributes as its record: of a record, or of plain values by name."""
        made: Any = self.record.from_values(values)
        return made

    def result_type(self, attributes: Stated) -> str:
        """Element type of the result: the stated one, else the attribute `dtype`, else that of the requantization."""
        return str(self.result or getattr(attributes, "dtype", "") or Requant.of(attributes).out_dtype)

    def infer(self, attributes: Stated, inputs: Specs) -> TensorSpec:
        """Type of the result; that of its elements and the shape of the first operand, unless an operator differs."""
        operands = dict(zip(self.operand_names.split(), inputs, strict=False))
        known = operands.get(self.result)
        return TensorSpec(inputs[0].shape, known.dtype if known else self.result_type(attributes))

    def reference(self, attributes: Stated, inputs: Arrays) -> np.ndarray:
        """The exact result, in numpy."""
        raise NotImplementedError

    def body(self, loops: Loops, attributes: Stated, inputs: Specs, output: TensorSpec) -> None:
        """Write the kernel's loops: parameters are the inputs in order, then the output."""
        raise NotImplementedError

    def lower(self, attributes: Stated, inputs: Specs, output: TensorSpec) -> Any:
        """The kernel as a lowered PrimFunc."""
        loops = Loops()
        self.body(loops, attributes, inputs, output)
        return loops.finish(self.name)

    def macs(self, attributes: Stated, inputs: Specs, output: TensorSpec) -> int:
        """Multiply-accumulate operations of matrix products; 0 for everything else."""
        return 0

    def rounds_by_tensors(self, attributes: Stated) -> bool:
        """Tell if the rule of requantization comes with tensors, which follow all other operands."""
        return True

    def uses_float(self, attributes: Stated) -> bool:
        """Tell if a call computes in single precision."""
        return self.single_precision


OPERATORS: dict[str, Operator[Any]] = {}
# Records of calls by their attributes in Relax, so that each is read once; so many are kept.
_RECORDS: dict[Any, Attributes] = {}
_MOST_RECORDS = 1 << 14


def register(
    name: str,
    *,
    attributes: type[Attributes] | str = NoAttributes,
    operands: str = "",
    tile: TileRule | None = None,
    result: str = "",
    single_precision: bool = False,
) -> Callable[[type[AnOperator]], type[AnOperator]]:
    """Class decorator: make an operator known here and to Relax, and with it to every stage of the compiler.

    `attributes` is the class of its record, or names, one space apart, as of `named_record`; `operands` are names, one
    space apart. What they and the rest mean is said at `Operator`.
    """
    record = named_record(name, attributes) if isinstance(attributes, str) else attributes

    def known(kind: type[AnOperator]) -> type[AnOperator]:
        kind.name, kind.record, kind.operand_names = name, record, operands
        kind.tile, kind.result, kind.single_precision = tile, result, single_precision
        OPERATORS[name] = kind()
        _tell_relax(OPERATORS[name])
        return kind

    return known


def _tell_relax(operator: Operator[Any]) -> None:
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


@overload
def attributes(call: Any) -> Attributes: ...


@overload
def attributes(call: Any, kind: type[Stated]) -> Stated: ...


def attributes(call: Any, kind: type[Attributes] = Attributes) -> Attributes:
    """A call's attributes as its operator's record, whose class may be stated."""
    stated = call.attrs
    record = _RECORDS.get(stated)
    if record is None:
        record = OPERATORS[name_of(call)].stated({key: _plain(value) for key, value in stated.items()})
        _remember(stated, record)
    assert isinstance(record, kind), f"{type(record).__name__} is no {kind.__name__}"
    return record


def _plain(value: Any) -> Any:
    """A value of Relax in Python."""
    return [_plain(v) for v in value] if isinstance(value, tvm_ffi.Array) else value


def _remember(stated: Any, record: Attributes) -> None:
    if len(_RECORDS) >= _MOST_RECORDS:
        _RECORDS.clear()
    _RECORDS[stated] = record


def emit(name: str, arguments: Sequence[Any], values: Mapping[str, Any] | None = None) -> Any:
    """A call of operator `name`, to be bound by a block builder; arrays among its arguments become constants.

    `values` is the operator's record, or plain values of its fields by name.
    """
    record = OPERATORS[name].stated(values or {})
    attrs = tvm.ir.make_node("ir.DictAttrs", **record)
    _remember(attrs, record)
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
