"""Encoders for accelerators with one multiplier per tensor: sizes, work, and their softmax against the dialect's."""

import numpy as np
import pytest

from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.frontend import onnx_dialect, onnx_file, zoo
from tvm_pulp.frontend.imported import ImportOptions
from tvm_pulp.frontend.zoo import catalog
from tvm_pulp.qnn.interpret import interpret
from tvm_pulp.uma.dialect_layers import dialect_layers

# Multiply-accumulates: projections, attention products, feed-forward networks.
MACS = {
    "octave_attention": 4 * 128 * 128 * 256 + 2 * 4 * 128 * 128 * 64,
    "octave_head": 4 * 128 * 128 * 64 + 2 * 128 * 128 * 64,
    "eight_heads": 8 * 64 * 192 * (4 * 128 + 2 * 64),
    "mobilebert_layer": 4 * 128 * 128 * 256 + 2 * 4 * 128 * 128 * 64 + 4 * 2 * 128 * 128 * 512,
    "dinov2_layer": 4 * 241 * 384 * 384 + 2 * 6 * 241 * 241 * 64 + 2 * 241 * 384 * 1536,
    "whisper_layer": 4 * 512 * 384 * 384 + 2 * 6 * 512 * 512 * 64 + 2 * 512 * 384 * 1536,
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", MACS)
def test_encoder(name: str) -> None:
    """The imported network computes on calibration data what the builder computed, and has the stated work."""
    builder = catalog.construct(name, 0, 8)
    imported = onnx_dialect.import_dialect(onnx_file.from_model(builder.model()), ImportOptions())
    module = canonicalize(imported)
    assert sum(layer.macs for layer in dialect_layers(module).layers) == MACS[name]
    sample = catalog.calibration_inputs(name)[0]
    (made,) = interpret(module, sample)
    np.testing.assert_array_equal(made, builder.outputs[0].values[:1])


def test_they_are_no_benchmarks_of_every_run() -> None:
    """Listed apart: compiling all of the zoo does not take them."""
    assert not set(MACS) & set(zoo.names())
