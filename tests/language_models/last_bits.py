"""An ONNX file with the last bits of its floats moved: what onnxruntime's own result depends on.

Where ranges come from the values themselves, a value may lie between two bytes, and the last bit of a sum decides
which it becomes; all logits behind it move with it. What onnxruntime computes with such a file is as right as what it
computes with the file itself.
"""

import numpy as np
import onnx
from onnx import numpy_helper


def moved_bits(content: bytes, seed: int) -> bytes:
    """Every parameter one step up, one step down or as it is."""
    rng, model = np.random.default_rng(seed), onnx.load_model_from_string(content)
    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype == np.float32 and values.size > 1:
            towards = rng.choice(np.array([-np.inf, np.nan, np.inf], np.float32), values.shape)
            moved = np.where(np.isnan(towards), values, np.nextafter(values, towards))
            tensor.CopyFrom(numpy_helper.from_array(moved.astype(np.float32), tensor.name))
    return model.SerializeToString()
