"""Largest values of windows of bytes."""

from schedules.cpu.base import RANGES, CallBuilder, Cpu, KernelCall, Layer, kernel, offer_if, structure
from schedules.cpu.windows import check_image, window_of
from tvm_pulp.qnn.window_attributes import KernelAttributes


@kernel("max_pool", "largest values of windows")
def max_pool(layer: Layer, _cpu: Cpu) -> KernelCall:
    """Rows of values at once."""
    dtype = layer.inputs[0].spec.dtype
    offer_if(dtype in RANGES, f"values are {dtype}, not bytes")
    check_image(layer)
    call = CallBuilder(layer, layer.inputs)
    call.result()
    window = structure(
        "const struct tvm_pulp_window window", window_of(layer, call.is_unsigned, KernelAttributes.of(layer).kernel)
    )
    return call.made([*window, f"  tvm_pulp_max_pool(&window, {call.x}, {call.y});"], "pool.h")
