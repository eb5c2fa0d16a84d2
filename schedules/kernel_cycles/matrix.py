"""Work of dense, matmul, conv2d, depthwise_conv2d."""

from __future__ import annotations

from schedules.kernel_cycles.model import Fields, Work, kind_of, share, words

# enum tvm_pulp_type: types of 16 bits come behind; and `wide_result` for results of 16 bits.
_INT32, _HALVES = 2, 2
# Instructions of the depth loop per word of depth: register tiles of 4, 3 (as 2 + 1), 2 and 1 rows.
DEPTH_INSTRUCTIONS = {4: 24, 3: 23, 2: 14, 1: 9}


def slowest_share(tiles: int, partial: int, cores: int, few: int) -> tuple[int, int]:
    """Whole tiles and tiles of `few` rows of the core with most to do; the `partial` ones come last."""
    each, rest = divmod(tiles, cores)
    shares, begin = [], 0
    for core in range(cores):
        end = begin + each + (core < rest)
        at_end = max(0, end - max(begin, tiles - partial))
        shares.append((end - begin - at_end, at_end))
        begin = end
    return max(shares, key=lambda s: 24 * s[0] + DEPTH_INSTRUCTIONS.get(few, 0) * s[1])


def tile_work(rows: int, columns: int, depth: int, kind: str, cores: int, *, staged: bool) -> Work:
    """Register tiles of the slowest core; `staged` counts row blocks that are copied to the scratch area first."""
    column_tiles, row_blocks = -(-columns // 4), -(-rows // 4)
    few = rows % 4
    whole, partial = slowest_share(row_blocks * column_tiles, column_tiles if few else 0, cores, few)
    blocks = -(-(whole + partial) // column_tiles)
    work: Work = {"call": 1, "block": blocks}
    if columns < 4:
        outputs = columns * (4 * whole + few * partial)
        return work | {f"narrow_output_{kind}": outputs, "narrow_word": outputs * words(depth)}
    if whole:
        work |= {"tile": whole, f"output_{kind}": 16 * whole, "depth": whole * DEPTH_INSTRUCTIONS[4] * words(depth)}
    if partial:
        # Fewer than four rows are requantized one by one.
        work |= {"few_tile": partial, f"few_output_{kind}": 4 * few * partial}
        work["depth"] = work.get("depth", 0) + partial * DEPTH_INSTRUCTIONS[few] * words(depth)
    if staged:
        work |= {"staged_row": min(4, rows) * blocks, "staged_word": min(4, rows) * blocks * words(depth)}
    return work


def dense(f: Fields, cores: int) -> Work:
    halves = f["x_type"] > _INT32
    depth = f["depth"] * (2 if halves else 1)
    staged = f["rows"] > 1 and depth % 4 != 0
    kind = f"{kind_of(f)}_to_halves" if f["requant.wide_result"] == _HALVES else kind_of(f)
    work = tile_work(f["rows"], f["columns"], depth, kind, cores, staged=staged)
    if halves:
        return {f"halves_{name}": count for name, count in work.items()}
    if f["weight_offset"]:
        return summed(work, min(4, f["rows"]), f["depth"])
    # One row of whole tiles has code of its own.
    narrow = f["requant.kind"] == 1 and not f["requant.wide_result"]
    own = f["rows"] == 1 and f["columns"] % 4 == 0 and narrow
    return {f"single_{name}": count for name, count in work.items()} if own else work


def summed(work: Work, rows: int, depth: int) -> Work:
    """Work with a sum of every row, which is added to what its tiles start with: in registers, or in memory."""
    sums = work["block"] * rows
    renamed = {
        f"biased_{name}" if name.startswith("output_") and name != "output_scaled" else name: count
        for name, count in work.items()
    }
    return renamed | {"summed_row": sums, "summed_word": sums * words(depth)}


def matmul(f: Fields, cores: int) -> Work:
    batch, rows, columns, depth = (f[n] for n in ("batch", "rows", "columns", "depth"))
    row_bias = f["b_type"] == 1 or f["zero_point_b"] != 0
    column_tiles, row_blocks = -(-columns // 4), -(-rows // 4)
    tiles = share(batch * column_tiles * row_blocks, cores)
    packed = -(-tiles // row_blocks)
    few = rows % 4 if rows < 4 else 4
    work: Work = {"call": 1, "tile": tiles, "packed_block": packed}
    work["depth"] = tiles * DEPTH_INSTRUCTIONS[few] * words(depth)
    work["packed_row" if f["transpose_b"] else "packed_column"] = packed * words(depth)
    if depth % 4:
        work |= {"staged_row": tiles * few, "staged_word": tiles * few * words(depth)}
    if row_bias:
        work["summed_word"] = tiles * few * words(depth)
    prefix = "few_" if few < 4 else "biased_" if row_bias else ""
    work[f"{prefix}output_{kind_of(f)}"] = tiles * 4 * few
    return work


def conv2d(f: Fields, cores: int) -> Work:
    pixels, channels, kernel = f["out_height"] * f["out_width"], f["channels"], (f["kernel_height"], f["kernel_width"])
    kind, depth = kind_of(f), kernel[0] * kernel[1] * channels
    work = tile_work(pixels, f["out_channels"], depth, kind, cores, staged=False)
    if "few_tile" in work:
        # The last pixels are few beside the others.
        work["tile"] = work.get("tile", 0) + work.pop("few_tile")
        work[f"output_{kind}"] = work.get(f"output_{kind}", 0) + work.pop(f"few_output_{kind}")
    if f["weight_offset"]:
        work = summed(work, min(4, pixels), depth)
    steps = (f["stride_y"], f["stride_x"], f["pad_top"], f["pad_left"])
    direct = kernel == (1, 1) and steps == (1, 1, 0, 0) and f["out_width"] == f["width"] and channels % 4 == 0
    if not direct:
        work |= _window_work(f, work["block"], min(4, pixels))
    return work


def _window_work(f: Fields, blocks: float, pixels: int) -> Work:
    """Windows of `blocks` times `pixels` output pixels, as many at a time as the scratch area holds."""
    windows, rows, row_bytes = blocks * pixels, f["kernel_height"], f["kernel_width"] * f["channels"]
    at_once = max(1, (f["scratch_stride"] - 4) // f["depth_stride"] // 4)
    work: Work = {"block": -(-blocks // at_once)}
    if f["dilation_x"] != 1:
        pixels = windows * rows * f["kernel_width"]
        return work | {"spread_pixel": pixels, "spread_pixel_word": pixels * words(f["channels"])}
    if f["dilation_y"] != 1:
        return work | {"spread_row": windows * rows, "spread_row_word": windows * rows * words(row_bytes)}
    inside = _share_inside(f, "y") * _share_inside(f, "x")
    edge, whole = windows * (1 - inside), windows * inside
    work |= {"edge_window": edge, "edge_row": edge * rows}
    if 4 <= row_bytes <= 16:
        # One kernel row of all windows of a line at a time.
        runs = work["block"] * max(1, min(4 * at_once, windows) / f["out_width"]) * inside
        return work | {"short_row": runs * rows, "short_word": whole * rows * words(row_bytes)}
    return work | {"window": whole, "window_row": whole * rows, "window_word": whole * rows * words(row_bytes)}


def _share_inside(f: Fields, axis: str) -> float:
    """Share of the windows that do not reach beyond the picture along an axis."""
    size, count = ("height", "out_height") if axis == "y" else ("width", "out_width")
    kernel, before = f["kernel_height" if axis == "y" else "kernel_width"], f["pad_top" if axis == "y" else "pad_left"]
    starts = (i * f[f"stride_{axis}"] - before for i in range(f[count]))
    reach = (kernel - 1) * f[f"dilation_{axis}"]
    return sum(start >= 0 and start + reach < f[size] for start in starts) / f[count]


def depthwise_conv2d(f: Fields, cores: int) -> Work:
    kernel, channels, out_width = (f["kernel_height"], f["kernel_width"]), f["channels"], f["out_width"]
    kind = kind_of(f)
    if channels < 4 or f["dilation_x"] != 1 or f["dilation_y"] != 1:
        outputs = share(f["out_height"] * out_width, cores) * channels
        return {"plain_call": 1, f"plain_output_{kind}": outputs, "plain_tap": outputs * kernel[0] * kernel[1]}
    lines = share(-(-channels // 4) * f["out_height"], cores)
    most = (f["plane_rows"] - kernel[0]) // f["stride_y"] + 1
    at_once = max(1, min(most, f["out_height"], lines))
    chunks = -(-lines // at_once)
    turned = chunks * ((at_once - 1) * f["stride_y"] + kernel[0])
    width = (out_width - 1) * f["stride_x"] + kernel[1]
    outputs = 4 * lines * out_width
    work: Work = {"call": 1, "chunk": chunks, "turned_row": turned, "turned_word": turned * words(width)}
    work["filled"] = f["plane_rows"] * width / 4
    if kind == "pulp" and kernel[0] == 3 and kernel[1] <= 4:
        return work | {"fused_line": 4 * lines, "fused_output": outputs}
    if kind == "scaled" and kernel[0] == 3 and kernel[1] <= 4:
        return work | {"scaled_line": 4 * lines, "scaled_output": outputs}
    work |= {"line": 4 * lines, "tap_word": outputs * kernel[0] * words(kernel[1]), f"output_{kind}": outputs}
    return work
