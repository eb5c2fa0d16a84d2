"""One row times a matrix as a 3x3 convolution of a single pixel.

Nine parts of the row are the pixels of the window: a step of the array takes 9 x 28 inputs instead of 32, and its time
depends on the bits of the weights, which that of a 1x1 convolution does not. A few inputs beyond whole steps are left
to the cores, which add their products to the bias of the job.
"""

from dataclasses import dataclass

import numpy as np

from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import Kernel, Load, Local, Step, has_kernel
from uma_backends.conv_array import RowForm
from uma_backends.conv_array.arithmetic.layer_arithmetic import LayerArithmetic
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.neureka_form import NeurekaContext
from uma_backends.neureka.packing import TAPS

# More of them take the cores longer than the array takes a step.
_MOST_LEFT_OUT = 32


@dataclass(frozen=True)
class VectorForm(RowForm):
    """The array multiplies `taken` inputs."""

    taken: int = 0

    @property
    def pixel_channels(self) -> int:
        """Input channels of the window."""
        return -(-self.taken // TAPS)

    @property
    def in_pieces(self) -> bool:
        return True

    @property
    def _matrix(self) -> np.ndarray:
        weights = self.arithmetic.weights
        return weights.reshape(len(weights), -1)

    def filters(self) -> np.ndarray:
        """Weights that the array takes; of inputs that there are not, zeros."""
        matrix = self._matrix[:, : self.taken]
        filled = np.zeros((len(matrix), TAPS * self.pixel_channels), matrix.dtype)
        filled[:, : self.taken] = matrix
        return filled.reshape(len(matrix), 3, 3, -1).transpose(0, 3, 1, 2)

    def whole_bias(self, vectors: dict[str, Local], first: int, source: Local) -> list[Step]:
        left_out = self._matrix[:, self.taken :]
        if not left_out.size:
            return []
        bias = vectors["bias"]
        fours = left_out.astype(np.int8).reshape(len(left_out), -1, 4)
        end = first + bias.spec.elements
        data = np.ascontiguousarray(fours[first:end].transpose(1, 0, 2))
        constant = self.derived.constant(f"{self.layer.name}_left_out_{first}_{end}", data)
        weights = Load.of(constant, "left_out")
        vectors["bias"] = Local("whole_bias", bias.spec, self.parameter_slack)
        operands = (source, weights.local, vectors["scale"], bias)
        return [weights, Kernel("bias_of_rest", {"first": self.taken}, operands, (vectors["bias"],))]


def _may_leave_out(left_out: int, arithmetic: LayerArithmetic, context: NeurekaContext) -> bool:
    """Tell whether a job has a bias for the products of so many inputs, and the cores have the kernel for them."""
    if left_out % 4 or not 0 < left_out <= _MOST_LEFT_OUT or not arithmetic.requantization.bias:
        return False
    if arithmetic.weights.min() < -128 or arithmetic.weights.max() > 127:
        return False
    four, one = (Local("one", TensorSpec((size,), "int8")) for size in (4, 1))
    probe = Kernel("bias_of_rest", {"first": 0}, (four, four, one, one), (one,))
    return has_kernel(probe, context.costs)


def vector_forms(layer: Layer, arithmetic: LayerArithmetic, context: NeurekaContext) -> list[VectorForm]:
    """Forms of a product of one row: with all inputs on the array, and with those of whole steps.

    Weights that come to L1 for a single row are waited for whatever the array does, and those of a 3x3 are more bytes.
    """
    depth = layer.inputs[0].spec.shape[-1]
    if layer.inputs[0].spec.elements != depth or not context.rows_as_3x3 or context.weights_in_l1:
        return []
    left_out = depth % (TAPS * context.timing.geometry.channels_3x3)
    ways = [(depth, "3x3 over parts of a row")]
    if left_out < depth and _may_leave_out(left_out, arithmetic, context):
        ways.append((depth - left_out, "3x3 over parts of a row, rest in the bias"))
    return [VectorForm(layer, context, name, arithmetic, Mode.DENSE_3X3, taken=taken) for taken, name in ways]
