"""`--io int8` or `uint8`: the network takes and returns integers; their scales and zero points are told beside.

x: float -> quantize -> conv -> ... -> dequantize -> y: float
becomes    x: int8 -> conv -> ... -> y: int8    with scale and zero point of x and y
"""

from dataclasses import dataclass, replace
from typing import Any

from tvm import relax

from tvm_pulp.canonicalize.main_function import MainFunction
from tvm_pulp.canonicalize.qdq_operands import quantization_of
from tvm_pulp.canonicalize.rewriter import is_op, or_none, require, with_kernels_of
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.qnn.abandoned_builder import closed_on_error
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
    return replace(imported, module=with_kernels_of(imported.module, _with_integers(main, dtype)), quantization=found)


def possible_type(imported: Imported) -> str | None:
    """The type that `--io` could name for this network; None where it has no effect or some end cannot be integer."""
    types = {end.dtype for end in _ends(imported, MainFunction(imported.module)).values()}
    return types.pop() if len(types) == 1 and types <= set(TYPES) else None


def _with_integers(main: MainFunction, dtype: str) -> Any:
    """The module with integers at the ends of `main`; all of them were found to be possible."""
    builder, values = relax.BlockBuilder(), dict[Any, Any]()
    for parameter in main.function.params:
        kind = relax.TensorType(parameter.ty.shape, dtype) if _is_real(parameter) else parameter.ty
        values[parameter] = relax.Var(parameter.name, kind)

    def now(value: Any) -> Any:
        value = main.origin(value)
        if isinstance(value, relax.Tuple):
            return relax.Tuple([now(f) for f in value.fields])
        if isinstance(value, relax.TupleGetItem):
            return relax.TupleGetItem(now(value.tuple_value), value.index)
        if isinstance(value, relax.Call):
            return relax.Call(value.op, [now(a) for a in value.args], value.attrs, value.ty_args)
        return values.get(value, value)

    def returned(result: Any) -> Any:
        call = main.made.get(result)
        return now(call.args[0] if _is_real(result) and call is not None else result)

    real_inputs = {p for p in main.function.params if _is_real(p)}
    with closed_on_error(builder), builder.function("main", list(values.values())):
        with builder.dataflow():
            for binding in main.bindings:
                value = binding.value
                if is_op(value, "relax.quantize") and main.origin(value.args[0]) in real_inputs:
                    values[binding.var] = values[main.origin(value.args[0])]
                elif not isinstance(value, relax.Var | relax.Tuple):
                    values[binding.var] = builder.emit(builder.normalize(now(value)), binding.var.name)
            results = [returned(result) for result in main.results]
            output = builder.emit_output(relax.Tuple(results) if len(results) > 1 else results[0])
        builder.emit_func_output(output)
    made = builder.get()
    if main.function.attrs:
        made["main"] = made["main"].with_attrs(main.function.attrs)
    return made


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
