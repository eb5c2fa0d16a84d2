"""TIR pass: the compute block of a convolution becomes a call of the driver with what the registers hold.

for pixel, k, ky, kx, c: sum += (x[...] - zero_point) * weight[...]
becomes   qvanilla_submit(x, weight, bias, y, channels, width, height, depth, kernel, kernel, zero points)
"""

from typing import Any

from tvm import tirx


def call_driver(function: Any) -> Any:
    """Expects a block of the operands x, weight, bias and y in NCHW."""
    x, weight, _, y = function.params
    numbers = [y.shape[1], x.shape[3], x.shape[2], x.shape[1], *weight.shape[2:]]
    pointers, zero_points = [buffer.data for buffer in function.params], [int(function.attrs["zero_point"]), 0]
    call = tirx.call_extern("int32", "qvanilla_submit", *pointers, *numbers, *zero_points)
    return function.with_body(tirx.Evaluate(call))
