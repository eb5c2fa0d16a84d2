"""Post-training quantization: a float ONNX model becomes one that is fast here, and says what that costs."""

from tvm_pulp.frontend.quantize.accuracy import Accuracy, LayerSensitivity
from tvm_pulp.frontend.quantize.quantize_model import (
    QuantizedModel,
    QuantizeOptions,
    print_quantized,
    quantize,
    quick_model,
)

__all__ = [
    "Accuracy",
    "LayerSensitivity",
    "QuantizeOptions",
    "QuantizedModel",
    "print_quantized",
    "quantize",
    "quick_model",
]
