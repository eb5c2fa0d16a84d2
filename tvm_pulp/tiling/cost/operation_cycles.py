"""Cycles of operations of generated kernels on one core; made by `scripts/fit_kernel_cycles generated`."""

from __future__ import annotations

# Entering a kernel: loading its arguments, dividing the work.
CALL_CYCLES = 71.89
# Fetching the code of one operation.
CODE_CYCLES = 8.0

OPERATION_CYCLES = {
    "branch": 0.0,
    "compare": 3.02,
    "constant_divide": 2.49,
    "convert": 1.78,
    "divide": 29.93,
    "float": 0.45,
    "float_compare": 3.0,
    "float_divide": 12.0,
    "index": 0.0,
    "integer": 0.33,
    "iteration": 4.11,
    "load": 1.73,
    "multiply": 0.66,
    "short_iteration": 0.0,
    "store": 1.05,
    "wide": 3.53,
    "wide_divide": 200.0,
    "wide_multiply": 6.43,
}

# Functions of the runtime.
FUNCTION_CYCLES = {
    "add_half_even": 48.82,
    "clip": 5.82,
    "clip_wide": 15.85,
    "divide": 15.84,
    "doubling_high_multiply": 69.28,
    "erf": 76.5,
    "exp": 29.99,
    "exp_below": 47.62,
    "fabs": 6.3,
    "floor_divide_32": 19.04,
    "fma": 0.8,
    "fmax": 0.0,
    "fmin": 2.35,
    "fnma": 0.0,
    "i_exp": 0.0,
    "inverse_root": 24.0,
    "isnan": 0.0,
    "isqrt": 245.52,
    "nearbyint": 15.44,
    "other": 60.0,
    "power": 250.0,
    "quantize": 11.55,
    "real_of": 8.0,
    "requantize": 10.8,
    "requantize_half_even": 51.04,
    "requantize_half_up": 108.46,
    "requantize_tflite": 39.06,
    "requantize_wide": 26.77,
    "round": 152.86,
    "round_divide_32": 12.7,
    "round_even": 6.0,
    "round_within": 8.0,
    "rounding_shift": 78.55,
    "rsqrt": 126.05,
    "scale_tflite": 23.03,
    "shift_right": 189.47,
    "sigmoid": 92.81,
    "sigmoid16": 350.0,
    "softmax_exponential": 78.55,
    "softmax_output_bits": 237.83,
    "softmax_reciprocal": 237.83,
    "softmax_table_value": 358.99,
    "sqrt": 25.87,
    "tanh": 79.1,
    "tanh16": 360.0,
}
