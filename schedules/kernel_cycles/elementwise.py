"""add, mul, requantize, hardswish, gelu, lookup."""

from __future__ import annotations

from schedules.kernel_cycles.model import Work, predict, share


def elementwise_work(kernel: str, rows: int, columns: int, kind: str, cores: int, *, dense: bool) -> Work:
    elements = share(rows * columns, cores)
    pieces = 1 if dense else -(-elements // columns) + 1
    return {f"{kernel}_call": 1, "piece": pieces, f"{kernel}_{kind}": 4 * -(-elements // 4)}


def elementwise_cycles(
    kernel: str, rows: int, columns: int, kind: str = "pulp", cores: int = 8, *, dense: bool = True
) -> int:
    """`kernel`: add_tables, add, mul, requantize, requantize_int32, hardswish, gelu, lookup.

    `dense`: all operands without gaps or repeated rows. `kind` pulp is the narrow form with one rule for all elements
    and a range that one instruction clips; the other kinds are known for requantize_int32 only.
    """
    return predict("elementwise", elementwise_work(kernel, rows, columns, kind, cores, dense=dense))
