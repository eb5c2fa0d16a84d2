"""Post-training quantization: a float ONNX model becomes one that is fast here, and says what that costs."""

from tvm_pulp.frontend.quantize.accuracy import Accuracy
from tvm_pulp.frontend.quantize.print_quantized import print_quantized
from tvm_pulp.frontend.quantize.quantize import quantize
from tvm_pulp.frontend.quantize.quantize_model import Quantized, QuantizeOptions, quick_model
from tvm_pulp.frontend.quantize.sensitivity import LayerSensitivity

__all__ = ["Accuracy", "LayerSensitivity", "QuantizeOptions", "Quantized", "print_quantized", "quantize", "quick_model"]
