"""`--io int8` or `uint8`: the network takes and returns integers; what they stand for is told beside.

x: float -> quantize -> conv -> ... -> dequantize -> y: float
becomes    x: int8 -> conv -> ... -> y: int8    with scale and zero point of x and y
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import tvm
from tvm import relax

from tvm_pulp.canonicalize.rewriter import constant, is_op
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.qnn.abandoned_builder import closed_on_error
from tvm_pulp.qnn.quantization import Quantization

TYPES = ("int8", "uint8")


@dataclass(frozen=True)
class _End:
    """The quantization at an input or an output; where there is none, why."""

    dtype: str = ""
    quantization: Quantization | None = None
    reason: str = ""


def integer_ends(imported: Imported, dtype: str) -> Imported:
    """The network without the quantization of its float inputs and the dequantization of its float outputs."""
    main = _Main(imported.module["main"])
    ends = _ends(imported, main)
    if not ends:
        raise UserError(f"--io {dtype} has no effect: the network has no float input or output; drop it")
    for (role, name), end in ends.items():
        if end.reason:
            raise UserError(f"--io {dtype}: {role} '{name}' cannot be {dtype}: {end.reason}")
        if end.dtype != dtype:
            other = f"use --io {end.dtype}" if end.dtype in TYPES else "quantize the model to 8 bits"
            raise UserError(f"--io {dtype}: {role} '{name}' is quantized to {end.dtype} in this model: {other}")
    module = tvm.IRModule({"main": main.with_integers(dtype)})
    for name, other in imported.module.functions.items():
        if name.name_hint != "main":
            module[name] = other
    found = {place: end.quantization for place, end in ends.items() if end.quantization is not None}
    return replace(imported, module=relax.transform.DeadCodeElimination()(module), quantization=found)


def possible_type(imported: Imported) -> str | None:
    """What `--io` could be for this network; None where it has no effect or some end cannot be integer."""
    types = {end.dtype for end in _ends(imported, _Main(imported.module["main"])).values()}
    return types.pop() if len(types) == 1 and types <= set(TYPES) else None


class _Main:
    """The main function: who reads a value, what made it, with names that only rename seen through."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.bindings = [binding for block in function.body.blocks for binding in block.bindings]
        self._renamed = {b.var: b.value for b in self.bindings if isinstance(b.value, relax.Var | relax.Tuple)}
        self.made = {b.var: b.value for b in self.bindings}
        self.readers: dict[Any, list[Any]] = {}
        for binding in self.bindings:
            for operand in _operands(binding.value):
                self.readers.setdefault(self.origin(operand), []).append(binding.value)

    def origin(self, value: Any) -> Any:
        while value in self._renamed:
            value = self._renamed[value]
        return value

    @property
    def results(self) -> list[Any]:
        """Returned values, one by one."""
        body = self.origin(self.function.body.body)
        fields = list(body.fields) if isinstance(body, relax.Tuple) else [body]
        return [self.origin(field) for field in fields]

    def with_integers(self, dtype: str) -> Any:
        """The function with integers at its ends; all of them were found to be possible."""
        builder, values = relax.BlockBuilder(), dict[Any, Any]()
        for parameter in self.function.params:
            real = str(parameter.ty.dtype) == "float32"
            kind = relax.TensorType(parameter.ty.shape, dtype) if real else parameter.ty
            values[parameter] = relax.Var(parameter.name, kind)

        def now(value: Any) -> Any:
            value = self.origin(value)
            if isinstance(value, relax.Tuple):
                return relax.Tuple([now(f) for f in value.fields])
            if isinstance(value, relax.TupleGetItem):
                return relax.TupleGetItem(now(value.tuple_value), value.index)
            if isinstance(value, relax.Call):
                return relax.Call(value.op, [now(a) for a in value.args], value.attrs, value.ty_args)
            return values.get(value, value)

        real_inputs = {p for p in self.function.params if str(p.ty.dtype) == "float32"}
        with closed_on_error(builder), builder.function("main", list(values.values())):
            with builder.dataflow():
                for binding in self.bindings:
                    if binding.var in self._renamed:
                        continue
                    if is_op(binding.value, "relax.quantize") and self.origin(binding.value.args[0]) in real_inputs:
                        values[binding.var] = values[self.origin(binding.value.args[0])]
                        continue
                    values[binding.var] = builder.emit(builder.normalize(now(binding.value)), binding.var.name)
                returned = [self._integers(result, now) for result in self.results]
                whole = relax.Tuple(returned) if len(returned) > 1 else returned[0]
                output = builder.emit_output(whole)
            builder.emit_func_output(output)
        function = builder.get()["main"]
        return function.with_attrs(self.function.attrs) if self.function.attrs else function

    def _integers(self, result: Any, now: Any) -> Any:
        call = self.made.get(result)
        real = str(result.ty.dtype) == "float32"
        return now(call.args[0]) if real and call is not None else now(result)


def _operands(value: Any) -> list[Any]:
    if isinstance(value, relax.Tuple):
        return list(value.fields)
    if isinstance(value, relax.TupleGetItem):
        return [value.tuple_value]
    if not isinstance(value, relax.Call):
        return []
    return [o for a in value.args for o in ([a] if not isinstance(a, relax.Tuple) else list(a.fields))]


def _ends(imported: Imported, main: _Main) -> dict[tuple[str, str], _End]:
    """Every float input and output."""
    ends: dict[tuple[str, str], _End] = {}
    for parameter, name in zip(main.function.params, imported.inputs, strict=True):
        if str(parameter.ty.dtype) == "float32":
            ends["input", name] = _of_input(main.readers.get(parameter, []))
    for result, name in zip(main.results, imported.outputs, strict=True):
        if str(result.ty.dtype) == "float32":
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


def _parameters(call: Any, op: str) -> tuple[str, Quantization] | None:
    """Integer type, scale and zero point of a call of `op` with one constant scale."""
    if not is_op(call, op):
        return None
    scale, zero_point = constant(call.args[1]), constant(call.args[2])
    if scale is None or zero_point is None or scale.size != 1 or zero_point.size != 1:
        return None
    dtype = str(call.ty.dtype if op == "relax.quantize" else call.args[0].ty.dtype)
    return dtype, Quantization(float(scale.reshape(-1)[0]), int(zero_point.reshape(-1)[0]))
