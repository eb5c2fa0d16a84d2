"""A target for layers whose result goes on before it is rounded: 32-bit accumulators, and what they stand for."""

from dataclasses import dataclass, field

import numpy as np

from tvm_pulp.canonicalize.qdq_operands import Quantized, QuantizedConstant
from tvm_pulp.qnn.requant import Requant


@dataclass
class Accumulators:
    """Taken by a layer instead of a quantization; afterwards it says what one unit of each channel is worth."""

    units: np.ndarray = field(default_factory=lambda: np.zeros(0))
    # No accumulator is larger than this, whatever the input.
    reach: int = 0
    # Sums of two layers may come as floats: whoever takes them makes floats of accumulators anyway.
    may_be_real: bool = False

    def take(
        self, x: Quantized, weight: QuantizedConstant, scales: np.ndarray, bias: list[np.ndarray]
    ) -> tuple[Requant, list[np.ndarray]]:
        """The rule that leaves accumulators as they are, and its constants: none."""
        self.units = np.float64(x.scale) * scales.astype(np.float64)
        self.reach = accumulator_reach(x, weight, bias)
        return Requant(), []

    def take_products(self, a: Quantized, b: Quantized, depth: int) -> tuple[Requant, list[np.ndarray]]:
        """The same for products of two activations, so many of which are summed."""
        self.units = np.array([float(a.scale) * float(b.scale)])
        self.reach = a.reach * b.reach * depth
        return Requant(), []


def accumulator_reach(x: Quantized, weight: QuantizedConstant, bias: list[np.ndarray]) -> int:
    """Largest |accumulator| that any input can cause."""
    rows = np.abs(weight.centred.astype(np.int64)).reshape(weight.values.shape[0], -1)
    total = rows.sum(axis=1) * x.reach + (np.abs(bias[0].astype(np.int64)) if bias else 0)
    return int(total.max(initial=0))
