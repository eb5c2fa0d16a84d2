"""`--io int8` or `uint8`: the network takes and returns integers; their scales and zero points are told beside.

x: float -> quantize -> conv -> ... -> dequantize -> y: float
becomes    x: int8 -> conv -> ... -> y: int8    with scale and zero point of x and y
"""

from dataclasses import dataclass, replace
from typing import Any

from tvm import relax

from tvm_pulp.canonicalize.main_function import MainFunction
from tvm_pulp.canonicalize.qdq_operands import quantization_of
from tvm_pulp.canonicalize.rewriter import Rewriter, is_op, or_none, require
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.qnn.quantization import Quantization

TYPES = ("int8", "uint8")


@dataclass(frozen=True)
class _End:
    """The quantization at an input or an output, or the reason why there is none."""

    dtype: str = ""
    quantization: Quantization | None = None
    reason: str = ""


def integer_ends(imported: Imported, dtype: str) -> Imported:
    """The network without the quantization of its float inputs and the dequantization of its float outputs."""
    main = MainFunction(imported.module)
    ends = _ends(imported, main)
    if not ends:
        raise UserError(f"--io {dtype} has no effect: the network has no float input or output; drop it")
    for (role, name), end in ends.items():
        if end.reason:
            raise UserError(f"--io {dtype}: {role} '{name}' cannot be {dtype}: {end.reason}")
        if end.dtype != dtype:
            other = f"use --io {end.dtype}" if end.dtype in TYPES else "quantize the model to 8 bits"
            raise UserError(f"--io {dtype}: {role} '{name}' is quantized to {end.dtype} in this model: {other}")
    found = {place: end.quantization for place, end in ends.items() if end.quantization is not None}
    return replace(imported, module=_IntegerEnds(dtype).run(imported.module), quantization=found)


def possible_type(imported: Imported) -> str | None:
    """The type that `--io` could name for this network; None where it has no effect or some end cannot be integer."""
    types = {end.dtype for end in _ends(imported, MainFunction(imported.module)).values()}
    return types.pop() if len(types) == 1 and types <= set(TYPES) else None


class _IntegerEnds(Rewriter):
    """Integers at the ends of `main`; all of them were found to be possible."""

    def __init__(self, dtype: str) -> None:
        self._dtype = dtype

    def parameter(self, old: Any) -> Any:
        return relax.Var(old.name, relax.TensorType(old.ty.shape, self._dtype)) if _is_real(old) else old

    def start(self, function: Any) -> None:
        self._inputs = {self.operand(p) for p in function.params if _is_real(p)}

    def visit(self, variable: Any, value: Any) -> Any:
        require(is_op(value, "relax.quantize") and value.args[0] in self._inputs)
        return value.args[0]

    def result(self, value: Any) -> Any:
        returned = list(value.fields) if isinstance(value, relax.Tuple) else [value]
        calls = [self.definition(r) for r in returned]
        found = [c.args[0] if is_op(c, "relax.dequantize") else r for r, c in zip(returned, calls, strict=True)]
        return relax.Tuple(found) if len(found) > 1 else found[0]


def _is_real(variable: Any) -> bool:
    return str(variable.ty.dtype) == "float32"


def _ends(imported: Imported, main: MainFunction) -> dict[tuple[str, str], _End]:
    """Every float input and output."""
    ends: dict[tuple[str, str], _End] = {}
    for parameter, name in zip(main.function.params, imported.inputs, strict=True):
        if _is_real(parameter):
            ends["input", name] = _of_input(main.readers.get(parameter, []))
    for result, name in zip(main.results, imported.outputs, strict=True):
        if _is_real(result):
            ends["output", name] = _of_output(main.made.get(result))
    return ends


def _of_input(readers: list[Any]) -> _End:
    found = {_parameters(reader, "relax.quantize") for reader in readers}
    if None in found or not found:
        other = next((r for r in readers if _parameters(r, "relax.quantize") is None), None)
        reader = f"'{_name(other)}' reads its float values" if other is not None else "nothing reads it"
        return _End(reason=f"{reader}; quantize the model so that all of its readers take integers")
    if len(found) > 1:
        return _End(reason="its readers quantize it by different scales; quantize the model again")
    dtype, quantization = found.pop() or ("", None)
    return _End(dtype, quantization)


def _of_output(value: Any) -> _End:
    found = _parameters(value, "relax.dequantize")
    if found is None:
        return _End(reason=f"'{_name(value)}' computes it in float; quantize the model's outputs too")
    return _End(*found)


def _name(value: Any) -> str:
    return str(getattr(getattr(value, "op", None), "name", "another output")).removeprefix("relax.")


@or_none
def _parameters(call: Any, op: str) -> tuple[str, Quantization]:
    """Integer type, scale and zero point of a call of `op` with one constant scale."""
    require(is_op(call, op))
    scale, zero_point = quantization_of(call)
    dtype = str(call.ty.dtype if op == "relax.quantize" else call.args[0].ty.dtype)
    return dtype, Quantization(float(scale), zero_point)
