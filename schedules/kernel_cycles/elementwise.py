"""Work of quantize, dequantize, add, mul, requantize, requantize_add, hardswish, gelu, lookup."""

from __future__ import annotations

from schedules.kernel_cycles.model import Fields, Work, given, is_four, kind_of, share

# Elements up to which the only row of a sum has a loop over single elements: TVM_PULP_ADD_FEW of add_few.h.
_FEW_SUMS = 128


def _work(f: Fields, name: str, cores: int, *, dense: bool) -> Work:
    elements = share(f["rows"] * f["columns"], cores)
    pieces = 1 if dense else -(-elements // f["columns"]) + 1
    return {"call": 1, "piece": pieces, name: 4 * -(-elements // 4)}


def _plain(f: Fields, name: str, cores: int) -> Work:
    """Element by element, every case decided at run time."""
    return {"plain_call": 1, f"plain_{name}": share(f["rows"] * f["columns"], cores)}


def add(f: Fields, cores: int) -> Work:
    tables = given(f["table_a"]) and given(f["table_b"])
    one = given(f["table_a"]) != given(f["table_b"])
    dense = f["a_stride"] == f["b_stride"] == f["y_stride"] == f["columns"]
    if given(f["sum_table"]):
        return _work(f, "sums" + "_of_tables" * tables + "_of_table" * one, cores, dense=dense)
    wide = given(f["wide_table_a"]) or given(f["wide_table_b"]) or f["a_type"] == 2 or f["b_type"] == 2
    if wide or one or not is_four(f):
        return _plain(f, kind_of(f), cores)
    if f["rows"] == 1 and f["columns"] <= _FEW_SUMS and not tables:
        return {"few_call": 1, "few": 4 * share(-(-f["columns"] // 4), cores)}
    return _work(f, "tables" if tables else "plain", cores, dense=dense)


def add_accumulators(f: Fields, cores: int) -> Work:
    rows = share(f["rows"], cores)
    kind = "words" if f["b_type"] == 2 else "bytes"
    return {"call": 1, "row": rows, kind: rows * f["columns"]}


def mul(f: Fields, cores: int) -> Work:
    zero = f["zero_point_a"] == 0 and f["zero_point_b"] == 0
    if not is_four(f) or not zero or f["a_type"] == 2 or f["b_type"] == 2:
        return _plain(f, kind_of(f), cores)
    dense = f["a_stride"] == f["b_stride"] == f["y_stride"] == f["columns"]
    return _work(f, "element", cores, dense=dense)


def quantize(f: Fields, cores: int) -> Work:
    elements = share(f["rows"] * f["columns"], cores)
    pieces = 1 if f["rows"] == 1 else -(-elements // f["columns"]) + 1
    name = "together" if f["y_step"] == 1 else "apart"
    return {"call": 1, "piece": pieces, name: 4 * -(-elements // 4)}


def dequantize(f: Fields, cores: int) -> Work:
    return {"call": 1, "element": 4 * share(-(-f["count"] // 4), cores)}


def qdq_mul(f: Fields, cores: int) -> Work:
    return _work(f, "element", cores, dense=f["rows"] == 1)


def requantize(f: Fields, cores: int) -> Work:
    kind, wide = kind_of(f), f["x_type"] == 2
    block = wide and f["zero_point"] == 0 and not f["per_row"]
    fours = block and f["requant.per_channel"] and f["columns"] % 4 == 0 and not f["requant.wide_result"]
    clips = f["requant.low"] == 0 or f["requant.low"] == ~f["requant.high"]
    name = {"shift": "shift", "half_up": "high", "scaled": "high"}.get(kind)
    if name and fours and clips:
        # Groups of four channels, or rows where there are few groups.
        groups, rows, lines = f["columns"] // 4, f["lines"] * f["rows"], f["lines"]
        if name == "shift" and rows == 1:
            return {"row_call": 1, "row_group": share(groups, cores)}
        groups, rows = (share(groups, cores), rows) if groups >= cores else (groups, share(rows, cores))
        lined = {f"{name}_line": groups * lines} if lines > 1 else {}
        return {"call": 1, f"{name}_group": groups, f"{name}_element": 4 * groups * rows, **lined}
    if kind.startswith("shift") or (not is_four(f) and not block):
        return _plain(f, kind, cores)
    if wide and f["requant.per_channel"] and f["columns"] >= cores:
        # Every core takes whole columns.
        mine = share(f["columns"], cores)
        return {"call": 1, "column": mine, f"column_{kind}": mine * f["rows"]}
    itemsize = 4 if wide else 1
    result = 4 if kind == "none" or f["requant.wide_result"] else 1
    columns = f["columns"]
    dense = f["x_stride"] == columns * itemsize and f["y_stride"] == columns * result
    dense = dense and not f["requant.per_channel"]
    channels = "_channels" if f["requant.per_channel"] else ""
    return _work(f, f"{'int32' if wide else 'byte'}_{kind}{channels}", cores, dense=dense)


def requantize_add(f: Fields, cores: int) -> Work:
    """Groups of four channels, or rows where there are few groups; a single row has a loop of its own."""
    groups, rows = f["columns"] // 4, f["rows"]
    if rows == 1:
        return {"row_call": 1, "row_group": share(groups, cores)}
    groups, rows = (share(groups, cores), rows) if groups >= cores else (groups, share(rows, cores))
    return {"call": 1, "group": groups, "element": 4 * groups * rows}


def unary(f: Fields, cores: int) -> Work:
    """Hardswish and gelu."""
    if not is_four(f) or f["x_type"] == 2:
        return _plain(f, kind_of(f), cores)
    return _work(f, "element", cores, dense=f["x_stride"] == f["y_stride"] == f["columns"])


def lookup(f: Fields, cores: int) -> Work:
    return {"call": 1, "element": 4 * share(-(-f["count"] // 4), cores)}
