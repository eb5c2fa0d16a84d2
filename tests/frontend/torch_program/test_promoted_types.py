"""The type in which operands of a comparison meet, as PyTorch's torch.result_type gives it."""

from typing import Any

import pytest

from tvm_pulp.frontend.onnx_graph_builder import GraphValue
from tvm_pulp.frontend.torch_program.elementwise import promoted


def _tensor(dtype: str, *shape: int) -> GraphValue:
    return GraphValue("x", shape, dtype)


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        ((_tensor("int64", 3), _tensor("float32", 3)), "float32"),
        ((_tensor("float16", 3), _tensor("int32", 3)), "float16"),
        ((_tensor("float16", 3), _tensor("float32", 3), _tensor("int64", 3)), "float32"),
        ((_tensor("int8", 3), _tensor("uint8", 3)), "int16"),
        ((_tensor("bool", 3), _tensor("uint8", 3)), "uint8"),
        ((_tensor("bool", 3), _tensor("float32", 3)), "float32"),
        ((_tensor("int8", 3), _tensor("int64")), "int8"),
        ((_tensor("int8", 3), _tensor("float32")), "float32"),
        ((_tensor("int64", 3), 0.5), "float32"),
        ((_tensor("bool", 3), 2), "int64"),
        ((_tensor("float16", 3), 2), "float16"),
    ],
)
def test_operands_meet_in_the_type_of_pytorch(operands: tuple[Any, ...], expected: str) -> None:
    assert promoted(*operands) == expected
