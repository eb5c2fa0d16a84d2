"""The cost of each layer by itself."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tvm_pulp.frontend.quantize.accuracy import compare
from tvm_pulp.frontend.quantize.onnxruntime_quantizer import Quantizer
from tvm_pulp.frontend.quantize.session import Feeds, run_model


@dataclass(frozen=True)
class LayerSensitivity:
    """The network with this layer alone quantized."""

    name: str
    operator: str
    sqnr_db: float
    arg_max_agreement: float


def sensitivity(
    quantizer: Quantizer, samples: Sequence[Feeds], expected: Sequence[Sequence[np.ndarray]]
) -> list[LayerSensitivity]:
    """A row per layer with weights, in the order of the network; `expected` are the outputs of the float model."""
    operators = {node.name: node.op_type for node in quantizer.model.graph.node}
    rows = []
    for name in quantizer.layers():
        made = compare(expected, run_model(quantizer.quantized(only=name), samples))
        rows.append(LayerSensitivity(name, operators[name], made.sqnr_db, made.arg_max_agreement))
    return rows
