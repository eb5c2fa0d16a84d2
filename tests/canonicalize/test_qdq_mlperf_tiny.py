"""The four int8 MLPerf Tiny networks in the integer dialect equal TFLite's reference kernels bit for bit."""

from pathlib import Path

import numpy as np
import pytest

from tvm_pulp import qnn
from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.canonicalize.rewriter import is_op
from tvm_pulp.frontend.tflite_file import import_tflite
from tvm_pulp.qnn.interpret import interpret
from tvm_pulp.qnn.operator import spec_of

LAYERS = {
    "kws": {"conv2d": 9, "avg_pool": 1, "dense": 1, "softmax": 1},
    "vww": {"conv2d": 27, "avg_pool": 1, "dense": 1, "softmax": 1},
    "resnet": {"conv2d": 9, "add": 3, "avg_pool": 1, "dense": 1, "softmax": 1},
    "toycar": {"dense": 10},
}


@pytest.mark.parametrize("network", LAYERS)
def test_bit_exact(golden_data: Path, network: str) -> None:
    folder = golden_data / "mlperf_tiny" / network
    module = canonicalize(import_tflite(folder / "model.tflite"))
    golden = np.load(folder / "golden.npz")
    shape = spec_of(module["main"].params[0]).shape
    for x, expected in zip(golden["inputs"], golden["outputs_reference"], strict=True):
        (result,) = interpret(module, [x.reshape(shape)])
        np.testing.assert_array_equal(result.reshape(-1), expected.reshape(-1))


@pytest.mark.parametrize("network", LAYERS)
def test_one_operator_per_layer(golden_data: Path, network: str) -> None:
    # Nothing but layers of the dialect and views is left: no float, no separate requantization.
    module = canonicalize(import_tflite(golden_data / "mlperf_tiny" / network / "model.tflite"))
    counts: dict[str, int] = {}
    for block in module["main"].body.blocks:
        for binding in block.bindings:
            if is_op(binding.value, "relax.reshape"):
                continue
            if qnn.is_qnn(binding.value):
                name = binding.value.op.name.removeprefix("tvm_pulp.qnn.")
                counts[name] = counts.get(name, 0) + 1
    assert counts == LAYERS[network]
