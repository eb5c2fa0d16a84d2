"""Work of pools, transposes, copies and im2col."""

from __future__ import annotations

from schedules.kernel_cycles.model import Fields, Work, given, kind_of, share, words

_AXES = (("height", "y"), ("width", "x"))


def pool(f: Fields, cores: int) -> Work:
    pixels, kernel = f["out_height"] * f["out_width"], (f["kernel_height"], f["kernel_width"])
    groups = share(pixels * words(f["channels"]), cores)
    touched = -(-groups // words(f["channels"])) + (1 if pixels > 1 else 0)
    reach = [(f[f"out_{a}"] - 1) * f[f"stride_{d}"] + (f[f"kernel_{a}"] - 1) * f[f"dilation_{d}"] for a, d in _AXES]
    inside = not (f["pad_top"] or f["pad_left"]) and reach[0] < f["height"] and reach[1] < f["width"]
    # Windows that all lie inside need not be looked for.
    where = "inner_pixel" if inside else "pixel"
    if f["channels"] % 16 == 0:
        # Sixteen channels at a time.
        wide = groups / 4
        work = {
            "call": 1,
            where: touched,
            "group": wide,
            "row": wide * kernel[0],
            "tap": wide * kernel[0] * kernel[1],
        }
        return {f"wide_{name}": count for name, count in work.items()}
    taps = groups * kernel[0] * kernel[1]
    return {"call": 1, where: touched, "group": groups, "row": groups * kernel[0], "tap": taps}


def mean_pool(f: Fields, cores: int) -> Work:
    pixels, kernel = f["pool.out_height"] * f["pool.out_width"], (f["pool.kernel_height"], f["pool.kernel_width"])
    groups = share(pixels * words(f["pool.channels"]), cores)
    touched = -(-groups // words(f["pool.channels"])) + (1 if pixels > 1 else 0)
    # Whole lines are one.
    lines = 1 if kernel[1] == f["pool.width"] and f["pool.dilation_x"] == 1 else kernel[0]
    work = {"call": 1, "pixel": touched, "row": groups * lines, "tap": groups * kernel[0] * kernel[1]}
    return {**work, f"group_{kind_of(f)}": groups}


def transpose(f: Fields, cores: int) -> Work:
    line = f["size3"]
    lines = f["size0"] * f["size1"] * f["size2"]
    mine = share(lines * line, cores)
    kind = "word" if f["element_bytes"] == 4 else "copied" if f["stride3"] == 1 and line >= 4 else "gathered"
    return {"call": 1, f"{kind}_line": -(-mine // line) + (1 if lines > 1 else 0), kind: mine}


def copy_rows(f: Fields, cores: int) -> Work:
    rows, row_bytes = f["rows"], f["row_bytes"]
    if f["x_stride"] == f["y_stride"] == row_bytes:
        rows, row_bytes = 1, rows * row_bytes
    mine = share(rows * row_bytes, cores)
    touched = -(-mine // row_bytes) + (1 if rows > 1 else 0)
    if given(f["table"]) and row_bytes >= 8 and rows >= cores and rows * row_bytes >= 4096:
        touched = share(rows, cores)
        return {
            "many_call": 1,
            "many_row": touched,
            "many_word": touched * (row_bytes // 4),
            "many_rest": touched * (row_bytes % 4),
        }
    if given(f["table"]):
        return {"table_call": 1, "table_row": touched, "table_byte": mine}
    work: Work = {"call": 1, "row": touched, "word": mine / 4}
    if row_bytes % 4:
        # Words cross word boundaries, and every row has bytes left over.
        work |= {"crossing_word": mine / 4, "rest": touched * (row_bytes % 4)}
    return work


def space_to_depth(f: Fields, cores: int) -> Work:
    lines, width, channels = share(f["height"], cores), f["width"], f["channels"]
    if f["is_planar"]:
        rest = lines * (width % 4) * channels if width % 4 else 0
        return {"call": 1, "plane": lines * channels, "plane_word": lines * channels * (width // 4), "pixel": rest}
    if channels == 3:
        return {"call": 1, "line": lines, "triple": lines * width}
    return {"call": 1, "line": lines, "pixel": lines * width * channels}


def im2col(f: Fields, cores: int) -> Work:
    windows, row_bytes = share(f["out_height"] * f["out_width"], cores), f["kernel_width"] * f["channels"]
    rows = windows * f["kernel_height"]
    if row_bytes == 4 and f["width"] * f["channels"] >= 4 and (f["dilation_x"] == 1 or f["kernel_width"] == 1):
        return {"word_call": 1, "word_window": windows, "word_row": rows}
    if row_bytes <= 16 and f["dilation_x"] == 1:
        return {"short_call": 1, "short_window": windows, "short_row": rows}
    if f["out_width"] == 1 and f["dilation_x"] == 1:
        return {"line_call": 1, "line": rows, "line_word": rows * (row_bytes // 4), "line_rest": rows * (row_bytes % 4)}
    work: Work = {"call": 1, "window": windows, "row": rows, "word": rows * (row_bytes // 4)}
    work["rest"] = rows * (row_bytes % 4)
    if f["dilation_x"] != 1:
        work["tap"] = rows * f["kernel_width"]
    return work


def resize(f: Fields, cores: int) -> Work:
    pixels, channels = share(f["out_height"] * f["out_width"], cores), f["channels"]
    if not given(f["column_weights"]):
        return {"copy_call": 1, "copy_pixel": pixels, "copy_word": pixels * words(channels)}
    small = f["row_taps"] == f["column_taps"] == 2 and f["middle"] == 0 and f["fraction"] <= 6 and channels % 4 == 0
    if small and (not f["slack"] if given(f["thresholds"]) else f["requant.kind"] == 4):
        kind = "near" if given(f["thresholds"]) else "scaled"
        return {"call": 1, "pixel": pixels, kind: pixels * channels}
    taps = f["row_taps"] * f["column_taps"]
    return {"plain_call": 1, "plain_element": pixels * channels, "plain_tap": pixels * channels * taps}
