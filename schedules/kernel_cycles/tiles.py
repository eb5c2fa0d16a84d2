"""Work and cycles of kernels for hundreds of cores in tiles: blocks of four rows, or of one row, by four columns."""

from importlib import resources

from schedules.kernel_cycles.model import Fields, Work, WorkOf, kind_of, share, words
from schedules.kernel_numbers import UINT8
from tvm_pulp.soc.yaml_text import read_text

# Pixels of a piece of a row, as the kernel of depthwise convolutions has it.
_PIECE = 16


def _blocks(rows: int, columns: int, stretches: int, depth: int, kind: str, cores: int) -> Work:
    """Rows by blocks of columns, in so many stretches of memory each."""
    across = -(-columns // 4)
    fours = -(-rows // 4) * across
    if fours >= cores:
        mine = share(fours, cores)
        work = {"call": 1, "block": mine, "stretch": mine * stretches, "word": mine * words(depth)}
        return {**work, f"output_{kind}": 16 * mine}
    mine = share(rows * across, cores)
    work = {"call": 1, "row_block": mine, "row_stretch": mine * stretches, "row_word": mine * words(depth)}
    return {**work, f"output_{kind}": 4 * mine}


def dense(f: Fields, cores: int) -> Work:
    rows, columns, depth, kind = f["rows"], f["columns"], f["depth"], kind_of(f)
    if f["x_type"] > UINT8 or f["weight_offset"]:
        outputs = share(rows * columns, cores)
        return {"plain_call": 1, f"plain_output_{kind}": outputs, "plain_element": outputs * depth}
    if rows == 1 or depth % 4 == 0:
        return _blocks(rows, columns, 1, depth, kind, cores)
    mine = share(-(-rows // 4), cores)
    blocks = mine * -(-columns // 4)
    done = {"call": 1, "block": blocks, "stretch": blocks, "word": blocks * words(depth), f"output_{kind}": 16 * blocks}
    return {**done, "staged": 4 * mine * depth}


def conv2d(f: Fields, cores: int) -> Work:
    kind, taps = kind_of(f), f["kernel_height"] * f["kernel_width"]
    depth, pixels = taps * f["channels"], f["out_height"] * f["out_width"]
    if f["weight_offset"]:
        outputs = share(pixels, cores) * f["out_channels"]
        return {"plain_call": 1, f"plain_output_{kind}": outputs, "plain_element": outputs * depth}
    if f["channels"] % 4 == 0:
        if (taps, f["stride_y"], f["stride_x"], f["pad_top"], f["pad_left"]) == (1, 1, 1, 0, 0):
            return _blocks(pixels, f["out_channels"], 1, depth, kind, cores)
        across = -(-f["out_width"] // 4)
        rows = f["out_height"] * across * 4
        work = _blocks(rows, f["out_channels"], f["kernel_height"], depth, kind, cores)
        work = {
            name if name == "call" or "word" in name or "output" in name else f"window_{name}": n
            for name, n in work.items()
        }
        if taps > 1 and "window_block" in work:
            # Taps that some of four windows have outside the picture are multiplied one by one.
            single = work["window_block"] * min(1.0, 2 / across) * f["kernel_height"] * 4
            work |= {"border_tap": single, "border_word": single * words(f["channels"])}
        return work
    fours = f["out_height"] * -(-f["out_width"] // 4) * -(-f["out_channels"] // 4)
    mine = share(fours, cores)
    laid = -(-mine // -(-f["out_channels"] // 4)) + 1
    done = {"call": 1, "block": mine, "stretch": mine, "word": mine * words(depth), f"output_{kind}": 16 * mine}
    return {**done, "staged": 4 * laid * depth, "staged_tap": 4 * laid * taps}


def depthwise_conv2d(f: Fields, cores: int) -> Work:
    """Pieces of output rows of one channel, of as many pixels as the kernel takes at once."""
    width, lines = f["out_width"], f["out_height"] * f["channels"] * f["multiplier"]
    pieces = -(-width // _PIECE)
    while lines * pieces < 3 * cores and width >= 8 * pieces:
        pieces *= 2
    mine = share(lines * pieces, cores)
    outputs = mine * -(-width // pieces)
    work: Work = {"call": 1, "depthwise_piece": mine, f"output_{kind_of(f)}": outputs}
    if (f["kernel_height"], f["kernel_width"], f["dilation_x"]) != (3, 3, 1):
        return {**work, "depthwise_tap": outputs * f["kernel_height"] * f["kernel_width"]}
    return {**work, "depthwise_slide" if f["stride_x"] == 1 else "depthwise_jump": outputs}


def matmul(f: Fields, cores: int) -> Work:
    batch, rows, columns, depth = (f[n] for n in ("batch", "rows", "columns", "depth"))
    row_blocks = -(-rows // 4)
    mine = share(batch * row_blocks * -(-columns // 4), cores)
    packed = -(-mine // row_blocks)
    work = {"call": 1, "block": mine, "packed_element": 4 * packed * depth, f"output_{kind_of(f)}": 16 * mine}
    work["word" if rows >= 4 else "row_word"] = mine * words(depth) * (1 if rows >= 4 else rows)
    if depth % 4:
        work["staged"] = 4 * mine * depth
    if f["b_type"] == UINT8 or f["zero_point_b"]:
        work["summed_element"] = 4 * mine * depth
    return work


def layer_norm(f: Fields, cores: int) -> Work:
    """Every core finds the deviation of its rows, and writes a part of them where rows are few."""
    rows, columns = share(f["rows"], cores), f["columns"]
    if f["wide"] or f["x_type"] > UINT8 or f["levels"] > 256:
        return {"plain_call": 1, "plain_element": rows * columns}
    part = -(-columns // max(1, cores // f["rows"]))
    return {"call": 1, "norm_row": rows, "norm_word": rows * words(columns), "norm_element": rows * part}


def spread_lookup(f: Fields, cores: int) -> Work:
    """One table, for which all cores wait, or several."""
    return {"call": 1, "spread_eight" if f["tables"] > 1 else "eight": share(-(-f["count"] // 8), cores)}


def attention(f: Fields, cores: int) -> Work:
    """Whole queries of a head; products with keys, a row of weights, products with values."""
    logits = share(f["heads"] * f["queries"], cores) * f["keys"]
    return {"call": 1, "logit": logits, "key_word": logits * words(f["size"])}


_OWN = (attention, dense, conv2d, depthwise_conv2d, matmul, layer_norm, spread_lookup)
WORKS: dict[str, WorkOf] = {of.__name__: of for of in _OWN}

_STATED = read_text(resources.files("schedules").joinpath("kernel_cycles/tiles.yaml").read_text(encoding="utf-8"))
_OUTPUTS = {f"{where}output_{kind}": n for kind, n in _STATED["outputs"].items() for where in ("", "plain_")}
CYCLES: dict[str, float] = _STATED["cycles"] | _OUTPUTS
SCALAR_CYCLES: dict[str, float] = CYCLES | _STATED["scalar_cycles"]
COLD: dict[str, float] = dict.fromkeys(CYCLES, _STATED["cold"])
