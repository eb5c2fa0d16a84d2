"""Parts of float tensors are read where they lie: no layer copies them, in whatever memory they are."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tests.canonicalize.small_modules import build
from tests.frontend.recurrent_networks import keyword_spotting, spoken
from tvm_pulp.planning.lowering.pieces import first_of_piece
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.contiguous import contiguous_offset

FRAMES, HIDDEN = 8, 16


@pytest.mark.parametrize(
    ("operator", "attributes", "index", "first"),
    [
        ("slice", {"begin": [1, 0, 0], "size": [2, 3, 4], "stride": [1, 1, 1]}, None, 12),
        ("slice", {"begin": [1, 1, 2], "size": [1, 1, 2], "stride": [1, 1, 1]}, None, 18),
        ("slice", {"begin": [0, 0, 0], "size": [2, 2, 4], "stride": [1, 1, 1]}, None, None),
        ("slice", {"begin": [0, 0, 0], "size": [1, 1, 2], "stride": [1, 1, 2]}, None, None),
        ("gather", {"axis": 0}, 2, 24),
        ("gather", {"axis": 0}, -1, 48),
        ("gather", {"axis": 1}, 0, None),
    ],
)
def test_first_element(operator: str, attributes: dict[str, Any], index: int | None, first: int | None) -> None:
    """One run of elements of [5, 3, 4], or none."""
    calls = []

    def body(_emit, x):  # type: ignore[no-untyped-def]
        operands = [x] if index is None else [x, np.array(index, np.int64)]
        calls.append(_emit(operator, operands, attributes))
        return calls

    module = build({"x": ((5, 3, 4), "float32")}, body)
    (binding, *_) = module["main"].body.blocks[0].bindings
    assert first_of_piece(binding.value) == first


def test_a_box_of_a_piece_lies_in_its_storage() -> None:
    whole = Tensor("whole", TensorSpec((5, 12), "float32"), "activation")
    piece = Tensor("piece", TensorSpec((1, 4), "float32"), "activation", view_of=whole, offset=16)
    assert contiguous_offset(piece, Box((0, 0), (1, 4))) == 64
    assert contiguous_offset(piece, Box((0, 1), (1, 2))) == 68


@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"soc": "siracusa"}, marks=pytest.mark.slow),
        # So little that steps read their parts of what is in L2.
        pytest.param({"soc": "siracusa", "l1": 6000}, marks=pytest.mark.slow),
    ],
    ids=str,
)
@pytest.mark.parametrize("op", ["GRU", pytest.param("LSTM", marks=pytest.mark.slow)])
def test_steps_of_a_recurrent_layer(op: str, options: dict[str, Any], tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    path, x = tmp_path / "model.onnx", {"x": spoken(1, FRAMES)}
    path.write_bytes(keyword_spotting(op, frames=FRAMES, hidden=HIDDEN).SerializeToString())
    app = tvm_pulp.compile(path, **options)
    wanted = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, x)[0]
    result = app.run(x)
    np.testing.assert_allclose(result.outputs["y"], wanted, rtol=1e-4, atol=1e-5)
    operators = [layer["op"] for layer in result.report["layers"] or ()]
    assert not {"gather", "slice"} & set(operators)
