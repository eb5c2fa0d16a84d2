"""Work of kernels that multiply pairs of bytes, on cores that share a multiplier."""

from schedules.kernel_cycles.model import Fields, Work, WorkOf, given, kind_of, share, words
from schedules.kernel_numbers import INT32, UINT8
from schedules.window_fields import field_windows

# From so many cores on the multiplier is what they wait for.
_CROWD = 6


def dense(f: Fields, cores: int) -> Work:
    """Tiles of two rows by two columns; what has no tiles is multiplied element by element."""
    rows, columns, depth, kind = f["rows"], f["columns"], f["depth"], kind_of(f)
    crowded = "crowded_" if cores >= _CROWD else ""
    if f["x_type"] > INT32 or columns < 4:
        outputs = share(rows * columns, cores)
        return {"plain_call": 1, f"plain_output_{kind}": outputs, f"{crowded}plain_element": outputs * depth}
    across, down = -(-columns // 2), -(-rows // 2)
    tiles = share(across * down, cores)
    laid_out = -(-tiles // across) + (1 if tiles % across and down > 1 else 0)
    work: Work = {"call": 1, "laid_out": laid_out, "tile": tiles, f"{crowded}word": tiles * words(depth)}
    work["unaligned_word" if depth % 4 and rows > 1 else "laid_out_word"] = 2 * laid_out * words(depth)
    work[f"output_{kind}"] = tiles * min(4, 2 * rows)
    if f["x_type"] == UINT8:
        work["column_word"] = 2 * tiles * words(depth)
    if f["weight_offset"]:
        work["summed_element"] = 2 * laid_out * depth
    return work


def add_pairs(f: Fields, cores: int) -> Work:
    """Four columns at a time, row by row; what does not begin with a word goes element by element."""
    rows, columns = f["rows"], f["columns"]
    aligned = columns % 4 == 0 and f["a_stride"] == columns and (not given(f["b"]) or f["b_stride"] == columns)
    if rows == 1 and not f["per_channel"]:
        rows, columns, aligned = max(1, columns // 4), 4, True
    if not aligned:
        return {"plain_call": 1, "plain_element": share(rows * columns, cores)}
    crowded = "crowded_" if cores >= _CROWD else ""
    fours = share(rows * columns // 4, cores)
    work: Work = {"call": 1, "part": -(-fours // rows) + 1}
    if not given(f["b"]):
        return work | {f"{crowded}alone": fours}
    kept = f["g.mul"] == 1 and f["g.shift"] == 0 and f["g.add"] == 0
    work |= {f"{crowded}kept" if kept else f"{crowded}scaled": fours}
    first = f["f.mul"] == 1 and f["f.shift"] == 0 and f["f.add"] == 0
    return work if first else work | {f"{crowded}first": fours}


def layer_norm(f: Fields, cores: int) -> Work:
    """Whole rows; numbers that need 64 bits are divided one by one."""
    rows, crowded = share(f["rows"], cores), "crowded_" if cores >= _CROWD else ""
    if f["wide"] or f["x_type"] == INT32 or f["levels"] > 256:
        return {"plain_call": 1, "plain_row": rows, f"{crowded}plain_element": rows * f["columns"]}
    element = "element" if f["columns"] % 4 == 0 else "odd_element"
    return {"call": 1, "row": rows, f"{crowded}{element}": rows * f["columns"]}


def _passes(f: Fields) -> dict[str, int]:
    """How often the kernel goes along its rows: with three, two and one rows of three columns, with six to two taps."""
    height, width = f["kernel_height"], f["kernel_width"]
    triples = width // 3 if (f["stride_x"], f["dilation_x"]) == (1, 1) else 0
    threes, rest = divmod(height, 3)
    if rest == 1 and threes:
        threes, rest = threes - 1, 4
    taps = -(-height * (width - 3 * triples) // 2) * 2
    found = {"three": triples * threes, "two": triples * (rest // 2), "one": triples * (rest % 2)}
    found |= {"taps6": taps // 6} | ({f"taps{taps % 6}": 1} if taps % 6 else {})
    return {name: count for name, count in found.items() if count}


def depthwise_conv2d(f: Fields, cores: int) -> Work:
    """Rows laid out as pairs, then passes along them, each adding a part of the window."""
    kind, width, height, stride = kind_of(f), f["out_width"], f["out_height"], f["stride_x"]
    crowded = "crowded_" if cores >= _CROWD else ""
    down, across = field_windows(f)
    most, pairs = down.windows_in(f["plane_rows"]), -(-width // 2)
    lines = share(f["channels"] * height, cores)
    whole, part = divmod(lines, height)
    chunks = whole * -(-height // most) + -(-part // most)
    rows = (lines - chunks) * down.stride + chunks * (down.reach + 1)
    inside = rows * across.read_extent(2 * pairs - 1)
    filters, results = chunks * f["multiplier"], lines * f["multiplier"]
    done: Work = {"call": 1, "chunk": chunks, "laid_row": rows, "laid" if stride == 1 else "laid_apart": inside}
    done |= {"filter": filters, "tap": filters * f["kernel_height"] * f["kernel_width"], "line": results}
    if f["x_type"] == UINT8:
        done["flipped_tap"] = done["tap"]
    for name, count in _passes(f).items():
        done |= {f"{name}_line": results * count, f"{crowded}{name}_pair": results * count * pairs}
    return done | {f"output_{kind}": results * width}


WORKS: dict[str, WorkOf] = {of.__name__: of for of in (dense, depthwise_conv2d, add_pairs, layer_norm)}
