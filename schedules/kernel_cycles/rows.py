"""Softmax forms and normalizations."""

from __future__ import annotations

from schedules.kernel_cycles.model import Work, predict, share


def row_work(kernel: str, rows: int, columns: int, cores: int) -> Work:
    if rows >= cores or kernel in ("softmax_ita", "softmax_tflite"):
        mine = share(rows, cores)
        return {f"{kernel}_call": 1, f"{kernel}_row": mine, f"{kernel}_element": mine * columns}
    # A row is shared: every core makes its statistics, then a part of its results.
    part = share(rows * columns, cores)
    touched = -(-part // columns) + (1 if rows > 1 else 0)
    return {
        f"{kernel}_call": 1,
        f"{kernel}_row": touched,
        f"{kernel}_element": part,
        f"{kernel}_statistic": max(0, touched * columns - part),
    }


def row_cycles(kernel: str, rows: int, columns: int, cores: int = 8) -> int:
    """`kernel`: i_softmax, softmax_ita, softmax_tflite, rms_norm, layer_norm; bytes, not the wide forms."""
    return predict("rows", row_work(kernel, rows, columns, cores))
