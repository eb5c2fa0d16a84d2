"""Work of kernels of a core by itself, whose multiplications take one cycle: blocks of four rows by four columns."""

from schedules.kernel_cycles.model import Fields, Work, WorkOf, kind_of, share, words
from schedules.kernel_numbers import INT32, UINT8
from schedules.window_fields import field_windows

# Strides, widths and gaps of depthwise windows whose code knows them.
_WRITTEN_OUT = {(1, 3, 1), (1, 5, 1), (1, 7, 1), (1, 9, 1), (2, 3, 1), (2, 5, 1), (2, 7, 1), (1, 3, 2)}


def _blocks(rows: int, columns: int, depth: int, kind: str, cores: int) -> Work:
    mine = share(-(-rows // 4), cores)
    blocks = mine * -(-columns // 4)
    return {"call": 1, "rows": mine, "block": blocks, "word": blocks * words(depth), f"output_{kind}": blocks * 16}


def _summed(work: Work, f: Fields, depth: int) -> Work:
    return work | {"summed_element": 4 * work["rows"] * depth} if f["weight_offset"] else work


def dense(f: Fields, cores: int) -> Work:
    rows, columns, depth, kind = f["rows"], f["columns"], f["depth"], kind_of(f)
    if f["x_type"] > INT32:
        outputs = share(rows * columns, cores)
        return {"plain_call": 1, f"plain_output_{kind}": outputs, "plain_element": outputs * depth}
    if rows == 1 and not f["weight_offset"]:
        blocks = -(-columns // 4)
        return {"row_call": 1, "row_word": blocks * words(depth), f"row_output_{kind}": columns}
    work = _blocks(rows, columns, depth, kind, cores)
    return _summed(work, f, depth) | {"spread": 4 * work["rows"], "spread_element": 4 * work["rows"] * depth}


def conv2d(f: Fields, cores: int) -> Work:
    depth = f["kernel_height"] * f["kernel_width"] * f["channels"]
    work = _blocks(f["out_height"] * f["out_width"], f["out_channels"], depth, kind_of(f), cores)
    rows = 4 * work["rows"] * f["kernel_height"]
    apart = {"spread_pixel": rows * f["kernel_width"]} if f["dilation_x"] != 1 else {}
    return _summed(work, f, depth) | {"spread": rows, "spread_element": 4 * work["rows"] * depth, **apart}


def _any_window(f: Fields, channels: int) -> Work:
    """Rows laid out and sums of four outputs of so many channels; windows of some widths are written out."""
    height, width, stride = f["kernel_height"], f["kernel_width"], f["stride_x"]
    (down, across), columns = field_windows(f), max(4, f["out_width"])
    most = down.windows_in(f["plane_rows"])
    chunks = -(-f["out_height"] // most)
    laid = channels * ((f["out_height"] - chunks) * down.stride + chunks * (down.reach + 1))
    row_bytes = across.read_extent(columns)
    filters = channels * f["multiplier"]
    lines = filters * f["out_height"]
    fours = lines * -(-columns // 4)
    done = {"any_call": 1, "laid_row": laid, "laid": laid * row_bytes, "filter": filters * chunks, "line": lines}
    done |= {"four": fours}
    if f["x_type"] == UINT8:
        done["flipped_tap"] = filters * chunks * height * width
    if (stride, width, f["dilation_x"]) in _WRITTEN_OUT:
        return done | {f"known_row_{stride}{width}{f['dilation_x']}": fours * height}
    return done | {"four_row": fours * height, "four_tap": fours * height * width}


def depthwise_conv2d(f: Fields, cores: int) -> Work:
    channels, kind = share(f["channels"], cores) * f["multiplier"], kind_of(f)
    outputs = channels * f["out_height"] * f["out_width"]
    kernel, dilation = (f["kernel_height"], f["kernel_width"]), (f["dilation_y"], f["dilation_x"])
    dense = f["y_row_stride"] == f["out_width"] * f["y_pixel_stride"] and f["multiplier"] == 1
    if kernel != (3, 3) or dilation != (1, 1) or f["stride_x"] > 2 or f["pad_left"] > 1 or not dense:
        return _any_window(f, share(f["channels"], cores)) | {f"any_output_{kind}": outputs}
    tap = "tap" if f["stride_x"] == 1 else "strided_tap"
    return {"call": 1, "channel": channels, "row": channels * f["out_height"], tap: outputs, f"output_{kind}": outputs}


def requantize(f: Fields, cores: int) -> Work:
    kind, rows, columns = kind_of(f), f["rows"] * f["lines"], f["columns"]
    if f["x_type"] != INT32 or f["zero_point"] or f["lines"] != 1 or kind.startswith("shift"):
        return {"plain_call": 1, f"plain_element_{kind}": share(rows * columns, cores)}
    channels, each = (rows, columns) if f["per_row"] else (columns, rows)
    mine = share(channels, cores)
    return {"call": 1, "channel": mine, f"element_{kind}": mine * each}


def transpose(f: Fields, cores: int) -> Work:
    elements = share(f["size0"] * f["size1"] * f["size2"] * f["size3"], cores)
    if f["element_bytes"] != 1 or f["stride2"] != 1 or f["stride3"] != f["size2"]:
        return {"plain_call": 1, "plain_word" if f["element_bytes"] == 4 else "plain_element": elements}
    fours = f["size3"] // 4 * 4
    return {
        "call": 1,
        "row": f["size0"] * f["size1"] * fours // 4,
        "turned": elements * fours // f["size3"],
        "left": elements * (f["size3"] - fours) // f["size3"],
    }


WORKS: dict[str, WorkOf] = {of.__name__: of for of in (dense, conv2d, depthwise_conv2d, requantize, transpose)}
