"""Work of steps around an engine that multiplies planes of blocks: pixels to blocks, results of blocks to pixels."""

from schedules.kernel_cycles import Fields, Work, share, work


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
