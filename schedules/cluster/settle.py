"""The call that computes what two bounds of an engine leave open."""

from math import sqrt

from schedules.cluster.base import Fields
from schedules.cluster.steps import step
from schedules.kernel_cycles import Work, share, work
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.recipe import Kernel


@step("settle", "x y upper weight stages", expected={"open": "open"})
def _settle(kernel: Kernel, _costs: CostModel) -> Fields:
    """Both bounds, the engine's input and the layer's constants."""
    (_, y, _, weight, _), job = kernel.inputs, kernel.attributes["job"]
    columns, (pixel, line) = y.spec.shape[-1], job.input_strides
    return {
        "rows": y.spec.elements // columns, "columns": columns, "width": job.output_width,
        "x_height": job.input_height, "x_width": job.input_width, "x_stride": pixel, "x_line_stride": line,
        "kernel": job.mode.kernel, "pad_top": job.padding.top, "pad_left": job.padding.left,
        "depth": weight.spec.shape[-1],
    }  # fmt: skip


@work("settle")
def settle_work(f: Fields, cores: int) -> Work:
    """Words that are compared, elements that are open, and of these words of their products, or taps.

    Chance leaves one core more of them open than another, by about the root of their number.
    """
    of_core = f["open"] / cores
    inputs = {"tap": 9 * of_core} if f["kernel"] == 3 else {"input": of_core * -(-f["depth"] // 4)}
    return {
        "call": 1,
        "word": share(f["rows"] * f["columns"] // 4, cores),
        "open": of_core,
        "luck": sqrt(of_core),
        **inputs,
    }
