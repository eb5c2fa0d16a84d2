"""MatMulNBits against onnxruntime: bits, blocks, zero points, biases; what is not a product of stored weights."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.frontend import quantized_onnx
from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, onnxruntime_run
from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import constant
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_matmul_nbits import blocked_weights

pytest.importorskip("onnxruntime")


@pytest.fixture(autouse=True)
def opsets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        quantized_onnx, "OPSETS", [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    )


def _packed(numbers: np.ndarray, bits: int) -> np.ndarray:
    """Bytes of the last axis, lowest bits first."""
    each = 8 // bits
    padded = np.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(0, -numbers.shape[-1] % each)])
    parts = padded.reshape(*padded.shape[:-1], -1, each).astype(np.uint8)
    return np.asarray(np.bitwise_or.reduce(parts << (bits * np.arange(each, dtype=np.uint8)), axis=-1), np.uint8)


def _product(
    g: Builder,
    x: str,
    depth: int,
    columns: int,
    size: int,
    bits: int = 4,
    zeros: str = "",
    bias: bool = False,
    **more: Any,
) -> str:
    blocks = -(-depth // size)
    numbers = g.rng.integers(0, 1 << bits, (columns, blocks, size))
    operands = [x, g.constant(_packed(numbers, bits))]
    operands.append(g.constant((0.02 + 0.02 * g.rng.random((columns, blocks))).astype(np.float32).reshape(-1)))
    stored = g.rng.integers(0, 1 << bits, (columns, blocks))
    if zeros == "packed":
        operands.append(g.constant(_packed(stored, bits).reshape(-1)))
    elif zeros == "float":
        operands.append(g.constant((stored + 0.25).astype(np.float32)))
    if bias:
        operands += [""] * (5 - len(operands)) + [g.constant(g.rng.normal(size=columns).astype(np.float32))]
    attributes = {"K": depth, "N": columns, "bits": bits, "block_size": size, **more}
    made = g.node("MatMulNBits", operands, domain="com.microsoft", **attributes)
    assert isinstance(made, str)
    return made


CASES: dict[str, dict[str, Any]] = {
    "symmetric": {"depth": 64, "columns": 12, "size": 32},
    "an odd number of blocks": {"depth": 96, "columns": 5, "size": 32, "zeros": "packed"},
    "a block that is not full": {"depth": 40, "columns": 8, "size": 16, "zeros": "packed", "bias": True},
    "one block": {"depth": 32, "columns": 8, "size": 32, "bias": True},
    "one block with zero points": {"depth": 20, "columns": 8, "size": 32, "zeros": "packed"},
    "zero points of floats": {"depth": 64, "columns": 6, "size": 16, "zeros": "float"},
    "bytes": {"depth": 64, "columns": 12, "size": 32, "bits": 8, "zeros": "packed"},
}


@pytest.mark.parametrize("case", CASES)
def test_against_onnxruntime(case: str) -> None:
    g = Builder(np.random.default_rng(0))
    x = g.activation([1, 3, CASES[case]["depth"]], "int8")
    model = g.model([_product(g, x, **CASES[case])], TensorProto.FLOAT)
    (wanted,), (found,) = onnxruntime_run(model, g.feeds), dialect_run(canonical(model), g.feeds)
    assert np.abs(found - wanted).max() <= 1e-4 * np.abs(wanted).max()


@pytest.mark.parametrize("bits", [2, 4])
def test_rows_that_name_their_blocks(bits: int) -> None:
    """What the runtime on a host may not offer: two bits, and a block for every row of the weights."""
    rng, depth, columns, size = np.random.default_rng(1), 24, 5, 8
    numbers, blocks = rng.integers(0, 1 << bits, (columns, 3, size)), rng.integers(0, 3, depth)
    scales, zeros = rng.random((columns, 3)).astype(np.float32), rng.integers(0, 1 << bits, (columns, 3))
    stored = {"B": _packed(numbers, bits), "scales": scales, "zero_points": _packed(zeros, bits), "g_idx": blocks}
    attributes = {"K": depth, "N": columns, "bits": bits, "block_size": size}
    made = blocked_weights("node", attributes, stored)
    wanted = [
        [(int(numbers[c].reshape(-1)[k]) - int(zeros[c, blocks[k]])) * scales[c, blocks[k]] for c in range(columns)]
        for k in range(depth)
    ]
    np.testing.assert_array_equal(made.real(), np.array(wanted, np.float32))
    with pytest.raises(UserError, match="node: g_idx names blocks outside 0 to 2"):
        blocked_weights(
            "node", {"K": depth, "N": columns, "bits": bits, "block_size": size}, stored | {"g_idx": blocks + 1}
        )


def test_quantized_activations_meet_integers() -> None:
    """One block for a column, and quantized activations: an integer product whose weights have four bits."""
    g = Builder(np.random.default_rng(0))
    x = g.activation([1, 3, 32], "int8")
    scale, zero = g.constant(np.float32(0.1)), g.constant(np.int8(3))
    made = g.node("QuantizeLinear", [_product(g, x, 32, 8, 32), scale, zero])
    model = g.model([made], TensorProto.INT8)
    module = canonical(model)
    (call,) = [b.value for b in module["main"].body.blocks[0].bindings if qnn.is_qnn(b.value, "dense")]
    weight = constant(call.args[1])
    assert weight is not None and weight.dtype == np.int8 and weight.min() >= -8 and weight.max() <= 7
    (wanted,), (found,) = onnxruntime_run(model, g.feeds), dialect_run(module, g.feeds)
    assert np.abs(found.astype(int) - wanted).max() <= 1


def _powers(g: Builder, columns: int, blocks: int) -> np.ndarray:
    """Scales that are powers of two times a number of their column, up to eight times the smallest."""
    return ((0.02 + 0.02 * g.rng.random((columns, 1))) * 2.0 ** g.rng.integers(0, 4, (columns, blocks))).astype(
        np.float32
    )


def test_blocks_whose_scales_are_multiples_become_integers_of_columns() -> None:
    """Quantized activations: an integer product, of weights that stand for the same floats."""
    g = Builder(np.random.default_rng(0))
    product = _product(g, g.activation([1, 3, 64], "int8"), 64, 12, 16)
    place = next(i for i in g.initializers if i.name == g.nodes[-1].input[2])
    place.CopyFrom(numpy_helper.from_array(_powers(g, 12, 4).reshape(-1), place.name))
    made = g.node("QuantizeLinear", [product, g.constant(np.float32(0.5)), g.constant(np.int8(3))])
    model = g.model([made], TensorProto.INT8)
    module = canonical(model)
    (call,) = [b.value for b in module["main"].body.blocks[0].bindings if qnn.is_qnn(b.value, "dense")]
    weight = constant(call.args[1])
    assert weight is not None and weight.dtype == np.int8 and np.abs(weight.astype(int)).max() > 8
    (wanted,), (found,) = onnxruntime_run(model, g.feeds), dialect_run(module, g.feeds)
    assert np.abs(found.astype(int) - wanted).max() <= 1


@pytest.mark.parametrize("factor", [2.0, 1.5, 0.75])
def test_folded_weights_stand_for_the_same_floats(factor: float) -> None:
    rng, depth, columns = np.random.default_rng(1), 24, 5
    numbers, scales = rng.integers(0, 16, (columns, 3, 8)), rng.random((columns, 1)).astype(np.float32)
    # Products with a few bits are exact.
    scales = np.round(scales * 1024).astype(np.float32) / 1024 * np.array([1, factor, 1], np.float32)
    attributes = {"K": depth, "N": columns, "bits": 4, "block_size": 8}
    made = blocked_weights("node", attributes, {"B": _packed(numbers, 4), "scales": scales})
    folded = made.folded()
    assert folded is not None and folded[0].dtype == np.int8
    np.testing.assert_array_equal(folded[0].astype(np.float32) * folded[1], made.real())


@pytest.mark.parametrize("scales", [[0.1, 0.1234567, 0.3], [1.0, 64.0, 1.0]])
def test_blocks_that_are_no_multiples_or_too_wide_stay_floats(scales: list[float]) -> None:
    numbers = np.random.default_rng(1).integers(0, 16, (1, 3, 8))
    attributes = {"K": 24, "N": 1, "bits": 4, "block_size": 8}
    stored = {"B": _packed(numbers, 4), "scales": np.array([scales], np.float32)}
    assert blocked_weights("node", attributes, stored).folded() is None


REFUSED = {
    "3 bits in blocks of 32 for 32 x 8 weights: use 4 bits and 32": {"bits": 3},
    r"B is uint8\[8, 1, 16\] and its attributes ask for uint8\[9, 1, 16\]": {"N": 9},
    "K, N, bits and block_size have to be whole numbers": {"K": "many"},
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refused(reason: str) -> None:
    g = Builder(np.random.default_rng(0))
    made = _product(g, g.activation([1, 3, 32], "int8"), 32, 8, 32)
    for name, value in REFUSED[reason].items():
        kept = [a for a in g.nodes[-1].attribute if a.name != name]
        del g.nodes[-1].attribute[:]
        g.nodes[-1].attribute.extend([*kept, helper.make_attribute(name, value)])
    with pytest.raises(UserError, match=rf"\(MatMulNBits\): {reason}"):
        canonical(g.model([made], TensorProto.FLOAT))


def test_weights_at_run_time_are_refused() -> None:
    g = Builder(np.random.default_rng(0))
    made = _product(g, g.activation([1, 3, 32], "int8"), 32, 8, 32)
    g.inputs.append(helper.make_tensor_value_info("packed", TensorProto.UINT8, [8, 1, 16]))
    g.nodes[-1].input[1] = "packed"
    with pytest.raises(UserError, match=r"\(MatMulNBits\): B is computed at run time: store it in the model"):
        canonical(g.model([made], TensorProto.FLOAT))
