"""Sums behind which TFLite's ReLU clips to part of a byte's values: as its reference kernels compute them."""

from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.frontend.single_tflite import Tensor, options_of, reference_run, write

schema = pytest.importorskip("ai_edge_litert.schema_py_generated", reason="TFLite's reference kernels: ai-edge-litert")


@pytest.mark.parametrize("bias", [True, False], ids=["row", "tensor"])
def test_on_the_cluster(bias: bool, tmp_path: Path) -> None:
    """Two tensors, and the bias of all rows that a convolution with gaps has behind it."""
    rng, path, shape = np.random.default_rng(3), tmp_path / "net.tflite", (1, 24, 18)
    row = rng.integers(-128, 128, shape[2:]).astype(np.int8)
    second = Tensor(shape[2:], "int8", 0.0009, 6, row) if bias else Tensor(shape, "int8", 0.04, 6)
    relu = options_of("AddOptions", fusedActivationFunction=schema.ActivationFunctionType.RELU)
    write(path, "ADD", [Tensor(shape, "int8", 0.05, -3), second], Tensor(shape, "int8", 0.049, -21), relu)
    feeds = [rng.integers(-128, 128, shape).astype(np.int8) for _ in range(1 if bias else 2)]
    run = tvm_pulp.compile(path, "c", soc="siracusa").run(feeds)
    (found,) = run.outputs.values()
    assert found.min() == -21
    assert np.array_equal(found, reference_run(path, feeds))
    assert [entry["form"] for entry in run.report["layers"]] == ["add_in_range kernel"]
