"""Attributes of operators as records: what they refuse, and how Relax carries, prints and reads them."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import relax

from tests.qnn.test_operators import cases
from tvm_pulp import qnn
from tvm_pulp.qnn import OPERATORS
from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.indexing import SliceAttributes, TransposeAttributes
from tvm_pulp.qnn.operator import attributes, emit
from tvm_pulp.qnn.record import Attributes, named_record
from tvm_pulp.qnn.requant import Requant

WINDOW: dict[str, Any] = {"layout": "NHWC", "strides": [1, 2], "dilation": [1, 1], "pads": [0, 1, 2, 3]}
CONV2D = {**WINDOW, "groups": 1, "zero_point": -3, "has_bias": 1, **Requant("pulp", 7, 0, -128, 127).attributes()}


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_attribute_is_used(operator: str) -> None:
    """The operators' own test cases state every field."""
    used = {name for case in cases(operator, 80, 3) for name in case.attributes}
    names = {name.removesuffix("*") for name in OPERATORS[operator].record.names()}
    assert names - used <= {"macs_per_output", "sum_bits", "largest", "left_shift", "reach"}


def module_of(call: Any, operands: list[Any]) -> Any:
    builder = relax.BlockBuilder()
    with builder.function("main", operands):
        with builder.dataflow():
            made = builder.emit_output(builder.emit(call))
        builder.emit_func_output(made)
    return builder.get()


@pytest.mark.parametrize("operator", OPERATORS)
def test_modules_are_printed_and_parsed(operator: str) -> None:
    """A call reads back as it was printed, with every value."""
    for case in cases(operator, 4, 7):
        types = [relax.TensorType(spec.shape, spec.dtype) for spec in case.specs]
        operands = [relax.Var(f"x{i}", kind) for i, kind in enumerate(types)]
        module = module_of(emit(operator, operands, case.attributes), operands)
        text = module.script(show_meta=True)
        parsed = tvm.script.from_source(text)
        assert tvm_ffi.structural_equal(module, parsed)
        assert attributes(parsed["main"].body.blocks[0].bindings[0].value) == case.stated


def test_attributes_are_printed_for_people() -> None:
    x, weight = relax.Var("x", relax.TensorType((1, 8, 8, 4), "int8")), np.ones((4, 1, 1, 4), np.int8)
    tensors = [np.ones(1, np.int32)] * 2
    text = module_of(emit("conv2d", [x, weight, np.zeros(4, np.int32), *tensors], CONV2D), [x]).script()
    assert '"pads": [0, 1, 2, 3], "requant": "pulp", "requant_high": 127' in text
    assert '"strides": [1, 2]' in text


def test_a_record_is_typed_and_a_mapping() -> None:
    made = Conv2dAttributes.from_values(CONV2D)
    assert (made.strides, made.pads, made.has_bias, made.sum_bits) == ((1, 2), (0, 1, 2, 3), True, 32)
    assert made.requant == Requant("pulp", 7, 0, -128, 127)
    assert made["strides"] == [1, 2] and made["requant_shift"] == 7 and "macs_per_output" not in made
    assert {**made} == {**CONV2D, "sum_bits": 32}
    assert Conv2dAttributes.from_values({**made}) == made and hash(made) == hash(Conv2dAttributes.from_values(CONV2D))


@pytest.mark.parametrize(
    ("operator", "values", "message"),
    [
        ("transpose", {"axes": [0, 1], "axis": 2}, "has no 'axis'; its attributes: axes"),
        ("transpose", {}, "axes"),
        ("transpose", {"axes": ["first"]}, "'axes' is"),
        ("conv2d", {**CONV2D, "strides": [1]}, "'strides' is .*: 2 numbers are needed"),
        ("conv2d", {**CONV2D, "has_bias": 2}, "'has_bias' is 2: it must be true or false"),
        ("conv2d", {**CONV2D, "layout": 1}, "'layout' is 1: it must be a text"),
        ("softmax", {"form": "other"}, "softmax has no form 'other'"),
        ("softmax", {"form": "ita_max", "levels": 256, "beta": 1}, "has no 'beta'"),
    ],
)
def test_wrong_attributes_are_refused(operator: str, values: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        emit(operator, [relax.Var("x", relax.TensorType((2, 3), "int8"))], values)


def test_calls_are_read_once() -> None:
    x = relax.Var("x", relax.TensorType((2, 3), "int8"))
    call = emit("transpose", [x], TransposeAttributes(axes=(1, 0)))
    assert attributes(call) is attributes(relax.Call(call.op, [x], call.attrs)) is qnn.attributes(call)


def test_a_layer_of_another_operator_is_refused() -> None:
    class Holder:
        attributes = SliceAttributes(begin=(0,), size=(1,), stride=(1,))

    with pytest.raises(AssertionError, match="SliceAttributes is no TransposeAttributes"):
        TransposeAttributes.of(Holder())


def test_names_alone_make_a_record() -> None:
    """As operators of other packages state their attributes."""
    kind = named_record("leaky", "slope requant*")
    made = kind.from_values({"slope": 3, **Requant("pulp", 7, 0, -128, 127).attributes()})
    assert made["slope"] == 3 and Requant.of(made).shift == 7 and len(fields(kind)) == 2  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="has no 'slop'"):
        kind.from_values({"slop": 3})
    assert isinstance(made, Attributes)
