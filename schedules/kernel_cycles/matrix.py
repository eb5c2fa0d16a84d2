"""Dense, matmul, conv2d, depthwise_conv2d."""

from __future__ import annotations

from schedules.kernel_cycles.model import Work, predict, share, words

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


def tile_work(rows: int, columns: int, depth: int, kind: str, cores: int, *, staged: bool) -> dict[str, float]:
    """Register tiles of the slowest core; `staged` counts row blocks that are copied to the scratch area first."""
    column_tiles, row_blocks = -(-columns // 4), -(-rows // 4)
    few = rows % 4
    whole, partial = slowest_share(row_blocks * column_tiles, column_tiles if few else 0, cores, few)
    blocks = -(-(whole + partial) // column_tiles)
    work: dict[str, float] = {"call": 1, "block": blocks, "tile": whole, f"output_{kind}": 16 * whole}
    work["depth"] = whole * DEPTH_INSTRUCTIONS[4] * words(depth)
    if partial:
        # Fewer than four rows are requantized one by one.
        work["few_tile"], work[f"few_output_{kind}"] = partial, 4 * few * partial
        work["depth"] += partial * DEPTH_INSTRUCTIONS[few] * words(depth)
    if staged:
        work["staged_row"] = min(4, rows) * blocks
        work["staged_word"] = min(4, rows) * blocks * words(depth)
    return work


def dense_work(rows: int, columns: int, depth: int, kind: str, cores: int) -> Work:
    return tile_work(rows, columns, depth, kind, cores, staged=rows > 1 and depth % 4 != 0)


def dense_cycles(rows: int, columns: int, depth: int, kind: str = "pulp", cores: int = 8) -> int:
    """`kind`: pulp, pulp_wide, tflite, half_up, half_even, none."""
    return predict("dense", dense_work(rows, columns, depth, kind, cores))


def matmul_work(
    batch: int, rows: int, columns: int, depth: int, kind: str, cores: int, *, transposed: bool, row_bias: bool
) -> Work:
    column_tiles, row_blocks = -(-columns // 4), -(-rows // 4)
    tiles = share(batch * column_tiles * row_blocks, cores)
    packed = -(-tiles // row_blocks)
    few = rows % 4 if rows < 4 else 4
    work: dict[str, float] = {"call": 1, "tile": tiles, "packed_block": packed}
    work["depth"] = tiles * DEPTH_INSTRUCTIONS[few] * words(depth)
    work["packed_row" if transposed else "packed_column"] = packed * words(depth)
    if depth % 4:
        work["staged_row"], work["staged_word"] = tiles * few, tiles * few * words(depth)
    if row_bias:
        work["summed_word"] = tiles * few * words(depth)
    prefix = "few_" if few < 4 else "biased_" if row_bias else ""
    work[f"{prefix}output_{kind}"] = tiles * 4 * few
    return work


def matmul_cycles(
    batch: int, rows: int, columns: int, depth: int, kind: str = "pulp", cores: int = 8, *, transposed: bool = True,
    row_bias: bool = False,
) -> int:  # fmt: skip
    """`row_bias`: b is unsigned or has a zero point."""
    return predict(
        "matmul", matmul_work(batch, rows, columns, depth, kind, cores, transposed=transposed, row_bias=row_bias)
    )


def conv2d_work(
    pixels: int, channels: int, out_channels: int, kernel: tuple[int, int], kind: str, cores: int, *, direct: bool
) -> Work:
    depth = kernel[0] * kernel[1] * channels
    work = tile_work(pixels, out_channels, depth, kind, cores, staged=False)
    # The last pixels are few beside the others.
    work["tile"] += work.pop("few_tile", 0)
    work[f"output_{kind}"] += work.pop(f"few_output_{kind}", 0)
    if not direct:
        windows = work["block"] * min(4, pixels)
        work["window"], work["window_row"] = windows, windows * kernel[0]
        work["window_word"] = windows * kernel[0] * words(kernel[1] * channels)
    return work


def conv2d_cycles(
    pixels: int, channels: int, out_channels: int, kernel: tuple[int, int], kind: str = "pulp", cores: int = 8, *,
    direct: bool = False,
) -> int:  # fmt: skip
    """`pixels` of the result; `direct`: 1 x 1, stride 1, no padding, channels a multiple of 4."""
    return predict("conv2d", conv2d_work(pixels, channels, out_channels, kernel, kind, cores, direct=direct))


def depthwise_work(
    out_size: tuple[int, int], channels: int, kernel: tuple[int, int], strides: tuple[int, int], kind: str,
    plane_rows: int, cores: int,
) -> Work:  # fmt: skip
    out_height, out_width = out_size
    lines = share(-(-channels // 4) * out_height, cores)
    at_once = max(1, min((plane_rows - kernel[0]) // strides[0] + 1, out_height, lines))
    chunks = -(-lines // at_once)
    turned = chunks * ((at_once - 1) * strides[0] + kernel[0])
    width = (out_width - 1) * strides[1] + kernel[1]
    fused = kind == "pulp" and kernel[0] == 3 and kernel[1] <= 4
    outputs = 4 * lines * out_width
    work: dict[str, float] = {"call": 1, "chunk": chunks, "turned_row": turned, "turned_word": turned * words(width)}
    work["filled"] = plane_rows * width / 4
    if fused:
        work["fused_line"], work["fused_output"] = 4 * lines, outputs
    else:
        work["line"], work["tap_word"] = 4 * lines, outputs * kernel[0] * words(kernel[1])
        work[f"output_{kind}"] = outputs
    return work


def depthwise_cycles(
    out_size: tuple[int, int], channels: int, kernel: tuple[int, int], strides: tuple[int, int], kind: str = "pulp",
    *, plane_rows: int, cores: int = 8,
) -> int:  # fmt: skip
    """Dilation 1 and at least four channels."""
    return predict("depthwise", depthwise_work(out_size, channels, kernel, strides, kind, plane_rows, cores))
