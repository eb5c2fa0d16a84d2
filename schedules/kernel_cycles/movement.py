"""Pooling, transposes and row copies."""

from __future__ import annotations

from schedules.kernel_cycles.model import Work, predict, share, words


def pool_work(pixels: int, channels: int, kernel: tuple[int, int], cores: int, *, average: bool) -> Work:
    groups = share(pixels * words(channels), cores)
    name = "average" if average else "maximum"
    touched = -(-groups // words(channels)) + (1 if pixels > 1 else 0)
    return {
        "call": 1,
        f"{name}_pixel": touched,
        f"{name}_group": groups,
        f"{name}_row": groups * kernel[0],
        f"{name}_tap": groups * kernel[0] * kernel[1],
    }


def pool_cycles(pixels: int, channels: int, kernel: tuple[int, int], cores: int = 8, *, average: bool = False) -> int:
    """`pixels` of the result; at least four channels."""
    return predict("pool", pool_work(pixels, channels, kernel, cores, average=average))


def transpose_work(lines: int, line: int, cores: int, *, element_bytes: int, contiguous: bool) -> Work:
    mine = share(lines * line, cores)
    kind = "word" if element_bytes == 4 else "copied" if contiguous and line >= 4 else "gathered"
    return {"call": 1, f"{kind}_line": -(-mine // line) + (1 if lines > 1 else 0), kind: mine}


def transpose_cycles(lines: int, line: int, cores: int = 8, *, element_bytes: int = 1, contiguous: bool = False) -> int:
    """`lines` of `line` elements of the result; `contiguous`: a line lies without gaps in the operand too."""
    return predict("transpose", transpose_work(lines, line, cores, element_bytes=element_bytes, contiguous=contiguous))


def copy_rows_work(rows: int, row_bytes: int, cores: int) -> Work:
    mine = share(rows * row_bytes, cores)
    touched = -(-mine // row_bytes) + (1 if rows > 1 else 0)
    work: dict[str, float] = {"call": 1, "row": touched, "word": mine / 4}
    if row_bytes % 4:
        # Words cross word boundaries, and every row has bytes left over.
        work["crossing_word"], work["rest"] = mine / 4, touched * (row_bytes % 4)
    return work


def copy_rows_cycles(rows: int, row_bytes: int, cores: int = 8) -> int:
    return predict("copy_rows", copy_rows_work(rows, row_bytes, cores))
