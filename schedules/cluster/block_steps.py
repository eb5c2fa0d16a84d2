"""Steps around an engine that multiplies planes of blocks: pixels to blocks, and results of blocks to pixels."""

from schedules.cluster.base import Fields, kernel_call
from schedules.kernel_cycles import Work, share, work
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.recipe import Call, Kernel, Local, Pointer


def to_blocks(kernel: Kernel, costs: CostModel) -> Call:
    """Attributes are the fields of the kernel, besides its operands."""
    return _call("to_blocks", kernel, costs)


def from_blocks(kernel: Kernel, costs: CostModel) -> Call:
    """Attributes are the fields of the kernel, besides its operands."""
    return _call("from_blocks", kernel, costs)


def _call(name: str, kernel: Kernel, costs: CostModel) -> Call:
    (x,), (y,) = kernel.inputs, kernel.outputs
    assert isinstance(x, Local) and isinstance(y, Local)
    return kernel_call(name, {"x": Pointer(x), "y": Pointer(y), **kernel.attributes}, costs, [x], [y])


@work("to_blocks")
def to_blocks_work(f: Fields, cores: int) -> Work:
    """Rows of blocks of four channels; words that are filled, turned, and put together at an edge."""
    if f["channels"] < 4:
        pixels = 4 * f["block_height"] * f["grid_width"] * f["grid_height"]
        return {"plain_call": 1, "plain_pixel": share(f["channels"], cores) * pixels}
    taken, lines = share(-(-f["channels"] // 4) * f["grid_height"], cores), f["block_height"]
    reach = f["left"] + f["width"]
    inside = max(0, min(reach // 4, f["grid_width"]) - -(-f["left"] // 4))
    edges = max(0, min(-(-reach // 4), f["grid_width"]) - f["left"] // 4) - inside
    # Of a core's lines as many are the image's as of all lines.
    part = min(1.0, f["height"] / (f["grid_height"] * lines))
    seen, filled = part * taken * lines, f["grid_width"] - part * (inside + edges)
    return {
        "call": 1, "row": taken, "filled": taken * lines * filled, "line": seen, "turned": seen * inside,
        "edge": seen * edges,
    }  # fmt: skip


@work("from_blocks")
def from_blocks_work(f: Fields, cores: int) -> Work:
    pixels, kind = share(f["height"] * f["width"], cores), "word" if f["element_bytes"] == 4 else "byte"
    return {"call": 1, "pixel": pixels, kind: pixels * f["channels"]}
